"""Kernel functions and their matrices on data."""

from spotsvm.solvers.kernels.functions.kernel import KERNELS, Kernel, KernelFunction, make_kernel, resolve_gamma
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel, MultiKernel
from spotsvm.solvers.kernels.matrices.distance_columns import DistanceColumns
from spotsvm.solvers.kernels.matrices.gram import (
    GramCache,
    base_matrix,
    gram_matrix,
    kernel_blocks,
    kernel_matrix,
    squared_distances,
)

__all__ = [
    "KERNELS",
    "BaseKernel",
    "DistanceColumns",
    "GramCache",
    "Kernel",
    "KernelFunction",
    "MultiKernel",
    "base_matrix",
    "gram_matrix",
    "kernel_blocks",
    "kernel_matrix",
    "make_kernel",
    "resolve_gamma",
    "squared_distances",
]
