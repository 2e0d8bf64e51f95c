"""Scores on folds from shared work are scikit-learn's: accuracy and R^2 to the last digit, others but for rounding."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, f1_score, get_scorer, make_scorer, r2_score
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR

from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.shared_scores import known_score
from spotsvm.luck.rows import RememberedPredictions

SEEDS = st.integers(0, 10_000)


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from([np.float64, np.float32, np.int64]))
def test_r2(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    y = (100 * rng.standard_normal(n)).astype(kind)
    if seed % 10 == 0:
        y[:] = 3
    predicted = y + rng.standard_normal(n) * 10.0 ** rng.uniform(-6, 3) if seed % 7 else y.astype(float)
    found = known_score(get_scorer("r2"), None).of(predicted, y.astype(np.float64), np.ones(n), strict=True)
    assert found == r2_score(y, predicted)


DECISIONS = {"response_method": ("decision_function", "predict_proba")}
LABELS = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "precision_macro",
    "recall_weighted",
    "jaccard_macro",
]
CANCER, WINE, DIABETES = ([one[::4] for one in load(return_X_y=True)] for load in (load_breast_cancer, load_wine, load_diabetes))
TEXTS = CANCER[0], np.where(CANCER[1] == 1, "yes", "no")
CASES = {
    "two classes": (SVC(), CANCER, [*LABELS, "f1", "precision", "recall", "jaccard", "roc_auc", "average_precision"]),
    "texts": (
        make_pipeline(StandardScaler(), SVC()),
        TEXTS,
        {
            "f1": make_scorer(f1_score, pos_label="no"),
            "average_precision": make_scorer(average_precision_score, pos_label="no", **DECISIONS),
            "weighted": "f1_weighted",
        },
    ),
    "three classes": (make_pipeline(StandardScaler(), SVC()), WINE, [*LABELS, "average_precision"]),
    "numbers": (
        make_pipeline(StandardScaler(), SVR(C=100.0)),
        DIABETES,
        [
            "r2",
            "explained_variance",
            *(f"neg_{name}" for name in ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error")),
            *(f"neg_{name}" for name in ("median_absolute_error", "max_error")),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_of_folds_are_scikit_learns_and_need_no_scorer(case, monkeypatch):
    estimator, (X, y), scoring = CASES[case]
    cv = (KFold if case == "numbers" else StratifiedKFold)(3, shuffle=True, random_state=0)
    expected = cross_validate(estimator, X, y, cv=cv, scoring=scoring, return_train_score=True)
    options = {"scoring": scoring, "engine": "auto", "return_train_score": True}

    def refused(*args):
        raise AssertionError("scikit-learn's scorer was called")

    with monkeypatch.context() as patch:
        patch.setattr(RememberedPredictions, "answer", refused)
        found = FoldScorer(estimator, X, y, list(cv.split(X, y)), {}, **options).score([{}])[0].numbers
    rounding = 1e-12 if case != "numbers" else 1e-4  # the solver's tolerance
    for name in scoring:
        for side in ("test", "train"):
            folds = [found[f"split{k}_{side}_{name}"] for k in range(3)]
            np.testing.assert_allclose(folds, expected[f"{side}_{name}"], rtol=rounding, atol=rounding)


def test_what_scikit_learn_warns_of_is_warned_of():
    """No row of the smaller class is predicted, so its precision is 0/0."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), (np.arange(60) % 6 == 0).astype(int)
    splits = list(StratifiedKFold(3).split(X, y))
    with pytest.warns(UndefinedMetricWarning, match="Precision is ill-defined"):
        found = FoldScorer(SVC(), X, y, splits, {}, scoring="precision", engine="auto").score([{"C": 1e-3}])[0]
    assert [found.numbers[f"split{k}_test_score"] for k in range(3)] == [0.0] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = make_scorer(f1_score, zero_division=0)
        assert FoldScorer(SVC(), X, y, splits, {}, scoring=quiet, engine="auto").score([{"C": 1e-3}])[0].mean("score", 3) == 0.0


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_scores_that_a_fold_does_not_have():
    """A test set of one class has no ROC AUC: scikit-learn says so."""
    X, y = CANCER
    order = np.argsort(y, kind="stable")
    splits = [(np.r_[order[:30], order[-60:]], order[60:70]), (order[20:], order[:20])]
    scorer = FoldScorer(make_pipeline(StandardScaler(), SVC()), X, y, splits, {}, scoring=["accuracy", "roc_auc"], engine="auto")
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        found = scorer.score([{}])[0].numbers
    assert np.isfinite(found["split0_test_accuracy"])
    assert not np.isfinite(found.get("split1_test_roc_auc", np.nan))


def standard(loader):
    X, y = loader(return_X_y=True)
    return StandardScaler().fit_transform(X), y


class TwoWays(StandardScaler):
    """Transforms training rows otherwise when it is fitted on them, as TargetEncoder does."""

    def fit_transform(self, X, y=None, **params):
        return self.fit(X, y).transform(X) + np.arange(len(X))[:, None]


#: few rows of one class, at a cost so small that the bias of some folds is open
SKEWED = make_classification(60, 30, n_informative=3, n_redundant=0, weights=[0.75], flip_y=0.1, class_sep=0.8, random_state=2)


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVC(C=0.5), standard(load_wine)),
        (make_pipeline(TwoWays(), SVC()), standard(load_wine)),
        (SVC(C=1 / 32, gamma=1 / 64, class_weight="balanced"), (scale(SKEWED[0]), SKEWED[1])),
    ],
    ids=["shared", "rows apart", "open bias"],
)
def test_training_scores(machine, data):
    X, y = data
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    ours, theirs = (
        FoldScorer(machine, X, y, splits, {}, engine=e, return_train_score=True).score([{}])[0].numbers
        for e in ("auto", "sklearn")
    )
    assert {k: v for k, v in ours.items() if "split" in k} == {k: v for k, v in theirs.items() if "split" in k}
    assert set(ours) == set(theirs)
