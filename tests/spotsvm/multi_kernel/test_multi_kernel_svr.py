import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVR

from spotsvm import ExactSVR, MultiKernelSVR

X, Y = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
Y = (Y - Y.mean()) / Y.std()
X_NEW = np.random.default_rng(1).uniform(size=(40, 6))
GROUPS = {"curved": [0, 1, 2], "straight": [3, 4], "noise": [5]}


@pytest.mark.parametrize(
    ("options", "plain"),
    [({"gamma": 0.7}, {"gamma": 0.7}), ({"kernel": "linear"}, {"kernel": "linear"}), ({}, {})],
    ids=["gamma", "linear", "scale"],
)
def test_one_kernel_is_that_kernel(options, plain):
    more = {"C": 10.0, "epsilon": 0.05, "tol": 1e-6}
    ours, exact, theirs = MultiKernelSVR(**more, **options), ExactSVR(**more, **plain), SVR(**more, **plain)
    ours, exact, theirs = (m.fit(X, Y) for m in (ours, exact, theirs))
    np.testing.assert_allclose(ours.predict(X_NEW), exact.predict(X_NEW), atol=1e-9)
    np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(X_NEW), atol=1e-4)
    assert ours.dual_objective_ == pytest.approx(exact.dual_objective_, rel=1e-9)


def test_a_sum_is_svr_on_the_summed_matrix_with_weights_of_features():
    def kernel(a, b):
        return 2.0 * rbf_kernel(a[:, :3], b[:, :3], 1 / 3) + 0.5 * linear_kernel(a[:, 3:5], b[:, 3:5])

    kernels = {"curved": "rbf", "straight": "linear", "noise": "rbf"}
    ours = MultiKernelSVR(groups=GROUPS, kernel=kernels, gamma="auto", weights=(2.0, 0.5, 0.0), C=5.0, tol=1e-6).fit(X, Y)
    theirs = SVR(kernel="precomputed", C=5.0, tol=1e-6).fit(kernel(X, X), Y)
    np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(kernel(X_NEW, X)), atol=1e-4)
    assert ours.weights_.tolist() == [[2.0, 0.5, 0.0]]
    assert ours.kernel_names_ == ("curved", "straight", "noise")
    ours = MultiKernelSVR(groups=GROUPS, kernel="linear", weights=(2.0, 0.5, 1.0)).fit(X, Y)
    np.testing.assert_allclose(X_NEW @ ours.coef_[0] + ours.intercept_, ours.predict(X_NEW), atol=1e-9)
