"""Access to any fitted search with scikit-learn's `cv_results_` and `best_score_`, for the analysis of oversearching."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from spotsvm.common.compat import check_method_params, every_fit_failed, num_samples, safe_split, scorer_parts
from spotsvm.common.folds import seeded
from spotsvm.common.notices import untold
from spotsvm.common.targets import as_classes, check_no_dates, check_sample_weight
from spotsvm.cross_validation.fold_data import Split as Split
from spotsvm.cross_validation.scorers import make_scorers
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.trials.metrics import scorer_name

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Given:
    """What the fit of a search is given beside X and y, for fit, scorer and splitter.

    `folds` are the arguments of a search with the same estimator and scorers on given folds.
    """

    fit: Mapping[str, Any]
    score: Mapping[str, Any]
    split: Mapping[str, Any]
    folds: Mapping[str, Any]

    @property
    def groups(self) -> Any:
        """The groups of rows; None if there are none."""
        return self.split.get("groups")


def routing_enabled() -> bool:
    """Return whether scikit-learn passes arguments only to those that request them."""
    return bool(get_config().get("enable_metadata_routing", False))


def estimator_and_scorer(search: Any) -> MetadataRouter:
    """Return the metadata routing of a search without that of its splitter."""
    return (
        MetadataRouter(owner=search)
        .add(estimator=search.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        .add(
            scorer=check_scoring(search.estimator, search.scoring),
            method_mapping=MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score"),
        )
    )


def given_by(search: Any, params: Mapping[str, Any]) -> Given:
    """Return the arguments of a search's fit by recipient: by request where metadata routing is enabled.

    Otherwise `groups` is for the splitter and the rest for the estimator, as in scikit-learn's searches.
    """
    if not routing_enabled():
        given = dict(params)
        groups = given.pop("groups", None)
        return Given(given, {}, {"groups": groups}, given)
    routed = process_routing(search, "fit", **params)
    scorers = make_scorers(search.estimator, search.scoring)
    if isinstance(scorers, Mapping):
        named = isinstance(search.refit, str) and search.refit in scorers
        scorers = scorers[search.refit] if named else next(iter(scorers.values()))
    own = MetadataRouter(owner=search).add(scorer=scorers, method_mapping=MethodMapping().add(caller="fit", callee="score"))
    of_scorer = own.route_params(caller="fit", params=dict(params))["scorer"]["score"]
    known = estimator_and_scorer(search).consumes("fit", params)
    return Given(routed.estimator.fit, of_scorer, routed.splitter.split, {name: params[name] for name in known})


def given_to_fit(search: Any, X: Any, groups: Any, fit_params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments with which a search is to be repeated on X: those passed, or else those of its own fit.

    A SpotSearchCV keeps the latter as `fit_params_`. ArgumentError is raised if they are for other rows.
    """
    passed = dict(fit_params or {}) if groups is None else {**(fit_params or {}), "groups": groups}
    kept = {} if fit_params is not None else getattr(search, "fit_params_", {})
    n = num_samples(X)
    for name, value in kept.items():
        if name not in passed and _is_by_row(value) and num_samples(value) != n:
            raise ArgumentError(
                f"search was fitted with {name} of {num_samples(value)} rows, and X has {n}; pass X and y of that fit, or "
                f"fit_params={{{name!r}: ...}} for these rows ({{}} for none)"
            )
    return {**kept, **passed}


def check_given(estimator: Any, X: Any, y: Any, params: Mapping[str, Any]) -> None:
    """Raise an error that names argument and value if the classes or the weights of rows are none."""
    if y is not None and is_classifier(estimator) and np.ndim(y if hasattr(y, "ndim") else np.asarray(y, dtype=object)) == 1:
        as_classes(y, type(estimator).__name__)
    elif y is not None and is_regressor(estimator):
        check_no_dates(y, type(estimator).__name__)
    for name, weights in params.items():
        if name.rpartition("__")[2] == "sample_weight" and weights is not None:
            check_sample_weight(weights, num_samples(X), name)


def kept_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a fit as a search keeps them: those with an entry for each row as arrays."""
    return {
        name: np.asarray(value) if getattr(value, "ndim", 0) == 1 or _is_flat(value) else value for name, value in params.items()
    }


def _is_flat(value: Any) -> bool:
    """Return whether this is a list of numbers or texts."""
    return isinstance(value, list | tuple) and all(isinstance(one, str | float | int | np.generic) for one in value)


def _is_by_row(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)


def check_search(search: Any) -> None:
    """Raise ArgumentError if this is not a search, or if the search does not refit its winner."""
    if not all(hasattr(search, name) for name in ("fit", "estimator", "refit", "get_params")):
        raise ArgumentError(f"search={search!r} is not a search; use SpotSearchCV, RandomizedSearchCV or GridSearchCV")
    if not search.refit:
        raise ArgumentError("search has refit=False, so it has no winner to score; use refit=True or a metric's name")


def fresh_search(search: Any, cv: Any, seed: int, **params: Any) -> Any:
    """Return an unfitted search with these folds, and with this seed and these parameters if it has parameters of these names."""
    known = search.get_params(deep=False)
    given = {"cv": cv, "random_state": seed, **params}
    return clone(search).set_params(**{name: value for name, value in given.items() if name in known})


def fit_search(search: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """Fit a search; raise NoCompletedTrialError if scikit-learn reports that all fits failed."""
    try:
        with untold():
            return search.fit(X, **fit_params) if y is None else search.fit(X, y, **fit_params)
    except NoCompletedTrialError:
        raise
    except ValueError as error:
        if not every_fit_failed(error):
            raise
        raise NoCompletedTrialError(f"search has no completed trial: {str(error).strip().splitlines()[0]}") from error


def inner_cv(search: Any, X: Any, y: Any, groups: Any, seed: int) -> Any:
    """Return the argument `cv` for a search of these rows: its own splitter, which can also draw further partitions.

    With groups, which are not passed on to the search, this is the list of splits.
    """
    return _seeded(search, seed) if groups is None else inner_splits(search, X, y, groups, seed)


def inner_splits(search: Any, X: Any, y: Any, groups: Any, seed: int) -> list[Split]:
    """Return the folds on which a search of these rows scores its candidates."""
    splitter = check_cv(_seeded(search, seed), y, classifier=is_classifier(search.estimator))
    return [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]


def _seeded(search: Any, seed: int) -> Any:
    """Return the `cv` of a search, with this seed if it has none."""
    cv = search.cv
    if cv is not None and not hasattr(cv, "split") and not isinstance(cv, int | np.integer):
        raise ArgumentError(f"search has cv={type(cv).__name__}, splits of all rows; use a number of folds or a splitter")
    return seeded(cv, seed)  # the folds then do not depend on the order of the outer folds


def metric_of(search: Any) -> str:
    """Return the name under which a fitted search stores the scores that chose its winner."""
    if getattr(search, "multimetric_", False):
        if not isinstance(search.refit, str):
            raise ArgumentError(f"search has several metrics and refit={search.refit!r}; let refit name one of them")
        return search.refit
    names = [key.removeprefix("mean_test_") for key in search.cv_results_ if key.startswith("mean_test_")]
    return str(names[0])


def metric_title(search: Any, metric: str) -> str:
    """Return the name of a metric for texts: the name of the scorer, if known."""
    if metric != "score":
        named = search.scoring.get(metric) if isinstance(search.scoring, Mapping) else None
        return named if isinstance(named, str) else metric
    if isinstance(search.scoring, str):
        return search.scoring
    if callable(search.scoring):  # a function, or a scorer made from a function
        parts = scorer_parts(search.scoring)
        name = str(getattr(search.scoring, "__name__", "score")) if parts is None else parts.name
        return scorer_name(parts) or name
    return "accuracy" if is_classifier(search.estimator) else "r2" if is_regressor(search.estimator) else "score"


def scorer_of(search: Any) -> Callable[..., float]:
    """Return the scorer that chose the winner of a fitted search, a function of an estimator, X, y and the scorer's arguments."""
    scorer, metric = search.scorer_, metric_of(search)
    if isinstance(scorer, Mapping):
        scorer = scorer[metric]

    def score(estimator: Any, X: Any, y: Any, **params: Any) -> float:
        value = scorer(estimator, X, **params) if y is None else scorer(estimator, X, y, **params)
        return float(value[metric] if isinstance(value, Mapping) else value)

    return score


def scorer_of_rows(search: Any) -> tuple[Any, str]:
    """Return the scorer that chose the winner of a fitted search, and its name; "score" if it has no name.

    A search without a scorer uses the estimator's own `score`. The scorer returned for it calls only `predict`, so it can score
    drawn rows. A name of scikit-learn's that the user gave to another scorer is no name.
    """
    if search.scoring is None:
        name = "accuracy" if is_classifier(search.estimator) else "r2"
        return get_scorer(name), name
    return scorer_of(search), score_name(search, metric_of(search))


def score_name(search: Any, metric: str) -> str:
    """Return the name of the score that a metric of a fitted search computes; "score" if it has none."""
    if search.scoring is None:
        return "accuracy" if is_classifier(search.estimator) else "r2"
    named = search.scoring.get(metric) if isinstance(search.scoring, Mapping) else search.scoring
    if isinstance(named, str):
        return named
    own = search.scorer_[metric] if isinstance(search.scorer_, Mapping) else search.scorer_
    return scorer_name(scorer_parts(own)) or ("score" if metric in get_scorer_names() else metric)


def fold_scores(search: Any) -> Floats:
    """Return the test scores of a fitted search's candidates in its folds, shape (n_candidates, n_folds)."""
    metric = metric_of(search)
    folds = range(int(search.n_splits_))
    return np.column_stack([np.asarray(search.cv_results_[f"split{i}_test_{metric}"], dtype=np.float64) for i in folds])


def mean_scores(search: Any) -> Floats:
    """Return the mean test score of each candidate in the order of trials; nan if it failed."""
    return np.asarray(search.cv_results_[f"mean_test_{metric_of(search)}"], dtype=np.float64)


def tuned_score(search: Any) -> float:
    """Return the score that a fitted search reports for its winner; the winner's mean score if a function chose it."""
    return float(getattr(search, "best_score_", mean_scores(search)[winner_of(search)]))


def inner_ratio(search: Any, X: Any, y: Any, groups: Any) -> float | None:
    """Return the number of test rows per training row in a search's folds; None if unknown without the data."""
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
    """Return the number of test rows per training row, mean over the splits."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def winner_of(search: Any) -> int:
    """Return the number of the winner of a fitted search; NoCompletedTrialError if it has no score."""
    winner = int(search.best_index_)
    if not np.isfinite(mean_scores(search)[winner]):
        raise NoCompletedTrialError("search has no completed trial: no candidate has a score in all its folds")
    return winner


def best_candidates(results: Mapping[str, Any], metric: str, chosen: int | None, most: int | None) -> list[int]:
    """Return the indices of the chosen candidate, if any, and of the next best by mean score, with different parameters.

    `results` are `cv_results_`; candidates that violate the bounds of a SpotSearchCV are left out. `most=None` returns all.
    """
    means = np.array(results[f"mean_test_{metric}"], dtype=float)
    means[~np.asarray(results.get("bounds_held", np.ones(len(means), dtype=bool)))] = np.nan
    order = [*([] if chosen is None else [chosen]), *(int(k) for k in np.argsort(-means, kind="stable") if np.isfinite(means[k]))]
    first: dict[str, int] = {}
    for k in order:
        first.setdefault(repr(results["params"][k]), k)
    return list(first.values())[:most]


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return a copy of an estimator with other parameters."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def candidate_params(search: Any, number: int) -> dict[str, Any]:
    """Return the parameters of a candidate."""
    return dict(search.cv_results_["params"][number])


def fitted_candidate(
    search: Any, params: Mapping[str, Any], X: Any, y: Any, fit_params: Mapping[str, Any], rows: Rows | None = None
) -> Any:
    """Return the search's estimator with a candidate's parameters, fitted to all rows or to some."""
    if rows is not None:
        fit_params = check_method_params(X, fit_params, rows)
        X, y = safe_split(search.estimator, X, y, rows)
    estimator = with_params(search.estimator, params)
    with untold():
        return estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)


def score_or_nan(scorer: Any, machine: Any, X: Any, y: Any, params: Mapping[str, Any]) -> float:
    """Return a score; nan if the rows have none, for example because they lack a class."""
    with warnings.catch_warnings(), untold():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(machine, X, y, **params))
        except ValueError:
            return float("nan")
