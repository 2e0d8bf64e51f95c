"""The same numbers as scikit-learn's, from shared work or, silently, from scikit-learn itself."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from spotsvm import EvoSVC, MultiKernelSVC, cross_val_scores
from spotsvm.errors import ArgumentError

C_AND_GAMMA = [{"C": C, "gamma": gamma} for C in (0.03, 1.0, 100.0) for gamma in (1e-3, 0.03, 1.0)]


def standard(loader):
    X, y = loader(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def by_sklearn(estimator, X, y, candidates, **options):
    from sklearn.base import clone

    return np.array([cross_val_score(clone(estimator).set_params(**c), X, y, **options) for c in candidates])


def one_row(y, cv=5):
    """What one test row more or less changes an accuracy by."""
    return 1.01 / (len(y) // cv)


@pytest.mark.parametrize(
    "candidate",
    [
        {"kernel": "linear", "C": 0.5},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.05},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "rbf", "gamma": "auto", "C": 10},
        {"kernel": "rbf", "class_weight": "balanced", "C": 0.1},
        {"kernel": "rbf", "class_weight": {0: 3.0, 1: 0.5}, "gamma": 0.02},
        {"kernel": "rbf", "tol": 1e-5, "shrinking": False},
        {"gamma": 2.0},
        {"gamma": 8.0},
    ],
    ids=lambda c: "-".join(map(str, c.values())),
)
def test_kernels_and_weights(candidate, counted):
    X, y = standard(load_breast_cancer)
    ours = cross_val_scores(SVC(), X, y, [candidate], scoring="roc_auc")
    np.testing.assert_allclose(ours, by_sklearn(SVC(), X, y, [candidate], scoring="roc_auc"), atol=2 * one_row(y))
    assert len(counted) == 1


@pytest.mark.parametrize(
    "cv",
    [
        2,
        KFold(7, shuffle=True, random_state=1),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(4, train_size=0.3, random_state=0),
        TimeSeriesSplit(3),
    ],
    ids=["2", "shuffled", "repeated", "small", "time"],
)
def test_any_folds(cv, counted):
    X, y = make_classification(200, 6, flip_y=0.1, random_state=0)
    ours = cross_val_scores(SVC(), X, y, C_AND_GAMMA, cv=cv)
    theirs = by_sklearn(SVC(), X, y, C_AND_GAMMA, cv=cv)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1.01 / 28
    assert (ours == theirs).mean() >= 0.95
    assert len(counted) == len(C_AND_GAMMA)


def pick(X, mask):
    return X[:, mask]


LONG = np.random.default_rng(0).normal(size=(60, 1200))
LONG[1::2, 600] += 3.0
MASKS = [{"mask": np.arange(1200) == column} for column in (600, 601)]
IRIS, KINDS = standard(load_iris)
FRAME, CULTIVARS = load_wine(return_X_y=True, as_frame=True)
PANDAS = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC())


@pytest.mark.parametrize(
    ("estimator", "X", "y", "candidates"),
    [
        (
            make_pipeline(StandardScaler(), PCA(random_state=0), SVC()), FRAME.to_numpy(), CULTIVARS.to_numpy(),
            [{"pca__n_components": k, "svc__C": C, "svc__gamma": 0.1} for C in (0.1, 1.0, 10.0) for k in (2, 5)],
        ),
        (
            make_pipeline(FunctionTransformer(pick), SVC()), LONG, np.arange(60) % 2,
            [{"functiontransformer__kw_args": mask} for mask in MASKS],
        ),
        (PANDAS, FRAME, CULTIVARS, [{"svc__C": 1.0}]),
        (PANDAS, FRAME, pd.Series(np.array(["a", "b", "c"])[CULTIVARS], name="kind"), [{"svc__C": 1.0}]),
        (SVC(kernel="precomputed"), IRIS @ IRIS.T, KINDS, [{"C": 0.1}, {"C": 10.0}]),
    ],
    ids=["pipeline", "transformers that differ within a long parameter", "frame", "names of classes", "precomputed"],
)  # fmt: skip
def test_equal_numbers(estimator, X, y, candidates, counted):
    np.testing.assert_array_equal(cross_val_scores(estimator, X, y, candidates), by_sklearn(estimator, X, y, candidates))
    assert len(counted) == len(candidates)


FITS = []


class Counting(StandardScaler):
    def fit(self, X, y=None, sample_weight=None):
        FITS.append(len(X))
        return super().fit(X, y, sample_weight)


def test_transformers_are_fitted_once_for_each_setting_and_fold():
    FITS.clear()
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(Counting(), SVC())
    candidates = [{"svc__C": C, "counting__with_mean": m} for C in (0.1, 1.0, 10.0) for m in (True, False)]
    cross_val_scores(pipeline, X, y, candidates, cv=3)
    assert len(FITS) == 2 * 3


@pytest.mark.parametrize(("base", "other"), [(SVC(), SVR()), (SVR(), SVC()), (SVC(), "passthrough"), (SVC(), NuSVC(nu=0.2))])
def test_a_candidate_may_be_another_estimator(base, other):
    X, y = standard(load_iris)
    pipeline = Pipeline([("scale", StandardScaler()), ("machine", base)])
    candidates = [{"machine": other}]
    cv = KFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        ours = cross_val_scores(pipeline, X[:100], y[:100], candidates, cv=cv)
        theirs = cross_val_scores(pipeline, X[:100], y[:100], candidates, cv=cv, engine="sklearn")
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


@pytest.mark.parametrize("factor", [1e-30, 1e-25, 1e20, 1e30])
def test_data_out_of_the_range_of_single_precision(factor):
    X, y = factor * IRIS[:100, :2], KINDS[:100]
    np.testing.assert_array_equal(cross_val_scores(SVC(), X, y, [{"C": 1.0}]), by_sklearn(SVC(), X, y, [{"C": 1.0}]))


def test_lists_are_data_too(counted):
    X, y = standard(load_iris)
    expected = cross_val_scores(SVC(), X, y, [{"C": 1.0}])
    np.testing.assert_array_equal(cross_val_scores(SVC(), X, y.tolist(), [{"C": 1.0}]), expected)
    folds = [(tuple(train), tuple(test)) for train, test in StratifiedKFold(5).split(X, y)]
    np.testing.assert_array_equal(cross_val_scores(SVC(), X, y, [{"C": 1.0}], cv=folds), expected)
    assert len(counted) == 3
    np.testing.assert_array_equal(cross_val_scores(SVC(), X.tolist(), y.tolist(), [{"C": 1.0}]), expected)


@pytest.mark.parametrize(
    "candidate",
    [
        {"shrinking": "foo"},
        {"cache_size": -5},
        {"class_weight": np.ones(3)},
        {"break_ties": True, "decision_function_shape": "ovo"},
    ],
    ids=["shrinking", "cache", "weights", "ties"],
)
def test_what_sklearn_refuses_is_refused(candidate):
    X, y = standard(load_iris)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(cross_val_scores(SVC(), X, y, [candidate])).all()


@pytest.mark.parametrize(
    ("machine", "loader", "candidates"),
    [
        (NuSVC(), load_wine, [{"nu": nu, "gamma": g} for nu in (0.1, 0.3) for g in (0.01, "scale")]),
        (NuSVC(break_ties=True), load_breast_cancer, [{"nu": 0.2, "kernel": "poly", "coef0": 1.0, "degree": 2}]),
        (NuSVR(), load_diabetes, [{"C": 10.0, "gamma": g} for g in (0.01, "scale")]),
        (EvoSVC(method="exact"), load_wine, [{"C": C, "gamma": 0.05} for C in (0.1, 1.0)]),
    ],
    ids=["NuSVC", "ties", "NuSVR", "EvoSVC"],
)
def test_machines_that_share_the_matrix_only(machine, loader, candidates, counted):
    X, y = standard(loader)
    ours = cross_val_scores(machine, X, y, candidates)
    np.testing.assert_allclose(ours, by_sklearn(machine, X, y, candidates), atol=1e-3)
    assert len(counted) == len(candidates)


def no_probabilities(estimator, X, y):
    return float((estimator.predict(X) == y).mean())


@pytest.mark.parametrize(
    ("estimator", "candidate", "options"),
    [
        (SVC(), {"kernel": "sigmoid"}, {}),
        (SVC(), {"kernel": "poly", "coef0": -1.0}, {}),
        (SVC(kernel="precomputed"), {}, {"indefinite": True}),
        (SVC(), {"kernel": lambda a, b: a @ b.T}, {}),
        (SVC(), {"C": 1.0}, {"scoring": no_probabilities}),
        (SVC(), {"C": 1.0}, {"sparse": True}),
        (NuSVC(nu=0.3), {"kernel": "precomputed"}, {"square": True}),
        (EvoSVC(method="hybrid", random_state=0), {}, {}),
        (RandomForestClassifier(5, random_state=0), {"max_depth": 3}, {}),
        (type("Mine", (SVC,), {})(), {"C": 2.0}, {}),
        (type("Mine", (MultiKernelSVC,), {})(), {"C": 2.0}, {}),
    ],
    ids="sigmoid poly indefinite callable scorer sparse NuSVC evolution forest subclass several-subclass".split(),
)
def test_what_is_left_to_sklearn(estimator, candidate, options, counted):
    X, y = standard(load_iris)
    X, y = X[:100], y[:100]
    if options.pop("indefinite", False):
        X = np.tanh(X @ X.T - 1.0)
    if options.pop("square", False):
        X = X @ X.T
    if options.pop("sparse", False):
        X = csr_matrix(X)
    ours = cross_val_scores(estimator, X, y, [candidate], **options)
    np.testing.assert_array_equal(ours, by_sklearn(estimator, X, y, [candidate], **options))
    assert counted == []


def test_a_cap_on_iterations_and_wrong_arguments_are_sklearns(counted):
    X, y = standard(load_iris)
    with pytest.warns(UserWarning, match="Solver terminated early"):
        ours = cross_val_scores(SVC(), X, y, [{"max_iter": 3}])
    with pytest.warns(UserWarning, match="Solver terminated early"):
        np.testing.assert_array_equal(ours, by_sklearn(SVC(), X, y, [{"max_iter": 3}]))
    assert counted == []
    with pytest.raises(ValueError, match="Invalid parameter 'nope'"):
        cross_val_scores(SVC(), X, y, [{"nope": 1}])
    with pytest.raises(ValueError, match="Unknown label type"):
        cross_val_scores(SVC(), X, y + 0.5, [{"C": 1.0}], cv=KFold(3), error_score="raise")
    with pytest.raises(AttributeError, match="predict_proba"):
        cross_val_scores(SVC(), X, y, [{"C": 1.0}], scoring="neg_log_loss", error_score="raise")
    assert counted == []
    with pytest.warns(FitFailedWarning, match="^1 of 2 candidates failed, in some folds or in every fold: 1 x "):
        scores = cross_val_scores(SVC(), X, y, [{"C": -1.0}, {"C": 1.0}])
    assert np.isnan(scores[0]).all()
    assert (scores[1] > 0.9).all()


def test_the_order_and_company_of_candidates_and_the_memory_change_nothing():
    X, y = standard(load_breast_cancer)
    together = cross_val_scores(SVC(), X, y, C_AND_GAMMA)
    backwards = cross_val_scores(SVC(), X, y, C_AND_GAMMA[::-1])[::-1]
    alone = np.vstack([cross_val_scores(SVC(), X, y, [c]) for c in C_AND_GAMMA])
    assert np.abs(together - backwards).max() <= one_row(y)
    assert np.abs(together - alone).max() <= one_row(y)
    assert (together == alone).mean() >= 0.97
    X, y = standard(load_wine)
    everything = cross_val_scores(SVC(), X, y, C_AND_GAMMA)
    n = len(y)
    np.testing.assert_array_equal(cross_val_scores(SVC(), X, y, C_AND_GAMMA, max_bytes=4 * n * n), everything)
    np.testing.assert_array_equal(cross_val_scores(SVC(), X, y, C_AND_GAMMA, max_bytes=100), everything)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": []}, "candidates is empty"),
        ({"engine": "fast"}, "engine='fast'; use 'auto' or 'sklearn'"),
        ({"scoring": ["accuracy", "f1"]}, "use one score: a name, a callable or None"),
    ],
    ids=["candidates", "engine", "scoring"],
)
def test_bad_arguments(options, message):
    X, y = standard(load_iris)
    with pytest.raises(ArgumentError, match=message):
        cross_val_scores(SVC(), X, y, **{"candidates": [{}], **options})
