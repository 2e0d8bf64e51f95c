"""Arguments and data that make no sense are refused with a reason; those that are merely hard give a correct result."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm.common.errors import ArgumentError, SpotSVMError
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.kernels import Kernel

X, Y = make_classification(n_samples=150, n_features=6, flip_y=0.1, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 6))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)


def pair(**options):
    """Return our classifier and scikit-learn's with the same parameters."""
    options = {"tol": 1e-6} | options
    return ExactSVC(**options), SVC(**options)


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
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight={0: -1.0, 1: 1.0}; weights are finite, and 0 or more"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "y holds the one class np.int64.1. with a positive weight; two classes or more"),
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
        (Y.astype(float), r"y holds the one class np.int64\(1\) with a positive weight; two classes or more are needed"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ArgumentError, match=message):
        ExactSVC().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("data", "y", "message"),
    [
        ([[0.0], [1.0]], [1, 1], r"y holds the one class np.int64\(1\); two classes or more are needed"),
        ([[0.0]], [1], r"y holds the one class np.int64\(1\) \(n_samples=1\); two"),
    ],
)
def test_bad_data(data, y, message):
    with pytest.raises(ValueError, match=message):
        ExactSVC().fit(data, y)


def test_new_data_must_fit():
    with pytest.raises(NotFittedError):
        ExactSVC().predict(X)
    with pytest.raises(ValueError, match="X has 5 features, but ExactSVC is expecting 6"):
        ExactSVC().fit(X, Y).predict(X[:, :5])
    with pytest.raises(ValueError, match="X has 6 features, but ExactSVC is expecting 150"):
        ExactSVC(kernel="precomputed").fit(X @ X.T, Y).predict(X)


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


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e-12])
def test_a_constant_matrix_predicts_the_majority(gamma):
    y = np.arange(len(X)) % 3 == 0
    ours, theirs = (m.set_params(tol=1e-3).fit(X, y) for m in pair(gamma=gamma))
    np.testing.assert_array_equal(ours.predict(X_NEW), theirs.predict(X_NEW))
    assert not ours.predict(X_NEW).any()


@pytest.mark.parametrize("gamma", [1e6, 1e300])
@pytest.mark.parametrize("C", [0.5, 1e6])
def test_the_identity_remembers(gamma, C):
    ours, theirs = (m.fit(X, Y) for m in pair(gamma=gamma, C=C))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X_NEW), ours.intercept_[0], atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_huge_C_ends(kernel):
    data, y = make_moons(80, noise=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = ExactSVC(C=1e6, kernel=kernel, gamma=2.0).fit(data, y)
    assert np.isfinite(machine.decision_function(data)).all()
    assert machine.score(data, y) > (0.99 if kernel == "rbf" else 0.8)


@pytest.mark.parametrize("kernel", ["sigmoid", "epanechnikov", "multiquadric", "negative_multiquadric"])
def test_indefinite_kernels_end(kernel):
    machine = ExactSVC(kernel=kernel, gamma=1.0, coef0=-1.0).fit(*load_iris(return_X_y=True))
    assert machine.fit_status_ == 0
    assert np.isfinite(machine.dual_objective_).all()
