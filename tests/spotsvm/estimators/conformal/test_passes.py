"""One pass of a conformal machine: the solver of scikit-learn, and a pass that finds nothing."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from spotsvm import solve_dual
from spotsvm.errors import ArgumentError, SolverError
from spotsvm.estimators.conformal.passes import AUTO, NONE, PassProblem, solve_by_libsvm, solve_passes
from spotsvm.solvers.dual import DualResult

X, Y = make_moons(120, noise=0.3, random_state=0)


def test_a_pass_without_support_vectors():
    def stopped(K, labels, bounds, bias):
        zeros = np.zeros(len(K))
        return DualResult(zeros, 0.0, 1.0, zeros + 1.0, 1, 1, False, "the cap of 1 step", 1.0, 1.0)

    problem = PassProblem(np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), stopped, True)
    with pytest.raises(ArgumentError, match=r"pass 1 has no support vectors.*\(the cap of 1 step\); raise max_iter or C"):
        solve_passes(problem, AUTO, 2)
    assert len(solve_passes(problem, NONE, 3)) == 3


LABELS, K_MOONS = np.where(Y == 1, 1.0, -1.0), rbf_kernel(X, gamma=2.0)
BOUNDS = np.random.default_rng(0).uniform(0.5, 3.0, size=120)


def test_it_is_svc_and_the_exact_solution():
    found = solve_by_libsvm(K_MOONS, LABELS, BOUNDS, tol=1e-6)
    theirs = SVC(kernel="precomputed", tol=1e-6).fit(K_MOONS, LABELS, sample_weight=BOUNDS)
    np.testing.assert_allclose(found.decision, theirs.decision_function(K_MOONS), atol=1e-12)
    assert found.bias == theirs.intercept_[0]
    assert (found.iterations, found.converged) == (theirs.n_iter_[0], True)
    exact = solve_dual(K_MOONS, LABELS, BOUNDS, "exact", bias=True, tol=1e-6)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    np.testing.assert_allclose(found.decision, exact.decision, atol=1e-4)
    assert (found.alpha <= BOUNDS).all()


def test_bad_input():
    with pytest.raises(SolverError, match="K is not symmetric"):
        solve_by_libsvm(np.triu(K_MOONS), LABELS, BOUNDS)
