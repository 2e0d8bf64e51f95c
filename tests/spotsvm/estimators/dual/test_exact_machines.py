import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine, make_classification, make_friedman1, make_moons
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

from spotsvm import ExactSVC, ExactSVR, cross_val_scores
from spotsvm.errors import ArgumentError, SolverError, SpotSVMError
from spotsvm.kernels import Kernel

X, Y = make_classification(n_samples=150, n_features=6, flip_y=0.1, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 6))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
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


def test_they_take_every_parameter_of_svc_and_svr():
    theirs = SVC(C=3.0, gamma=0.2, shrinking=False, verbose=False, random_state=1)
    ours = ExactSVC(**theirs.get_params(), sigma=None).set_params(tol=1e-6)
    assert SVC().get_params().keys() <= ExactSVC().get_params().keys()
    assert_same(ours.fit(X, Y), theirs.set_params(tol=1e-6).fit(X, Y), X_NEW)
    regressors = [m.fit(X, X @ np.arange(6.0)) for m in (ExactSVR(**SVR(shrinking=False, tol=1e-6).get_params()), SVR(tol=1e-6))]
    np.testing.assert_allclose(regressors[0].predict(X_NEW), regressors[1].predict(X_NEW), atol=1e-3)


@pytest.mark.parametrize("probability", [True, np.True_, "yes"])
def test_probabilities_are_left_to_the_calibrated_classifier(probability):
    machine = ExactSVC(probability=probability)
    with pytest.raises(
        ArgumentError, match=r"probability=.*; use False, and .*CalibratedClassifierCV\(ExactSVC\(\), ensemble=False"
    ):
        machine.fit(X, Y)
    with pytest.warns(FitFailedWarning, match="use False, and for probabilities"):
        assert np.isnan(cross_val_scores(ExactSVC(), X, Y, [{"probability": probability}])).all()
    calibrated = CalibratedClassifierCV(ExactSVC(), ensemble=False).fit(X, Y)
    assert calibrated.predict_proba(X_NEW).shape == (40, 2)


@pytest.mark.parametrize("name", KERNELS)
def test_two_classes(name):
    ours, theirs = (m.fit(X, Y) for m in pair(C=10.0, **KERNELS[name]))
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


@pytest.mark.parametrize(("data", "y"), [(X, Y), (WINE[20:] + np.arange(13), CULTIVAR[20:])], ids=["two", "three"])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_have_no_part_in_gamma(data, y, weighted):
    weights = np.random.default_rng(0).integers(0, 4, size=len(y)) * 0.5 if weighted else None
    ours, theirs = (m.fit(data, y, sample_weight=weights) for m in pair(class_weight="balanced"))
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
    assert_same(ours, theirs, data)


def test_a_weight_counts_rows():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = ExactSVC(gamma=0.2).fit(X, Y, sample_weight=weights)
    repeated = ExactSVC(gamma=0.2).fit(X.repeat(weights, axis=0), Y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X_NEW), repeated.decision_function(X_NEW), atol=1e-12)
    assert not set(weighted.support_) & set(np.flatnonzero(weights == 0))


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
def test_a_precomputed_kernel_is_the_kernel(y):
    data, new = (X, X_NEW) if y is Y else (WINE, WINE[:9] + 0.1)
    K, K_new = (polynomial_kernel(a, data, 2, 0.1, 1.0) for a in (data, new))
    ours, theirs = (m.fit(K, y) for m in pair(kernel="precomputed"))
    assert_same(ours, theirs, K_new)
    direct = ExactSVC(kernel="poly", degree=2, gamma=0.1, coef0=1.0, tol=1e-6).fit(data, y)
    np.testing.assert_allclose(ours.decision_function(K_new), direct.decision_function(new), atol=1e-5)
    assert ours.support_vectors_.shape == (0, 0)


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


def test_ties_are_broken_by_the_decision_function_where_that_is_wanted():
    rng = np.random.default_rng(3)
    data, y, new = rng.normal(size=(60, 2)), np.arange(60) % 4, rng.normal(size=(500, 2))
    ours, theirs = (m.fit(data, y) for m in pair(break_ties=True))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert (ours.predict(new) != clone(ours).set_params(break_ties=False).fit(data, y).predict(new)).any()
    with pytest.raises(ArgumentError, match="break_ties=True needs decision_function_shape='ovr'; it is 'ovo'"):
        ours.set_params(decision_function_shape="ovo").predict(new)


@pytest.mark.parametrize("machine", [ExactSVC(), ExactSVR(epsilon=0.0)])
def test_not_converging_is_warned_of(machine):
    with pytest.warns(ConvergenceWarning, match="The solver stopped early: .*raise max_iter"):
        machine.set_params(C=1e4, tol=1e-6, max_iter=1).fit(X, Y)
    assert machine.fit_status_ == 1
    assert machine.predict(X).shape == Y.shape
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ExactSVC(max_iter=100_000).fit(X, Y).fit_status_ == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C=0.0; use a positive, finite number"),
        ({"C": np.inf}, "C=inf; use a positive, finite number .a large one, as 1e6, for a hard margin"),
        ({"C": "1"}, "C='1'; use"),
        ({"C": 1e308, "class_weight": {0: 1e3, 1: 1.0}}, "C=1e[+]308 times the weights, of .* overflows"),
        ({"C": 10**400}, "C=10+; use a positive, finite number"),
        ({"C": 1e300}, "C=1e[+]300 is so large that the objective overflows"),
        ({"tol": 10**400}, "tol=10+; use a positive, finite number"),
        ({"gamma": 10**400}, "gamma=10+; use 'scale', 'auto' or a finite number"),
        ({"coef0": 10**400}, "coef0=10+; use a finite number"),
        ({"coef0": 10**200, "kernel": "multiquadric"}, "kernel: 'multiquadric' with gamma.* gives inf"),
        ({"sigma": 10**400}, "sigma=10+; use a positive number"),
        ({"gamma": np.array([1, 2]), "sigma": 1.0}, "sigma=1.0 and gamma=array.* are both given"),
        ({"gamma": np.array([1, 2])}, "gamma=array.*; use 'scale', 'auto' or a finite number"),
        ({"cache_size": 1e305}, "cache_size=1e[+]305; that many megabytes overflow"),
        ({"decision_function_shape": np.array(["ovr", "ovo"])}, "decision_function_shape=array.*; use 'ovr' or 'ovo'"),
        ({"kernel": lambda a, b: a @ b.T * 1j}, "kernel: the callable .* returned no matrix of numbers; its entries are complex"),
        ({"max_iter": 0}, "max_iter=0; use a whole number, 1 or more, or -1"),
        ({"max_iter": 2.5}, "max_iter=2.5; use"),
        ({"cache_size": 0}, "cache_size=0; use a positive, finite number of megabytes"),
        ({"decision_function_shape": "pairs"}, "decision_function_shape='pairs'; use 'ovr' or 'ovo'"),
        ({"break_ties": "no"}, "break_ties='no'; use True or False"),
        ({"class_weight": "even"}, "class_weight='even'; "),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight of the class 0 is -1.0; weights are finite, and 0 or more"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "y holds the one class 1 with a positive weight; two classes or more"),
        ({"kernel": "gauss"}, "kernel='gauss' is not known; use one of 'linear'"),
        ({"kernel": Kernel("rbf")}, r"kernel=Kernel\(name='rbf'.* is not known"),
        ({"gamma": -1.0}, "gamma=-1.0; it scales a squared distance in the kernel 'rbf'"),
        ({"gamma": "wide"}, "gamma='wide'; use 'scale', 'auto' or a"),
        ({"coef0": np.nan}, "coef0=nan; use a finite number"),
        ({"degree": 1.5}, "degree=1.5; the power of a polynomial kernel is a whole number"),
        ({"sigma": -1.0}, "sigma=-1.0; use a positive number"),
        ({"sigma": 1.0, "gamma": 0.5}, "sigma=1.0 and gamma=0.5 are both given"),
        ({"sigma": 1.0, "kernel": "linear"}, "sigma=1.0 is the width of the kernel 'rbf'"),
        ({"kernel": "precomputed"}, r"kernel='precomputed' and X has shape \(150, 6\); the kernel matrix .* is square"),
        ({"kernel": lambda a, b: a}, r"kernel: the callable .* returned shape \(150, 6\) .*\(150, 150\)"),
        ({"kernel": lambda a, b: np.triu(a @ b.T)}, "K is not symmetric"),
        ({"kernel": lambda a, b: a @ b.T * np.nan}, "kernel: the callable .* gives nan"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        ExactSVC(**options).fit(X, Y)
    assert isinstance(caught.value, SpotSVMError)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\); X has 150 rows, so it must be \(150,\)"),
        (-np.ones(150), r"sample_weight\[0\] is -1.0; weights are finite, and 0 or more"),
        (np.zeros(150), "sample_weight is zero for every row"),
        (["a"] * 150, "sample_weight is not an array of numbers"),
        (Y.astype(float), r"y holds the one class 1 with a positive weight; two classes or more are needed"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ArgumentError, match=message):
        ExactSVC().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("data", "y", "message"),
    [
        ([[0.0], [1.0]], [1, 1], r"y holds the one class 1; two classes or more are needed"),
        ([[0.0]], [1], r"y holds the one class 1 \(n_samples=1\); two"),
    ],
)
def test_bad_data(data, y, message):
    with pytest.raises(ValueError, match=message):
        ExactSVC().fit(data, y)


def test_a_callable_that_fails_in_prediction_only():
    machine = ExactSVC(kernel=lambda a, b: a @ b.T if len(a) == len(X) else a).fit(X, Y)
    with pytest.raises(SolverError, match=r"returned shape \(7, 6\)"):
        machine.predict(X[:7])


def test_two_rows():
    machine = ExactSVC(kernel="linear", C=10.0).fit([[0.0], [2.0]], [3, 5])
    np.testing.assert_allclose(machine.decision_function([[0.0], [1.0], [2.0]]), [-1.0, 0.0, 1.0], atol=1e-9)
    assert list(machine.predict([[0.4], [1.6]])) == [3, 5]


def test_a_class_whose_weights_are_zero_is_left_out():
    weights = (CULTIVAR != 1).astype(float)
    machine = ExactSVC(gamma=0.1).fit(WINE, CULTIVAR, sample_weight=weights)
    assert list(machine.classes_) == [0, 2]
    only = ExactSVC(gamma=0.1).fit(WINE[CULTIVAR != 1], CULTIVAR[CULTIVAR != 1])
    np.testing.assert_array_equal(machine.decision_function(WINE), only.decision_function(WINE))


def test_equal_rows_with_opposite_labels():
    data, y = X.repeat(2, axis=0), np.arange(2 * len(X)) % 2
    machine = ExactSVC(tol=1e-6).fit(data, y)
    np.testing.assert_allclose(machine.decision_function(X_NEW), 0.0, atol=1e-4)
    assert machine.fit_status_ == 0


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "epanechnikov", "multiquadric"])
def test_all_zero_features(kernel):
    machine = ExactSVC(kernel=kernel).fit(np.zeros((30, 3)), np.arange(30) % 3 == 0)
    assert not machine.predict(np.zeros((2, 3))).any()
    regressor = ExactSVR(kernel=kernel).fit(np.zeros((30, 3)), np.arange(30) % 3)
    assert len(set(regressor.predict(np.zeros((3, 3))))) == 1


@pytest.mark.parametrize(("gamma", "C"), [(0.0, 1.0), (1e-300, 1.0), (1e-12, 1.0), (1e6, 0.5), (1e300, 1e6)])
def test_a_constant_matrix_predicts_the_majority_and_the_identity_remembers(gamma, C):
    y = np.arange(len(X)) % 3 == 0
    ours, theirs = (m.fit(X, y) for m in pair(gamma=gamma, C=C))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert not ours.predict(X_NEW).any()
    np.testing.assert_allclose(ours.decision_function(X_NEW), ours.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_huge_C_ends(kernel):
    data, y = make_moons(80, noise=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = ExactSVC(C=1e6, kernel=kernel, gamma=2.0).fit(data, y)
    assert np.isfinite(machine.decision_function(data)).all()
    assert machine.score(data, y) > (0.99 if kernel == "rbf" else 0.8)


@pytest.mark.parametrize("gamma", [0.2, "scale", "auto"])
def test_the_laplacian_kernel_is_scikit_learns(gamma):
    number = Kernel("laplacian", 0.2).gamma if gamma == 0.2 else 1.0 / (6 * X.var()) if gamma == "scale" else 1.0 / 6
    ours = ExactSVC(kernel="laplacian", gamma=gamma, tol=1e-6).fit(X, Y)
    assert_same(ours, SVC(kernel=partial(laplacian_kernel, gamma=number), tol=1e-6).fit(X, Y), X_NEW)
    ours = ExactSVR(kernel="laplacian", gamma=gamma, tol=1e-6).fit(X, 1.0 * Y)
    theirs = SVR(kernel=partial(laplacian_kernel, gamma=number), tol=1e-6).fit(X, 1.0 * Y)
    np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(X_NEW), atol=1e-4)
    with pytest.raises(ValueError, match="kernel"):
        SVC(kernel="laplacian").fit(X, Y)  # which has no such name


X_R, TARGET = make_friedman1(n_samples=120, n_features=6, noise=0.5, random_state=0)
TARGET = (TARGET - TARGET.mean()) / TARGET.std()
NEW_R = np.random.default_rng(1).uniform(size=(40, 6))


def pair_of_regressors(**options):
    """Return our regressor and scikit-learn's with the same parameters."""
    options = {"tol": 1e-6} | options
    return ExactSVR(**options), SVR(**options)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "poly, default"])
@pytest.mark.parametrize("options", [{"C": 10.0, "epsilon": 0.01}, {"C": 0.05, "epsilon": 0.0}], ids=str)
def test_predictions_are_those_of_svr(name, options):
    ours, theirs = (m.fit(X_R, TARGET) for m in pair_of_regressors(**options, **KERNELS[name]))
    np.testing.assert_allclose(ours.predict(NEW_R), theirs.predict(NEW_R), atol=5e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=5e-5)


def test_weights_of_rows():
    weights = np.random.default_rng(0).integers(0, 4, size=len(TARGET))
    data = X_R + np.arange(X_R.shape[1])
    for options in ({}, {"gamma": 0.4}):  # rows' weights have no part in "scale"
        ours, theirs = (m.fit(data, TARGET, sample_weight=weights) for m in pair_of_regressors(**options))
        assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
        np.testing.assert_allclose(ours.predict(NEW_R), theirs.predict(NEW_R), atol=5e-5)
    repeated = ExactSVR(gamma=0.4, tol=1e-6).fit(data.repeat(weights, axis=0), TARGET.repeat(weights))
    np.testing.assert_allclose(ours.predict(NEW_R), repeated.predict(NEW_R), atol=1e-12)


def test_a_precomputed_kernel_is_the_kernel_of_a_regression():
    K, K_new = (polynomial_kernel(a, X_R, 2, 0.1, 1.0) for a in (X_R, NEW_R))
    ours, theirs = (m.fit(K, TARGET) for m in pair_of_regressors(kernel="precomputed"))
    np.testing.assert_allclose(ours.predict(K_new), theirs.predict(K_new), atol=5e-5)
    scores = (cross_val_score(m, K, TARGET) for m in pair_of_regressors(kernel="precomputed"))
    np.testing.assert_allclose(*scores, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C=0.0; use a positive, finite number"),
        ({"epsilon": -0.1}, "epsilon=-0.1; use a finite number, 0 or more"),
        ({"epsilon": "0"}, "epsilon='0'; use"),
        ({"max_iter": 0}, "max_iter=0; use"),
    ],
)
def test_bad_parameters_of_a_regression(options, message):
    with pytest.raises(ArgumentError, match=message):
        ExactSVR(**options).fit(X_R, TARGET)


def test_one_row_and_two():
    one = ExactSVR().fit([[3.0]], [7.0])
    assert one.predict([[0.0], [3.0]]) == pytest.approx([7.0, 7.0], abs=0.1)
    two = ExactSVR(kernel="linear", C=100.0, epsilon=0.0, tol=1e-8).fit([[0.0], [1.0]], [1.0, 3.0])
    assert two.predict([[0.0], [0.5], [1.0]]) == pytest.approx([1.0, 2.0, 3.0], abs=1e-6)


def test_a_constant_target_needs_no_support_vectors():
    machine = ExactSVR().fit(X_R, np.full(len(X_R), 4.0))
    assert machine.n_support_ == [0]
    assert machine.predict(NEW_R) == pytest.approx(np.full(len(NEW_R), 4.0), abs=0.1)


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e6, 1e300])
def test_a_constant_matrix_and_the_identity(gamma):
    ours, theirs = (m.fit(X_R, TARGET) for m in pair_of_regressors(gamma=gamma))
    np.testing.assert_allclose(ours.predict(X_R), theirs.predict(X_R), atol=1e-4)
