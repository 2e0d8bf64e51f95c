"""Kernel functions and their matrices on data."""

from solvers.kernels.bandwidth import resolve_gamma
from solvers.kernels.distance_columns import DistanceColumns
from solvers.kernels.distances import squared_distances
from solvers.kernels.gram import gram_matrix, kernel_blocks, kernel_matrix
from solvers.kernels.gram_cache import GramCache
from solvers.kernels.kernel import KERNELS, Kernel, KernelFunction
from solvers.kernels.make import make_kernel
from solvers.kernels.multi_gram import multi_gram_matrix, multi_kernel_blocks
from solvers.kernels.multi_kernel import BaseKernel, MultiKernel

__all__ = [
    "KERNELS",
    "BaseKernel",
    "DistanceColumns",
    "GramCache",
    "Kernel",
    "KernelFunction",
    "MultiKernel",
    "gram_matrix",
    "kernel_blocks",
    "kernel_matrix",
    "make_kernel",
    "multi_gram_matrix",
    "multi_kernel_blocks",
    "resolve_gamma",
    "squared_distances",
]
