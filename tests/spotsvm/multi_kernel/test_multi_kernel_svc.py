import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spotsvm import ExactSVC, MultiKernelSVC, MultiKernelSVR, SpotSearchCV
from spotsvm.errors import ArgumentError, SolverError
from spotsvm.kernels import Kernel

X, Y = make_classification(n_samples=150, n_features=6, flip_y=0.1, random_state=0)
X_NEW = np.random.default_rng(1).normal(size=(40, 6))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
GROUPS = {"first": [0, 1, 2], "second": slice(3, 5), "third": [5]}
FIRST, SECOND, THIRD = [0, 1, 2], [3, 4], [5]
POLY = {"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 2}
WINE_GROUPS = {"acids": slice(0, 6), "rest": slice(6, None)}


def machine(**options):
    return MultiKernelSVC(**{"groups": GROUPS, "tol": 1e-6, **options})


def assert_same_as_summed(ours, kernel, train, y, new, C=1.0):
    """Compare with SVC on the summed matrix."""
    theirs = SVC(kernel="precomputed", C=C, tol=1e-6).fit(kernel(train, train), y)
    ours.fit(train, y)
    K = kernel(new, train)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(K), atol=2e-4)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(K))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    return ours


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        ({}, {}),
        ({"gamma": "auto"}, {"gamma": "auto"}),
        ({"gamma": 0.3}, {"gamma": 0.3}),
        ({"gamma": 0.3, "combine": "product"}, {"gamma": 0.3}),
        ({"kernel": "linear"}, {"kernel": "linear"}),
        (POLY, POLY),
        ({"kernel": Kernel("rbf", 0.3)}, {"gamma": 0.3}),
        ({"kernel": laplacian_kernel}, {"kernel": laplacian_kernel}),
    ],
    ids=["scale", "auto", "gamma", "product", "linear", "poly", "Kernel", "callable"],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_one_kernel_is_that_kernel(options, plain, classes):
    data, y, new = (X, Y, X_NEW) if classes == 2 else (WINE[::2], CULTIVAR[::2], WINE[1::2])
    ours = MultiKernelSVC(tol=1e-6, C=3.0, **options).fit(data, y)
    exact = ExactSVC(tol=1e-6, C=3.0, **plain).fit(data, y)
    theirs = SVC(tol=1e-6, C=3.0, **plain).fit(data, y)
    np.testing.assert_allclose(ours.dual_objective_, exact.dual_objective_, rtol=1e-9)
    np.testing.assert_allclose(ours.decision_function(new), exact.decision_function(new), atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=2e-4)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert ours.weights_.tolist() == [[1.0]] * (1 if classes == 2 else 3)


def test_sums_products_scales_and_other_kernels_are_svc_on_the_matrix():
    gammas, weights = {"first": 0.5, "second": 0.1, "third": 2.0}, {"first": 2.0, "second": 0.5, "third": 0.0}

    def kernel(a, b):
        return 2.0 * rbf_kernel(a[:, FIRST], b[:, FIRST], 0.5) + 0.5 * rbf_kernel(a[:, SECOND], b[:, SECOND], 0.1)

    ours = assert_same_as_summed(machine(gamma=gammas, weights=weights, C=2.0), kernel, X, Y, X_NEW, C=2.0)
    assert ours.weights_.tolist() == [[2.0, 0.5, 0.0]]
    assert ours.gamma_ == gammas
    assert {name: columns.tolist() for name, columns in ours.groups_.items()} == {
        "first": FIRST,
        "second": SECOND,
        "third": THIRD,
    }

    def kernel(a, b):
        factors = zip((FIRST, SECOND, THIRD), (0.5, 0.1, 2.0), strict=True)
        return 3.0 * np.prod([rbf_kernel(a[:, c], b[:, c], g) for c, g in factors], axis=0)

    assert_same_as_summed(machine(gamma=(0.5, 0.1, 2.0), weights=3.0, combine="product"), kernel, X, Y, X_NEW)

    def kernel(a, b):
        groups = (FIRST, SECOND, THIRD)
        return sum(rbf_kernel(a[:, c], b[:, c], 1 / (s * len(c))) for c in groups for s in (0.25, 1, 4))

    ours = assert_same_as_summed(machine(gamma="auto", scales=(0.25, 1, 4)), kernel, X, Y, X_NEW)
    assert ours.kernel_names_[:4] == ("first/0.25", "first/1", "first/4", "second/0.25")
    assert ours.weights_.shape == (1, 9)
    kernels = {"first": ["linear", "poly"], "second": Kernel("rbf", 0.7), "third": ["poly", Kernel("poly", 1.0, 0.0, 1)]}
    weights = {"first:linear": 0.3, "first:poly": 0.1, "second": 2.0, "third:poly": 0.2, "third:poly.2": 0.4}

    def kernel(a, b):
        return (
            0.3 * linear_kernel(a[:, FIRST], b[:, FIRST])
            + 0.1 * polynomial_kernel(a[:, FIRST], b[:, FIRST], 2, 1 / 3, 1.0)
            + 2.0 * rbf_kernel(a[:, SECOND], b[:, SECOND], 0.7)
            + 0.2 * polynomial_kernel(a[:, THIRD], b[:, THIRD], 2, 1.0, 1.0)
            + 0.4 * linear_kernel(a[:, THIRD], b[:, THIRD])
        )

    ours = machine(kernel=kernels, weights=weights, gamma="auto", degree=2, coef0=1.0)
    assert assert_same_as_summed(ours, kernel, X, Y, X_NEW).kernel_names_ == tuple(weights)


def test_weights_of_their_own_for_each_pair_of_classes():
    weights = np.array([[1.0, 0.0], [0.3, 2.0], [0.5, 0.5]])
    options = {"groups": WINE_GROUPS, "gamma": "auto"}  # "scale" depends on the rows of the pair
    ours = machine(**options, weights=weights, decision_function_shape="ovo").fit(WINE[::2], CULTIVAR[::2])
    np.testing.assert_array_equal(ours.weights_, weights)
    decisions = ours.decision_function(WINE[1::2])
    for problem, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(CULTIVAR[::2], (i, j))
        alone = machine(**options, weights=weights[problem]).fit(WINE[::2][rows], CULTIVAR[::2][rows])
        np.testing.assert_allclose(decisions[:, problem], -alone.decision_function(WINE[1::2]), atol=1e-5)
        assert ours.dual_objective_[problem] == pytest.approx(alone.dual_objective_[0], rel=1e-6)
    small = clone(ours).set_params(cache_size=1e-3).fit(WINE[::2], CULTIVAR[::2])
    np.testing.assert_allclose(small.decision_function(WINE[1::2]), decisions, atol=1e-5)


@pytest.mark.parametrize("data", [(X, Y), (WINE, CULTIVAR)], ids=["two", "three"])
def test_weights_of_features(data):
    rows, y = data
    groups = [slice(0, 2), slice(2, None)]
    ours = machine(groups=groups, kernel="linear", weights=(2.0, 0.5), decision_function_shape="ovo").fit(rows, y)
    decisions = rows @ ours.coef_.T + ours.intercept_
    np.testing.assert_allclose(decisions.squeeze(), ours.decision_function(rows), atol=1e-9)
    assert not hasattr(machine().fit(X, Y), "coef_")


def test_entries_are_set_in_copies_and_follow_groups():
    weights = {"first": 2.0}
    ours = machine(weights=weights, gamma=(0.1, 0.2, "scale"))
    assert ours.set_params(weights__third=5.0, gamma__second=0.7, C=2.0) is ours
    assert weights == {"first": 2.0}
    assert ours.weights == {"first": 2.0, "second": 1.0, "third": 5.0}
    assert ours.gamma == {"first": 0.1, "second": 0.7, "third": "scale"}
    assert ours.C == 2.0
    params = ours.get_params()
    assert (params["weights__third"], params["gamma__third"]) == (5.0, "scale")
    assert "weights__third" not in ours.get_params(deep=False)
    other = clone(ours).set_params(weights__third=6.0)
    assert ours.weights["third"] == 5.0
    assert other.weights == {"first": 2.0, "second": 1.0, "third": 6.0}
    assert machine(weights=0.5).set_params(weights__first=2).weights == {"first": 2, "second": 0.5, "third": 0.5}
    assert machine(gamma=0.5).set_params(gamma__first=2).gamma == {"first": 2, "second": 0.5, "third": 0.5}
    ours = MultiKernelSVC().set_params(**{"weights__x/4": 2.0, "groups": {"x": [0]}, "scales": (1, 4)})
    assert ours.weights == {"x/1": 1.0, "x/4": 2.0}


def test_searches_of_scikit_learn_and_ours_find_entries():
    grid = {"weights__first": [0.01, 10.0], "gamma__second": [0.1, 1.0], "C": [1.0]}
    for search in (
        GridSearchCV(machine(), grid, cv=3),
        RandomizedSearchCV(machine(), grid, n_iter=3, cv=3, random_state=0),
        SpotSearchCV(machine(), grid, n_iter=4, cv=3, random_state=0),
    ):
        search.fit(X, Y)
        best = search.best_estimator_
        assert best.weights["first"] == search.best_params_["weights__first"]
        assert best.gamma_["second"] == search.best_params_["gamma__second"]
        assert (best.weights["second"], best.gamma["third"]) == (1.0, "scale")
    pipeline = make_pipeline(StandardScaler(), machine())
    ours = GridSearchCV(pipeline, {f"multikernelsvc__{name}": values for name, values in grid.items()}, cv=3).fit(X, Y)
    assert ours.best_estimator_[-1].weights["first"] == ours.best_params_["multikernelsvc__weights__first"]


@pytest.mark.parametrize("kind", [MultiKernelSVC, MultiKernelSVR])
def test_a_warning_of_an_early_stop_points_to_the_caller(kind):
    with pytest.warns(ConvergenceWarning, match="stopped early") as told:
        kind(max_iter=1).fit(X, Y)
    assert [warning.filename for warning in told] == [__file__]


ROWS = np.random.default_rng(0).normal(size=(30, 4))
PAIRS = {"left": [0, 1], "right": [2, 3]}


@pytest.mark.parametrize("kind", [MultiKernelSVC, MultiKernelSVR])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": -1.0}, "weights: the weight of the kernel 'left' is -1.0; use a finite number, 0 or more"),
        ({"weights": {"right": np.nan}}, "weights: the weight of the kernel 'right' is nan"),
        ({"weights": (0.0, 0.0)}, "weights are all 0; at least one must be positive"),
        ({"weights": {"up": 1.0}}, "weights names 'up', which is not among the kernels 'left', 'right'"),
        ({"weights": (1.0, 1.0, 1.0)}, r"weights has shape \(3,\); use \(2,\) for the kernels 'left', 'right'"),
        ({"weights": np.ones((3, 2))}, r"weights has shape \(3, 2\); use \(2,\) .*, or \(1, 2\)"),
        ({"weights": "heavy"}, "weights is not an array of numbers"),
        ({"gamma": "broad"}, "gamma for the group 'left': gamma='broad'"),
        ({"gamma": {"left": -1.0}}, "the kernel 'left': gamma=-1.0"),
        ({"gamma": None}, "gamma=None; use 'auto', 'scale', a number"),
        ({"gamma": (0.1, np.nan)}, "gamma=nan for the group 'right'"),
        ({"gamma": (0.1,)}, r"gamma has shape \(1,\); there are 2 groups: 'left', 'right'"),
        ({"gamma": {"up": 0.1}}, "gamma names 'up', which is not among the groups 'left', 'right'"),
        ({"kernel": {"left": "rbf"}}, "kernel has no entry for the group 'right'"),
        ({"kernel": {"left": "rbf", "right": "rbf", "up": "rbf"}}, "kernel names 'up'"),
        ({"kernel": []}, "kernel is an empty list"),
        ({"kernel": "precomputed"}, "kernel='precomputed' has no columns to be grouped"),
        ({"scales": ()}, r"scales=\(\); use positive factors"),
        ({"scales": (1, 1)}, r"scales=\(1, 1\); use positive factors of sigma, each once"),
        ({"scales": None}, "scales=None"),
        ({"combine": "mean"}, "combine='mean'; use 'sum' or 'product'"),
        ({"combine": "product", "kernel": "linear"}, "combine='product' needs one kernel 'rbf' for each group"),
        ({"combine": "product", "scales": (1, 2)}, "combine='product' needs one kernel 'rbf' for each group"),
        ({"combine": "product", "weights": (1.0, 2.0)}, r"weights has shape \(2,\); use \(1,\) for the kernels 'product'"),
        ({"groups": {"left": [0, 1], "right": [1, 2, 3]}}, "column 1 is in the groups 'left' and 'right'"),
        (
            {"groups": {"a": [0, 1], "a/2": [2, 3]}, "scales": (1, 2), "kernel": {"a": "rbf", "a/2": "linear"}},
            "would be called 'a/2'",
        ),
    ],
)
def test_what_makes_no_sense_is_told_at_fit(kind, options, message):
    machine = kind(**{"groups": PAIRS, **options})
    with pytest.raises(ArgumentError, match=message):
        machine.fit(ROWS, np.arange(30) % 2)


@pytest.mark.parametrize(("options", "message"), [({"kernel": "cubic"}, "'cubic'"), ({"kernel": ["rbf", 3]}, "kernel=3")])
def test_an_unknown_kernel_is_told(options, message):
    with pytest.raises(SolverError, match=message):
        MultiKernelSVC(**options).fit(ROWS, np.arange(30) % 2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights__up": 1.0}, "weights__up is not a parameter; there are weights__left, weights__right"),
        ({"gamma__up": 1.0}, "gamma__up is not a parameter; there are gamma__left, gamma__right"),
        ({"weights__left": 1.0, "scales": (1, 4)}, "weights__left is not a parameter; there are weights__left/1"),
        ({"weights__left": 1.0, "weights": np.ones((3, 2))}, r"weights has shape \(3, 2\)"),
        ({"nope": 1}, "Invalid parameter 'nope'"),
    ],
)
def test_an_entry_that_is_not_there_is_told_when_it_is_set(params, message):
    with pytest.raises(ValueError, match=message):
        MultiKernelSVC(groups=PAIRS).set_params(**params)


def test_weights_that_are_zero_for_one_problem_are_told():
    weights = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ArgumentError, match="weights are all 0 for problem 1"):
        MultiKernelSVC(groups=PAIRS, weights=weights).fit(ROWS, np.arange(30) % 3)
