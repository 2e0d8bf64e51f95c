"""Nested resampling: the whole search is repeated without the rows of each outer fold, and scored on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.multiclass import type_of_target

from spotsvm.common.compat import check_method_params, num_samples, safe_indexing, safe_split
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.errors import ArgumentError, DataError, NoCompletedTrialError
from spotsvm.luck.intervals import (
    Interval,
    corrected_factor,
    corrected_variance,
    jackknife_variance,
    repeated_variance,
    t_interval,
)
from spotsvm.luck.optimism import Optimism, expected_on_new_data
from spotsvm.luck.refits.search_access import (
    Floats,
    Rows,
    Split,
    candidate_params,
    fit_search,
    fitted_candidate,
    fresh_search,
    given_by,
    inner_cv,
    inner_splits,
    mean_scores,
    metric_of,
    metric_title,
    ratio_of,
    score_or_nan,
    scorer_of,
    tuned_score,
    winner_of,
)

Variance = Literal["auto", "jackknife", "nadeau-bengio"]
VARIANCES: tuple[Variance, ...] = ("auto", "jackknife", "nadeau-bengio")
_NO_JACKKNIFE = (
    "The interval uses the rule of Nadeau and Bengio, which is rather wide. The jackknife needs three or more outer folds that "
    "contain each row once, and scores that are defined without some of the rows."
)
_NOISY = (
    "The last point of the curve is the best observed score, whereas the search recommends a trial by its model of the noise."
)


def run_nested(
    task: FoldTask, outer: OuterSplits, *, confidence: float, variance: Variance, n_jobs: int | None, seed: int
) -> Optimism:
    """Run all outer folds, and summarise them; each fold derives its own seeds from `seed`, independent of the order."""
    seeds = [
        tuple(int(s) for s in np.random.SeedSequence([seed, number]).generate_state(2) >> 1)
        for number in range(len(outer.splits))
    ]
    jobs = []
    for number, split in enumerate(outer.splits):
        repeat = [] if variance == "nadeau-bengio" else outer.others(number)
        held_out = [outer.splits[k][1] for k in repeat] if len(repeat) >= 3 else []
        jobs.append(joblib.delayed(run_outer_fold)(task, number, split, held_out, seeds[number]))
    with interrupts_kept_from_workers():
        folds: list[OuterFold] = joblib.Parallel(n_jobs=n_jobs)(jobs)
    return sum_up(folds, outer, confidence, variance)


def sum_up(folds: Sequence[OuterFold], outer: OuterSplits, confidence: float, variance: Variance) -> Optimism:
    """Return the optimism from the outer folds."""
    tuned, scores = np.array([f.tuned for f in folds]), np.array([f.outer for f in folds])
    gaps = tuned - scores
    found, degrees = (np.nan, 0) if variance == "nadeau-bengio" else _jackknife(folds, outer)
    rule = "jackknife"
    if not np.isfinite(found):
        rule, degrees = "nadeau-bengio", len(folds) - 1
        found = corrected_variance(gaps, outer.ratio)
    notes = [_NO_JACKKNIFE] if rule == "nadeau-bengio" and variance != "nadeau-bengio" else []
    spread = float(gaps.var(ddof=1))
    factor = found / spread if spread > 0 else corrected_factor(len(folds), outer.ratio)
    if any(f.incumbents and f.incumbents[-1].tuned != f.tuned for f in folds):
        notes.append(_NOISY)
    mean = float(gaps.mean())
    return Optimism(
        mean,
        t_interval(mean, found, degrees, confidence),
        sqrt(found),
        confidence,
        folds[0].metric,
        "nested",
        tuned_score=float(tuned.mean()),
        expected_score=expected_on_new_data(scores, outer.ratio, confidence, folds[0].metric, "nested"),
        n_trials=max(f.n_trials for f in folds),
        variance=rule,
        rows=tuple(_row(f) for f in folds),
        points=tuple(_points(folds, lambda mean, spread: t_interval(mean, factor * spread, degrees, confidence))),
        notes=tuple(notes),
    )


def _jackknife(folds: Sequence[OuterFold], outer: OuterSplits) -> tuple[float, int]:
    """Return the jackknife's variance and its degrees of freedom; nan where it cannot be computed."""
    repeats = [[folds[k] for k in repeat] for repeat in outer.repeats or [] if len(repeat) >= 3]
    if not repeats or len(repeats) != len(outer.repeats or []):
        return float("nan"), 0
    variances = [jackknife_variance([f.without for f in repeat], [f.outer for f in repeat]) for repeat in repeats]
    means = [float(np.mean([f.tuned - f.outer for f in repeat])) for repeat in repeats]
    return repeated_variance(variances, means), min(len(repeat) for repeat in repeats) - 1


def _row(fold: OuterFold) -> dict[str, Any]:
    return {
        "fold": fold.number,
        "n_train": fold.n_train,
        "n_test": fold.n_test,
        "tuned": fold.tuned,
        "outer": fold.outer,
        "optimism": fold.tuned - fold.outer,
        "chosen_trial": fold.chosen,
        "n_trials": fold.n_trials,
        "params": fold.params,
    }


def _points(folds: Sequence[OuterFold], interval: Callable[[float, float], Interval]) -> list[dict[str, float]]:
    """Return the points of the curve where an incumbent changes, and the last point.

    The interval of an earlier point assumes the winners' ratio between the variance and the spread of the folds.
    """
    if not all(f.incumbents for f in folds):
        return []
    first = max(f.incumbents[0].n_trials for f in folds)
    last = max(f.n_trials for f in folds)
    changes = {i.n_trials for f in folds for i in f.incumbents if i.n_trials > first}
    points = []
    for n in sorted({first, last} | changes):
        now = [next(i for i in reversed(f.incumbents) if i.n_trials <= n) for f in folds]
        gaps = np.array([i.tuned - i.outer for i in now])
        mean = float(gaps.mean())
        low, high = interval(mean, float(gaps.var(ddof=1)))
        points.append(
            {
                "n_trials": n,
                "tuned": float(np.mean([i.tuned for i in now])),
                "outer": float(np.mean([i.outer for i in now])),
                "optimism": mean,
                "low": low,
                "high": high,
            }
        )
    return points


@dataclass(frozen=True)
class FoldTask:
    """The search, the data and the options that the outer folds share.

    `folder` is for the records of the folds; `curve` is whether to score all incumbents, or only the winner.
    """

    search: Any
    X: Any
    y: Any
    groups: Any
    fit_params: Mapping[str, Any]
    folder: Path | None
    curve: bool


@dataclass(frozen=True)
class BestSoFar:
    """The best trial from `n_trials` trials on, until a better trial: its tuned score, and its score on the outer rows."""

    n_trials: int
    tuned: float
    outer: float


@dataclass(frozen=True)
class OuterFold:
    """The result of one outer fold."""

    number: int
    n_train: int
    n_test: int
    tuned: float  # the score that the search reports for its winner
    outer: float  # the winner's score on the outer rows
    params: dict[str, Any]  # the winner's parameters
    chosen: int  # number of the winning trial, from 1
    n_trials: int
    incumbents: tuple[BestSoFar, ...]
    without: Floats  # leave-one-outer-fold-out values of `tuned`, within the same repeat; its own uses all rows
    metric: str


def run_outer_fold(task: FoldTask, number: int, split: Split, repeat: Sequence[Rows], seeds: tuple[int, int]) -> OuterFold:
    """Search on the training rows of an outer fold, and score its candidates on the held-out rows.

    `repeat` has the held-out rows of each fold of the same repeat; it is empty if the scores without these rows are not needed.
    `seeds` are the seeds of the search and of its folds; folds with their own seed keep it.
    """
    train, test = split
    X, y = safe_split(task.search.estimator, task.X, task.y, train)
    groups = None if task.groups is None else safe_indexing(task.groups, train)
    fit_params = check_method_params(task.X, task.fit_params, train)
    cv = inner_cv(task.search, X, y, groups, seeds[1])
    splits = inner_splits(task.search, X, y, groups, seeds[1])
    path = None if task.folder is None else task.folder / f"outer_{number:03d}.db"
    search = fresh_search(task.search, cv, seeds[0], path=path)
    try:
        winner = winner_of(fit_search(search, X, y, fit_params))
    except NoCompletedTrialError as error:
        raise type(error)(f"outer fold {number}: {error}") from error
    except Exception as error:  # whatever the user's own estimator raises
        error.add_note(f"This error occurred in the search of outer fold {number}.")
        raise
    held_out = HeldOutScores(search, task.X, task.y, split, task.fit_params, f"outer fold {number}")
    means = mean_scores(search)
    # the search has no rows of its own fold, so its own column has the score with all rows
    without = tuned_without(search, (X, y), fit_params, splits, [np.isin(train, rows) for rows in repeat]) if repeat else None
    return OuterFold(
        number,
        len(train),
        len(test),
        tuned_score(search),
        held_out.winner,
        candidate_params(search, winner),
        winner + 1,
        len(means),
        tuple(BestSoFar(m + 1, float(means[m]), held_out.of(m)) for m in (_incumbents(means) if task.curve else [])),
        np.empty(0) if without is None else without,
        metric_title(search, metric_of(search)),
    )


def _incumbents(means: Floats) -> list[int]:
    """Return the trials that were better than all earlier trials."""
    filled = np.where(np.isnan(means), -np.inf, means)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(filled)[:-1]])
    return [int(m) for m in np.flatnonzero(filled > before)]


def check_folder(search: Any, path: str | Path | None) -> Path | None:
    """Return the folder for the records of the folds' searches."""
    if path is None:
        return None
    if "path" not in search.get_params(deep=False):
        raise ArgumentError(f"path={str(path)!r} needs a search that keeps a record; use SpotSearchCV, or omit path")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"path={str(path)!r} is a file; use a folder for the records of the outer folds")
    return folder


class HeldOutScores:
    """Scores on the rows of an outer fold, of candidates trained on the other rows; each candidate is trained once.

    The search is fitted on the training rows; `fit_params` are for all rows, and `place` names the fold in messages.
    """

    def __init__(self, search: Any, X: Any, y: Any, split: Split, fit_params: Mapping[str, Any], place: str):
        self._search, self._place, self._n_rows = search, place, len(split[1])
        engine = getattr(search, "engine", "auto")
        given = given_by(search, fit_params)
        self._scorer = FoldScorer(search.estimator, X, y, [split], given.folds, scoring=search.scoring, engine=engine)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an undefined score is reported below
            try:
                winner = _refitted_winner(search, X, y, split[0], fit_params)
                of_rows = check_method_params(X, given.score, split[1])
                value = scorer_of(search)(winner, *safe_split(search.estimator, X, y, split[1], split[0]), **of_rows)
            except ValueError as error:
                raise self._error(str(error)) from error
        #: the winner's score, refitted on all rows of the search
        self.winner = self._checked(value, f"the score is {value}")
        self._scores = {repr(candidate_params(search, winner_of(search))): self.winner}

    def of(self, candidate: int) -> float:
        """Return the score of a candidate; equal parameters are trained only once."""
        params = candidate_params(self._search, candidate)
        if repr(params) in self._scores:
            return self._scores[repr(params)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = self._scorer.score([params])[0]
        score = found.mean(metric_of(self._search), 1)
        self._scores[repr(params)] = self._checked(score, found.reason or f"the score is {score}")
        return score

    def _checked(self, score: float, why: str) -> float:
        if not np.isfinite(score):
            raise self._error(f"{why}; the rows may be too few, or lack a class; use fewer or different folds")
        return score

    def _error(self, why: str) -> DataError:
        return DataError(f"{self._place}: a candidate cannot be scored on its {self._n_rows} rows: {why}")


def _refitted_winner(search: Any, X: Any, y: Any, train: Rows, fit_params: Mapping[str, Any]) -> Any:
    """Return the winner fitted to the rows of the search; the best estimator may be an average or calibrated instead."""
    refit = search.refit
    if not (isinstance(refit, str) and refit == "average") and not getattr(search, "calibrate", False):
        return search.best_estimator_
    given = given_by(search, fit_params)
    return fitted_candidate(search, candidate_params(search, winner_of(search)), X, y, given.fit, train)


def tuned_without(
    search: Any,
    data: tuple[Any, Any],
    fit_params: Mapping[str, Any],
    splits: Sequence[Split],
    left_out: Sequence[NDArray[np.bool_]],
) -> Floats:
    """Return the winner's mean score in the search's folds, without the rows of each mask in `left_out`; training uses all rows.

    The score is nan if the rest of a fold cannot be scored. `data` has X and y of the rows searched with.
    """
    X, y = data
    params, scorer, given = candidate_params(search, winner_of(search)), scorer_of(search), given_by(search, fit_params)
    found = np.empty((len(splits), len(left_out)))
    for f, (train, test) in enumerate(splits):
        machine = fitted_candidate(search, params, X, y, given.fit, train)
        for column, rows in enumerate(left_out):
            kept = test[~rows[test]]
            some, truth = safe_split(search.estimator, X, y, kept, train)
            of_rows = check_method_params(X, given.score, kept)
            found[f, column] = score_or_nan(scorer, machine, some, truth, of_rows) if len(kept) else np.nan
    return np.asarray(found.mean(axis=0))


@dataclass(frozen=True)
class OuterSplits:
    """Valid outer folds: their `splits` into rows to search with and rows to score on, and their repeats.

    If the folds test all rows, once or several times, `repeats` has the numbers of the folds of each repeat.
    """

    splits: list[Split]
    repeats: list[list[int]] | None

    @property
    def ratio(self) -> float:
        """Test rows per training row, mean over the folds."""
        return ratio_of(self.splits)

    def others(self, number: int) -> list[int]:
        """Return the folds of the same repeat, including this fold; an empty list if the folds do not test all rows."""
        return next((repeat for repeat in self.repeats or [] if number in repeat), [])


def outer_splits(outer: Any, X: Any, y: Any, groups: Any, *, classifier: bool, seed: int) -> OuterSplits:
    """Return the outer folds.

    A number makes shuffled folds, stratified for a classifier, and by group if there are groups. ArgumentError is raised if there
    are fewer than two folds, DataError if a fold lacks a class or has no rows.
    """
    n_rows = num_samples(X)
    classes = classifier and y is not None and type_of_target(y) in ("binary", "multiclass")
    if isinstance(outer, bool) or (isinstance(outer, Integral) and outer < 2):
        raise ArgumentError(f"outer={outer!r} is not a number of folds; use 2 or more, or a splitter")
    splitter: Any
    if isinstance(outer, Integral):
        count = int(outer)
        if count > n_rows:
            raise ArgumentError(f"outer={outer} folds cannot be made from {n_rows} rows; use at most {n_rows}")
        if classes:
            _check_counts(y, count)
        if groups is None:
            splitter = (StratifiedKFold if classes else KFold)(count, shuffle=True, random_state=seed)
        else:
            splitter = StratifiedGroupKFold(count, shuffle=True, random_state=seed) if classes else GroupKFold(count)
    else:
        splitter = check_cv(outer, y, classifier=classifier)
    splits = [(_rows(train, n_rows), _rows(test, n_rows)) for train, test in splitter.split(X, y, groups)]
    if len(splits) < 2:
        raise ArgumentError(f"outer={outer!r} makes {len(splits)} fold; two or more are needed")
    for number, (train, test) in enumerate(splits):
        if not len(train) or not len(test):
            raise DataError(
                f"outer fold {number} has {len(train)} training rows and {len(test)} test rows; both need at least one"
            )
        if classes and (missing := sorted(set(np.unique(y)) - set(np.unique(np.asarray(y)[train])), key=str)):
            raise DataError(f"outer fold {number} has no training row of class {missing[0]}; use fewer or different folds")
    return OuterSplits(splits, _repeats(splits, n_rows))


def _check_counts(y: Any, count: int) -> None:
    labels, counts = np.unique(np.asarray(y), return_counts=True)
    rare = int(np.argmin(counts))
    if counts[rare] < count:
        raise DataError(
            f"class {labels[rare]} has {counts[rare]} rows, fewer than the {count} outer folds, so one fold would lack "
            "it; use fewer folds, or remove the class"
        )


def _rows(rows: Any, n_rows: int) -> Rows:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows, dtype=np.intp) % n_rows


def _repeats(splits: list[Split], n_rows: int) -> list[list[int]] | None:
    """Group the folds into repeats that test each row once; None if the folds are not such repeats."""
    repeats: list[list[int]] = [[]]
    seen = np.zeros(n_rows, dtype=bool)
    for number, (train, test) in enumerate(splits):
        if seen.all():
            repeats.append([])
            seen[:] = False
        if seen[test].any() or len(train) + len(test) != n_rows or np.isin(train, test).any():
            return None
        seen[test] = True
        repeats[-1].append(number)
    return repeats if seen.all() else None
