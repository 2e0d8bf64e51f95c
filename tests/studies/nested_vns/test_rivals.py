import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.studies.common.view_sets import digits_by_quarters
from spotsvm.studies.nested_vns.kernels import base_kernels, rival_jobs
from spotsvm.studies.nested_vns.rivals import MKL, alignf, centred, simple_mkl

X, Y = make_classification(90, 6, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
X, Y = scale(X), np.where(Y == 1, 1.0, -1.0)
KERNELS = np.array([linear_kernel(X[:, [k]]) for k in range(6)] + [rbf_kernel(X, gamma=0.3)])


def alignment(weights):
    K = centred(np.tensordot(weights, KERNELS, 1))
    return (Y @ K @ Y) / np.linalg.norm(K)


def test_alignf_has_the_most_centred_alignment():
    weights = alignf(KERNELS, Y)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    found = minimize(
        lambda w: -alignment(w), np.full(7, 1 / 7), bounds=[(1e-9, 1)] * 7, method="L-BFGS-B", options={"ftol": 1e-14}
    )
    assert alignment(weights) == pytest.approx(-found.fun, rel=1e-4)
    assert alignment(weights) > alignment(np.full(7, 1 / 7)) * 1.05
    ones = np.ones(len(Y))
    np.testing.assert_allclose(centred(KERNELS[3]) @ ones, 0.0, atol=1e-9)


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_simple_mkl_has_the_least_objective(C):
    weights = simple_mkl(KERNELS, Y, C, tol=1e-4)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()

    def objective(w):
        return solve_dual(np.tensordot(w, KERNELS, 1), Y, C, "exact", bias=True, tol=1e-6).objective

    reached = objective(weights)
    rng = np.random.default_rng(0)
    others = [*np.eye(7), np.full(7, 1 / 7), *rng.dirichlet(np.ones(7), 20)]
    others += [0.9 * weights + 0.1 * other for other in list(others)]
    assert reached <= min(objective(other) for other in others) * (1 + 1e-3)


def test_rivals_run_on_the_rows_and_folds_of_the_searches():
    data = digits_by_quarters()
    jobs = rival_jobs([data], [0], (0.25, 1.0))
    assert [(job.key["model"], job.key["search"]) for job in jobs] == [(m, name) for m in ("linear", "fixed") for name in MKL]
    job = next(job for job in jobs if (job.key["model"], job.key["search"]) == ("fixed", "equal weights"))
    row = job.run(*job.arguments)
    train, y, test, y_test = data.split(0)
    kernels, of_test = base_kernels("fixed", data, train, train), base_kernels("fixed", data, test, train)
    assert kernels.shape == (12, len(y), len(y))
    np.testing.assert_allclose(kernels[1], rbf_kernel(train[:, :16], gamma=1 / 16), atol=1e-9)
    scores = []
    for cost in (0.25, 1.0):
        machine = SVC(C=cost, kernel="precomputed").fit(kernels.mean(axis=0), y)
        scores.append(100 * (1 - machine.score(of_test.mean(axis=0), y_test)))
    assert min(abs(row["test error"] - score) for score in scores) < 1.1
    assert row["parameters"] == 12
