"""Along a sweep of C or epsilon, solutions are kept and begun at."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR

from spotsvm import cross_val_scores
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver

COSTS = 2.0 ** np.arange(-5, 16, 2)


@pytest.fixture
def trainings(monkeypatch):
    """Lists the widest bounds of each call that trains machines on a fold or on all rows."""
    done = []
    warm = FoldSolver.warm

    def count(self, K, offset, target, *args, **options):
        done.append(target.widest)
        return warm(self, K, offset, target, *args, **options)

    monkeypatch.setattr(FoldSolver, "warm", count)
    return done


def decisions(folds, params, tests):
    return [answer.decisions[rows] for answer, rows in zip(folds.answers(params), tests, strict=True)]


@pytest.mark.parametrize("weights", [None, "balanced", {0: 1.0, 1: 2.5, 2: 0.5}], ids=["equal", "balanced", "given"])
@pytest.mark.parametrize("pipeline", [False, True])
def test_without_a_variable_at_its_bound_a_larger_cost_changes_nothing(pipeline, weights, trainings):
    X, y = load_wine(return_X_y=True)
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    tests = [test for _, test in splits]
    machine = SVC(gamma=0.3, class_weight=weights)
    estimator, prefix = (make_pipeline(StandardScaler(), machine), "svc__") if pipeline else (machine, "")
    rows = X if pipeline else scale(X)
    together = SharedFolds(estimator, rows, y, splits, 2**30)
    for C in COSTS:
        trainings.clear()
        found = decisions(together, {prefix + "C": C}, tests)
        if C >= 128:  # nothing is at the bound from about 20 on
            assert trainings == []
        else:
            alone = decisions(SharedFolds(estimator, rows, y, splits, 2**30), {prefix + "C": C}, tests)
            assert len(trainings) >= (4 if pipeline else 2)  # folds that share a matrix are trained by one call
        for ours, theirs in zip(found, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert decisions(together, {prefix + "C": 1.0}, tests)[0].shape == (len(tests[0]), 3)
    assert trainings  # a smaller one is another problem


@pytest.mark.parametrize("name", ["C", "epsilon"])
def test_a_path_of_a_regression(name):
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:90]), scale(y[:90])
    splits = list(KFold(4).split(X))
    path = [{name: value, "gamma": gamma} for value in 2.0 ** np.arange(-6, 5) for gamma in (0.01, 0.2)]
    machine = SVR(tol=1e-4)
    scorer = FoldScorer(machine, X, y, splits, {}, engine="auto")
    together = [scores.mean("score", 4) for scores in scorer.score(path)]
    alone = [cross_val_scores(machine, X, y, [candidate], cv=splits).mean() for candidate in path]
    by_sklearn = [cross_val_scores(machine, X, y, [c], cv=splits, engine="sklearn").mean() for c in path]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(together, by_sklearn, atol=5e-4)
