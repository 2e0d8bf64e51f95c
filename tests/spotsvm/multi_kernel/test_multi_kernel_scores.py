"""Cross-validation of multiple-kernel machines from shared work: the numbers of scikit-learn's own loop."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import MultiKernelSVC, MultiKernelSVR, cross_val_scores
from spotsvm.kernels import Kernel

HALVES = RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)


def standard(loader, cut):
    X, y = loader(return_X_y=True)
    return StandardScaler().fit_transform(X), y, {"front": list(range(cut)), "back": slice(cut, None)}


def candidates(count=6, seed=0):
    rng = np.random.default_rng(seed)
    names = ("weights__front", "weights__back", "gamma__front", "gamma__back")
    return [{name: 2.0 ** rng.uniform(-6, 2) for name in names} for _ in range(count)]


def by_sklearn(estimator, X, y, settings, **options):
    return np.array([cross_val_score(clone(estimator).set_params(**c), X, y, **options) for c in settings])


@pytest.mark.parametrize(("loader", "cv"), [(load_breast_cancer, 5), (load_wine, HALVES)], ids=["5", "3x2"])
def test_scores_are_those_of_scikit_learns_loop(loader, cv, counted):
    X, y, groups = standard(loader, 6)
    ours = cross_val_scores(MultiKernelSVC(groups=groups), X, y, candidates(), cv)
    theirs = by_sklearn(MultiKernelSVC(groups=groups), X, y, candidates(), cv=cv)
    assert np.abs(ours - theirs).max() <= 1.01 / (len(y) // 5)
    assert (ours == theirs).mean() >= 0.95
    assert len(counted) == 6


@pytest.mark.parametrize(
    "candidate",
    [
        {"kernel": "linear", "weights": (0.1, 2.0)},
        {"kernel": ["rbf", "linear"], "scales": (0.25, 4.0), "weights": (1.0, 0.5, 0.0, 1.0, 0.0, 0.1)},
        {"kernel": {"front": "poly", "back": "rbf"}, "coef0": 1.0, "degree": 2},
        {"gamma": "scale", "C": 3.0},
        {"gamma": {"front": "scale"}},
        {"combine": "product", "gamma": (0.1, 0.02)},
        {"gamma": 1e-5, "C": 1000.0},
        {"groups": None, "class_weight": "balanced"},
        {"weights": {"back": 0.0}, "class_weight": {0: 2.0, 1: 0.5}},
    ],
    ids=["linear", "mixed", "poly", "scale", "scales", "product", "smooth", "one", "zero"],
)
def test_all_kinds_of_kernels(candidate, counted):
    X, y, groups = standard(load_breast_cancer, 6)
    machine = MultiKernelSVC(groups=groups)
    ours = cross_val_scores(machine, X, y, [candidate], scoring="roc_auc")
    np.testing.assert_allclose(ours, by_sklearn(machine, X, y, [candidate], scoring="roc_auc", cv=5), atol=2e-3)
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("machine", "settings"),
    [
        (MultiKernelSVR(groups={"front": slice(0, 4), "back": slice(4, None)}, C=100.0), candidates(3)),
        (MultiKernelSVR(), [{"C": 100.0, "epsilon": 5.0, "gamma": gamma} for gamma in (0.01, 0.1)]),
    ],
    ids=["groups", "one group"],
)
def test_regression(machine, settings, counted):
    X, y, _ = standard(load_diabetes, 4)
    plain = machine if machine.groups else SVR()
    ours = cross_val_scores(machine, X, y, settings)
    np.testing.assert_allclose(ours, by_sklearn(plain, X, y, settings, cv=5), rtol=2e-3, atol=1e-3)
    assert len(counted) == len(settings)


def test_at_the_end_of_a_pipeline_by_names_of_columns_and_by_turns(counted):
    table, y = load_wine(return_X_y=True, as_frame=True)
    ours = MultiKernelSVC(groups={"front": list(table.columns[:5]), "back": list(table.columns[5:])})
    pipeline = Pipeline([("scale", StandardScaler().set_output(transform="pandas")), ("machine", ours)])
    settings = [{f"machine__{name}": value for name, value in c.items()} for c in candidates(3)]
    settings += [{"machine": m} for m in (SVC(C=0.5), ours, SVC(kernel="linear"), MultiKernelSVC())]
    np.testing.assert_array_equal(cross_val_scores(pipeline, table, y, settings), by_sklearn(pipeline, table, y, settings, cv=5))
    alone = cross_val_scores(ours, table, y, candidates(3))
    np.testing.assert_allclose(alone, by_sklearn(ours, table, y, candidates(3), cv=5), atol=0.03)
    assert len(counted) == 7 + 3


def test_little_memory_is_enough(counted):
    X, y, groups = standard(load_wine, 6)
    machine, n = MultiKernelSVC(groups=groups), len(y)
    plenty = cross_val_scores(machine, X, y, candidates())
    for max_bytes in (9 * n * n, 100):
        np.testing.assert_array_equal(cross_val_scores(machine, X, y, candidates(), max_bytes=max_bytes), plenty)
    assert len(counted) == 2 * 6


WINE = standard(load_wine, 6)
FRONT_AND_BACK = {"front": slice(0, 3), "back": slice(3, 8)}
TWO_CLASSES = (*make_classification(200, 8, n_informative=4, flip_y=0.15, random_state=1), FRONT_AND_BACK)


@pytest.mark.parametrize(
    ("data", "candidate"),
    [
        (WINE, {"kernel": "sigmoid", "gamma": 0.01}),
        (WINE, {"kernel": laplacian_kernel}),
        (WINE, {"weights": np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])}),
        (TWO_CLASSES, {"kernel": {"front": "linear", "back": "rbf"}, "weights": (1e6, 0.02)}),
        (TWO_CLASSES, {"kernel": {"front": "rbf", "back": Kernel("poly", 1e-6, 100.0, 3)}, "gamma": {"front": 1e-4}}),
        (TWO_CLASSES, {"gamma": 0.001, "weights": (1e8, 1.0)}),
    ],
    ids=["indefinite", "callable", "weights of pairs", "heavy linear kernel", "flat polynomial", "heavy smooth kernel"],
)
def test_what_is_left_to_scikit_learn(data, candidate, counted):
    X, y, groups = data
    machine = MultiKernelSVC(groups=groups)
    ours = cross_val_scores(machine, X, y, [candidate])
    np.testing.assert_array_equal(ours, by_sklearn(machine, X, y, [candidate], cv=5))
    assert counted == []


def test_weights_across_the_whole_range_stay_shared(counted):
    X, y, groups = TWO_CLASSES
    machine = MultiKernelSVC(groups=groups)
    settings = [
        {"weights": weights, "gamma": gamma}
        for weights in ((2.0**12, 2.0**-12), (2.0**-12, 2.0**12), (2.0**12, 2.0**12), (2.0**-12, 2.0**-12))
        for gamma in ((2.0**-8 / 3, 2.0**8 / 5), (2.0**8 / 3, 2.0**-8 / 5))
    ]
    ours = cross_val_scores(machine, X, y, settings, 3)
    assert np.abs(ours - by_sklearn(machine, X, y, settings, cv=3)).max() <= 1.01 / (200 // 3)
    assert len(counted) == 8


@pytest.mark.parametrize(
    "candidate", [{"weights": -1.0}, {"gamma": {"up": 1.0}}, {"groups": {"front": [0]}}, {"combine": "mean"}], ids=str
)
def test_what_makes_no_sense_fails_as_in_scikit_learn(candidate, counted):
    X, y, groups = standard(load_wine, 6)
    with pytest.warns(FitFailedWarning, match="1 of 1 candidates failed, in some folds or in every fold"):
        assert np.isnan(cross_val_scores(MultiKernelSVC(groups=groups), X, y, [candidate])).all()
    with pytest.raises(ValueError, match="weights__up is not a parameter"):
        cross_val_scores(MultiKernelSVC(groups=groups), X, y, [{"weights__up": 1.0}], error_score="raise")
    assert counted == []
