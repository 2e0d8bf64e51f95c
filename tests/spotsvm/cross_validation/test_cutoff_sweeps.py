"""Candidates that differ in cutoffs alone: scikit-learn's scores, from one fit of each fold."""

import logging

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import CutoffClassifier, cross_val_scores, mean_class_accuracy
from spotsvm.cross_validation.cutoff_sweeps import CutoffSweeps
from spotsvm.cross_validation.fold_scorer import FoldScorer

THREE, OF_THREE = load_iris(return_X_y=True)
THREE = np.round(THREE + np.random.default_rng(0).normal(scale=0.8, size=THREE.shape), 2)  # classes that overlap
TWO, OF_TWO = THREE[50:], OF_THREE[50:]
NAMED = np.array(["a", "b", "c"])[OF_THREE]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
VALUES = (0.1, 0.25, 0.5, 0.8)


class Counting(SVC):
    """An SVC that counts its fits."""

    fits = 0

    def fit(self, *args, **kwargs):
        Counting.fits += 1
        return super().fit(*args, **kwargs)


def scorer(estimator, X, y, **options):
    return FoldScorer(estimator, X, y, list(FOLDS.split(X, y)), {}, engine="auto", **options)


def own_scores(estimator, X, y, candidate, **options):
    """Return scikit-learn's scores of a candidate, named as ours."""
    found = cross_validate(clone(estimator).set_params(**candidate), X, y, cv=list(FOLDS.split(X, y)), **options)
    return {f"split{k}_{name}": score for name, scores in found.items() if "_time" not in name for k, score in enumerate(scores)}


def only_scores(scores):
    return {name: number for name, number in scores.numbers.items() if "_time" not in name}


CASES = {
    "three classes": (CutoffClassifier(SVC()), THREE, OF_THREE, "cutoff__1", {}),
    "two classes": (CutoffClassifier(SVC(gamma=2.0)), TWO, OF_TWO, "cutoff__2", {}),
    "text": (CutoffClassifier(SVC(), cutoff={"a": 0.1}), THREE, NAMED, "cutoff__b", {}),
    "a sequence": (CutoffClassifier(cutoff=[0.1, 0.1], classes=[0, 1, 2]), THREE, OF_THREE, "cutoff__0", {}),
    "weights": (
        CutoffClassifier(SVC(), class_weight={"a": 3.0}, weight_unit="balanced"), THREE, NAMED, "cutoff__c",
        {"class_weight__b": 0.2},
    ),
    "soft votes": (CutoffClassifier(SVC(), response_method="soft_votes"), THREE, OF_THREE, "cutoff__0", {}),
    "values": (CutoffClassifier(SVC(), response_method="decision_function"), THREE, OF_THREE, "cutoff__0", {}),
    "probabilities": (CutoffClassifier(LogisticRegression()), THREE, OF_THREE, "cutoff__0", {}),
    "two probabilities": (CutoffClassifier(LogisticRegression()), TWO, OF_TWO, "cutoff__1", {"estimator__C": 0.1}),
    "scaled": (CutoffClassifier(SVC(), cutoff={0: 0.9}, excess="scale"), THREE, OF_THREE, "cutoff__1", {}),
    "a pipeline": (
        make_pipeline(StandardScaler(), CutoffClassifier(SVC())), THREE, NAMED, "cutoffclassifier__cutoff__a",
        {"cutoffclassifier__estimator__C": 10.0, "standardscaler__with_mean": False},
    ),
    "a pipeline inside": (
        CutoffClassifier(make_pipeline(StandardScaler(), SVC())), THREE, OF_THREE, "cutoff__2", {"estimator__svc__C": 10.0},
    ),
    "no step before": (make_pipeline("passthrough", CutoffClassifier(SVC())), TWO, OF_TWO, "cutoffclassifier__cutoff__1", {}),
    "another step": (
        make_pipeline(StandardScaler(), CutoffClassifier(SVC())), THREE, OF_THREE, "cutoffclassifier__cutoff__1",
        {"cutoffclassifier": CutoffClassifier(SVC(C=7.0), cutoff={0: 0.15})},
    ),
    "a kernel matrix": (CutoffClassifier(SVC(kernel="precomputed")), rbf_kernel(THREE), OF_THREE, "cutoff__0", {}),
    "sparse rows": (CutoffClassifier(SVC()), csr_array(THREE), OF_THREE, "cutoff__0", {}),
    "a table": (
        make_pipeline(StandardScaler().set_output(transform="pandas"), CutoffClassifier(SVC())),
        pd.DataFrame(THREE, columns=list("pqrs")), pd.Series(NAMED), "cutoffclassifier__cutoff__a", {},
    ),
    "a class that is missing": (CutoffClassifier(SVC(), classes=[0, 1, 2], cutoff={0: 0.1}), TWO, OF_TWO, "cutoff__1", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_scores_are_those_of_sklearn_and_each_fold_is_fitted_once(case, monkeypatch):
    estimator, X, y, name, others = CASES[case]
    fits = []
    monkeypatch.setattr(CutoffClassifier, "fit", counted(fits, CutoffClassifier.fit))
    candidates = [{**others, name: value} for value in VALUES]
    expected = [own_scores(estimator, X, y, candidate, return_train_score=True) for candidate in candidates]
    assert len({tuple(scores.values()) for scores in expected}) > 1
    fits.clear()
    one = scorer(estimator, X, y, return_train_score=True)
    got = one.score(candidates)
    assert len(fits) == 3
    assert [only_scores(scores) for scores in got] == expected
    assert (one.metrics, one.multimetric) == (["score"], False)


def counted(calls, function):
    def counting(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return counting


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        ["f1_macro", "balanced_accuracy"],
        {"a_0:b": make_scorer(mean_class_accuracy), "a": "accuracy"},
        {"auc": "roc_auc"},
    ],
)
def test_metrics_are_those_of_sklearn(scoring):
    estimator = make_pipeline(StandardScaler(), CutoffClassifier(SVC()))
    candidates = [{"cutoffclassifier__cutoff__1": value} for value in VALUES]
    one = scorer(estimator, TWO, OF_TWO, scoring=scoring, return_train_score=True)
    metrics = list(scoring) if not isinstance(scoring, str) else ["score"]
    for candidate, got in zip(candidates, one.score(candidates), strict=True):
        assert only_scores(got) == own_scores(estimator, TWO, OF_TWO, candidate, scoring=scoring, return_train_score=True)
    assert (one.metrics, one.multimetric, isinstance(one.scorer, dict)) == (metrics, metrics != ["score"], metrics != ["score"])


def test_only_candidates_with_the_same_fit_share_one():
    Counting.fits = 0
    matrices = [np.eye(4), np.eye(4)]
    scores = scorer(CutoffClassifier(Counting()), THREE, OF_THREE).score(
        [{"cutoff__0": c, "estimator__C": C} for c in VALUES for C in (1.0, 10.0)] + [{"estimator__C": 5.0, "cutoff__0": 0.5}]
    )
    assert len(scores) == 9
    assert Counting.fits == 3 * 3
    groups = CutoffSweeps(CutoffClassifier(), {}, None, None).groups
    by_matrix = [{"estimator": m, "cutoff__0": c} for m in matrices for c in VALUES]
    assert groups(dict(enumerate(by_matrix))) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert groups(dict(enumerate([{"cutoff__0": 0.5, "a": 1}, {"a": 1.0}, {"a": 1}, {"a": True}]))) == [[0, 2], [1], [3]]


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_a_cutoff_that_fails_leaves_the_others_alone(error_score):
    Counting.fits = 0
    candidates = [{"cutoff__0": value} for value in (0.5, 1.5, 0.25, 0.0)]
    one = scorer(CutoffClassifier(Counting()), THREE, OF_THREE, error_score=error_score)
    fine, high, well, low = one.score(candidates)
    assert Counting.fits == 3
    assert [only_scores(s) for s in (fine, well)] == [
        own_scores(CutoffClassifier(SVC()), THREE, OF_THREE, {"cutoff__0": c}) for c in (0.5, 0.25)
    ]
    assert [only_scores(s) for s in (high, low)] == [{}, {}]
    assert high.reason.startswith("ArgumentError: cutoff={'0': 1.5} sums to 1.5, which leaves nothing to the other classes")
    with pytest.raises(ValueError, match="sums to 1.5"):
        scorer(CutoffClassifier(), THREE, OF_THREE, error_score="raise").score(candidates)


def test_what_fails_in_every_fit_or_in_some_folds_is_told_as_by_sklearn():
    candidates = [{"cutoff__1": value} for value in VALUES]
    scores = scorer(CutoffClassifier(SVC(), response_method="predict_proba"), TWO, OF_TWO).score(candidates)
    assert {s.reason.partition("=")[0] for s in scores} == {"ArgumentError: response_method"}
    assert [only_scores(s) for s in scores] == [{}] * 4
    rare = np.where(np.arange(len(OF_THREE)) == 3, 9, OF_THREE)  # in the training rows of two folds of three
    splits = [
        (np.setdiff1d(np.arange(150), test), test) for test in (np.arange(0, 150, 3), np.arange(1, 150, 3), np.arange(2, 150, 3))
    ]
    partly = FoldScorer(CutoffClassifier(), THREE, rare, splits, {}, engine="auto").score([{"cutoff__9": v} for v in VALUES])
    assert all(s.reason.startswith("ArgumentError: cutoff names the class '9'") for s in partly)
    assert [set(only_scores(s)) for s in partly] == [{"split1_test_score", "split2_test_score"}] * 4
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        scorer(CutoffClassifier(), TWO, OF_TWO).score([{"depth": 1, **candidate} for candidate in candidates])
    with pytest.raises(ValueError, match="cutoff__7 is not a parameter"):
        scorer(CutoffClassifier(classes=[1, 2]), TWO, OF_TWO).score([{"cutoff__7": value} for value in VALUES])


class Own(CutoffClassifier):
    """A subclass, which may behave differently."""


def of_two_numbers(estimator, X, y):
    return accuracy_score(y, estimator.predict(X))


@pytest.mark.parametrize(
    ("estimator", "options", "fit_params", "said"),
    [
        (CutoffClassifier(), {"engine": "sklearn"}, {}, "engine='sklearn' shares none"),
        (CutoffClassifier(), {"scoring": of_two_numbers}, {}, "cannot be shared with these data, scorers and arguments"),
        (CutoffClassifier(), {}, {"sample_weight": np.linspace(0.1, 2.0, 100)}, "cannot be shared with these data"),
        (Own(), {}, {}, "cannot be shared with these data"),
    ],
    ids=["engine", "scorer", "weights of rows", "subclass"],
)
@pytest.mark.filterwarnings("ignore:The scoring:UserWarning")
def test_what_is_unusual_is_left_to_sklearn(estimator, options, fit_params, said, monkeypatch):
    def refused(*args):
        raise AssertionError("shared")

    candidates = [{"cutoff__1": value} for value in VALUES]
    one = FoldScorer(estimator, TWO, OF_TWO, list(FOLDS.split(TWO, OF_TWO)), fit_params, **{"engine": "auto"} | options)
    monkeypatch.setattr(CutoffSweeps, "scores", refused)
    assert not one.needs_no_fit("cutoff__1")
    assert said in one.why_not_shared(candidates[0], "cutoff__1")
    scoring = options.get("scoring")
    assert len({s.mean("score", 3) for s in one.score(candidates)}) > 1
    if not fit_params:
        expected = [own_scores(estimator, TWO, OF_TWO, candidate, scoring=scoring) for candidate in candidates]
        assert [only_scores(s) for s in one.score(candidates)] == expected


def test_routed_metadata_and_scorers_that_give_no_number_are_left_to_sklearn(caplog):
    candidates = [{"cutoff__1": value} for value in VALUES]
    with config_context(enable_metadata_routing=True):
        assert scorer(CutoffClassifier(), TWO, OF_TWO).why_not_shared({}, "cutoff__1")
    nan = make_scorer(lambda truth, answers: np.nan if np.mean(answers == 2) > 0.5 else accuracy_score(truth, answers))
    with caplog.at_level(logging.INFO):
        got = scorer(CutoffClassifier(), TWO, OF_TWO, scoring=nan).score(candidates)
    for candidate, scores in zip(candidates, got, strict=True):
        expected = own_scores(CutoffClassifier(), TWO, OF_TWO, candidate, scoring=nan)
        np.testing.assert_array_equal(list(only_scores(scores).values()), list(expected.values()))
    assert {np.isnan(s.mean("score", 3)) for s in got} == {True, False}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_a_target_with_a_second_dimension_is_left_to_sklearn():
    candidates = [{"cutoff__0": value} for value in VALUES]
    splits = list(FOLDS.split(THREE, OF_THREE))
    got = FoldScorer(CutoffClassifier(), THREE, OF_THREE[:, None], splits, {}, engine="auto").score(candidates)
    assert [only_scores(s) for s in got] == [own_scores(CutoffClassifier(), THREE, OF_THREE, c) for c in candidates]


def test_what_shares_a_fit_is_told():
    alone, last = scorer(CutoffClassifier(), TWO, OF_TWO), scorer(make_pipeline(CutoffClassifier(SVC())), TWO, OF_TWO)
    assert alone.why_not_shared({"cutoff__1": 0.5}, "cutoff__1") == ""
    assert alone.needs_no_fit("cutoff__1")
    assert not alone.needs_no_fit("class_weight__1")
    assert last.why_not_shared({"cutoffclassifier__cutoff__1": 0.5}, "cutoffclassifier__cutoff__1") == ""
    assert last.why_not_shared({}, "cutoffclassifier__estimator__C") == (
        "of a CutoffClassifier only cutoffclassifier__cutoff__<class> needs no new fit"
    )
    assert alone.why_not_shared({"cutoff__1": 0.5}) == "of a CutoffClassifier only cutoff__<class> needs no new fit"
    assert "SVC() is not a CutoffClassifier" in last.why_not_shared({"cutoffclassifier": SVC()}, "cutoffclassifier__cutoff__1")
    assert "Invalid parameter 'depth'" in alone.why_not_shared({"depth": 1}, "cutoff__1")


def test_cross_val_scores_shares_fits_too():
    Counting.fits = 0
    candidates = [{"cutoff__0": value} for value in VALUES]
    shared = cross_val_scores(CutoffClassifier(Counting()), THREE, OF_THREE, candidates, cv=3)
    assert Counting.fits == 3
    own = cross_val_scores(CutoffClassifier(Counting()), THREE, OF_THREE, candidates, cv=3, engine="sklearn")
    np.testing.assert_array_equal(shared, own)
