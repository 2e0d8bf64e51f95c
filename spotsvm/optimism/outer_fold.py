"""One outer fold of nested resampling: a search on its training rows, and the scores of its incumbents on the held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.optimism.held_out import HeldOutScores, tuned_without
from spotsvm.optimism.search_access import (
    Rows,
    Split,
    candidate_params,
    count_rows,
    fit_search,
    fresh_search,
    inner_splits,
    mean_scores,
    metric_of,
    metric_title,
    take,
    take_params,
    tuned_score,
    winner_of,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FoldTask:
    """The search and the data that the outer folds share.

    Attributes
    ----------
    search : search
        Not fitted.
    X, y, groups : array-like or None
        All rows.
    fit_params : dict
        Further arguments of fit.
    folder : Path or None
        Folder for the records of the folds.
    curve : bool
        Whether to score all incumbents, or only the winner.
    """

    search: Any
    X: Any
    y: Any
    groups: Any
    fit_params: Mapping[str, Any]
    folder: Path | None
    curve: bool


@dataclass(frozen=True)
class Incumbent:
    """The best trial from some number of trials on, until a better one comes.

    Attributes
    ----------
    n_trials : int
        Trials spent when it was found, itself included.
    tuned, outer : float
        Its mean score in the search's folds, and its score on the outer rows after a fit on all others.
    """

    n_trials: int
    tuned: float
    outer: float


@dataclass(frozen=True)
class OuterFold:
    """The result of one outer fold.

    Attributes
    ----------
    number, n_train, n_test : int
        Its number and its numbers of rows.
    tuned, outer : float
        The score that the search reports for its winner, and the winner's score on the outer rows.
    params : dict
        The winner's parameters.
    chosen, n_trials : int
        Number of the winning trial, counted from 1, and number of trials.
    incumbents : tuple of Incumbent
        In the order of trials.
    without : ndarray
        The winner's tuned score without the rows of each outer fold of the same repeat; its own entry uses all rows.
    metric : str
        The score's name.
    """

    number: int
    n_train: int
    n_test: int
    tuned: float
    outer: float
    params: dict[str, Any]
    chosen: int
    n_trials: int
    incumbents: tuple[Incumbent, ...]
    without: Floats
    metric: str


def run_outer_fold(task: FoldTask, number: int, split: Split, repeat: Sequence[Rows], seeds: tuple[int, int]) -> OuterFold:
    """Search on the training rows of an outer fold, and score its candidates on the held-out rows.

    Parameters
    ----------
    task : FoldTask
        The search and the data.
    number : int
        The fold's number.
    split : tuple of ndarray
        Rows to search with, rows to score on.
    repeat : sequence of ndarray
        Rows held out by the folds of the same repeat; empty if the scores without them are not needed.
    seeds : tuple of int
        Seeds of the search, and of its folds where these have none.

    Raises
    ------
    NoCompletedTrialError, DataError
        If every trial failed, or a score on the outer rows is not a number.
    """
    train, test = split
    X, y, groups = (take(data, train) for data in (task.X, task.y, task.groups))
    fit_params = take_params(task.fit_params, train, count_rows(task.X))
    splits = inner_splits(task.search, X, y, groups, seeds[1])
    path = None if task.folder is None else task.folder / f"outer_{number:03d}.db"
    search = fresh_search(task.search, splits, seeds[0], path=path)
    try:
        winner = winner_of(fit_search(search, X, y, fit_params))
    except NoCompletedTrialError as error:
        raise type(error)(f"outer fold {number}: {error}") from error
    except Exception as error:  # whatever the user's own estimator raises
        error.add_note(f"This error occurred in the search of outer fold {number}.")
        raise
    held_out = HeldOutScores(search, task.X, task.y, split, task.fit_params, f"outer fold {number}")
    means = mean_scores(search)
    # the search has none of its own fold's rows, so that its own column has the score with all rows
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
        tuple(Incumbent(m + 1, float(means[m]), held_out.of(m)) for m in (_incumbents(means) if task.curve else [])),
        np.empty(0) if without is None else without,
        metric_title(search, metric_of(search)),
    )


def _incumbents(means: Floats) -> list[int]:
    """Return the trials that were better than all before them."""
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
