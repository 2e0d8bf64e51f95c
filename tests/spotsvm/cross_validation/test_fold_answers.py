"""Candidates are scored as GridSearchCV scores them, and their answers for the test rows come from the same fits."""

import logging
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from spotsvm import CutoffClassifier
from spotsvm.cross_validation.fold_answers import responses_of
from spotsvm.cross_validation.fold_scorer import FoldScorer

TWO, OF_TWO = make_classification(60, 4, random_state=0)
THREE, OF_THREE = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, class_sep=0.4, random_state=1)
REAL, OF_REAL = make_regression(45, 3, noise=5.0, random_state=0)
BOTH = np.column_stack([OF_REAL, -2.0 * OF_REAL])
NAMED = np.array(["no", "yes"])[OF_TWO]
REAL_FOLDS = list(KFold(3).split(REAL))
WEIGHTS = np.linspace(0.1, 2.0, 60)
#: the first rows are in no test set
PART = [(np.r_[:40], np.r_[40:60]), (np.r_[20:60], np.r_[10:20])]


def folds_of(y, cv=3):
    return list(StratifiedKFold(cv, shuffle=True, random_state=0).split(np.zeros(len(y)), y))


def scorer(estimator, X, y, splits=None, fit_params=None, metric=None, calibrated=False, **options):
    splits = splits or folds_of(y)
    responses = responses_of(estimator, metric, calibrated)
    return FoldScorer(estimator, X, y, splits, fit_params or {}, **{"engine": "sklearn", "responses": responses} | options)


def answers_of(estimator, X, y, splits=None, candidate=None, **options):
    (scores,) = scorer(estimator, X, y, splits, **options).score([candidate or {}])
    assert scores.reason == ""
    return scores.answers


def only_scores(scores):
    return {name: number for name, number in scores.numbers.items() if "_time" not in name}


def two_numbers(estimator, X, y):
    return {"right": accuracy_score(y, estimator.predict(X)), "size": len(y)}


def one_number(estimator, X, y):
    assert isinstance(estimator, BaseEstimator)
    return np.float32(accuracy_score(y, estimator.predict(X)))


def changes_its_predictions(y, predicted):
    predicted[:] = 0
    return float(np.mean(y == predicted))


CASES = {
    "own score": (LogisticRegression(), TWO, OF_TWO, {"C": (0.01, 10.0)}, {}),
    "metrics": (
        LogisticRegression(), TWO, NAMED, {"C": (0.01, 10.0)},
        {"scoring": {"auc": "roc_auc", "p": "neg_log_loss", "b": "balanced_accuracy"}, "return_train_score": True},
    ),
    "names": (RandomForestClassifier(5, random_state=0), THREE, OF_THREE, {"max_depth": (1, 4)},
              {"scoring": ["accuracy", "f1_macro", "roc_auc_ovr"]}),
    "neighbours": (KNeighborsClassifier(), THREE, OF_THREE, {"n_neighbors": (1, 7)}, {"scoring": "f1_macro"}),
    "random state": (
        RandomForestClassifier(3, random_state=np.random.RandomState(3)), TWO, OF_TWO, {"max_depth": (1, 2)}, {},
    ),
    "a kernel matrix": (SVC(kernel="precomputed"), rbf_kernel(TWO), OF_TWO, {"C": (0.1, 10.0)}, {}),
    "a frame": (
        make_pipeline(StandardScaler(), SVC()), pd.DataFrame(TWO, columns=list("abcd")), pd.Series(NAMED),
        {"svc__C": (0.1, 10.0), "standardscaler": ("passthrough", StandardScaler(with_std=False))}, {"scoring": "roc_auc"},
    ),
    "a list": (SVC(), TWO.tolist(), OF_TWO.tolist(), {"C": (0.1, 10.0)}, {}),
    "sparse": (SVC(), csr_array(TWO), OF_TWO, {"C": (0.1, 10.0)}, {}),
    "masks": (SVC(), TWO, OF_TWO, {"C": (0.1, 10.0)}, {"cv": [(WEIGHTS > 0.7, WEIGHTS <= 0.7), (WEIGHTS <= 1.0, WEIGHTS > 1.0)]}),
    "clusters": (KMeans(2, n_init=1, random_state=0), TWO, None, {"n_clusters": (2, 3)}, {"cv": list(KFold(3).split(TWO))}),
    "values": (SVR(), REAL, OF_REAL, {"C": (0.1, 10.0)}, {"scoring": ["r2", "neg_mean_absolute_error"], "cv": REAL_FOLDS}),
    "several values": (Ridge(), REAL, BOTH, {"alpha": (0.1, 10.0)}, {"cv": REAL_FOLDS}),
    "a callable": (SVC(), TWO, OF_TWO, {"C": (0.1, 10.0)}, {"scoring": one_number}),
    "a callable of several": (SVC(), TWO, OF_TWO, {"C": (0.1, 10.0)}, {"scoring": two_numbers, "return_train_score": True}),
    "functions by name": (SVC(), TWO, OF_TWO, {"C": (0.1, 10.0)}, {"scoring": {"own": one_number, "auc": "roc_auc"}}),
    "a metric that changes its predictions": (
        KNeighborsClassifier(), TWO, OF_TWO, {"n_neighbors": (1, 7)}, {"scoring": make_scorer(changes_its_predictions)},
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("keeps", [False, True], ids=["scores", "answers"])
def test_scores_are_those_of_grid_search(case, keeps):
    estimator, X, y, grid, options = CASES[case]
    splits = options.get("cv") or folds_of(y)
    rest = {name: value for name, value in options.items() if name != "cv"} | ({} if keeps else {"responses": ()})
    search = GridSearchCV(estimator, grid, refit=False, **options | {"cv": splits}).fit(X, y)
    one = scorer(estimator, X, y, splits, **rest)
    for k, scores in enumerate(one.score(search.cv_results_["params"])):
        expected = {name: column[k] for name, column in search.cv_results_.items() if name.startswith("split")}
        assert only_scores(scores) == expected
        assert [name for name in scores.numbers if "_time" in name] == [
            "mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"
        ]  # fmt: skip
        assert (scores.answers is not None) == (keeps and y is not None)
    assert one.multimetric == search.multimetric_
    assert one.metrics == [name.removeprefix("mean_test_") for name in search.cv_results_ if name.startswith("mean_test_")]
    assert repr(one.scorer) == repr(search.scorer_)


def test_no_score_but_a_number():
    with pytest.raises(ValueError, match="scoring must return a number, got good"):
        scorer(SVC(), TWO, OF_TWO, scoring=lambda model, X, y: "good").score([{}])
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        scorer(SVC(), TWO, OF_TWO).score([{"depth": 3}])


class Counting(ClassifierMixin, BaseEstimator):
    """Counts fits and predictions, also of its clones; cannot be fitted without the first row if it `needs` it."""

    calls = Counter()

    def __init__(self, needs=False, C=1.0):
        self.needs, self.C = needs, C

    def fit(self, X, y):
        Counting.calls["fit"] += 1
        if self.needs and not np.any(X[:, 0] == TWO[0, 0]):
            raise RuntimeError("the first row is missing")
        self.model_ = LogisticRegression(C=self.C).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        Counting.calls["predict"] += 1
        return self.model_.predict(X)

    def predict_proba(self, X):
        Counting.calls["predict_proba"] += 1
        return self.model_.predict_proba(X)


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", ["accuracy", "f1", "neg_log_loss", "roc_auc"]])
def test_each_fold_is_fitted_once_and_its_test_rows_are_predicted_once_by_each_method(scoring):
    Counting.calls.clear()
    scores = scorer(Counting(), TWO, OF_TWO, scoring=scoring).score([{"C": 0.1}, {"C": 1.0}])
    assert Counting.calls == {"fit": 6, "predict": 6, "predict_proba": 6}
    assert all(one.answers.response == "predict_proba" for one in scores)


def test_a_candidate_that_fails_is_fitted_once_on_each_fold_too():
    Counting.calls.clear()
    one = scorer(Counting(), TWO, OF_TWO)
    fine, partly, well = one.score([{}, {"needs": True}, {"C": 2.0}])
    assert Counting.calls["fit"] == 9
    assert partly.answers is None
    assert partly.error_type == "RuntimeError"
    assert "line" in partly.traceback
    assert sum("split" in name for name in partly.numbers) == 2
    assert fine.answers is not None
    assert well.answers is not None
    assert str(one.last_error) == "the first row is missing"
    Counting.calls.clear()
    with pytest.raises(RuntimeError, match="the first row is missing"):
        scorer(Counting(), TWO, OF_TWO, error_score="raise").score([{"needs": True}, {}])
    assert Counting.calls["fit"] <= 3


def test_workers_give_the_same_and_may_fail_with_any_error():
    class TwoArguments(Exception):
        """Cannot be unpickled."""

        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")

    class Difficult(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            if self.C > 1.0:
                raise TwoArguments(1, 2)
            return super().fit(X, y, sample_weight)

    candidates = [{"C": 0.1}, {"C": 5.0}, {"C": 1.0}]
    here, there = (scorer(Difficult(), TWO, NAMED, n_jobs=n).score(candidates) for n in (None, 2))
    for one, other in zip(here, there, strict=True):
        assert {k: v for k, v in one.numbers.items() if "time" not in k} == {
            k: v for k, v in other.numbers.items() if "time" not in k
        }
        assert (one.reason, one.error_type) == (other.reason, other.error_type)
        assert (one.answers is None) == (other.answers is None)
        if one.answers is not None:
            assert np.array_equal(one.answers.values, other.answers.values)
    assert here[1].reason == "TwoArguments: 1 and 2"
    with pytest.raises(Exception, match="1 and 2") as caught:
        scorer(Difficult(), TWO, NAMED, n_jobs=2, error_score="raise").score(candidates)
    assert "in fit" in caught.value.__notes__[0]


def test_answers_are_those_of_cross_val_predict():
    folds = folds_of(OF_TWO)
    found = answers_of(LogisticRegression(), TWO, NAMED, folds)
    assert found.response == "predict_proba"
    expected = cross_val_predict(LogisticRegression(), TWO, NAMED, cv=folds, method="predict_proba")
    assert np.array_equal(found.values, expected)
    found = answers_of(SVC(), TWO, NAMED, folds)
    assert found.response == "decision_function"
    expected = cross_val_predict(SVC(), TWO, NAMED, cv=folds, method="decision_function")
    assert np.array_equal(found.values[:, 0], expected)
    folds = folds_of(OF_THREE)
    found = answers_of(GaussianNB(), THREE, OF_THREE, folds)
    assert np.array_equal(found.values, cross_val_predict(GaussianNB(), THREE, OF_THREE, cv=folds, method="predict_proba"))
    found = answers_of(SVC(), THREE, OF_THREE, folds, metric="roc_auc", calibrated=True)
    expected = cross_val_predict(SVC(), THREE, OF_THREE, cv=folds, method="decision_function")
    assert np.array_equal(found.values[:, :3], expected)
    pairs = answers_of(SVC(decision_function_shape="ovo"), THREE, OF_THREE, folds)  # which have no arg max themselves
    assert pairs.response == "decision_function"
    np.testing.assert_allclose(pairs.values, found.values, rtol=1e-12)
    assert np.array_equal(
        answers_of(Ridge(), REAL, OF_REAL, REAL_FOLDS).values[:, 0], cross_val_predict(Ridge(), REAL, OF_REAL, cv=REAL_FOLDS)
    )
    found = answers_of(Ridge(), REAL, BOTH, REAL_FOLDS)
    assert (found.response, found.values.shape) == ("predict", (45, 2))
    assert np.array_equal(found.values, cross_val_predict(Ridge(), REAL, BOTH, cv=REAL_FOLDS))


def test_predictions_that_do_not_follow_from_the_answers_are_kept_as_votes():
    folds = folds_of(OF_TWO)
    strict = FixedThresholdClassifier(LogisticRegression(), threshold=0.8, response_method="predict_proba")
    found = answers_of(strict, TWO, OF_TWO, folds)
    assert (found.response, found.values.shape) == ("predict_proba", (60, 3))
    proba = cross_val_predict(LogisticRegression(), TWO, OF_TWO, cv=folds, method="predict_proba")[:, 1]
    assert np.array_equal(found.values[:, 1], proba)
    assert np.array_equal(found.values[:, 2], np.where(proba >= 0.8, 0.5, -0.5))
    X, y = np.zeros((18, 1)), np.tile([0, 1, 2], 6)  # each pair of classes votes for another
    expected = cross_val_predict(SVC(), X, y, cv=KFold(3))
    tied = answers_of(SVC(), X, y, list(KFold(3).split(X)))
    assert np.array_equal(tied.values[:, -3:].argmax(axis=1), expected)


def test_classes_missing_in_a_fold_have_probability_0_or_the_least_decision():
    order = np.argsort(OF_THREE, kind="stable")
    X, y = THREE[order], np.array(["a", "b", "c"])[OF_THREE[order]]
    folds = list(KFold(3).split(X))
    found = answers_of(GaussianNB(), X, y, folds)
    expected = np.zeros((60, 3))
    for train, test in folds:
        model = GaussianNB().fit(X[train], y[train])
        expected[np.ix_(test, np.searchsorted(["a", "b", "c"], model.classes_))] = model.predict_proba(X[test])
    assert np.array_equal(found.values, expected)
    found = answers_of(SVC(), X, y, folds)
    assert found.values.shape == (60, 3)
    predicted = np.array(["a", "b", "c"])[found.values.argmax(axis=1)]
    assert np.array_equal(predicted, cross_val_predict(SVC(), X, y, cv=folds))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_where_there_are_no_answers():
    labels = np.column_stack([OF_TWO, 1 - OF_TWO])
    assert answers_of(KNeighborsClassifier(), TWO, labels, list(KFold(3).split(TWO))) is None
    assert answers_of(KMeans(2, n_init=1), TWO, None, list(KFold(3).split(TWO))) is None
    assert answers_of(DummyClassifier(), TWO, np.zeros(60), list(KFold(3).split(TWO))) is None
    assert answers_of(SVC(), TWO, OF_TWO, responses=()) is None


def of_long_tables(estimator, X, y):
    if X[0, 0] == TWO[0, 0]:
        raise LookupError("not this fold")
    return {"right": 1.0, "rows": len(y)}


def test_the_other_folds_count_if_a_callable_of_several_scores_fails():
    one = scorer(SVC(), TWO, OF_TWO, list(KFold(3).split(TWO)), scoring=of_long_tables)
    (scores,) = one.score([{}])
    assert only_scores(scores) == {f"split{k}_test_{name}": x for name, x in (("right", 1.0), ("rows", 20.0)) for k in (1, 2)}
    assert (one.metrics, one.multimetric, scores.reason) == (["right", "rows"], True, "LookupError: not this fold")


class Silent(LogisticRegression):
    """Has probabilities that cannot be computed."""

    def predict_proba(self, X):
        raise NotImplementedError


def test_a_method_that_fails_is_passed_over():
    folds = folds_of(OF_TWO)
    found = answers_of(Silent(), TWO, OF_TWO, folds)
    assert found.response == "decision_function"
    assert np.array_equal(
        found.values[:, 0], cross_val_predict(LogisticRegression(), TWO, OF_TWO, cv=folds, method="decision_function")
    )


SHARED = {
    "two classes": (SVC(), TWO, NAMED, folds_of(OF_TWO), {}),
    "three classes": (SVC(), THREE, OF_THREE, folds_of(OF_THREE), {}),
    "ties broken": (SVC(break_ties=True), THREE, OF_THREE, folds_of(OF_THREE), {}),
    "pairs": (SVC(decision_function_shape="ovo"), THREE, OF_THREE, folds_of(OF_THREE), {}),
    "by its own solver": (NuSVC(nu=0.3), THREE, OF_THREE, folds_of(OF_THREE), {}),
    "a pipeline": (make_pipeline(StandardScaler(), SVC()), TWO, OF_TWO, folds_of(OF_TWO), {}),
    "several metrics": (SVC(), TWO, OF_TWO, folds_of(OF_TWO), {"scoring": ["roc_auc", "accuracy"], "return_train_score": True}),
    "values": (SVR(epsilon=1.0), REAL, OF_REAL, REAL_FOLDS, {}),
    "repeats": (SVC(), TWO, OF_TWO, list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(TWO)), {}),
    "rows of no fold": (SVC(), TWO, OF_TWO, PART, {}),
    "a class that is missing": (SVC(), THREE, np.sort(OF_THREE), list(KFold(3).split(THREE)), {}),
}


@pytest.mark.parametrize("case", SHARED)
def test_shared_work_has_the_answers_of_fits(case, caplog):
    estimator, X, y, folds, options = SHARED[case]
    caplog.set_level(logging.INFO)
    shared, alone = (
        scorer(estimator, X, y, folds, engine=engine, **options).score([{}])[0].answers for engine in ("auto", "sklearn")
    )
    assert "scikit-learn scores" not in caplog.text
    assert shared.response == alone.response
    np.testing.assert_allclose(shared.values, alone.values, atol=5e-3 * np.nanmax(np.abs(alone.values)))
    assert np.array_equal(np.isnan(shared.values), np.isnan(alone.values))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cutoffs_that_share_a_fit_have_the_answers_of_each_alone(n_jobs):
    candidates = [{"cutoff__0": value} for value in (0.1, 0.4, 1.5, 0.8)]
    together, alone = (
        scorer(CutoffClassifier(SVC()), THREE, OF_THREE, engine=engine, n_jobs=n_jobs).score(candidates)
        for engine in ("auto", "sklearn")
    )
    for one, other in zip(together, alone, strict=True):
        assert (one.answers is None) == (other.answers is None) == (one.reason != "")
        if one.answers is not None:
            assert one.answers.response == other.answers.response == "decision_function"
            assert np.array_equal(one.answers.values, other.answers.values)
    assert not np.array_equal(together[0].answers.values, together[1].answers.values)


class Short(LogisticRegression):
    """Predicts one row alone, and scores none."""

    def predict(self, X):
        return super().predict(X[:1])

    def score(self, X, y):
        return 1.0


def test_answers_of_another_number_of_rows_are_none():
    (scores,) = scorer(Short(), TWO, OF_TWO, folds_of(OF_TWO), engine="sklearn").score([{}])
    assert (scores.answers, scores.numbers["split0_test_score"]) == (None, 1.0)
