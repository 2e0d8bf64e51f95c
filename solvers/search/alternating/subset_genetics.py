"""Operators on subsets with equally many rows of every class, and operators that make use of the support vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float, check_counts

Integers = NDArray[np.intp]
Floats = NDArray[np.float64]


class SubsetGenetics:
    """Subsets with K rows of each class, as sorted arrays of distinct row indices: Kawulok et al. 2017, section 3.2.

    A child draws K rows of each class from its parents' union, K that of a parent; a mutation exchanges the integer part of c K
    f_m rows (`mutated_share`) for others of their class.
    """

    def __init__(self, classes: Any, n_per_class: int, mutation_probability: float = 0.3, mutated_share: float = 0.2):
        check_counts(n_per_class=n_per_class)
        self.classes = np.asarray(classes, dtype=np.intp)
        self._members = [np.flatnonzero(self.classes == c) for c in range(int(self.classes.max(initial=-1)) + 1)]
        smallest = min((len(rows) for rows in self._members), default=0)
        if n_per_class > smallest:
            raise SolverError(f"n_per_class={n_per_class}; the smallest class has {smallest} rows, use at most as many")
        for name, value in (("mutation_probability", mutation_probability), ("mutated_share", mutated_share)):
            if not 0 <= as_float(value) <= 1:
                raise SolverError(f"{name}={value!r} is not in [0, 1]")
        self.n_per_class, self.smallest_class = int(n_per_class), smallest
        self.mutation_probability, self.mutated_share = float(mutation_probability), float(mutated_share)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self._members)

    def length(self, individual: Integers) -> int:
        """Return the K of a subset."""
        return len(individual) // self.n_classes

    def initial(self, size: int, rng: np.random.Generator) -> list[Integers]:
        """Draw subsets, each uniformly."""
        return [self.draw(self.n_per_class, rng) for _ in range(size)]

    def draw(self, n_per_class: int, rng: np.random.Generator) -> Integers:
        """Draw a subset uniformly."""
        return joined([rng.choice(rows, n_per_class, replace=False) for rows in self._members])

    def cross(self, better: Integers, worse: Integers, rng: np.random.Generator) -> Integers:
        """Draw K rows of each class from the union of two subsets, with the K of the better subset."""
        return self.cross_to(better, worse, self.length(better), rng)

    def cross_to(self, one: Integers, other: Integers, n_per_class: int, rng: np.random.Generator) -> Integers:
        """Draw `n_per_class` rows of each class from the union of two subsets, and missing rows from all rows."""
        union = np.union1d(one, other)
        of_union = self.classes[union]
        parts = []
        for c, members in enumerate(self._members):
            rows = union[of_union == c]
            if len(rows) < n_per_class:
                fresh = rng.choice(_without(members, rows), n_per_class - len(rows), replace=False)
                parts.append(np.concatenate([rows, fresh]))
            else:
                parts.append(rng.choice(rows, n_per_class, replace=False))
        return joined(parts)

    def mutate(self, individual: Integers, rng: np.random.Generator) -> Integers:
        """Exchange a share of the rows, with the mutation probability."""
        if rng.random() >= self.mutation_probability:
            return individual
        # 10 rows times 0.3 are 3 rows, even if rounding gives 2.999...
        count = int(np.floor(len(individual) * self.mutated_share + 1e-9))
        leaving = np.zeros(len(individual), dtype=bool)
        leaving[rng.choice(len(individual), count, replace=False)] = True
        of_class = self.classes[individual]
        parts = []
        for c, members in enumerate(self._members):
            rows, gone = individual[of_class == c], leaving[of_class == c]
            others = _without(members, rows)
            exchanged = np.flatnonzero(gone)[: len(others)]
            kept = np.delete(rows, exchanged)
            parts.append(np.concatenate([kept, rng.choice(others, len(exchanged), replace=False)]))
        return joined(parts)

    def enlarge(self, individual: Integers, n_per_class: int, rng: np.random.Generator) -> Integers:
        """Add random rows of each class to a subset until it has `n_per_class` of each."""
        return self.cross_to(individual, individual, n_per_class, rng)


def joined(parts: list[Integers]) -> Integers:
    """Return several arrays as a single sorted array."""
    return np.sort(np.concatenate(parts)).astype(np.intp, copy=False)


def _without(members: Integers, rows: Integers) -> Integers:
    return np.setdiff1d(members, rows, assume_unique=True)


#: number of rows drawn for each chosen row
_DRAWN = 8


class VectorGenetics(SubsetGenetics):
    """Subsets with K rows of each class, whose children inherit support vectors and replace the other rows.

    Those of the better parent on one side of a hyperplane halfway between two of its random rows, those of the worse on the
    other; the rest, each the largest of `gains` among eight random rows.
    """

    def __init__(
        self,
        X: Floats,
        classes: Any,
        n_per_class: int,
        mutation_probability: float = 0.3,
        mutated_share: float = 0.2,
        *,
        support: Callable[[Integers], Integers],
        gains: Callable[[Integers, np.random.Generator], Callable[[Integers], Floats]],
    ):
        super().__init__(classes, n_per_class, mutation_probability, mutated_share)
        self._X, self._support, self._gains = X, support, gains

    def cross(self, better: Integers, worse: Integers, rng: np.random.Generator) -> Integers:
        """Unite support vectors of two subsets, and add useful rows up to the K of the better subset."""
        one, other = self._X[rng.choice(better, 2)]
        inherited = [
            self._on_side(self._support(better), one, other),
            self._on_side(self._support(worse), other, one, ties=False),
        ]
        return self._filled(np.union1d(*inherited), better, self.length(better), rng)

    def _on_side(self, rows: Integers, near: Floats, far: Floats, ties: bool = True) -> Integers:
        X = self._X[rows]
        distance = np.square(X - near).sum(axis=1) - np.square(X - far).sum(axis=1)
        near_it: Integers = rows[distance <= 0 if ties else distance < 0]
        return near_it

    def _filled(self, kept: Integers, subset: Integers, n_per_class: int, rng: np.random.Generator) -> Integers:
        """Complete rows to K of each class; if there are more, choose K at random."""
        gain = self._gains(subset, rng)
        of_class = self.classes[kept]
        parts = []
        for c, members in enumerate(self._members):
            rows = kept[of_class == c]
            lacking = n_per_class - len(rows)
            parts.append(
                np.concatenate([rows, self._useful(rows, members, lacking, gain, rng)])
                if lacking > 0
                else rng.choice(rows, n_per_class, replace=False)
            )
        return joined(parts)

    def _useful(
        self, rows: Integers, members: Integers, count: int, gain: Callable[[Integers], Floats], rng: np.random.Generator
    ) -> Integers:
        """Choose further rows of a class, each the best of a few random rows."""
        drawn = rng.choice(members, min(len(members), _DRAWN * count + len(rows)), replace=False)
        drawn = drawn[~np.isin(drawn, rows)]
        drawn = drawn[: len(drawn) // count * count]
        group = np.arange(len(drawn)) % count
        order = np.lexsort((-gain(drawn), group))
        return drawn[order[np.searchsorted(group[order], np.arange(count))]]
