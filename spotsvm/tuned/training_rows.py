"""The rows of a fit: those that count, those held out, and those on which the grid is scored, with their folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import check_cv

from spotsvm.common.checks import check_count, check_groups
from spotsvm.common.compat import safe_indexing
from spotsvm.common.copies import apart, both_sides, copies, distinct_rows, held_back, joined, with_copies
from spotsvm.common.folds import check_repeatable, fewer_folds, seeded, too_few_groups
from spotsvm.common.notices import Notice
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.row_sample import HELD_ROWS, MANY_ROWS, SEARCHED_ROWS, splits_at
from spotsvm.errors import ArgumentError
from spotsvm.luck.draws import units_of
from spotsvm.tuned.task import Task

Array = NDArray[Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_MANY_ROWS, _GRID_ROWS = MANY_ROWS, SEARCHED_ROWS  # above which the grid uses a sample; its size
_HELD_FROM, _HELD_SHARE, _MOST_HELD = 6000, 0.2, HELD_ROWS  # rows from which rows are held out; their share; their maximum
_FIRST_ROWS = 1000  # rows of the grid, if rows are held out and rounds of fits on more rows follow
_LEAST_GROUPS = 20  # with fewer groups, no group is held out


@dataclass(frozen=True)
class TrainingRows:
    """All rows that a fit was given, checked; `every` are the positions of those with a positive weight, which alone count.

    `copied` has the number of the group of equal rows of each of `every`, None if no two are equal.
    """

    table: Any
    y: Array
    weights: Floats
    groups: Any
    every: Rows
    copied: Rows | None

    @classmethod
    def of(cls, table: Any, y: Array, weights: Floats, groups: Any) -> TrainingRows:
        """Return rows with these weights; ArgumentError if fewer than two have a positive one."""
        every = np.flatnonzero(weights > 0)
        if len(every) < 2:
            raise ArgumentError(f"sample_weight: {len(every)} rows have a positive weight; use two or more")
        return cls(table, y, weights, groups, every, copies(_rows_at(table, every)))

    def __len__(self) -> int:
        return len(self.every)

    @property
    def target(self) -> Array:
        """The target of the rows that count."""
        return np.asarray(self.y[self.every])

    @property
    def own_weights(self) -> Floats:
        """The weights of the rows that count."""
        return np.asarray(self.weights[self.every])

    @property
    def hashed(self) -> tuple[Any, ...]:
        """What a record depends on: without weights if all rows count alike."""
        alike = np.ptp(self.own_weights) == 0.0 and len(self.every) == len(self.y)
        return self.table, self.y, None if alike else self.own_weights, self.groups

    @cached_property
    def units(self) -> Array | None:
        """The labels of the rows that count which stay together: those of a group, and copies; None if no rows do."""
        found: Array | None = joined(None if self.groups is None else np.asarray(self.groups)[self.every], self.copied)
        return found

    @property
    def groups_of(self) -> Array | None:
        """The units if there are groups."""
        return None if self.groups is None else self.units

    @property
    def unit(self) -> Rows:
        """The number of the group of copies of each row that counts."""
        return np.arange(len(self)) if self.copied is None else self.copied

    def at(self, rows: Any = slice(None)) -> Any:
        """Return the table at some of the rows that count."""
        return _rows_at(self.table, self.every[rows])

    def held_out(self, cv: Any, task: Task, seed: int) -> Rows:
        """Return the rows to hold out; none if there are too few rows or groups, or if `cv` is a splitter."""
        n, groups = len(self), self.groups_of
        of_chance = isinstance(cv, int | np.integer) and (groups is None or len(np.unique(groups)) >= _LEAST_GROUPS)
        if n < _HELD_FROM or not of_chance:
            return np.arange(0)
        size = min(_MOST_HELD, int(_HELD_SHARE * n))
        if groups is None:
            distinct = distinct_rows(self.unit, size)
            kept = task.on(distinct).sample(round(len(distinct) * (1.0 - size / n)), seed + 1)
            return with_copies(self.unit, np.delete(distinct, kept))
        held = np.setdiff1d(np.arange(n), task.sample(n - size, seed + 1, groups))
        return held if 2 * len(held) > size else np.arange(0)

    def notices(self, cv: Any, n_held: int, folds: GridRows) -> list[Notice]:
        """Return what to tell of fewer folds than `cv`, and of copies: those that stay together, or on both sides of a fold."""
        fewer = self._fewer_folds(int(cv), folds) if isinstance(cv, int | np.integer) else []
        if self.copied is None:
            return fewer
        if self.groups is None and isinstance(cv, int | np.integer):
            return [*fewer, *held_back(self.copied, n_held or len(self) / int(cv), self.every)]
        return [*fewer, *both_sides(self.copied[folds.sample], folds.splits, issparse(self.table))]

    def _fewer_folds(self, asked: int, folds: GridRows) -> list[Notice]:
        n, sampled = len(folds.splits), len(folds.sample)
        if n >= asked:
            return []
        rows = "the training rows" if sampled == len(self) else f"the {sampled} rows that the grid is scored on"
        if self.groups is not None:
            joined_by_copies = n < len(np.unique(np.asarray(self.groups)[self.every[folds.sample]]))
            return [fewer_folds(n, asked, too_few_groups(n, rows) + " that share no row" * joined_by_copies)]
        different = "" if self.copied is None else "different "
        every = n == len(np.unique(self.unit[folds.sample[folds.tested]]))
        why = (
            f"there are only {n} {different}rows to test on"
            if every
            else f"no class has more than {n} {different}rows to test on"
        )
        return [fewer_folds(n, asked, why)]


@dataclass(frozen=True)
class GridRows:
    """The rows on which the grid is scored: a `sample` of the rows that count, and folds as indices of the sample.

    `drawn_together` are the labels of the tested rows that the draws for an interval draw together.
    """

    X: Any
    rows: Rows
    sample: Rows
    splits: list[Split]
    tested: Rows
    drawn_together: Any

    def some(self, chosen: Rows) -> GridRows:
        """Return some of the rows, with the folds that have rows of them to train and to test on."""
        splits = _with_rows(splits_at(self.splits, chosen, self.X.shape[0]))
        tested = np.unique(np.concatenate([test for _, test in splits])) if splits else np.arange(0)
        drawn = self.drawn_together
        if drawn is not None and np.ndim(drawn):
            drawn = np.asarray(drawn)[np.searchsorted(self.tested, chosen[tested])]
        return GridRows(_rows_at(self.X, chosen), self.rows[chosen], self.sample[chosen], splits, tested, drawn)


def is_many(n: int) -> bool:
    """Return whether this is a number of rows for which the grid uses a sample, and few models are averaged."""
    return n > _MANY_ROWS


def grid_size(rows: int | str | None, n: int, rounds_follow: bool) -> int:
    """Return the number of rows that the grid is scored on."""
    if rows != "auto":
        return n if rows is None else int(rows)
    return _FIRST_ROWS if rounds_follow else _GRID_ROWS if is_many(n) else n


def grid_rows(
    rows: TrainingRows, sample: Rows, task: Task, cv: Any, splitter: Callable[..., Any], seed: int, repeatable: bool
) -> GridRows:
    """Return a sample of the rows as those of the grid; `splitter` makes that of a number of folds.

    ArgumentError is raised if there is no fold, or if folds have to be `repeatable` and are not.
    """
    at = rows.every[sample]
    groups, copied = (None if labels is None else labels[sample] for labels in (rows.units, rows.copied))
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        splits = _numbered(cv, task.y, None if rows.groups is None else groups, copied, splitter, seed)
    else:
        splits = _given(rows, at, cv, not task.machines.n_classes, seed, repeatable)
    tested = np.unique(np.concatenate([test for _, test in splits]))
    drawn_together = units_of(cv, None if groups is None else groups[tested], len(tested))
    return GridRows(_rows_at(rows.table, at), at, sample, splits, tested, drawn_together)


def _numbered(cv: Any, code: Array, groups: Any, copied: Any, splitter: Callable[..., Any], seed: int) -> list[Split]:
    """Return a number of folds that keep groups together, or copies."""
    n, n_folds = len(code), check_count("cv", cv, 2)
    with warnings.catch_warnings():  # a class with fewer rows than folds is missing in some folds; the models handle this
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        if groups is not None:
            n_folds = min(n_folds, len(np.unique(groups)))
            if n_folds < 2:
                raise ArgumentError("groups: all rows are in one group; folds need at least two")
            return list(splitter(n_folds, code, True, seed).split(np.zeros(n), code, groups))
        unit = np.arange(n) if copied is None else copied
        distinct = distinct_rows(unit, n / n_folds)
        return list(apart(splitter(n_folds, code[distinct], False, seed), unit, distinct, code[distinct]))


def _with_rows(splits: list[Split]) -> list[Split]:
    """Return the splits that have rows to train and to test on."""
    return [(train, test) for train, test in splits if len(train) and len(test)]


def _given(rows: TrainingRows, at: Rows, cv: Any, regression: bool, seed: int, repeatable: bool) -> list[Split]:
    """Return the folds of a splitter, which sees all rows, without those that do not count."""
    X, y, groups = rows.table, rows.y, rows.groups
    splitter = seeded(check_cv(cv, y, classifier=not regression), seed)
    check_groups(splitter, groups)
    if repeatable:
        check_repeatable(splitter, X, y, groups)
    splits = _with_rows(splits_at(splitter.split(X, y, groups), at, len(y)))
    if not splits:
        raise ArgumentError(f"cv={cv!r} leaves no fold with rows of positive weight to train and to test on")
    return splits


def _rows_at(table: Any, rows: Rows) -> Any:
    return table if len(rows) == table.shape[0] else safe_indexing(table, rows)
