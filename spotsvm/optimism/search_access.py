"""What an analysis of oversearching needs of a search: any that has scikit-learn's `cv_results_` and `best_score_`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from spotsvm.common.errors import ArgumentError, NoCompletedTrialError

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


def check_search(search: Any) -> None:
    """Raise ArgumentError if it is no search, or one that does not refit its winner."""
    if not all(hasattr(search, name) for name in ("fit", "estimator", "refit", "get_params")):
        raise ArgumentError(f"search={search!r} is no search; use SpotSearchCV, RandomizedSearchCV or GridSearchCV")
    if not search.refit:
        raise ArgumentError("search has refit=False, so that it has no winner to be scored; use refit=True or a metric's name")


def is_fitted(search: Any) -> bool:
    """Tell whether it has searched."""
    return hasattr(search, "cv_results_")


def fresh_search(search: Any, splits: Sequence[Split], seed: int, **params: Any) -> Any:
    """Give a search that has not searched yet, with the folds, seed and parameters given, as far as it has such."""
    known = search.get_params(deep=False)
    given = {"cv": list(splits), "random_state": seed, **params}
    return clone(search).set_params(**{name: value for name, value in given.items() if name in known})


def fit_search(search: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """Fit a search; where scikit-learn's own says that all fits failed, that is a NoCompletedTrialError."""
    try:
        return search.fit(X, **fit_params) if y is None else search.fit(X, y, **fit_params)
    except NoCompletedTrialError:
        raise
    except ValueError as error:
        if "fits failed" not in str(error):
            raise
        raise NoCompletedTrialError(f"search has no completed trial: {str(error).strip().splitlines()[0]}") from error


def inner_splits(search: Any, X: Any, y: Any, groups: Any, seed: int) -> list[Split]:
    """Give the folds on which a search of these rows scores its candidates."""
    cv = search.cv
    if cv is not None and not hasattr(cv, "split") and not isinstance(cv, int | np.integer):
        raise ArgumentError(f"search has cv={type(cv).__name__}, splits of all rows; give a number of folds or a splitter")
    if getattr(cv, "random_state", 0) is None:
        cv = deepcopy(cv)
        cv.random_state = seed  # so that the folds do not depend on which outer fold comes first
    splitter = check_cv(cv, y, classifier=is_classifier(search.estimator))
    return [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]


def metric_of(search: Any) -> str:
    """Give the name under which a fitted search has the scores that chose its winner."""
    if getattr(search, "multimetric_", False):
        if not isinstance(search.refit, str):
            raise ArgumentError(f"search has several metrics and refit={search.refit!r}; let refit name one of them")
        return search.refit
    names = [key.removeprefix("mean_test_") for key in search.cv_results_ if key.startswith("mean_test_")]
    return str(names[0])


def metric_title(search: Any, metric: str) -> str:
    """Give a name for people: the scorer's, where that is known."""
    if metric != "score":
        named = search.scoring.get(metric) if isinstance(search.scoring, Mapping) else None
        return named if isinstance(named, str) else metric
    if isinstance(search.scoring, str):
        return search.scoring
    if callable(search.scoring):  # a function, or a scorer made of one
        name = str(getattr(getattr(search.scoring, "_score_func", search.scoring), "__name__", "score"))
        return f"neg_{name}" if getattr(search.scoring, "_sign", 1) < 0 else name
    return "accuracy" if is_classifier(search.estimator) else "r2" if is_regressor(search.estimator) else "score"


def scorer_of(search: Any) -> Callable[..., float]:
    """Give the scorer that chose the winner of a fitted search: it takes an estimator, X and y."""
    scorer, metric = search.scorer_, metric_of(search)
    if isinstance(scorer, Mapping):
        scorer = scorer[metric]

    def score(estimator: Any, X: Any, y: Any) -> float:
        value = scorer(estimator, X) if y is None else scorer(estimator, X, y)
        return float(value[metric] if isinstance(value, Mapping) else value)

    return score


def fold_scores(search: Any) -> Floats:
    """Give the test scores of a fitted search's candidates in its folds, as an array of shape (n_candidates, n_folds)."""
    metric = metric_of(search)
    folds = range(int(search.n_splits_))
    return np.column_stack([np.asarray(search.cv_results_[f"split{i}_test_{metric}"], dtype=np.float64) for i in folds])


def mean_scores(search: Any) -> Floats:
    """Give the mean test score of each candidate in the order in which they were tried; nan where one failed."""
    return np.asarray(search.cv_results_[f"mean_test_{metric_of(search)}"], dtype=np.float64)


def tuned_score(search: Any) -> float:
    """Give what a fitted search reports of its winner; where a function chose it, that is no more than its mean score."""
    return float(getattr(search, "best_score_", mean_scores(search)[winner_of(search)]))


def inner_ratio(search: Any, X: Any, y: Any, groups: Any) -> float | None:
    """Give the rows tested on per row trained on in a search's folds; None where they cannot be told without the data."""
    cv = search.cv
    if isinstance(cv, Sequence):
        return ratio_of(cv)
    if X is None or not (cv is None or hasattr(cv, "split") or isinstance(cv, int | np.integer)):
        return None
    try:
        return ratio_of(inner_splits(search, X, y, groups, 0))
    except ValueError:  # the splitter needs groups, and they were not given again
        return None


def ratio_of(splits: Sequence[Split]) -> float:
    """Give the rows tested on per row trained on, mean over the splits."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def winner_of(search: Any) -> int:
    """Give the number of the winner of a fitted search, and see to it that it has a score."""
    winner = int(search.best_index_)
    if not np.isfinite(mean_scores(search)[winner]):
        raise NoCompletedTrialError("search has no completed trial: no candidate has a score in all its folds")
    return winner


def candidate_params(search: Any, number: int) -> dict[str, Any]:
    """Give the parameters of a candidate."""
    return dict(search.cv_results_["params"][number])


def fitted_candidate(search: Any, params: Mapping[str, Any], X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """Give the search's estimator with a candidate's parameters, fitted."""
    estimator = clone(search.estimator).set_params(**clone(dict(params), safe=False))
    return estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)


def score_or_nan(scorer: Any, machine: Any, X: Any, y: Any) -> float:
    """Return a score; nan where the rows have no score, such as those that lack a class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(machine, X, y))
        except ValueError:
            return float("nan")


def count_rows(X: Any) -> int:
    """Give the number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(data: Any, rows: Rows) -> Any:
    """Give rows of data, None of None."""
    return None if data is None else _safe_indexing(data, rows)


def take_params(fit_params: Mapping[str, Any], rows: Rows, n_rows: int) -> dict[str, Any]:
    """Give further arguments of fit for some of the rows: what has an entry a row is cut."""
    return {
        name: take(value, rows) if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows else value
        for name, value in fit_params.items()
    }
