import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer, recall_score, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import NoCompletedTrialError, NoCompletedTrialTypeError, StudyMismatchError
from spotsvm.searches import ParegoSearch

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


X, Y = make_classification(n_samples=60, n_features=4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
REFIT_WANTED = "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable"


def search(estimator=None, space=SPACE, **options):
    options = PLAIN | {"n_iter": 6, "search": "random", "cv": 3, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


def renamed(results, metric):
    """The columns of scores of one metric, as if it were the only one."""
    ends = f"_{metric}"
    return {name.removesuffix(ends): column.tolist() for name, column in results.items() if name.endswith(ends)}


def values(fitted):
    return [t.value for t in fitted.study_.trials]


@pytest.mark.parametrize("scoring", [("f1", "roc_auc"), ["f1", "roc_auc"], {"f1": make_scorer(f1_score), "roc_auc": "roc_auc"}])
def test_several_metrics_are_several_searches_in_one(scoring):
    fitted = search(scoring=scoring, refit="roc_auc", return_train_score=True).fit(X, Y)
    assert fitted.multimetric_
    assert list(fitted.scorer_) == ["f1", "roc_auc"]
    for metric in ("f1", "roc_auc"):
        alone = search(scoring=metric, return_train_score=True).fit(X, Y)
        assert not alone.multimetric_
        assert renamed(fitted.cv_results_, metric) == renamed(alone.cv_results_, "score")
    assert alone.best_params_ == fitted.best_params_
    assert (alone.best_index_, alone.best_score_, alone.score(X, Y)) == (
        fitted.best_index_,
        fitted.best_score_,
        fitted.score(X, Y),
    )
    assert fitted.score(X, Y) == roc_auc_score(Y, fitted.decision_function(X))


def test_the_metric_that_refit_names_is_optimised_and_without_it_there_is_no_best():
    scoring = {"f1": "f1", "test_f1": "accuracy"}
    for refit, metric in [("test_f1", "test_f1"), ("f1", "f1"), (False, "f1"), (lambda results: 0, "f1")]:
        fitted = search(scoring=scoring, refit=refit).fit(X, Y)
        assert values(fitted) == fitted.cv_results_[f"mean_test_{metric}"].tolist()
    fitted = search(scoring=["f1", "accuracy"], refit=False).fit(X, Y)
    assert {"mean_test_f1", "mean_test_accuracy"} <= set(fitted.cv_results_)
    assert not any(name.startswith("best_") for name in vars(fitted))
    single = search(refit=False).fit(X, Y)
    assert {name for name in vars(single) if name.startswith("best_")} == {"best_index_", "best_params_", "best_score_"}
    assert single.best_score_ == single.cv_results_["mean_test_score"].max()
    assert not hasattr(single, "refit_time_")


class Backwards(set):
    """A set that is gone through in another order than the alphabetical one, as some process may do with any set."""

    def __iter__(self):
        return iter(sorted(super().__iter__(), reverse=True))


@pytest.mark.parametrize("engine", ["auto", "sklearn"])
def test_of_a_set_of_metrics_the_first_is_the_first_in_the_alphabet(engine):
    fitted = search(scoring=Backwards({"f1", "accuracy"}), refit=False, engine=engine).fit(X, Y)
    assert values(fitted) == fitted.cv_results_["mean_test_accuracy"].tolist()
    assert fitted.cv_results_["mean_test_accuracy"].tolist() != fitted.cv_results_["mean_test_f1"].tolist()
    names = [name for name in fitted.cv_results_ if name.startswith("mean_test_")]
    assert names == ["mean_test_accuracy", "mean_test_f1"]


class NeverFitted(ClassifierMixin, BaseEstimator):
    def __init__(self, C=1.0, gamma=1.0):
        self.C, self.gamma = C, gamma

    def fit(self, X, y):
        raise AssertionError


@pytest.mark.parametrize("refit", [True, "recall", "accuracy"])
@pytest.mark.parametrize("scoring", [{"acc": "accuracy", "prec": "precision"}, {"score": "accuracy"}, ["f1"]])
def test_a_refit_that_names_no_metric_is_refused_before_anything_is_fitted(refit, scoring):
    with pytest.raises(ValueError, match=f"{REFIT_WANTED}.*{refit!r} was passed"):
        search(NeverFitted(), scoring=scoring, refit=refit).fit(X, Y)


@pytest.mark.parametrize("scoring", [None, ["f1", "accuracy"]])
def test_refit_may_choose_for_itself(scoring):
    seen = []

    def worst(results):
        seen.append(results)
        return results["mean_test_f1" if scoring else "mean_test_score"].argmin()

    fitted = search(scoring=scoring, refit=worst).fit(X, Y)
    assert seen[0] is fitted.cv_results_
    assert fitted.best_index_ == worst(fitted.cv_results_)
    assert fitted.best_params_ == fitted.cv_results_["params"][fitted.best_index_]
    assert fitted.best_estimator_.C == fitted.best_params_["C"]
    assert not hasattr(fitted, "best_score_")


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [(None, TypeError, "is not an integer"), (1.0, TypeError, "is not an integer"), (-1, IndexError, "out of range")]
    + [(6, IndexError, "out of range")],
)
def test_a_choice_that_is_none_is_refused(index, error, message):
    with pytest.raises(error, match=f"best_index_.*{message}"):
        search(refit=lambda results: index).fit(X, Y)


def test_a_callable_may_return_several_scores():
    def both(estimator, X, y):
        predicted = estimator.predict(X)
        return {"recall": recall_score(y, predicted), "accuracy": accuracy_score(y, predicted)}

    fitted = search(scoring=both, refit="accuracy").fit(X, Y)
    other = search(scoring=["recall", "accuracy"], refit="accuracy").fit(X, Y)
    for metric in ("recall", "accuracy"):
        assert renamed(fitted.cv_results_, metric) == renamed(other.cv_results_, metric)
    assert fitted.multimetric_
    assert fitted.scorer_ is both
    assert (values(fitted), fitted.best_index_, fitted.score(X, Y)) == (values(other), other.best_index_, other.score(X, Y))
    for refit in (True, "nonsense"):
        with pytest.raises(ValueError, match=REFIT_WANTED):
            search(scoring=both, refit=refit).fit(X, Y)
        with pytest.raises(ValueError, match=REFIT_WANTED):
            search(scoring=lambda *given: {"alone": 1.0}, refit=refit).fit(X, Y)


def test_an_estimator_without_score_needs_a_scoring():
    class Dumb(SVC):
        @property
        def score(self):
            raise AttributeError

    with pytest.raises(TypeError, match="no scoring"):
        search(Dumb()).fit(X, Y)
    assert search(Dumb(), scoring="roc_auc").fit(X, Y).score(X, Y) == search(scoring="roc_auc").fit(X, Y).score(X, Y)
    with pytest.raises(ValueError, match="metric function rather than a scorer"):
        search(scoring=accuracy_score).fit(X, Y)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails at one level; at another one only in the fold that lacks the first sample."""

    def __init__(self, level=0, error=ValueError):
        self.level, self.error = level, error

    def fit(self, X, y):
        if self.level == 2 or (self.level == 1 and X[0, 0] != 0):
            raise self.error("this level is bad")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.level % 2)


ROWS, HALVES = np.arange(12.0).reshape(-1, 1), np.arange(12) % 2
LEVELS = {"level": [0, 1, 2, 3]}


def fragile(levels=LEVELS, **options):
    return search(Fragile(), levels, **{"n_iter": len(levels["level"]), "cv": KFold(3)} | options)


@pytest.mark.parametrize("error_score", [np.nan, 0.0, -1])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_candidate_that_fails_is_scored_and_told_of(error_score, batch_size):
    with pytest.warns(FitFailedWarning) as told:
        fitted = fragile(error_score=error_score, batch_size=batch_size, return_train_score=True).fit(ROWS, HALVES)
    said = "2 of 4 candidates failed, in some folds or in every fold: 2 x ValueError: this level is bad"
    assert [str(w.message) for w in told] == [said]
    by_level = np.argsort(fitted.cv_results_["param_level"])
    splits = np.array([fitted.cv_results_[f"split{i}_test_score"] for i in range(3)]).T[by_level]
    expected = np.array([[0.5] * 3, [error_score, 0.5, 0.5], [error_score] * 3, [0.5] * 3])
    assert np.array_equal(splits, expected, equal_nan=True)
    assert np.array_equal(fitted.cv_results_["mean_test_score"][by_level], expected.mean(axis=1), equal_nan=True)
    ranks = fitted.cv_results_["rank_test_score"][by_level].tolist()
    assert ranks == ([1, 3, 3, 1] if np.isnan(error_score) else [1, 3, 4, 1])
    states = np.array([t.state for t in fitted.study_.trials])[by_level].tolist()
    assert states == ["ok", "failed", "failed", "ok"]
    assert {t.reason for t in fitted.study_.trials} == {"", "ValueError: this level is bad"}
    assert fitted.best_params_["level"] in (0, 3)


@pytest.mark.parametrize(("error", "kind"), [(ValueError, NoCompletedTrialError), (TypeError, NoCompletedTrialTypeError)])
@pytest.mark.parametrize("error_score", [np.nan, 0.0])
@pytest.mark.parametrize("scoring", [None, lambda estimator, X, y: {"one": 1.0}])
def test_if_nothing_can_be_fitted_it_says_why(error, kind, error_score, scoring):
    everything_fails = fragile({"level": [2], "error": [error, error]}, n_iter=2, error_score=error_score, scoring=scoring)
    with pytest.raises(kind, match=f"2 candidates failed: .* {error.__name__}: this") as raised:
        everything_fails.set_params(refit=False).fit(ROWS, HALVES)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value.__cause__, error)


@pytest.mark.parametrize("noise", [False, "auto"])
def test_folds_that_fail_for_all_candidates_leave_scores_if_they_have_one(noise):
    half = {"level": [1], "error": [ValueError, RuntimeError]}
    with pytest.warns(FitFailedWarning, match="some folds"):
        fitted = fragile(half, n_iter=2, error_score=0.0, refit=False, noise=noise).fit(ROWS, HALVES)
    assert fitted.cv_results_["mean_test_score"].tolist() == [1 / 3, 1 / 3]
    assert fitted.best_index_ == 0


def test_scores_that_are_no_numbers_are_ranked_last():
    def sometimes(estimator, X, y):
        return np.nan if estimator.level == 1 and 0 in X else estimator.level

    folds = [(np.arange(6), np.arange(6)), (np.arange(6), [8])]
    with pytest.warns(UserWarning, match=r"^One or more of the test scores are non-finite: \[.*nan.*\]$"):
        fitted = fragile({"level": [0, 1, 3]}, scoring=sometimes, cv=folds).fit(ROWS, HALVES)
    by_level = np.argsort(fitted.cv_results_["param_level"])
    assert fitted.cv_results_["rank_test_score"][by_level].tolist() == [2, 3, 1]
    assert [fitted.study_.trials[k].reason for k in by_level] == ["", "the mean test score is nan", ""]


def test_if_all_scores_are_nan_without_an_error_the_first_candidate_is_taken_with_a_warning():
    unsure = fragile({"level": [3, 4, 5]}, scoring=lambda estimator, X, y: np.nan, start=None)
    with pytest.warns(UserWarning, match="scores are non-finite: .*; candidate 0 is taken, as none has a finite score") as told:
        fitted = unsure.fit(ROWS, HALVES)
    assert len(told) == 1
    assert (fitted.best_index_, fitted.best_params_, fitted.best_estimator_.level) == (0, {"level": 3}, 3)
    assert np.isnan(fitted.best_score_)


@pytest.mark.parametrize("error_score", [np.nan, -1.0])
def test_a_metric_that_fails_leaves_the_others(error_score):
    def broken(y, predicted):
        raise RuntimeError("no such thing")

    scoring = {"broken": make_scorer(broken), "accuracy": get_scorer("accuracy")}
    with pytest.warns(FitFailedWarning, match="6 of 6 candidates failed, .*: 6 x no such thing"):
        fitted = search(scoring=scoring, refit="accuracy", error_score=error_score).fit(X, Y)
    alone = search(scoring="accuracy").fit(X, Y)
    assert renamed(fitted.cv_results_, "accuracy") == renamed(alone.cv_results_, "score")
    assert np.array_equal(fitted.cv_results_["mean_test_broken"], [error_score] * 6, equal_nan=True)
    assert (fitted.best_index_, values(fitted)) == (alone.best_index_, values(alone))


RECALLS = {"first": make_scorer(recall_score, pos_label=0), "second": make_scorer(recall_score, pos_label=1)}


def objectives(estimator=None, space=SPACE, **options):
    options = {"n_iter": 12, "search": "nsga2", "scoring": RECALLS, "refit": "second"} | options
    return search(estimator, space, **options)


@pytest.mark.parametrize("which", ["nsga2", ParegoSearch])
def test_all_metrics_are_objectives_and_maximised(which):
    fitted = objectives(search=which).fit(X, Y)
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


def test_under_noise_the_best_observed_candidate_is_chosen_and_values_are_shown(capsys):
    fitted = objectives(noise=True, search="parego", n_iter=12, verbose=1).fit(X, Y)
    assert fitted.best_index_ == fitted.cv_results_["rank_test_second"].argmin()
    assert f"[1/12] ok score={fitted.study_.trials[0].values} " in capsys.readouterr().out


def test_a_candidate_that_fails_in_one_metric_has_failed():
    def sometimes(estimator, X, y):
        return np.nan if estimator.level == 5 else estimator.level

    levels = {"level": list(range(8))}
    scoring = {"a": "accuracy", "b": sometimes}
    with pytest.warns(FitFailedWarning, match="this level is bad"), pytest.warns(UserWarning, match="non-finite"):
        fitted = objectives(Fragile(), levels, search="parego", n_iter=8, scoring=scoring, refit="a").fit(X, Y)
    by_level = {t.params["level"]: t for t in fitted.study_.trials}
    assert [by_level[k].state for k in range(8)] == ["ok", "failed", "failed", "ok", "ok", "failed", "ok", "ok"]
    assert by_level[5].reason == "the mean test score b is nan"
    assert "this level is bad" in by_level[2].reason
    assert {t.params["level"] for t in fitted.study_.pareto()} <= {6, 7}


def test_it_resumes_and_is_refused_with_other_metrics(tmp_path):
    path = tmp_path / "search.db"
    objectives(path=path, n_iter=22).fit(X, Y)
    resumed = objectives(path=path, n_iter=30).fit(X, Y)
    alone = objectives(n_iter=30).fit(X, Y)
    assert [t.values for t in resumed.study_.trials] == [t.values for t in alone.study_.trials]
    finished = objectives(path=path, n_iter=30).fit(X, Y)
    assert finished.best_index_ == alone.best_index_
    assert set(finished.cv_results_) == set(alone.cv_results_)
    with pytest.raises(StudyMismatchError, match="another"):
        objectives(path=path, scoring={"second": RECALLS["second"], "first": RECALLS["first"]}).fit(X, Y)


STARTS = [{"C": 1.0, "gamma": 0.1}, {"C": 10.0, "gamma": 1.0}]


@pytest.mark.parametrize("options", [{}, {"search": "kriging", "scoring": None, "refit": True, "n_iter": 9}])
def test_candidates_to_start_with(options):
    fitted = objectives(start=STARTS, **options).fit(X, Y)
    assert [t.origin for t in fitted.study_.trials].count("start") == 2
    for row, start in enumerate(STARTS):
        assert {name: pytest.approx(value) for name, value in fitted.cv_results_["params"][row].items()} == start
    assert len(fitted.cv_results_["params"]) == fitted.n_iter
    assert clone(fitted).start == STARTS
