"""Draws of rows with replacement, of many rows or groups of rows at once, and samples without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import TimeSeriesSplit

Array = NDArray[Any]
#: what is drawn together
Unit = Literal["rows", "groups", "blocks"]

_FEWEST_GROUPS = 5  # minimum number of groups in a sample


@dataclass(frozen=True)
class Draws:
    """Draws, (n_draws, n_units), of units with replacement; units are rows or groups of rows, `unit` that of each row."""

    unit: NDArray[np.intp]
    drawn: NDArray[np.intp]

    @property
    def counts(self) -> NDArray[np.float32]:
        """Number of times each row is in each draw, (n_draws, n)."""
        return counts_of(self.drawn)[:, self.unit]


def draw_rows(n: int, n_draws: int, rng: np.random.Generator, groups: Any = None) -> Draws:
    """Draw rows with replacement, or groups of rows together."""
    unit = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    size = int(unit.max()) + 1
    return Draws(unit, rng.integers(size, size=(n_draws, size)))


def block_length(n: int) -> int:
    """Return how many neighbouring rows of a series are drawn together: the square root of their number."""
    return max(1, round(sqrt(n)))


def blocks_of(n: int, length: int) -> NDArray[np.intp]:
    """Return the block of each of n neighbouring rows; the lengths of blocks differ by at most one row."""
    return np.arange(n) * max(round(n / length), 1) // max(n, 1)


def units_of(cv: Any, groups: Any, n: int) -> Any:
    """Return the label of what is drawn together with each of n rows: groups, blocks of a series with later folds, or None."""
    if groups is None and isinstance(cv, TimeSeriesSplit):
        return blocks_of(n, block_length(n))
    return groups


def unit_name(cv: Any, groups: Any) -> Unit:
    """Return what is drawn together by the labels of `units_of`."""
    return "groups" if groups is not None else "blocks" if isinstance(cv, TimeSeriesSplit) else "rows"


def counts_of(drawn: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the number of times each unit is in each draw."""
    n_draws, size = drawn.shape
    flat = (drawn + size * np.arange(n_draws)[:, None]).ravel()
    return np.bincount(flat, minlength=n_draws * size).reshape(n_draws, size).astype(np.float32)


def unit_sums(values: Array, unit: NDArray[np.intp]) -> Array:
    """Return the sums over the rows of each unit along the last axis."""
    size = int(unit.max()) + 1
    if size == len(unit) and (unit == np.arange(size)).all():
        return values
    sums = np.zeros((*values.shape[:-1], size), values.dtype)
    np.add.at(sums.T, unit, values.T)
    return sums


def sample_rows(
    n: int,
    size: int,
    seed: int,
    classes: Any = None,
    groups: Any = None,
    held: Sequence[int] | NDArray[np.intp] = (),
    least: int = 1,
) -> NDArray[np.intp]:
    """Return random rows without replacement, in their order, none of `held`; classes keep their shares, but have `least` rows.

    A class with fewer rows has all of them, so that the classes may need more than `size`. Of `groups` whole ones are drawn, with
    some more or fewer rows: `least` of each class, and five in all; or random rows of them if they have more than twice as many.
    """
    rows = np.delete(np.arange(n), held) if len(held) else np.arange(n)
    if size >= len(rows):
        return rows
    code = None if classes is None else np.unique(np.asarray(classes)[rows], return_inverse=True)[1]
    if groups is not None:
        drawn = np.flatnonzero(_in_whole_groups(np.asarray(groups)[rows], size, seed, code, least))
        if len(drawn) > 2 * size:
            drawn = drawn[sample_rows(len(drawn), size, seed, None if code is None else code[drawn], least=least)]
        return rows[drawn]
    order = np.random.default_rng((seed, 2)).permutation(len(rows))
    if code is not None:
        code, rank = code[order], np.empty(len(rows))
        for c in range(code.max() + 1):
            of_class = code == c
            place = np.arange(of_class.sum())
            rank[of_class] = np.where(place < least, 0.0, place / of_class.sum())
        order = order[np.argsort(rank, kind="stable")]
        size = max(size, int((rank == 0.0).sum()))
    return rows[np.sort(order[:size])]


def _in_whole_groups(groups: NDArray[Any], size: int, seed: int, code: NDArray[np.intp] | None, least: int) -> NDArray[np.bool_]:
    """Return which rows are in the drawn groups: in random order, those of each class evenly, until there are `size` rows."""
    names, unit = np.unique(groups, return_inverse=True)
    place = np.random.default_rng(seed).permutation(len(names))[unit]
    n_rows = np.bincount(place)
    rank, needed = np.arange(len(names), dtype=np.float64), np.zeros(len(names), dtype=bool)
    if code is not None:
        with_class = [np.unique(place[code == c]) for c in range(code.max() + 1)]
        rarest = np.empty(len(names), dtype=np.intp)
        for c in np.argsort(-np.bincount(code), kind="stable"):
            rarest[with_class[c]] = c
            needed[with_class[c][:least]] = True
        for c in range(len(with_class)):
            of_class = np.flatnonzero(rarest == c)
            rank[of_class] = (np.cumsum(n_rows[of_class]) - n_rows[of_class]) / max(n_rows[of_class].sum(), 1)
        rank[needed] = -1.0
    order = np.argsort(rank, kind="stable")
    before = np.cumsum(n_rows[order]) - n_rows[order]
    drawn = needed
    drawn[order[(before < size) | (np.arange(len(names)) < max(_FEWEST_GROUPS, least))]] = True
    return np.asarray(drawn[place])
