"""Operators on subsets of rows that make use of the support vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.alternating.subset_genetics import SubsetGenetics, joined

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

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

    Raises
    ------
    SolverError
        As `SubsetGenetics`.

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
