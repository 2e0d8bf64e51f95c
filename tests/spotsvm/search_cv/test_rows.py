"""A search on a sample of the rows, and the refit on all."""

import re
import sys
import time
import warnings

import cloudpickle
import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, PredefinedSplit
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, expected_score, oversearching
from spotsvm.errors import ArgumentError, DataError, DataWarning
from spotsvm.luck.draws import sample_rows

# worker processes cannot import the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = make_moons(300, noise=0.25, random_state=0)
SPACE = {"C": [1.0, 10.0], "gamma": [0.5, 2.0]}


def search_of(estimator=None, **parameters):
    return SpotSearchCV(SVC() if estimator is None else estimator, SPACE, n_iter=2, cv=3, random_state=0, **parameters)


def test_it_is_the_search_on_the_sample_and_the_refit_on_all():
    rows = sample_rows(300, 60, 0, Y)
    assert abs(Y[rows].mean() - Y.mean()) < 0.01
    weights = 1.0 + np.arange(300) % 3
    search, on_sample = search_of(rows=60), search_of()
    search.fit(X, Y, sample_weight=weights)
    on_sample.fit(X[rows], Y[rows], sample_weight=weights[rows])
    assert search.cv_results_["mean_test_score"].tolist() == on_sample.cv_results_["mean_test_score"].tolist()
    on_all = SVC(**search.best_params_).fit(X, Y, sample_weight=weights)
    assert (search.best_estimator_.decision_function(X) == on_all.decision_function(X)).all()
    assert search.best_estimator_.shape_fit_ == (300, 2)
    assert search_of(rows=1000).fit(X, Y).best_score_ == search_of().fit(X, Y).best_score_


def test_an_average_is_fitted_on_all_rows_and_groups_are_whole():
    average = search_of(rows=60, refit="average").fit(X, Y).best_estimator_
    assert {member.shape_fit_ for member in average.estimators_} == {(300, 2)}
    groups = np.arange(300) // 10
    grouped = SpotSearchCV(SVR(), SPACE, n_iter=2, cv=GroupKFold(3), random_state=0, rows=60)
    assert grouped.fit(X, X[:, 0], groups=groups).best_estimator_.shape_fit_ == (300, 2)


def test_a_search_on_a_sample_goes_on(tmp_path):
    path = tmp_path / "search.db"
    first = search_of(rows=60, path=path).fit(X, Y)
    again = search_of(rows=60, path=path).fit(X, Y)
    assert again.best_params_ == first.best_params_


def test_arguments():
    with pytest.raises(
        ArgumentError, match="rows=1; use a whole number, 2 or more, a pair with the most rows of the refit, 'auto', or None"
    ):
        search_of(rows=1).fit(X, Y)
    for rows, why in (
        ((60,), "rows=(60,); use a whole number, 2 or more, a pair"),
        ((60, 1), "rows=1; use a whole number, 2 or more, or None for all"),
        ((60, 40), "rows=(60, 40): the refit has fewer rows than the search"),
        ((None, 40), "rows=(None, 40): the refit has fewer rows than the search"),
        ("many", "rows='many'; use a whole number, 2 or more, a pair with the most rows of the refit, 'auto', or None"),
    ):
        with pytest.raises(ArgumentError, match=re.escape(why)):
            search_of(rows=rows).fit(X, Y)


def test_the_score_to_expect_is_that_of_the_sample():
    search, rows = search_of(rows=60).fit(X, Y), sample_rows(300, 60, 0, Y)
    found = expected_score(search, X, Y)
    assert found.n_rows == 60
    assert found == expected_score(search_of().fit(X[rows], Y[rows]), X[rows], Y[rows])
    average = search_of(rows=60, refit="average").fit(X, Y)
    assert expected_score(average, X, Y).value == pytest.approx(average.expected_score_.value)
    assert len(average.oof_decision_function_) == 60


def told_by(search, *data, **given):
    """Fit a search, and return the notices about the rows of its model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        search.fit(*data, **given)
    return [one for message in caught for one in getattr(message.message, "notices", ()) if one.code == "rows"]


def test_the_refit_has_a_limit_of_rows():
    search, weights = search_of(rows=(60, 150)), 1.0 + np.arange(300) % 3
    (notice,) = told_by(search, X, Y, sample_weight=weights)
    assert notice.sentence == "parameters were tuned on 60, and the model is fitted to 150, of 300 training rows"
    assert notice.share == 0.5
    rows = search.refit_rows_
    assert rows.tolist() == sample_rows(300, 150, 0, Y).tolist()
    assert np.isin(search.sampled_rows_, rows).all()
    same = SVC(**search.best_params_).fit(X[rows], Y[rows], sample_weight=weights[rows])
    assert (search.best_estimator_.decision_function(X) == same.decision_function(X)).all()
    found = search.study_.findings["rows fitted on"]
    assert (found["rows tuned on"], found["rows fitted on"], found["training rows"]) == (60, 150, 300)
    assert notice.sentence[1:] in found["sentence"]
    assert notice.sentence in search.study_.findings.notices
    assert "fitted on 150 rows, drawn at random (the search has seen 60 rows)" in str(search.methods_section())


def test_a_search_of_many_rows_by_itself(monkeypatch):
    assert told_by(search_of(rows="auto"), X, Y) == []
    for name, value in {"MANY_ROWS": 200, "SEARCHED_ROWS": 60, "FITTED_ROWS": 150}.items():
        monkeypatch.setattr(f"spotsvm.cross_validation.row_sample.{name}", value)
    search, pair = search_of(rows="auto"), search_of(rows=(60, 150))
    assert told_by(search, X, Y) == told_by(pair, X, Y) != []
    assert (search.predict(X) == pair.predict(X)).all()
    assert told_by(search.set_params(rows=(60, None)), X, Y) == []
    assert search.refit_rows_ is None


class SlowOnMany(LogisticRegression):
    """A model whose fit to many rows takes longer than anyone waits."""

    def fit(self, X, y):
        if len(X) > 100:
            time.sleep(600.0)
        return super().fit(X, y)


def test_the_refit_has_a_limit_of_time():
    search = SpotSearchCV(SlowOnMany(), {"C": [0.1, 1.0]}, n_iter=2, cv=3, random_state=0, rows=60, timeout=1.5)
    began = time.monotonic()
    (notice,) = told_by(search, X, Y)
    assert time.monotonic() - began < 300.0
    assert re.fullmatch(
        r"the model is fitted to the 60 of 300 training rows that its parameters were tuned on, as "
        r"(a fit to 300 rows took longer than the [\d.]+ s left|no time was left for a fit to 300 rows)", notice.sentence,
    )  # fmt: skip
    assert notice.share == 0.8
    rows = search.refit_rows_
    assert rows.tolist() == search.sampled_rows_.tolist()
    fast = LogisticRegression(**search.best_params_).fit(X[rows], Y[rows])
    assert (search.predict_proba(X) == fast.predict_proba(X)).all()
    assert search.study_.findings["rows fitted on"]["rows fitted on"] == 60
    assert "fitted on 60 rows, drawn at random, which the search has seen" in str(search.methods_section())


def test_a_refit_in_time_is_the_same_and_a_search_has_half_of_it():
    timed, free = search_of(rows=60, timeout=600.0, refit="average"), search_of(rows=60, refit="average")
    assert told_by(timed, X, Y) == told_by(free, X, Y) == []
    assert (timed.decision_function(X) == free.decision_function(X)).all()
    assert timed.refit_rows_ is None
    short = search_of(rows=60, timeout=1e-3)
    (notice,) = told_by(short, X, Y)
    assert notice.sentence.endswith("as no time was left for a fit to 300 rows")
    assert "(timeout=0.001 s, of which trials have 50 %)" in short.study_.findings["timeout"]["sentence"]
    assert short.refit_rows_ is not None


class Failing(SlowOnMany):
    def fit(self, X, y):
        if len(X) > 100:
            raise ValueError("too many rows")
        return super().fit(X, y)


class Unsendable(SlowOnMany):
    def __init__(self, C=1.0):
        super().__init__(C=C)

    def __getstate__(self):
        raise TypeError("it stays here")


def test_what_a_fit_in_time_raises_is_raised_and_what_cannot_be_sent_keeps_the_model_of_the_sample():
    options = {"n_iter": 2, "cv": 3, "random_state": 0, "rows": 60, "timeout": 600.0}
    with pytest.raises(ValueError, match="too many rows"):
        SpotSearchCV(Failing(), {"C": [0.1, 1.0]}, **options).fit(X, Y)
    (notice,) = told_by(SpotSearchCV(Unsendable(), {"C": [0.1, 1.0]}, **options), X, Y)
    assert "a fit to 300 rows within a limit of time was not possible" in notice.sentence
    assert "it stays here" in notice.sentence


def test_a_sample_has_a_rare_class_in_each_fold():
    y = np.where(np.arange(300) % 30 == 0, 2, Y)
    groups = np.arange(300) // 6
    for options, given in (({}, {}), ({"cv": GroupKFold(3)}, {"groups": groups})):
        search = SpotSearchCV(SVC(), SPACE, n_iter=2, random_state=0, rows=30, **options).fit(X, y, **given)
        assert (y[search.sampled_rows_] == 2).sum() >= 3 + 2 * (not given)
        assert not given or (np.bincount(groups[search.sampled_rows_])[np.unique(groups[search.sampled_rows_])] == 6).all()


@pytest.mark.parametrize("kind", ["list", "predefined"])
def test_given_folds_are_those_of_the_sample(kind):
    fold = np.random.default_rng(0).integers(3, size=300)
    given = PredefinedSplit(fold) if kind == "predefined" else [(fold != k, np.flatnonzero(fold == k)) for k in range(3)]
    search = search_of(rows=60).set_params(cv=given).fit(X, Y)
    rows = search.sampled_rows_
    on_sample = search_of().set_params(cv=PredefinedSplit(fold[rows])).fit(X[rows], Y[rows])
    assert search.cv_results_["mean_test_score"].tolist() == on_sample.cv_results_["mean_test_score"].tolist()
    assert expected_score(search, X, Y) == expected_score(on_sample, X[rows], Y[rows])
    with pytest.raises(ArgumentError, match="X has 100 rows, fewer than search was fitted on"):
        expected_score(search, X[:100], Y[:100])
    with pytest.raises(ArgumentError, match="rows=60 leaves no rows of fold 3 to test on; use more"):
        search_of(rows=60).set_params(cv=PredefinedSplit(np.where(np.arange(300) == 0, 3, fold))).fit(X, Y)


def test_outer_folds_of_groups_have_samples_too():
    search = SpotSearchCV(SVC(), SPACE, n_iter=2, cv=GroupKFold(3), random_state=0, rows=60)
    found = oversearching(search, X, Y, outer=3, method="nested", groups=np.arange(300) // 10, random_state=0)
    assert np.isfinite(found.optimism)


def test_a_fault_of_any_row_is_named_before_the_search():
    rows = search_of(rows=60).fit(X, Y).sampled_rows_
    outside = int(np.setdiff1d(np.arange(300), rows)[-1])
    for row in (int(rows[1]), outside):
        wrong = X.copy()
        wrong[row, 1] = np.nan
        with pytest.raises(DataError, match=rf"X has nan in column 1, row {row} \(counted from 0\)"):
            search_of(rows=60).fit(wrong, Y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[300, 100\]"):
        search_of(rows=60).set_params(cv=GroupKFold(3)).fit(X, Y, groups=np.arange(100))
