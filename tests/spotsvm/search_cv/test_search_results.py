"""The results of a search, and what ends it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from spotsvm import Space, SpotSearchCV, Trial, expected_score, load_study
from spotsvm.search_cv.cv_results import search_results
from spotsvm.study.record.record import Record
from spotsvm.study.stop import TimeLimit

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}
X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}


def search(estimator=None, space=SPACE, **options):
    options = PLAIN | {"n_iter": 6, "search": "random", "cv": 3, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


def outcome(fitted):
    """Everything but times, comparable."""
    results = {
        k: np.ma.filled(v, -1).tolist() for k, v in fitted.cv_results_.items() if not k.endswith(("_time", "params", "chosen"))
    }
    return results, fitted.cv_results_["params"], fitted.best_index_


def test_a_random_state_that_draws_gives_another_search_each_time():
    state = np.random.RandomState(0)
    first, second = (outcome(search(random_state=state).fit(X, Y)) for _ in range(2))
    assert first == outcome(search(random_state=0).fit(X, Y)) != second
    assert outcome(search(random_state=None).fit(X, Y)) != outcome(search(random_state=None).fit(X, Y))


@pytest.mark.parametrize("metrics", [{}, {"scoring": ["f1", "accuracy"], "refit": "accuracy"}], ids=["one", "two"])
def test_scores_are_those_of_a_grid_search_of_the_same_candidates_on_the_same_folds(metrics, counted):
    options = {"cv": list(KFold(4, shuffle=True, random_state=1).split(X)), "return_train_score": True, **metrics}
    fitted = search(**options).fit(X, Y)
    assert len(counted) == 6  # by shared work
    grid = [{name: [value] for name, value in params.items()} for params in fitted.cv_results_["params"]]
    other = GridSearchCV(SVC(), grid, **options).fit(X, Y)
    assert outcome(fitted) == outcome(other)
    assert list(fitted.cv_results_) == [*other.cv_results_, "chosen"]
    for name in other.cv_results_:
        column = fitted.cv_results_[name]
        assert type(column) is type(other.cv_results_[name])
        assert name == "params" or column.dtype == other.cv_results_[name].dtype
    assert (fitted.best_params_, fitted.best_score_, fitted.n_splits_) == (other.best_params_, other.best_score_, 4)
    assert fitted.best_score_ == fitted.study_.best_trial.value
    np.testing.assert_array_equal(fitted.predict(X), other.predict(X))


def test_a_search_object_is_left_as_it_was():
    class Diagonal:
        def __init__(self):
            self.told = []

        def ask(self):
            return np.full(2, 0.1 + 0.1 * len(self.told))

        def tell(self, point, value):
            self.told.append((point, value))

    mine = Diagonal()
    fitted = search(search=mine).fit(X, Y)
    first = outcome(fitted)
    assert first[0]["param_C"] == sorted(first[0]["param_C"])
    assert mine.told == []
    assert outcome(fitted.fit(X, Y)) == first


def stop_at(number):
    def stop(study, trial):
        if study.n_finished == number:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize(("batch_size", "number"), [(1, 2), (3, 7)])
def test_an_interrupted_search_goes_on_as_if_nothing_had_happened(tmp_path, batch_size, number):
    options = {"search": "kriging", "n_iter": 9, "batch_size": batch_size, "path": tmp_path / "search.db"}
    with pytest.raises(KeyboardInterrupt):
        search(callback=stop_at(number), **options).fit(X, Y)
    told = []
    resumed = search(callback=lambda study, trial: told.append(trial.number), **options).fit(X, Y)
    assert told == list(range(number, 9))
    assert outcome(resumed) == outcome(search(**options | {"path": None}).fit(X, Y))


def test_a_finished_record_is_read_not_repeated(tmp_path):
    path = tmp_path / "search.db"
    first = search(path=path, return_train_score=True).fit(X, Y)
    for k, trial in enumerate(load_study(path).trials):
        assert trial.value == first.cv_results_["mean_test_score"][k]
        for name in ("split0_test_score", "split2_train_score", "mean_fit_time"):
            assert trial.extra[name] == first.cv_results_[name][k]
    again = search(path=path, return_train_score=True, callback=stop_at(6)).fit(X, Y)
    assert outcome(again) == outcome(first)
    assert np.array_equal(again.cv_results_["mean_fit_time"], first.cv_results_["mean_fit_time"])
    assert again.score(X, Y) == first.score(X, Y)
    assert len(search(path=path, return_train_score=True, n_iter=8).fit(X, Y).cv_results_["params"]) == 8


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("cv", [KFold(3, shuffle=True), ShuffleSplit(2)], ids=lambda cv: type(cv).__name__)
def test_folds_without_a_seed_are_drawn_from_that_of_the_record(cv, random_state, tmp_path):
    options = {"cv": cv, "random_state": random_state, "n_iter": 6, "path": tmp_path / "search.db"}
    with pytest.raises(KeyboardInterrupt):
        search(callback=stop_at(3), **options).fit(X, Y)
    told = []
    resumed = search(callback=lambda study, trial: told.append(trial.number), **options).fit(X, Y)
    assert told == [3, 4, 5]
    assert cv.random_state is None
    if random_state == 0:
        assert outcome(resumed) == outcome(search(**options | {"path": None}).fit(X, Y))
        assert expected_score(resumed, X, Y).value == expected_score(search(**options).fit(X, Y), X, Y).value


def test_what_holds_the_data_and_the_order_of_the_parameters_are_no_other_search(tmp_path):
    path = tmp_path / "search.db"
    first = search(path=path, cv=KFold(3), n_iter=5).fit(X, Y)
    backwards = dict(reversed(SPACE.items()))
    for x, y, space in (
        (np.asfortranarray(X), pd.Series(Y), SPACE),
        (X.tolist(), Y.tolist(), backwards),
        (X.astype(object), Y.astype(float), Space(backwards)),
    ):
        again = search(path=path, cv=KFold(3), space=space, n_iter=5, callback=stop_at(0)).fit(x, y)
        assert outcome(again) == outcome(first)


def trial(number, params, **extra):
    return Trial(number, params, (0.5,), state="ok" if extra else "failed", value=None, extra=extra)


def results(trials):
    return search_results(trials, ("score",), 1, error_score=np.nan, return_train_score=False)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([1, 0.5], np.float64),
        ([True, False], np.bool_),
        ([None, 1], object),
        (["a", 1], object),
        ([[1], [2, 3]], object),
        ([2**70, 1], object),
        ([OneHotEncoder(), "passthrough"], object),
        ([np.ones(2), np.ones(2)], object),
    ],
)
def test_a_parameters_column_has_the_type_of_its_values(values, dtype):
    got = results([trial(k, {"a": value}) for k, value in enumerate(values)])["param_a"]
    assert isinstance(got, np.ma.MaskedArray)
    assert (got.shape, got.dtype) == ((2,), np.dtype(dtype))
    assert not got.mask.any()
    assert all(mine is value or np.array_equal(mine, value) for mine, value in zip(got, values, strict=True))


@pytest.mark.parametrize(
    ("means", "ranks"),
    [
        ([0.5, 0.9, 0.9], [3, 1, 1]),
        ([np.nan, 0.9, -0.5], [3, 1, 2]),
        ([np.nan, 0.9, np.nan], [2, 1, 2]),
        ([np.nan, np.nan], [1, 1]),
    ],
)
def test_ranks(means, ranks):
    found = results([trial(k, {}, split0_test_score=mean) for k, mean in enumerate(means)])["rank_test_score"]
    assert (found.tolist(), found.dtype) == (ranks, np.int32)


def test_values_of_a_path_that_were_scored_in_time_count(monkeypatch):
    """A clock by which the time is up after 8 questions, in the middle of the second path."""
    asked = []
    monkeypatch.setattr(TimeLimit, "left", property(lambda self: 1.0 - len(asked) / 8 if asked.append(None) is None else 0.0))
    found = SpotSearchCV(SVC(), SPACE, cv=3, random_state=0, timeout=60.0).fit(X, Y)
    states = [t.state for t in found.study_.trials]
    assert set(states) <= {"ok", "timeout"}
    assert 2 <= states.count("ok") < 8
    assert found.study_.findings["timeout"]["timed_out"]


def test_a_fit_opens_its_record_once(tmp_path, monkeypatch):
    opened, right = [], Record.__init__

    def count(self, *arguments, **options):
        opened.append(self)
        right(self, *arguments, **options)

    monkeypatch.setattr(Record, "__init__", count)
    one = search(path=tmp_path / "a.db")
    first = one.fit(X, Y).study_.trials
    assert len(opened) == 1
    assert one.fit(X, Y).study_.trials == first
    assert len(opened) == 2
