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
    """Subsets with K rows of each class, as sorted arrays of distinct row indices.

    A child gets, class by class, K rows drawn from the union of its parents' rows. A mutation exchanges a share of the rows for
    rows of the same class outside the subset. Parents may differ in K; the child has the K of a parent.

    Parameters
    ----------
    classes : array-like of int, shape (n,)
        The class of each row, 0 .. c - 1, with every class present.
    n_per_class : int
        Number K of rows of each class in the first population; at most the size of the smallest class.
    mutation_probability : float, default=0.3
        Probability that a child is mutated, in [0, 1].
    mutated_share : float, default=0.2
        Share f_m of the rows that a mutation exchanges, in [0, 1]: the integer part of c K f_m rows, fewer if a class has too few
        other rows.

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An alternating genetic algorithm for selecting SVM model and training set", section 3.2.

    Examples
    --------
    >>> genetics = SubsetGenetics([0, 0, 0, 1, 1, 1], n_per_class=2)
    >>> one, other = genetics.initial(2, np.random.default_rng(0))
    >>> child = genetics.cross(one, other, np.random.default_rng(1))
    >>> len(child), int((child < 3).sum())
    (4, 2)
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

    A row that is not a support vector could be left out without a change of the model. So a child gets the better parent's
    support vectors on one side of a hyperplane, halfway between two random rows of the parent, and the worse parent's support
    vectors on the other side: with a local kernel, the parents' merits are local too. The remaining rows are chosen from all
    rows, each with the largest gain among eight random rows. Mutations are those of `SubsetGenetics`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    classes, n_per_class, mutation_probability, mutated_share
        As for `SubsetGenetics`.
    support : callable
        Returns the support vectors of a subset.
    gains : callable
        Called with a subset and a random generator; returns a function of row indices that returns the gain of adding each row to
        the subset.

    Examples
    --------
    >>> X, classes = np.arange(8.0)[:, None], np.arange(8) // 4
    >>> inner = lambda subset: subset[(subset == 3) | (subset == 4)]
    >>> outer = lambda subset, rng: lambda rows: np.abs(rows - 3.5)
    >>> genetics = VectorGenetics(X, classes, 2, support=inner, gains=outer)
    >>> subset = np.array([2, 3, 4, 5])
    >>> genetics.cross(subset, subset, np.random.default_rng(0)).tolist()
    [0, 3, 4, 7]
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
