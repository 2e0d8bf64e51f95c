import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer, recall_score
from sklearn.svm import SVC

from spotsvm import ArgumentError, Nsga2Search, ParegoSearch, SpotSearchCV, StudyMismatchError

X, Y = make_classification(n_samples=60, n_features=4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
RECALLS = {"first": make_scorer(recall_score, pos_label=0), "second": make_scorer(recall_score, pos_label=1)}


def search(estimator=None, space=SPACE, **options):
    options = {"n_iter": 24, "search": "nsga2", "cv": 3, "random_state": 0, "scoring": RECALLS, "refit": "second"} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


@pytest.mark.parametrize("which", ["nsga2", "parego", ParegoSearch, Nsga2Search])
def test_all_metrics_are_objectives_and_maximised(which):
    fitted = search(search=which).fit(X, Y)
    results = fitted.cv_results_
    values = np.column_stack([results["mean_test_first"], results["mean_test_second"]])
    assert np.array_equal(values, [t.values for t in fitted.study_.trials])
    assert fitted.study_.objectives.columns == ("value_first", "value_second")
    front = np.array([t.values for t in fitted.study_.pareto()])
    assert (np.diff(front[:, 0]) < 0).all()
    assert (np.diff(front[:, 1]) > 0).all()
    assert not any((values >= f).all(axis=1).any() and (values > f).any(axis=1)[(values >= f).all(axis=1)].any() for f in front)
    assert fitted.best_index_ == results["rank_test_second"].argmin()
    assert fitted.best_score_ == results["mean_test_second"].max()
    assert fitted.best_params_ == results["params"][fitted.best_index_]
    assert fitted.score(X, Y) == RECALLS["second"](fitted.best_estimator_, X, Y)


def test_a_list_of_metrics_of_which_refit_is_free_to_choose():
    fitted = search(scoring=["accuracy", "f1", "recall"], refit=lambda results: int(results["mean_test_f1"].argmax())).fit(X, Y)
    assert len(fitted.study_.trials[0].values) == 3
    assert fitted.best_index_ == fitted.cv_results_["mean_test_f1"].argmax()
    without = search(refit=False).fit(X, Y)
    assert not hasattr(without, "best_index_")
    assert len(without.study_.pareto()) >= 1


def test_under_noise_the_best_observed_candidate_is_chosen():
    fitted = search(noise=True, search="parego", n_iter=12).fit(X, Y)
    assert fitted.best_index_ == fitted.cv_results_["rank_test_second"].argmin()


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", ["accuracy"], {"a": "accuracy"}, lambda estimator, X, y: {"a": 1.0, "b": 2.0}]
)
def test_one_metric_is_too_few(scoring):
    with pytest.raises(
        ArgumentError, match="search='nsga2' is for two or more objectives, and scoring=.* no more than one metric"
    ):
        search(scoring=scoring, refit=False).fit(X, Y)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails at some levels, and has a score of nan at one."""

    def __init__(self, level=0):
        self.level = level

    def fit(self, X, y):
        if self.level in (3, 4):
            raise ValueError("this level is bad")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.level % 2)


def test_a_candidate_that_fails_in_one_metric_has_failed():
    def sometimes(estimator, X, y):
        return np.nan if estimator.level == 5 else estimator.level

    levels = {"level": list(range(8))}
    scoring = {"a": "accuracy", "b": sometimes}
    with pytest.warns(FitFailedWarning, match="this level is bad"), pytest.warns(UserWarning, match="non-finite"):
        fitted = search(Fragile(), levels, search="parego", n_iter=8, scoring=scoring, refit="a").fit(X, Y)
    by_level = {t.params["level"]: t for t in fitted.study_.trials}
    assert [by_level[k].state for k in range(8)] == ["ok", "ok", "ok", "failed", "failed", "failed", "ok", "ok"]
    assert by_level[5].reason == "the mean test score b is nan"
    assert "this level is bad" in by_level[3].reason
    assert {t.params["level"] for t in fitted.study_.pareto()} <= {6, 7}


def test_it_resumes_and_is_refused_with_other_metrics(tmp_path):
    path = tmp_path / "search.db"
    search(path=path, n_iter=22).fit(X, Y)
    resumed = search(path=path, n_iter=30).fit(X, Y)
    alone = search(n_iter=30).fit(X, Y)
    assert [t.values for t in resumed.study_.trials] == [t.values for t in alone.study_.trials]
    finished = search(path=path, n_iter=30).fit(X, Y)
    assert finished.best_index_ == alone.best_index_
    assert set(finished.cv_results_) == set(alone.cv_results_)
    with pytest.raises(StudyMismatchError, match="another"):
        search(path=path, scoring={"second": RECALLS["second"], "first": RECALLS["first"]}).fit(X, Y)


def test_verbose_shows_the_values(capsys):
    fitted = search(verbose=1, n_iter=20).fit(X, Y)
    assert f"[1/20] ok score={fitted.study_.trials[0].values} " in capsys.readouterr().out


STARTS = [{"C": 1.0, "gamma": 0.1}, {"C": 10.0, "gamma": 1.0}]


@pytest.mark.parametrize("options", [{}, {"search": "kriging", "scoring": None, "refit": True, "n_iter": 9}])
def test_candidates_to_start_with(options):
    fitted = search(start=STARTS, **options).fit(X, Y)
    assert [t.origin for t in fitted.study_.trials].count("start") == 2
    for row, start in enumerate(STARTS):
        assert {name: pytest.approx(value) for name, value in fitted.cv_results_["params"][row].items()} == start
    assert len(fitted.cv_results_["params"]) == fitted.n_iter
    assert clone(fitted).start == STARTS
