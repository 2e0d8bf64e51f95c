"""Copies: rows with equal columns. They never stand on both sides of a split, and draws of rows draw them together.

Rows are copies whatever their target. If only rows with the same target stayed together, a model would be judged on a row of
which it knows the copies with other targets alone, and would look worse than it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from spotsvm.common.notices import Notice
from spotsvm.common.text import per_cent

Integers = NDArray[np.intp]

#: equal rows are copies only if at least this many rows are distinct
_LEAST_DIFFERENT = 20
#: more copies of a row than this share of the held-out rows, and than this many times the usual number, stay in training
_MOST_COPIES, _TIMES_USUAL = 0.1, 3.0
#: share of test rows with copies among their training rows from which this is told
_TOLD = 0.05


def equal_rows(X: Any) -> Integers:
    """Return a number for each row of a frame, an array or a sparse matrix, in order of appearance; equal rows have the same."""
    if isinstance(X, np.ndarray) and X.dtype.kind not in "biuf":
        X = pd.DataFrame(X)
    if isinstance(X, pd.DataFrame):
        keys: Any = pd.util.hash_pandas_object(pd.DataFrame(dict(enumerate(map(_codes, _series(X))))), index=False)
    elif issparse(X):
        X = csr_matrix(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        mixed = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(X.data, X.indices), dtype=np.uint64)])
        keys = mixed[X.indptr[1:]] - mixed[X.indptr[:-1]]
    else:
        keys = np.zeros(len(X), np.uint64)
        for k in range(X.shape[1]):
            keys += _mixed(X[:, k], k)
    return np.asarray(pd.factorize(keys)[0], dtype=np.intp)


def _series(X: pd.DataFrame) -> Iterator[pd.Series]:
    return (X.iloc[:, k] for k in range(X.shape[1]))


def _codes(column: pd.Series) -> Integers:
    try:
        return pd.factorize(column, use_na_sentinel=False)[0]
    except TypeError:  # cells that have no hash
        return pd.factorize(column.map(repr), use_na_sentinel=False)[0]


def _mixed(values: NDArray[Any], columns: Any) -> NDArray[np.uint64]:
    """Return random-looking numbers that depend on values and their columns (the mixing of SplitMix64)."""
    if values.dtype.kind not in "iu":
        values = values.astype(np.float64) + 0.0  # -0 is 0
        values[np.isnan(values)] = np.nan
        values = values.view(np.uint64)
    z = values.astype(np.uint64) + np.asarray(columns + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def copies(X: Any, unit: Integers | None = None) -> Integers | None:
    """Return the group of copies of each row; None if no two rows are equal, or equal rows are expected, or X is no table.

    They are expected if only one column varies, or if independent columns, which agree as often as rows here that are no copies,
    would make an equal pair: then new rows will equal some of these, too. `unit` is `equal_rows(X)`.
    """
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], list | tuple | np.ndarray):
        try:
            X = np.asarray(X)
        except ValueError:  # rows of different lengths
            return None
    if not (issparse(X) or (isinstance(X, pd.DataFrame | np.ndarray) and X.ndim == 2)) or not all(X.shape):
        return None
    unit = equal_rows(X) if unit is None else unit
    n, d = len(unit), int(unit.max()) + 1
    if d == n or d < _LEAST_DIFFERENT:
        return None
    varying, pairs = 0, 0.5 * n * (n - 1)
    of_copies = float((np.bincount(unit).astype(np.float64) ** 2).sum())
    for counts in _value_counts(X):
        varying += len(counts) > 1
        pairs *= (float((counts.astype(np.float64) ** 2).sum()) - of_copies) / (float(n) ** 2 - of_copies)
        if pairs < 1.0 and varying > 1:
            return unit
    return None


def _value_counts(X: Any) -> Iterator[NDArray[Any]]:
    """Yield how often each value of each column is there."""
    if isinstance(X, pd.DataFrame):
        yield from (np.bincount(_codes(column)) for column in _series(X))
    elif issparse(X):
        X = csc_matrix(X)
        for k in range(X.shape[1]):
            values = X.data[X.indptr[k] : X.indptr[k + 1]]
            counts = np.unique(values[values != 0], return_counts=True)[1]
            zeros = X.shape[0] - int(counts.sum())
            yield np.append(counts, zeros) if zeros else counts
    else:
        yield from (np.bincount(_codes(pd.Series(X[:, k]))) for k in range(X.shape[1]))


def with_target(unit: Integers, y: Any) -> Integers:
    """Return a number for each row; rows of the same unit with the same target have the same."""
    codes = _codes(pd.Series(np.asarray(y)))
    return np.asarray(pd.factorize(unit * (int(codes.max()) + 1) + codes)[0], dtype=np.intp)


def joined(groups: Any, unit: Integers | None) -> Any:
    """Return groups such that those with copies in common are one; `groups` itself if fewer than half of them would remain."""
    if unit is None or groups is None:
        return groups if unit is None else unit
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    links = csr_matrix((np.ones(len(unit)), (group, len(names) + unit)), shape=(len(names) + int(unit.max()) + 1,) * 2)
    component = connected_components(links, directed=False)[1][group]
    remaining = len(np.unique(component))
    return groups if remaining == len(names) or 2 * remaining < len(names) else component


def frequent(unit: Integers, n_held: float) -> NDArray[np.bool_]:
    """Return which rows have so many copies that they stay in training, if `n_held` rows are held out."""
    sizes = np.bincount(unit)
    return np.asarray((sizes > max(_MOST_COPIES * n_held, _TIMES_USUAL * float(np.median(sizes))))[unit])


def distinct_rows(unit: Integers, n_held: float) -> Integers:
    """Return the first row of each group of copies that may be held out, if `n_held` rows are held out."""
    first = np.unique(unit, return_index=True)[1]
    return np.sort(first[~frequent(unit, n_held)[first]])


def with_copies(unit: Integers, some: Integers) -> Integers:
    """Return these rows and all their copies."""
    return np.flatnonzero(np.isin(unit, unit[some]))


class DistinctKFold(GroupKFold):
    """Folds of whole groups of copies; copies of a row that are very many are training rows in every fold, and in no test."""

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, stratify: bool = False):
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.stratify = stratify

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Integers, Integers]]:
        """Yield training and test rows; `groups` are the groups of copies."""
        unit = np.unique(np.asarray(groups), return_inverse=True)[1]
        distinct = distinct_rows(unit, len(unit) / self.n_splits)
        kind = StratifiedKFold if self.stratify else KFold
        splitter = kind(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        yield from apart(splitter, unit, distinct, np.asarray(y)[distinct] if self.stratify else None)


def apart(splitter: Any, unit: Integers, distinct: Integers, y: Any) -> Iterator[tuple[Integers, Integers]]:
    """Yield training and test rows of a splitter of the distinct rows, whose target is `y`; copies stay together."""
    for _, test in splitter.split(np.zeros(len(distinct)), y):
        tested = with_copies(unit, distinct[test])
        yield np.setdiff1d(np.arange(len(unit)), tested), tested


def both_sides(unit: Integers | None, splits: Iterable[tuple[Any, Any]], sparse: bool = False) -> list[Notice]:
    """Return a notice if more than 5 % of the test rows of splits have copies among their training rows.

    `sparse` says whether the user's rows are a sparse matrix, which pandas cannot compare.
    """
    if unit is None:
        return []
    shares = [float(np.isin(unit[test], unit[train]).mean()) for train, test in splits if len(test)]
    share = float(np.mean(shares)) if shares else 0.0
    if share <= _TOLD:
        return []
    table = f"pd.DataFrame({'X.toarray()' if sparse else 'X'})"
    sentence = (
        f"{per_cent(share)} of the test rows of cv are equal to training rows of the same fold in all columns, so the scores "
        "hold for copies of training rows, not for other rows: cv=GroupKFold(5) keeps copies on one side, with "
        f"groups={table}.groupby([*{table}], dropna=False).ngroup()"
    )
    return [Notice("copies", sentence, share=share)]


def held_back(unit: Integers, n_held: float, names: Sequence[Any] | NDArray[Any] | None = None) -> list[Notice]:
    """Return a notice about copies that are so many that they stay in training; `names` are the names of rows."""
    often = frequent(unit, n_held)
    if not often.any():
        return []
    sizes = np.bincount(unit)
    most = int(sizes.argmax())
    n = len(np.unique(unit[often]))
    row = "the same row" if names is None else f"row {names[int(np.argmax(unit == most))]}"
    share = float(often.mean())
    rows = f"these {int(often.sum())} rows ({per_cent(share)})"
    sentence = f"{row} is there {sizes[most]} times{f', and {n - 1} more very often' if n > 1 else ''}: {rows} stay in training, "
    return [Notice("copies", f"{sentence}and no score is judged by them", share=share)]
