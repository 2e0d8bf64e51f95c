"""Inner products of rows and their squared norms, from which kernel expressions are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_floats
from spotsvm.solvers.kernels.matrices.gram import fill_symmetric, squared_distances

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class InnerProducts:
    """The inner products between two sets of rows, <x_i, z_j>, and the rows' squared norms.

    By default ||x_i - z_j||^2 is left_i + right_j - 2 G_ij, which is less exact for rows close to each other and far from the
    origin.
    """

    G: Floats
    left: Floats
    right: Floats
    distances: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("G", "left", "right", "distances"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _checked(name, getattr(self, name)))
        if self.G.ndim != 2:
            raise SolverError(f"G has the shape {self.G.shape}; use a matrix")
        n, m = self.G.shape
        expected = {"left": (n,), "right": (m,), "distances": (n, m)}
        for name, shape in expected.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise SolverError(f"{name} has the shape {array.shape}; with a G of shape {self.G.shape} it has {shape}")
        if self.distances is None:
            with np.errstate(over="ignore", invalid="ignore"):
                apart = np.maximum(self.left[:, None] + self.right[None, :] - 2.0 * self.G, 0.0)
            object.__setattr__(self, "distances", apart)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows on the left and on the right, (n, m)."""
        n, m = self.G.shape
        return n, m

    @classmethod
    def between(cls, X: Floats, Z: Floats | None = None) -> InnerProducts:
        """Compute the inner products of the rows of two arrays; without Z, G is exactly symmetric, and its diagonal is `left`."""
        with np.errstate(over="ignore", invalid="ignore"):
            left = np.einsum("ij,ij->i", X, X)
            if Z is not None:
                return cls(X @ Z.T, left, np.einsum("ij,ij->i", Z, Z), squared_distances(X, Z))
            G = np.empty((len(X), len(X)))
            fill_symmetric(G, lambda rows, columns: X[rows] @ X[columns].T)
            np.fill_diagonal(G, left)
            return cls(G, left, left, squared_distances(X))

    def block(self, rows: Any, columns: Any) -> InnerProducts:
        """Return the inner products of some rows on the left with some on the right."""
        assert self.distances is not None
        return InnerProducts(self.G[rows][:, columns], self.left[rows], self.right[columns], self.distances[rows][:, columns])


def _checked(name: str, values: Any) -> Floats:
    try:
        return as_floats(values)
    except (TypeError, ValueError) as error:
        raise SolverError(f"{name} is not an array of numbers: {error}") from error
