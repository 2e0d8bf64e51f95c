"""Equal rows of training data as one row with the sum of their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats


@dataclass(frozen=True)
class MergedRows:
    """The distinct rows of weighted training data, in an order that depends only on their values: a repeated row is a weight.

    Kernel values (`merge=False`) keep order and duplicates. `kept` are the rows with a positive weight, with their `group` and
    `weights`; `first` has a row of each group, `group_weights` the sums.
    """

    kept: NDArray[np.intp]
    first: NDArray[np.intp]
    group: NDArray[np.intp]
    weights: Floats
    group_weights: Floats

    @classmethod
    def of(cls, X: Floats, y: Floats, weights: Floats, merge: bool = True) -> MergedRows:
        """Merge rows that are equal in X and y; with `merge=False` only leave out those without weight."""
        kept = np.flatnonzero(weights > 0)
        if not merge:
            return cls(kept, kept, np.arange(len(kept)), weights[kept], weights[kept])
        rows = np.column_stack([y[kept], X[kept]]) + 0.0  # makes -0.0, whose bytes differ, 0.0
        keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        group = group.ravel()
        sums = np.bincount(group, weights=weights[kept], minlength=len(first)).astype(np.float64)
        return cls(kept, kept[first], group, weights[kept], sums)

    def expand(self, alpha: Floats, n: int) -> Floats:
        """Distribute each group's dual variable over its rows, in proportion to their weights."""
        share = alpha[self.group] * (self.weights / self.group_weights[self.group])
        result = np.zeros(n)
        result[self.kept] = share
        return result
