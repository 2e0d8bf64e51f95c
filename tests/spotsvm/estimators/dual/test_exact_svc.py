import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators.dual.exact_svc import ExactSVC

X, Y = make_classification(n_samples=150, n_features=6, flip_y=0.1, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 6))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
EACH_ROW_ONCE = {"check_sample_weight_equivalence_on_dense_data": "every row counts once to gamma='scale', as in SVC"}
KERNELS = {
    "rbf": {"kernel": "rbf"},
    "rbf, auto": {"kernel": "rbf", "gamma": "auto"},
    "rbf, gamma": {"kernel": "rbf", "gamma": 0.7},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
    "poly, default": {"kernel": "poly"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1},
    "callable": {"kernel": lambda a, b: polynomial_kernel(a, b, 2, 0.2, 1.0)},
}


def pair(**options):
    """Return our classifier and scikit-learn's with the same parameters."""
    options = {"tol": 1e-6} | options
    return ExactSVC(**options), SVC(**options)


def assert_same(ours, theirs, X_new, atol=1e-4):  # LIBSVM keeps its matrix in float32
    np.testing.assert_allclose(ours.decision_function(X_new), theirs.decision_function(X_new), atol=atol)
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=atol)


@parametrize_with_checks(
    [ExactSVC(), ExactSVC(gamma="auto"), ExactSVC(kernel="precomputed"), ExactSVC(kernel="linear", tol=1e-5)],
    expected_failed_checks=lambda machine: EACH_ROW_ONCE if (machine.kernel, machine.gamma) == ("rbf", "scale") else {},
)
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_two_classes(name, C):
    ours, theirs = (m.fit(X, Y) for m in pair(C=C, **KERNELS[name]))
    assert_same(ours, theirs, X_NEW)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_three_classes(name, shape):
    ours, theirs = (m.fit(WINE[::2], CULTIVAR[::2]) for m in pair(decision_function_shape=shape, **KERNELS[name]))
    assert_same(ours, theirs, WINE[1::2])


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
def test_attributes_are_laid_out_as_in_svc(y):
    data = X if y is Y else WINE
    ours, theirs = (m.fit(data, y) for m in pair(kernel="rbf", gamma=0.1))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    for name in ("classes_", "class_weight_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("support_", "n_support_", "n_iter_", "intercept_", "dual_coef_", "support_vectors_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
    assert (ours.fit_status_, ours.n_features_in_) == (0, data.shape[1])
    assert ours.dual_objective_.shape == theirs.n_iter_.shape


def test_the_objective_is_that_of_the_dual_variables():
    ours = ExactSVC(gamma=0.2, tol=1e-6).fit(X, Y)
    signed = ours.dual_coef_[0]
    K = np.exp(-0.2 * ((ours.support_vectors_[:, None] - ours.support_vectors_) ** 2).sum(axis=2))
    assert ours.dual_objective_[0] == pytest.approx(np.abs(signed).sum() - 0.5 * signed @ K @ signed, rel=1e-9)


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
def test_weights_of_features(y):
    data = X if y is Y else WINE
    ours, theirs = (m.fit(data, y) for m in pair(kernel="linear"))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[0] = 1
    assert not hasattr(ExactSVC().fit(X, Y), "coef_")
    with pytest.raises(AttributeError, match="coef_ exists only with kernel='linear'; the kernel is 'rbf'"):
        ExactSVC().coef_  # noqa: B018


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_classes_and_rows(class_weight, weighted):
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y)) * 0.75 if weighted else None
    y = np.where(np.arange(len(Y)) % 3 == 0, 2, Y) if class_weight != {0: 3.0, 1: 0.5} else Y
    ours, theirs = (m.fit(X, y, sample_weight=weights) for m in pair(gamma=0.2, class_weight=class_weight))
    assert_same(ours, theirs, X_NEW)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 9.0, 1: 0.2, 2: 1.0}])
@pytest.mark.parametrize("n", [130, 178], ids=["two", "three"])
def test_the_weights_of_classes_have_no_part_in_gamma(class_weight, n):
    data, y = WINE[:n] + np.arange(13), CULTIVAR[:n]
    if n == 130 and class_weight != "balanced":
        class_weight = {0: 9.0, 1: 0.2}
    data, y = data[20:], y[20:]  # unequal classes
    ours, theirs = (m.fit(data, y) for m in pair(class_weight=class_weight))
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
    assert_same(ours, theirs, data)


@pytest.mark.parametrize(("data", "y"), [(X, Y), (WINE + np.arange(13), CULTIVAR)], ids=["two", "three"])
def test_the_weights_of_rows_have_no_part_in_gamma(data, y):
    weights = np.random.default_rng(0).integers(0, 4, size=len(y)) * 0.5
    ours, theirs = (m.fit(data, y, sample_weight=weights) for m in pair(class_weight="balanced"))
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
    assert_same(ours, theirs, data)


def test_a_weight_counts_rows():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = ExactSVC(gamma=0.2).fit(X, Y, sample_weight=weights)
    repeated = ExactSVC(gamma=0.2).fit(X.repeat(weights, axis=0), Y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X_NEW), repeated.decision_function(X_NEW), atol=1e-12)
    assert not set(weighted.support_) & set(np.flatnonzero(weights == 0))


def test_the_order_of_rows_changes_nothing():
    order = np.random.default_rng(0).permutation(len(X))
    a, b = ExactSVC().fit(X, Y), ExactSVC().fit(X[order], Y[order])
    np.testing.assert_allclose(a.decision_function(X_NEW), b.decision_function(X_NEW), rtol=1e-12, atol=1e-12)
    assert set(order[b.support_]) == set(a.support_)


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.1, 10.0))
def test_a_factor_of_the_kernel_is_a_factor_of_C(factor, C):
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    one = ExactSVC(kernel="precomputed", C=C, tol=1e-7).fit(K, Y)
    other = ExactSVC(kernel="precomputed", C=C / factor, tol=1e-7).fit(K * factor, Y)
    np.testing.assert_allclose(one.decision_function(K), other.decision_function(K * factor), atol=1e-5)


def test_equal_rows_share_the_variable_of_one():
    ours, theirs = (m.fit(X.repeat(3, axis=0), Y.repeat(3)) for m in pair(gamma=0.2))
    assert_same(ours, theirs, X_NEW)
    assert np.abs(ours.dual_coef_).max() <= 1.0
    assert set(ours.support_ // 3) == set(ExactSVC(gamma=0.2, C=3.0).fit(X, Y).support_)


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
def test_a_precomputed_kernel_is_the_kernel(y):
    data, new = (X, X_NEW) if y is Y else (WINE, WINE[:9] + 0.1)
    K, K_new = (polynomial_kernel(a, data, 2, 0.1, 1.0) for a in (data, new))
    ours, theirs = (m.fit(K, y) for m in pair(kernel="precomputed"))
    assert_same(ours, theirs, K_new)
    direct = ExactSVC(kernel="poly", degree=2, gamma=0.1, coef0=1.0, tol=1e-6).fit(data, y)
    np.testing.assert_allclose(ours.decision_function(K_new), direct.decision_function(new), atol=1e-5)
    assert ours.support_vectors_.shape == (0, 0)


def test_zero_weights_remove_rows_of_a_precomputed_kernel():
    weights = (np.arange(len(Y)) % 3 > 0).astype(float)
    there, K = weights > 0, X @ X.T
    ours = ExactSVC(kernel="precomputed").fit(K, Y, sample_weight=weights)
    only = ExactSVC(kernel="precomputed").fit(K[there][:, there], Y[there])
    np.testing.assert_allclose(ours.decision_function(K), only.decision_function(K[:, there]), atol=1e-12)


def test_a_precomputed_kernel_is_cross_validated():
    K = X @ X.T
    options = {"kernel": "precomputed", "tol": 1e-6}
    np.testing.assert_array_equal(cross_val_score(ExactSVC(**options), K, Y), cross_val_score(SVC(**options), K, Y))


def test_memory_is_a_matter_of_time_only():
    for cache_size in (1e-3, 0.05):
        small = ExactSVC(cache_size=cache_size, gamma=0.1).fit(WINE, CULTIVAR)
        large = ExactSVC(gamma=0.1).fit(WINE, CULTIVAR)
        np.testing.assert_allclose(small.decision_function(WINE), large.decision_function(WINE), atol=1e-8)


def test_predictions_touch_support_vectors_only():
    seen = []

    def kernel(a, b):
        seen.append(b)
        return a @ b.T

    machine = ExactSVC(kernel=kernel).fit(X, Y)
    seen.clear()
    machine.predict(X_NEW)
    (touched,) = seen
    np.testing.assert_array_equal(touched, machine.support_vectors_)


def test_sigma_is_the_paper_s_parameter():
    a, b = ExactSVC(sigma=2.0).fit(X, Y), ExactSVC(gamma=0.125).fit(X, Y)
    np.testing.assert_array_equal(a.decision_function(X_NEW), b.decision_function(X_NEW))


def test_ties_are_broken_by_the_decision_function_where_that_is_wanted():
    rng = np.random.default_rng(3)
    data, y, new = rng.normal(size=(60, 2)), np.arange(60) % 4, rng.normal(size=(500, 2))
    ours, theirs = (m.fit(data, y) for m in pair(break_ties=True))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert (ours.predict(new) != clone(ours).set_params(break_ties=False).fit(data, y).predict(new)).any()
    with pytest.raises(ArgumentError, match="break_ties=True needs decision_function_shape='ovr'; it is 'ovo'"):
        ours.set_params(decision_function_shape="ovo").predict(new)


def test_not_converging_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="The solver stopped early: .*raise max_iter"):
        machine = ExactSVC(C=1e4, tol=1e-6, max_iter=1).fit(X, Y)
    assert machine.fit_status_ == 1
    assert machine.predict(X).shape == Y.shape
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ExactSVC(max_iter=100_000).fit(X, Y).fit_status_ == 0
