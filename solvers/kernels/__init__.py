"""Kernel functions and their matrices on data."""

from solvers.kernels.bandwidth import resolve_gamma
from solvers.kernels.distances import squared_distances
from solvers.kernels.gram import gram_matrix, kernel_blocks, kernel_matrix
from solvers.kernels.gram_cache import GramCache
from solvers.kernels.kernel import KERNELS, Kernel, KernelFunction
from solvers.kernels.make import make_kernel

__all__ = [
    "KERNELS",
    "GramCache",
    "Kernel",
    "KernelFunction",
    "gram_matrix",
    "kernel_blocks",
    "kernel_matrix",
    "make_kernel",
    "resolve_gamma",
    "squared_distances",
]
