import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators.dual.exact_svr import ExactSVR
from spotsvm.estimators.evolved import evolve_kernel as evolution
from spotsvm.estimators.evolved.evolved_kernel_svr import EvolvedKernelSVR
from spotsvm.solvers.dual.spectrum import clipping, matrix_state
from spotsvm.solvers.kernels.expressions import Expression

X, Y = make_friedman1(n_samples=90, n_features=5, noise=0.5, random_state=0)
X = 2 * X - 1
X_NEW = np.random.default_rng(1).uniform(-1, 1, size=(30, 5))
TINY = {"n_evaluations": 6, "population_size": 4, "tournament_size": 2, "n_finalists": 2, "n_tuning_trials": 0, "n_holdouts": 1}
SMALL = {"n_evaluations": 40, "population_size": 8, "tournament_size": 4, "n_tuning_trials": 4, "random_state": 0}


@parametrize_with_checks(
    [
        EvolvedKernelSVR(**TINY, random_state=0),
        EvolvedKernelSVR(grammar="paper", **(TINY | {"n_finalists": 0}), breeding_tries=200, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore:The solver stopped early")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", params=["paper", "psd"])
def fitted(request):
    return EvolvedKernelSVR(grammar=request.param, **SMALL).fit(X, Y)


def test_it_is_the_machine_with_that_kernel(fitted):
    plain = ExactSVR(kernel=fitted.kernel_function_, C=fitted.C_, epsilon=fitted.epsilon_).fit(X, Y)
    np.testing.assert_allclose(fitted.predict(X_NEW), plain.predict(X_NEW), atol=5e-2)
    assert fitted.epsilon_ > 0
    assert fitted.score(X, Y) > 0.5
    assert fitted.n_evaluations_ == 40


def test_errors_are_in_units_of_the_target(fitted):
    best = fitted.history_["error"].min()
    assert best * Y.std() <= fitted.fitness_ + 1e-9 < Y.std()


def test_a_target_in_other_units(fitted):
    scaled = clone(fitted).fit(X, 1024.0 * Y)
    assert scaled.formula_ == fitted.formula_
    assert scaled.C_ == pytest.approx(1024.0 * fitted.C_)
    assert scaled.epsilon_ == pytest.approx(1024.0 * fitted.epsilon_)
    assert scaled.fitness_ == pytest.approx(1024.0 * fitted.fitness_)


def test_better_than_a_line():
    ours = EvolvedKernelSVR(**SMALL).fit(X[:60], Y[:60]).score(X[60:], Y[60:])
    assert ours > SVR(kernel="linear").fit(X[:60], Y[:60]).score(X[60:], Y[60:]) + 0.02


def test_a_constant_target():
    machine = EvolvedKernelSVR(**TINY, random_state=0).fit(X, np.full(90, 3.0))
    np.testing.assert_allclose(machine.predict(X_NEW), 3.0, atol=1e-6)


@pytest.mark.parametrize("indefinite", ["clip", "evolve"])
def test_indefinite_kernels(indefinite, monkeypatch):
    plain = evolution.evolve
    product = Expression("inner_product", (Expression("x_i"), Expression("x_j")))
    shifted = Expression("subtract", (product, Expression("c1")))

    def only(breeder, fitness, rng, **more):
        return plain(breeder, fitness, rng, **(more | {"start": [shifted], "n_evaluations": 1}))

    monkeypatch.setattr(evolution, "evolve", only)
    machine = EvolvedKernelSVR(
        grammar="paper", indefinite=indefinite, constant_range=(0.1, 0.2), C_range=(0.1, 0.1), tol=1e-6, random_state=0
    ).fit(X, Y)
    K = machine.kernel_function_(X, X)
    assert matrix_state(K) == "indefinite"
    if indefinite == "clip":
        clipped, A = clipping(K)
        theirs = SVR(kernel="precomputed", C=machine.C_, epsilon=machine.epsilon_, tol=1e-7).fit(clipped, Y)
        new = theirs.predict(machine.kernel_function_(X_NEW, X) @ A)
        np.testing.assert_allclose(machine.predict(X_NEW), new, atol=2e-3)
        np.testing.assert_allclose(machine.predict(X), theirs.predict(clipped), atol=2e-3)
    else:
        theirs = ExactSVR(kernel="precomputed", C=machine.C_, epsilon=machine.epsilon_).fit(K, Y)
        assert machine.dual_objective_ >= theirs.dual_objective_ - 1e-6


def test_a_target_whose_squares_overflow():
    with pytest.raises(ArgumentError, match="y has entries up to .*e\\+20., whose squares overflow"):
        EvolvedKernelSVR(**TINY).fit(X, 1e200 * Y)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="n_samples=1"):
        EvolvedKernelSVR(**TINY).fit(X[:1], Y[:1])
