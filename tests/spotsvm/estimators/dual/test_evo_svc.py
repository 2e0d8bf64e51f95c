import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import EvoSVC
from spotsvm.errors import ArgumentError, SolverError

X, Y = make_classification(n_samples=120, n_features=6, flip_y=0.1, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)
PAPER = ["gaussian", "switching", "hybrid", "two_stage", "swarm"]

may_stop_early = pytest.mark.filterwarnings("ignore:The solver stopped early:sklearn.exceptions.ConvergenceWarning")


@may_stop_early
@pytest.mark.parametrize("method", PAPER)
def test_memetic_is_never_below_the_paper_s_own(method):
    best = EvoSVC(gamma=0.2, random_state=0).fit(X, Y).dual_objective_
    assert (best >= EvoSVC(method=method, gamma=0.2, random_state=0).fit(X, Y).dual_objective_).all()


def free_mean(machine):
    """The mean of y less the decision without threshold over the free support vectors of two classes, C = 1."""
    signed, vectors = machine.dual_coef_[0], machine.support_vectors_
    decision = np.exp(-0.2 * ((vectors[:, None] - vectors) ** 2).sum(axis=2)) @ signed
    free = np.abs(signed) < 1 - 1e-9
    assert free.any()
    return np.mean((np.sign(signed) - decision)[free])


def test_at_the_optimum_with_a_bias_the_free_support_vectors_set_svc_s_threshold():
    svc = SVC(gamma=0.2, tol=1e-8).fit(X, Y)
    assert abs(svc.intercept_[0]) > 0.01
    assert free_mean(svc) == pytest.approx(svc.intercept_[0], abs=1e-6)
    assert free_mean(EvoSVC(method="exact", bias=True, gamma=0.2, tol=1e-8).fit(X, Y)) == pytest.approx(
        svc.intercept_[0], abs=1e-6
    )


@pytest.mark.parametrize("method", ["memetic", "exact"])
def test_with_a_bias_it_is_svc(method):
    ours = EvoSVC(method=method, bias=True, gamma=0.2, tol=1e-6, random_state=0).fit(X, Y)
    theirs = SVC(gamma=0.2, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_a_cap_on_generations_is_kept_and_warned_of():
    with pytest.warns(ConvergenceWarning, match="The solver stopped early"):
        machine = EvoSVC(method="hybrid", max_iter=2, random_state=0).fit(X, Y)
    assert (machine.fit_status_, machine.n_iter_.tolist()) == (1, [2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "annealing"}, "method='annealing'; use 'memetic', 'gaussian'"),
        ({"method": np.array(["memetic", "exact"])}, "method=array.*; use 'memetic'"),
        ({"bias": 1}, "bias=1; use True, False or 'after'"),
        ({"bias": "before"}, "bias='before'; use True, False or 'after'"),
        (
            {"bias": True, "method": "hybrid"},
            "bias=True with method='hybrid'.*use bias='after' .* or the method 'exact' or 'memetic'",
        ),
        ({"max_iter": 0}, "max_iter=0; use"),
        ({"population_size": 0}, "population_size=0; use 1 or more"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0; use a whole number"),
        ({"crossover_probability": 1.5}, "crossover_probability=1.5; use a number from 0 to 1"),
        ({"tournament_share": 0}, "tournament_share=0; use a number above 0"),
        ({"inertia": -1.0}, "inertia=-1.0; use a finite number, 0 or more"),
        ({"pulls": "strong"}, "pulls='strong' is unknown; use 'uniform' or 'gaussian'"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises((ArgumentError, SolverError), match=message):
        EvoSVC(**options).fit(X, Y)


def test_a_bad_seed():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        EvoSVC(random_state="now").fit(X, Y)


def test_without_a_bias_the_exact_method_is_the_optimum_of_the_box():
    exact = EvoSVC(method="exact", gamma=0.2, tol=1e-8).fit(X, Y)
    margins = (2 * Y - 1) * exact.decision_function(X)
    alpha = np.zeros(len(X))
    alpha[exact.support_] = np.abs(exact.dual_coef_[0])
    assert (margins[alpha == 0] >= 1 - 1e-6).all()
    assert (margins[alpha == 1] <= 1 + 1e-6).all()
    np.testing.assert_allclose(margins[(alpha > 0) & (alpha < 1)], 1.0, atol=1e-6)
    memetic = EvoSVC(gamma=0.2, random_state=0).fit(X, Y)
    assert memetic.dual_objective_[0] == pytest.approx(exact.dual_objective_[0], rel=1e-3)
