"""Several kernels, each on its own columns of the data, combined into a sum or a product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.functions.kernel import Kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BaseKernel:
    """A kernel on selected columns of the data; any kernel but "precomputed"."""

    kernel: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.kernel.name == "precomputed":
            raise SolverError("kernel='precomputed' has no columns; combine kernels that are functions of rows")
        if not self.columns or min(self.columns) < 0:
            raise SolverError(f"columns={self.columns!r}; use one or more column indices, counted from 0")

    def of(self, X: Floats) -> Floats:
        """Return the columns of X, C-contiguous."""
        return np.ascontiguousarray(X[:, self.columns])


@dataclass(frozen=True)
class MultiKernel:
    """A conic combination sum_t w_t k_t (Carrizosa et al. 2014, eq. 7 and 8), or a product of Gaussian kernels with one weight.

    The product is w exp(-sum_t gamma_t d_t^2), with d_t the distance in the columns of t (Chapelle et al. 2002). Kernels of
    weight 0 are not computed.
    """

    bases: tuple[BaseKernel, ...]
    weights: tuple[float, ...]
    product: bool = False

    def __post_init__(self) -> None:
        if not self.bases:
            raise SolverError("bases is empty; give one kernel or more")
        wanted = 1 if self.product else len(self.bases)
        if len(self.weights) != wanted:
            raise SolverError(f"weights has {len(self.weights)} entries; {wanted} needed")
        for k, weight in enumerate(self.weights):
            if not 0 <= as_float(weight) < np.inf:
                raise SolverError(f"weights[{k}]={weight!r}; use a finite number, 0 or more")
        if not any(self.weights):
            raise SolverError("weights are all 0; at least one must be positive")
        other = next((base for base in self.bases if base.kernel.name != "rbf"), None)
        if self.product and other is not None:
            raise SolverError(f"a product is defined for the kernel 'rbf' only, not for {other.kernel.label}")

    @property
    def terms(self) -> list[tuple[BaseKernel, float]]:
        """The kernels of positive weight with their weights; for a product, all kernels with the product's weight."""
        weights = self.weights * len(self.bases) if self.product else self.weights
        return [(base, float(weight)) for base, weight in zip(self.bases, weights, strict=True) if weight > 0]

    @property
    def n_terms(self) -> int:
        """The number of kernels that are computed."""
        return len(self.terms)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether every matrix of this kernel is known to be positive semidefinite; False where that is not known."""
        return all(base.kernel.positive_semidefinite for base, _ in self.terms)

    @property
    def label(self) -> str:
        """Description of the kernel, for error messages."""
        return f"a {'product' if self.product else 'sum'} of {self.n_terms} kernels"

    def scaled_columns(self, X: Floats) -> Floats:
        """Return the columns, each times the root of its gamma: the product is their Gaussian kernel with gamma 1."""
        return np.hstack([base.of(X) * np.sqrt(base.kernel.gamma) for base in self.bases])
