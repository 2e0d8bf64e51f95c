"""Embedding of points with integer and categorical columns in a Euclidean space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Embedding:
    """Rounds integer columns, and replaces a categorical column by columns in which any two values have distance 1.

    Parameters
    ----------
    n_features : int
        Number of columns of the points.
    integer, categorical : sequence of int
        Indices of columns to round, and of columns whose values have no order.
    scale : ndarray of shape (n_features,)
        Each numeric column is divided by its entry.
    categories : tuple of ndarray
        Known values of each categorical column; an unknown value has distance 1 from all known values.

    Attributes
    ----------
    owner : ndarray of shape (p,)
        Index of the original column of each embedded column.
    """

    n_features: int
    integer: tuple[int, ...]
    categorical: tuple[int, ...]
    scale: Floats
    categories: tuple[Floats, ...]

    @classmethod
    def of(cls, X: Floats, integer: Sequence[int] = (), categorical: Sequence[int] = (), scale: ArrayLike = 1.0) -> Embedding:
        """Make the embedding with the categories in X."""
        d = X.shape[1]
        known = tuple(np.unique(X[:, j]) for j in categorical)
        return cls(d, tuple(integer), tuple(categorical), np.broadcast_to(np.asarray(scale, dtype=float), (d,)), known)

    @property
    def numeric(self) -> list[int]:
        """The columns that have an order."""
        return [j for j in range(self.n_features) if j not in self.categorical]

    @property
    def owner(self) -> NDArray[np.intp]:
        """Index of the original column of each embedded column."""
        own = list(self.numeric)
        for j, known in zip(self.categorical, self.categories, strict=True):
            own += [j] * (len(known) + 1)
        return np.array(own, dtype=np.intp)

    def round(self, X: Floats) -> Floats:
        """Return X with its integer columns rounded."""
        if not self.integer:
            return X
        X = X.copy()
        X[:, list(self.integer)] = np.rint(X[:, list(self.integer)])
        return X

    def transform(self, X: Floats) -> Floats:
        """Embed points; shape (n, n_features) to (n, p)."""
        X = self.round(X)
        parts = [X[:, self.numeric] / self.scale[self.numeric]]
        for j, known in zip(self.categorical, self.categories, strict=True):
            column = X[:, [j]]
            hit = column == known
            other = ~hit.any(axis=1, keepdims=True)
            parts.append(np.hstack([hit, other]) * np.sqrt(0.5))
        return np.hstack(parts)

    def pair_distances(self, E: Floats) -> Floats:
        """Return the squared distance of each pair of embedded points in each original column; shape (n_features, n (n - 1) / 2).

        The pairs have the order of scipy's pdist: (0, 1), (0, 2), ..., (1, 2), ... Differences are taken before they are squared,
        so that points 1e-12 apart remain different.

        Notes
        -----
        Equation :eq:`coordinate-distance` of the chapter :doc:`/method/index`.
        """
        out = np.zeros((self.n_features, len(E) * (len(E) - 1) // 2))
        if out.shape[1]:
            for column, own in enumerate(self.owner):
                out[own] += pdist(E[:, [column]], "sqeuclidean")
        return out
