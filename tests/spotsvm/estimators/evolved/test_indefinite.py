import numpy as np
import pytest
from sklearn.metrics.pairwise import sigmoid_kernel

from spotsvm.estimators.evolved.matrix_task import solve_indefinite
from spotsvm.solvers.dual.exact.fold_solver import Target, symmetric_bounds
from spotsvm.solvers.dual.spectrum import matrix_state

X = np.random.default_rng(0).normal(size=(60, 3))
K = sigmoid_kernel(X, gamma=0.8, coef0=-0.5)
LABELS = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
Y = X[:, 0] * X[:, 1]


def target(z, epsilon):
    return Target(z, *symmetric_bounds(2.0, z, epsilon > 0), epsilon)


def objective(beta, t):
    return t.z @ beta - t.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta


@pytest.mark.parametrize(("z", "epsilon"), [(LABELS, 0.0), (Y, 0.05)], ids=["classes", "regression"])
def test_more_searches_find_no_less(z, epsilon):
    assert matrix_state(K) == "indefinite"
    t = target(z, epsilon)
    one, many = (solve_indefinite(K, t, 1e-4, 5000, 0, searches) for searches in (1, 40))
    assert objective(many, t) >= objective(one, t) - 1e-9
    for beta in (one, many):
        assert abs(beta.sum()) < 1e-9
        assert (beta >= t.lower - 1e-12).all()
        assert (beta <= t.upper + 1e-12).all()


def test_another_local_optimum_is_better():
    t = target(Y, 0.05)
    assert objective(solve_indefinite(K, t, 1e-4, 5000, 0, 40), t) > objective(solve_indefinite(K, t, 1e-4, 5000, 0, 1), t) + 1.0


@pytest.mark.parametrize(("z", "epsilon"), [(LABELS, 0.0), (Y, 0.05)])
def test_the_same_seed_is_the_same_solution(z, epsilon):
    one, two = (solve_indefinite(K, target(z, epsilon), 1e-4, 5000, 3) for _ in range(2))
    np.testing.assert_array_equal(one, two)
