import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from spotsvm.common.errors import SpotSVMError
from spotsvm.estimators.dual.exact_svr import ExactSVR

X, Y = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
Y = (Y - Y.mean()) / Y.std()
X_NEW = np.random.default_rng(1).uniform(size=(40, 6))
EACH_ROW_ONCE = {"check_sample_weight_equivalence_on_dense_data": "every row counts once to gamma='scale', as in SVC"}
KERNELS = {
    "rbf": {"kernel": "rbf"},
    "rbf, gamma": {"kernel": "rbf", "gamma": 0.7},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1},
    "callable": {"kernel": lambda a, b: polynomial_kernel(a, b, 2, 0.2, 1.0)},
}


def pair(**options):
    """Return our regressor and scikit-learn's with the same parameters."""
    options = {"tol": 1e-6} | options
    return ExactSVR(**options), SVR(**options)


@parametrize_with_checks(
    [ExactSVR(), ExactSVR(gamma="auto"), ExactSVR(kernel="precomputed"), ExactSVR(kernel="linear", tol=1e-5)],
    expected_failed_checks=lambda machine: EACH_ROW_ONCE if (machine.kernel, machine.gamma) == ("rbf", "scale") else {},
)
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("options", [{}, {"C": 10.0, "epsilon": 0.01}, {"C": 0.05, "epsilon": 0.0}], ids=str)
def test_predictions_are_those_of_svr(name, options):
    ours, theirs = (m.fit(X, Y) for m in pair(**options, **KERNELS[name]))
    np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(X_NEW), atol=5e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=5e-5)


def test_attributes_are_laid_out_as_in_svr():
    ours, theirs = (m.fit(X, Y) for m in pair(gamma=0.5))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert (ours.fit_status_, ours.n_features_in_, type(ours.n_iter_)) == (0, 6, int)


def test_the_objective_is_that_of_the_dual_variables():
    ours = ExactSVR(gamma=0.2, tol=1e-6, epsilon=0.05).fit(X, Y)
    beta = ours.dual_coef_[0]
    K = np.exp(-0.2 * ((ours.support_vectors_[:, None] - ours.support_vectors_) ** 2).sum(axis=2))
    value = Y[ours.support_] @ beta - 0.05 * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    assert ours.dual_objective_ == pytest.approx(value, rel=1e-9)


def test_weights_of_features():
    ours, theirs = (m.fit(X, Y) for m in pair(kernel="linear"))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-5)
    assert not hasattr(ExactSVR().fit(X, Y), "coef_")


def test_weights_of_rows():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    data = X + np.arange(X.shape[1])
    for options in ({}, {"gamma": 0.4}):  # rows' weights have no part in "scale"
        ours, theirs = (m.fit(data, Y, sample_weight=weights) for m in pair(**options))
        assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
        np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(X_NEW), atol=5e-5)
    repeated = ExactSVR(gamma=0.4, tol=1e-6).fit(data.repeat(weights, axis=0), Y.repeat(weights))
    np.testing.assert_allclose(ours.predict(X_NEW), repeated.predict(X_NEW), atol=1e-12)


def test_a_precomputed_kernel_is_the_kernel():
    K, K_new = (polynomial_kernel(a, X, 2, 0.1, 1.0) for a in (X, X_NEW))
    ours, theirs = (m.fit(K, Y) for m in pair(kernel="precomputed"))
    np.testing.assert_allclose(ours.predict(K_new), theirs.predict(K_new), atol=5e-5)
    scores = (cross_val_score(m, K, Y) for m in pair(kernel="precomputed"))
    np.testing.assert_allclose(*scores, atol=1e-4)


def test_not_converging_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="The solver stopped early: .*raise max_iter"):
        machine = ExactSVR(C=1e4, epsilon=0.0, tol=1e-6, max_iter=1).fit(X, Y)
    assert machine.fit_status_ == 1
    assert np.isfinite(machine.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C=0.0; use a positive, finite number"),
        ({"epsilon": -0.1}, "epsilon=-0.1; use a finite number, 0 or more"),
        ({"epsilon": "0"}, "epsilon='0'; use"),
        ({"max_iter": 0}, "max_iter=0; use"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        ExactSVR(**options).fit(X, Y)
    assert isinstance(caught.value, SpotSVMError)


def test_one_row_and_two():
    one = ExactSVR().fit([[3.0]], [7.0])
    assert one.predict([[0.0], [3.0]]) == pytest.approx([7.0, 7.0], abs=0.1)
    two = ExactSVR(kernel="linear", C=100.0, epsilon=0.0, tol=1e-8).fit([[0.0], [1.0]], [1.0, 3.0])
    assert two.predict([[0.0], [0.5], [1.0]]) == pytest.approx([1.0, 2.0, 3.0], abs=1e-6)


def test_a_constant_target_needs_no_support_vectors():
    machine = ExactSVR().fit(X, np.full(len(X), 4.0))
    assert machine.n_support_ == [0]
    assert machine.predict(X_NEW) == pytest.approx(np.full(len(X_NEW), 4.0), abs=0.1)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "epanechnikov", "multiquadric"])
def test_all_zero_features_predict_a_constant(kernel):
    machine = ExactSVR(kernel=kernel).fit(np.zeros((30, 3)), np.arange(30) % 3)
    assert len(set(machine.predict(np.zeros((3, 3))))) == 1


def test_equal_rows_with_different_targets():
    machine = ExactSVR(epsilon=0.0, C=100.0, tol=1e-6).fit(X.repeat(3, axis=0), (Y[:, None] + [-1.0, 0.0, 1.0]).ravel())
    np.testing.assert_allclose(machine.predict(X), ExactSVR(epsilon=0.0, C=100.0, tol=1e-6).fit(X, Y).predict(X), atol=1e-3)


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e6, 1e300])
def test_a_constant_matrix_and_the_identity(gamma):
    ours, theirs = (m.fit(X, Y) for m in pair(gamma=gamma))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
