"""The outer folds of nested resampling."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.multiclass import type_of_target

from spotsvm.errors import ArgumentError, DataError
from spotsvm.luck.refits.search_access import Rows, Split, count_rows, ratio_of


@dataclass(frozen=True)
class OuterSplits:
    """Valid outer folds: their `splits` into rows to search with and rows to score on, and their repeats.

    If the test rows of the folds are all rows, once or several times, `repeats` has the numbers of the folds of each repeat.
    """

    splits: list[Split]
    repeats: list[list[int]] | None

    @property
    def ratio(self) -> float:
        """Test rows per training row, mean over the folds."""
        return ratio_of(self.splits)

    def others(self, number: int) -> list[int]:
        """Return the folds of the same repeat, this one included; none if the folds do not make up all rows."""
        return next((repeat for repeat in self.repeats or [] if number in repeat), [])


def outer_splits(outer: Any, X: Any, y: Any, groups: Any, *, classifier: bool, seed: int) -> OuterSplits:
    """Return the outer folds.

    A number makes shuffled folds, stratified for a classifier, and by group if there are groups. ArgumentError is raised if there
    are fewer than two folds, DataError if a fold lacks a class or has no rows.
    """
    n_rows = count_rows(X)
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
            f"class {labels[rare]} has {counts[rare]} rows, fewer than the {count} outer folds, so that one fold would lack "
            "it; use fewer folds, or remove the class"
        )


def _rows(rows: Any, n_rows: int) -> Rows:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows, dtype=np.intp) % n_rows


def _repeats(splits: list[Split], n_rows: int) -> list[list[int]] | None:
    """Group the folds into repeats whose test rows are all rows, each once, and whose training rows are the others."""
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
