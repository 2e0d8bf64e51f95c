"""Machines of kernels that are not positive definite: clipped, trained as they are, or rejected."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.svm import SVC, SVR

from spotsvm import EvolvedKernelSVC, EvolvedKernelSVR, ExactSVC, ExactSVR
from spotsvm.errors import ArgumentError
from spotsvm.estimators.evolved import evolve_kernel as evolution
from spotsvm.kernels import Expression
from spotsvm.solvers.dual.problem.spectrum import clipping, matrix_state

X, Y = make_classification(n_samples=120, n_features=5, n_informative=3, flip_y=0.05, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 5))
TINY = {"n_trials": 6, "population_size": 4, "tournament_size": 2, "n_finalists": 2, "n_tuning_trials": 0, "n_holdouts": 1}


def evolve_only(monkeypatch, expression):
    """Let an evolution have one expression alone."""
    plain = evolution.evolve

    def only(breeder, fitness, rng, **more):
        return plain(breeder, fitness, rng, **(more | {"start": [expression], "n_trials": 1}))

    monkeypatch.setattr(evolution, "evolve", only)


def of_expression(monkeypatch, expression, **options):
    evolve_only(monkeypatch, expression)
    return EvolvedKernelSVC(grammar="paper", design_factor=12, random_state=0, **options).fit(X, Y)


SHIFTED = Expression("subtract", (Expression("inner_product", (Expression("x_i"), Expression("x_j"))), Expression("c1")))


def test_clipping_is_kept_in_prediction(monkeypatch):
    machine = of_expression(monkeypatch, SHIFTED, indefinite="clip", tol=1e-6)
    K = machine.kernel_function_(X, X)
    assert matrix_state(K) == "indefinite"
    clipped, A = clipping(K)
    plain = SVC(kernel="precomputed", C=machine.C_, tol=1e-7).fit(clipped, Y)
    np.testing.assert_allclose(machine.decision_function(X), plain.decision_function(clipped), atol=1e-3)
    new = machine.kernel_function_(X_NEW, X) @ A
    np.testing.assert_allclose(machine.decision_function(X_NEW), plain.decision_function(new), atol=1e-3)


def test_indefinite_survivors_are_trained(monkeypatch):
    machine = of_expression(monkeypatch, SHIFTED, indefinite="evolve")
    K = machine.kernel_function_(X, X)
    assert matrix_state(K) == "indefinite"
    plain = ExactSVC(kernel="precomputed", C=machine.C_).fit(K, Y)
    assert machine.dual_objective_[0] >= plain.dual_objective_[0] - 1e-6
    assert machine.score(X, Y) > 0.7


def test_indefinite_kernels_are_rejected(monkeypatch):
    with pytest.raises(ArgumentError, match="none of 1 kernels was valid.*standardise them"):
        of_expression(monkeypatch, Expression("subtract", (Expression("c1"), SHIFTED)), indefinite="reject")


def test_a_kernel_that_is_not_defined_for_a_new_row(monkeypatch):
    inverse = Expression("divide", (Expression("square", (SHIFTED.arguments[0],)), Expression("square", (SHIFTED.arguments[0],))))
    machine = of_expression(monkeypatch, inverse)
    with pytest.warns(RuntimeWarning, match="kernel values of new rows overflow or are undefined"):
        decision = machine.decision_function(np.zeros((2, 5)))
    assert np.isfinite(decision).all()


@pytest.mark.parametrize("wrong", [{"tol": 0.0}, {"max_iter": 0}, {"cache_size": -1}, {"decision_function_shape": "all"}])
def test_the_machine_s_parameters_are_checked_before_the_evolution(wrong, monkeypatch):
    monkeypatch.setattr(evolution, "evolve", None)
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        EvolvedKernelSVC(**wrong, **TINY).fit(X, Y)


X_R, TARGET = make_friedman1(n_samples=90, n_features=5, noise=0.5, random_state=0)
X_R = 2 * X_R - 1


NEW_R = np.random.default_rng(1).uniform(-1, 1, size=(30, 5))


@pytest.mark.parametrize("indefinite", ["clip", "evolve"])
def test_indefinite_kernels(indefinite, monkeypatch):
    evolve_only(monkeypatch, SHIFTED)
    machine = EvolvedKernelSVR(
        grammar="paper", indefinite=indefinite, constant_range=(0.1, 0.2), C_range=(0.1, 0.1), tol=1e-6, random_state=0
    ).fit(X_R, TARGET)
    K = machine.kernel_function_(X_R, X_R)
    assert matrix_state(K) == "indefinite"
    if indefinite == "clip":
        clipped, A = clipping(K)
        theirs = SVR(kernel="precomputed", C=machine.C_, epsilon=machine.epsilon_, tol=1e-7).fit(clipped, TARGET)
        new = theirs.predict(machine.kernel_function_(NEW_R, X_R) @ A)
        np.testing.assert_allclose(machine.predict(NEW_R), new, atol=2e-3)
        np.testing.assert_allclose(machine.predict(X_R), theirs.predict(clipped), atol=2e-3)
    else:
        theirs = ExactSVR(kernel="precomputed", C=machine.C_, epsilon=machine.epsilon_).fit(K, TARGET)
        assert machine.dual_objective_ >= theirs.dual_objective_ - 1e-6
