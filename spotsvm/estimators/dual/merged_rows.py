"""Equal rows of training data as one row with the sum of their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats


@dataclass(frozen=True)
class MergedRows:
    """The distinct rows of weighted training data, in an order that depends only on their values.

    A support vector machine is the same whether a row comes twice or has the weight 2, and in whatever order the rows come.
    Merging makes this true to the last bit, for random solvers too, and the problem smaller if there are duplicates. If X has
    kernel values (`merge=False`), rows keep their order, and duplicates stay separate.

    `kept` are the indices of the rows with a positive weight, `group` and `weights` the group and the weight of each of them;
    `first` is the index of one row of each group, `group_weights` the sums of the groups' weights.

    Examples
    --------
    >>> rows = MergedRows.of(
    ...     np.array([[1.0], [0.0], [1.0], [7.0]]),
    ...     np.full(4, 5.0),
    ...     np.array([1.0, 1.0, 2.0, 0.0]),
    ... )
    >>> rows.first, rows.group_weights
    (array([1, 0]), array([1., 3.]))
    >>> rows.expand(np.array([0.25, 3.0]), 4)
    array([1.  , 0.25, 2.  , 0.  ])
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
