import numpy as np
import pytest
from scipy.stats import loguniform
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, balanced_accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, ShuffleSplit, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, expected_score
from spotsvm.errors import ArgumentError
from spotsvm.luck.judges.judges import judge_search
from spotsvm.luck.refits.repeats import fresh_splits
from spotsvm.studies.common.plain_search import PLAIN

SPACE = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e1)}
X, Y = load_breast_cancer(return_X_y=True)
X, X_NEW, Y, Y_NEW = X[:150], X[150:], Y[:150], Y[150:]
MACHINE = make_pipeline(StandardScaler(), SVC())


def fitted(cv=3, **changed):
    settings = PLAIN | {"n_iter": 20, "search": "random", "random_state": 1, "cv": cv} | changed
    return SpotSearchCV(MACHINE, SPACE, **settings).fit(X, Y)


@pytest.fixture(scope="module")
def search():
    return fitted()


def test_fresh_splits_are_scored_as_scikit_learn_does(search):
    judgement = judge_search(search, X, Y, n_repeats=3)
    assert (judgement.choice, judgement.fresh, judgement.n_fresh) == ("best predicted", "3 fresh cross-validations", 9)
    machine = MACHINE.set_params(**search.best_params_)
    scores = cross_val_score(machine, X, Y, cv=fresh_splits(search, X, Y, None, 3, search.study_.seed))
    assert judgement.best_seen_fresh == pytest.approx(np.mean(scores), abs=0.01)
    assert judgement.best_seen_value == search.best_score_
    assert search.study_.findings["judgement"]["sentence"] == judgement.sentence
    assert judge_search(search, X, Y, n_repeats=3) == judgement


def test_new_rows(search):
    judgement = judge_search(search, X, Y, X_NEW, Y_NEW)
    assert judgement.best_seen_fresh == search.score(X_NEW, Y_NEW)
    chosen = search.study_.trials[judgement.recommended_number].params
    machine = MACHINE.set_params(**chosen).fit(X, Y)
    assert judgement.recommended_fresh == machine.score(X_NEW, Y_NEW)
    assert judgement.fresh == f"{len(Y_NEW)} new rows"
    if not judgement.same:
        # of an accuracy the standard error of a difference is that of a mean of paired differences
        other = MACHINE.set_params(**search.best_params_).fit(X, Y).predict(X_NEW) == Y_NEW
        own = MACHINE.set_params(**chosen).fit(X, Y).predict(X_NEW) == Y_NEW
        error = np.std(own.astype(float) - other, ddof=1) / np.sqrt(len(Y_NEW))
        assert (judgement.interval[1] - judgement.interval[0]) / 2 == pytest.approx(1.97 * error, rel=0.3)


def test_a_search_told_of_noise_has_its_recommendation_judged():
    search = fitted(noise=True)
    judgement = judge_search(search, X, Y, n_repeats=2)
    assert judgement.choice == "recommended"
    assert judgement.recommended_number == search.study_.recommend().number


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), [(np.arange(100), np.arange(100, 150))]])
def test_splitters_that_cannot(cv):
    with pytest.raises(ArgumentError, match="cannot be drawn; pass X_new and y_new"):
        judge_search(fitted(cv), X, Y)


def test_the_interval_goes_by_the_rows_that_a_split_tests_on():
    for seed in range(10):  # until the two are not the same trial
        search = fitted(ShuffleSplit(1, test_size=0.5, random_state=0), random_state=seed)
        judgement = judge_search(search, X, Y, n_repeats=8)
        if not judgement.same:
            break
    splits = fresh_splits(search, X, Y, None, 8, search.study_.seed)
    pair = [search.study_.trials[n].params for n in (judgement.recommended_number, judgement.best_seen_number)]
    assert not judgement.same
    d = np.subtract(*(cross_val_score(MACHINE.set_params(**p), X, Y, cv=splits) for p in pair))
    half = student.ppf(0.975, 7) * np.sqrt((1 / 8 + 1) * np.var(d, ddof=1))
    assert judgement.interval == pytest.approx((d.mean() - half, d.mean() + half), abs=0.02)
    assert judgement.error * student.ppf(0.975, 7) == pytest.approx((judgement.interval[1] - judgement.interval[0]) / 2)
    assert judgement.covers == "the luck of the splits"


@pytest.fixture
def by_group():
    return SpotSearchCV(SVC(), {"C": loguniform(0.1, 10.0)}, n_iter=6, search="random", random_state=0, cv=GroupKFold(3))


def test_groups_and_weights_are_passed_on(by_group):
    groups, weights = np.arange(150) % 6, np.where(Y == 1, 5.0, 1.0)
    by_group.fit(X, Y, groups=groups, sample_weight=weights)
    plain, weighted = (
        judge_search(by_group, X, Y, n_repeats=2, groups=groups, fit_params=given) for given in ({}, {"sample_weight": weights})
    )
    assert plain.n_fresh == weighted.n_fresh == 6
    assert plain.best_seen_fresh != weighted.best_seen_fresh


def test_samples_without_a_class_have_no_say():
    search = fitted(scoring="roc_auc")
    few = np.r_[np.flatnonzero(Y_NEW == 0)[:2], np.flatnonzero(Y_NEW == 1)[:6]]
    judgement = judge_search(search, X, Y, X_NEW[few], Y_NEW[few])
    assert judgement.same or np.isfinite(judgement.interval).all()
    with pytest.raises(ArgumentError, match="no score on the 6 new rows"):
        judge_search(search, X, Y, X_NEW[few[2:]], Y_NEW[few[2:]])


def several(estimator, X, y):
    right = estimator.predict(X) == y
    return {"accuracy": right[y == 1].mean(), "right": right.mean()}


@pytest.mark.parametrize("refit", ["accuracy", "right"])
def test_a_scorer_that_returns_several_scores(refit):
    search = fitted(scoring=several, refit=refit, n_iter=4)
    judgement = judge_search(search, X, Y, X_NEW, Y_NEW)
    assert judgement.best_seen_fresh == several(search.best_estimator_, X_NEW, Y_NEW)[refit]
    assert expected_score(search, X, Y).metric == ("score" if refit == "accuracy" else "right")


def test_a_name_that_scikit_learn_has_for_another_score():
    few = np.r_[np.flatnonzero(Y_NEW == 0)[:5], np.flatnonzero(Y_NEW == 1)]  # the two scores are far apart on such rows
    theirs, own = (make_scorer(of) for of in (balanced_accuracy_score, lambda y, p: balanced_accuracy_score(y, p)))
    judgements = []
    for name, scorer, metric in (
        ("balanced", "balanced_accuracy", "balanced_accuracy"),
        ("accuracy", "balanced_accuracy", "balanced_accuracy"),
        ("accuracy", theirs, "balanced_accuracy"),
        ("accuracy", own, "score"),
    ):
        half = ShuffleSplit(1, test_size=0.5, random_state=0)
        search = fitted(half, scoring={name: scorer}, refit=name, n_iter=12)
        assert expected_score(search, X, Y).metric == metric
        judgements.append(judge_search(search, X, Y, X_NEW[few], Y_NEW[few]))
    assert judgements[0].known
    assert len({(one.value, one.interval) for one in judgements}) == 1
    same = fitted(scoring={"accuracy": make_scorer(accuracy_score)}, refit="accuracy", n_iter=4)
    assert expected_score(same, X, Y).metric == "accuracy"


def test_bad_input(search, by_group):
    with pytest.raises(ArgumentError, match="only X_new or only y_new was passed"):
        judge_search(search, X, Y, X_NEW)
    with pytest.raises(ArgumentError, match="n_repeats=1"):
        judge_search(search, X, Y, n_repeats=1)
    with pytest.raises(ValueError, match="not fitted"):
        judge_search(SpotSearchCV(MACHINE, SPACE), X, Y)
    with pytest.raises(ArgumentError, match="cannot be drawn again: The 'groups' parameter should not be None"):
        judge_search(by_group.fit(X, Y, groups=np.arange(150) % 5), X, Y, fit_params={})
