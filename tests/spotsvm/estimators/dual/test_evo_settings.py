"""EvoSVC's parameters are the settings of its solver."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.preprocessing import scale

from spotsvm import EvoSVC, solve_dual
from spotsvm.estimators.dual.evo_svc import METHODS
from spotsvm.solvers.dual.evolution.evolution import EvolutionSettings
from spotsvm.solvers.dual.evolution.swarm import SwarmSettings

X, Y = make_classification(n_samples=120, n_features=6, flip_y=0.1, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS, SPECIES = scale(IRIS)[::2], SPECIES[::2]


PAPER = ["gaussian", "switching", "hybrid", "two_stage", "swarm"]
may_stop_early = pytest.mark.filterwarnings("ignore:The solver stopped early:sklearn.exceptions.ConvergenceWarning")


def free_mean(machine):
    """The mean of y less the decision without threshold over the free support vectors of two classes, C = 1."""
    signed, vectors = machine.dual_coef_[0], machine.support_vectors_
    decision = np.exp(-0.2 * ((vectors[:, None] - vectors) ** 2).sum(axis=2)) @ signed
    free = np.abs(signed) < 1 - 1e-9
    assert free.any()
    return np.mean((np.sign(signed) - decision)[free])


@may_stop_early
@pytest.mark.parametrize("method", METHODS)
def test_a_threshold_after_training_is_that_of_the_free_support_vectors_and_changes_nothing_else(method):
    without, after = (
        EvoSVC(method=method, gamma=0.2, bias=bias, tol=1e-8, random_state=0).fit(X, Y) for bias in (False, "after")
    )
    np.testing.assert_array_equal(after.dual_coef_, without.dual_coef_)
    assert after.intercept_[0] == pytest.approx(free_mean(after), abs=1e-12)
    np.testing.assert_allclose(after.decision_function(X), without.decision_function(X) + after.intercept_[0], atol=1e-12)
    assert after.dual_objective_ == without.dual_objective_
    # at the optimum of the box each free support vector is at its margin already
    assert (abs(after.intercept_[0]) < 1e-6) == (method in ("memetic", "exact"))


@may_stop_early
@pytest.mark.parametrize(
    ("method", "settings", "options"),
    [
        (
            "hybrid",
            EvolutionSettings(30, max_generations=50, crossover_probability=0.4, tournament_share=0.1),
            {"max_iter": 50, "population_size": 30, "crossover_probability": 0.4, "tournament_share": 0.1},
        ),
        ("two_stage", EvolutionSettings(6, 200, 9), {"max_iter": 200, "population_size": 6, "n_iter_no_change": 9}),
        (
            "swarm",
            SwarmSettings(7, 300, 20, inertia=0.7, local_weight=0.5, global_weight=1.5, pulls="uniform"),
            {"max_iter": 300, "population_size": 7, "n_iter_no_change": 20, "inertia": 0.7}
            | {"local_weight": 0.5, "global_weight": 1.5, "pulls": "uniform"},
        ),
    ],
)
def test_its_parameters_are_the_settings_of_the_solver(method, settings, options):
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    alone = solve_dual(K, 2.0 * Y - 1, 1.0, method, random_state=seed, settings=settings)
    machine = EvoSVC(method=method, kernel="precomputed", random_state=0, **options).fit(K, Y)
    assert machine.dual_objective_[0] == pytest.approx(alone.objective, rel=1e-9)
    assert machine.n_iter_[0] == alone.iterations
    for name in options:
        other = clone(machine).set_params(**{name: getattr(EvoSVC(), name)}).fit(K, Y)
        assert (other.dual_objective_[0], other.n_iter_[0]) != (machine.dual_objective_[0], machine.n_iter_[0]), name


@may_stop_early
@pytest.mark.parametrize("method", METHODS)
def test_a_seed_repeats_itself_whatever_the_order_of_rows(method):
    order, most = np.random.default_rng(0).permutation(len(IRIS)), 100 if method in PAPER else -1
    runs = [
        EvoSVC(method=method, max_iter=most, random_state=seed).fit(data, y).decision_function(IRIS)
        for seed, data, y in [(1, IRIS, SPECIES), (1, IRIS, SPECIES), (1, IRIS[order], SPECIES[order]), (2, IRIS, SPECIES)]
    ]
    assert (runs[0].argmax(axis=1) == SPECIES).mean() > 0.9
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_allclose(runs[0], runs[2], atol=1e-9)
    if method in PAPER:
        assert not np.array_equal(runs[0], runs[3])


@may_stop_early
def test_weights_and_class_weights_are_factors_of_C():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    for method in METHODS:
        machine = EvoSVC(method=method, class_weight={0: 2.0, 1: 0.5}, random_state=0).fit(X, Y, sample_weight=weights)
        bound = (weights * np.where(Y == 0, 2.0, 0.5))[machine.support_]
        assert (np.abs(machine.dual_coef_[0]) <= bound * (1 + 1e-12)).all()
        assert (bound > 0).all()
