import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from spotsvm.estimators.evolved.evolve_kernel import _finalists, evolve_kernel
from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC
from spotsvm.estimators.evolved.fitness import Judged
from spotsvm.estimators.evolved.matrix_task import ClassificationTask
from spotsvm.estimators.evolved.settings import Setting, read_settings
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.search.genetic_programming.steady_state import Evolution, Individual

X, CODE = make_classification(n_samples=90, n_features=4, random_state=0)


def evolved(seed=0, indefinite="reject", **options):
    settings = read_settings(
        EvolvedKernelSVC(
            n_evaluations=30, population_size=6, tournament_size=4, n_tuning_trials=0, indefinite=indefinite, **options
        )
    )
    task = ClassificationTask(CODE, np.ones(2), indefinite, settings.smoothness)
    return evolve_kernel(X, task, CODE, settings, seed)


@pytest.mark.parametrize("grammar", ["paper", "psd"])
def test_the_history_is_of_every_evaluation(grammar):
    found = evolved(grammar=grammar)
    history = found.history
    assert len(history) == 30
    assert isinstance(history, pd.DataFrame)
    chosen = history[history["formula"] == found.kernel.formula]
    assert grammar == "psd" or len(chosen) >= 1
    assert (history["size"] >= 1).all()
    assert history["epsilon"].eq(0.0).all() or history["epsilon"].isna().any()
    if grammar == "psd":
        assert (history["fitness"] > history["loss"]).all()
    else:
        pd.testing.assert_series_equal(history["fitness"], history["error"], check_names=False)


def test_ours_begins_with_the_standard_kernels():
    history = evolved(grammar="psd").history
    assert history["origin"].tolist()[:6] == ["start"] * 6
    assert "exp(" in " ".join(history["formula"][:6])


@pytest.mark.parametrize("indefinite", ["evolve", "clip"])
def test_indefinite_individuals_are_evaluated(indefinite):
    history = evolved(grammar="paper", indefinite=indefinite).history
    seen = history[history["matrix"] == "indefinite"]
    assert len(seen)
    assert np.isfinite(seen["error"]).all()


def test_finalists_differ_in_form_and_include_the_first():
    def one(number, expression, loss, origin):
        judged = Judged(expression, Setting(1.0) if np.isfinite(loss) else None, loss, loss, 3, "semidefinite")
        return Individual(expression, (loss,), origin, number), judged

    gaussians = [Expression("gaussian", value=v) for v in (1.0, 2.0, 3.0)]
    pairs = [
        one(0, Expression("linear", value=1.0), 0.5, "start"),
        one(1, gaussians[0], 0.2, "variation"),
        one(2, gaussians[1], 0.1, "variation"),
        one(3, Expression("rational", value=1.0), 0.3, "growth"),
        one(4, Expression("square", (gaussians[2],)), 0.4, "growth"),
        one(5, Expression("damping", value=1.0), np.inf, "start"),
    ]
    evolution = Evolution(evaluated=[individual for individual, _ in pairs])
    found = _finalists(evolution, [judged for _, judged in pairs], 2)
    assert [judged.expression.text() for judged in found] == [pairs[k][1].expression.text() for k in (2, 3, 0)]
