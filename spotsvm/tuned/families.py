"""Families of models: the kind of columns that a kernel takes, the kernel, and the loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from spotsvm.solvers.kernels import Kernel, base_matrix
from spotsvm.solvers.kernels.functions.kernel import Base


@dataclass(frozen=True)
class Family:
    """The kind of columns of a kernel, the kernel, and whether the loss is squared: else it is that of support vectors."""

    columns: str
    kernel: str
    squared: bool = False

    @property
    def base(self) -> Base:
        """What the kernel is computed from: inner products, or squared or Manhattan distances."""
        return Kernel(self.kernel).base


_WITH_SUPPORT_VECTORS = {
    "rbf": Family("standard", "rbf"),
    "laplacian": Family("standard", "laplacian"),
    "relevance_rbf": Family("relevance", "rbf"),
    "relevance_laplacian": Family("relevance", "laplacian"),
    "power_rbf": Family("power", "rbf"),
    "power_laplacian": Family("power", "laplacian"),
    "linear": Family("standard", "linear"),
}
_SQUARED = "squared_"
#: all families by name
FAMILIES = _WITH_SUPPORT_VECTORS | {
    _SQUARED + name: replace(family, squared=True) for name, family in _WITH_SUPPORT_VECTORS.items()
}
#: families for sparse rows: others would fill the zeros
SPARSE_FAMILIES = ("rbf", "linear", "squared_rbf", "squared_linear")


def with_support_vectors(family: str) -> str:
    """Return the family with the same kernel whose models have support vectors."""
    return family.removeprefix(_SQUARED)


#: rows whose distances from all others give the typical one, about
_MOST_DISTANT = 100


def typical_distance(D: NDArray[Any]) -> float:
    """Return the median distance; of different rows if most are equal, and 1 if all are equal."""
    return _median(D[_some(len(D))])


def _some(n: int) -> slice:
    return slice(None, None, max(n // _MOST_DISTANT, 3) if n > 30 else 1)


def _median(values: NDArray[Any]) -> float:
    median = float(np.median(values))
    if median <= 0.0:
        positive = values[values > 0.0]
        median = float(np.median(positive)) if len(positive) else 1.0
    return median


def unit_of(kernel: str, A: Any) -> float:
    """Return the unit of gamma: the typical distance of rows, or their mean square norm for "linear"."""
    if kernel == "linear":
        return float((A.multiply(A) if issparse(A) else A**2).sum()) / A.shape[0] or 1.0
    return _median(base_matrix(Kernel(kernel).base, A[_some(A.shape[0])], A))


def default_gamma(A: Any) -> float:
    """Return the gamma of SVC() and SVR(), 1 / (columns times variance)."""
    if issparse(A):  # as of dense rows, which are centred
        return 1.0 / max(int((abs(A).max(axis=0) > 0).sum()), 1)
    variance = float(A.shape[1] * A.var())
    return 1.0 / variance if variance > 0 else 1.0


def kernel_of(kernel: str, unit: float, log_gamma: float) -> Kernel:
    """Return the kernel exp(-2^log_gamma d / unit) of distances d, or inner products in their unit (:eq:`family-kernel`)."""
    if kernel == "linear":
        return Kernel("poly", 1.0 / unit, degree=1)
    return Kernel(kernel, 2.0**log_gamma / unit)
