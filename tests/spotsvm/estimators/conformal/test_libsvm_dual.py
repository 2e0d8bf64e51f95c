import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from spotsvm.estimators.conformal.passes import solve_by_libsvm
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.errors import SolverError

X, Y = make_classification(n_samples=120, flip_y=0.1, random_state=0)
LABELS, K = np.where(Y == 1, 1.0, -1.0), rbf_kernel(X, gamma=0.1)
BOUNDS = np.random.default_rng(0).uniform(0.5, 3.0, size=120)


def test_it_is_svc_and_the_exact_solution():
    found = solve_by_libsvm(K, LABELS, BOUNDS, tol=1e-6)
    theirs = SVC(kernel="precomputed", tol=1e-6).fit(K, LABELS, sample_weight=BOUNDS)
    np.testing.assert_allclose(found.decision, theirs.decision_function(K), atol=1e-12)
    assert found.bias == theirs.intercept_[0]
    assert (found.iterations, found.converged) == (theirs.n_iter_[0], True)
    exact = solve_dual(K, LABELS, BOUNDS, "exact", bias=True, tol=1e-6)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    np.testing.assert_allclose(found.decision, exact.decision, atol=1e-4)
    assert (found.alpha <= BOUNDS).all()


def test_a_cap_is_told():
    found = solve_by_libsvm(K, LABELS, BOUNDS, max_iter=3)
    assert not found.converged
    assert found.message == "not converged: the cap of 3 LIBSVM steps came first"


def test_bad_input():
    with pytest.raises(SolverError, match="K is not symmetric"):
        solve_by_libsvm(np.triu(K), LABELS, BOUNDS)
