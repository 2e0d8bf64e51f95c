"""Kernels, their matrices, and kernel models: kernels for groups of columns that know their parameters and their space.

Examples
--------
>>> from spotsvm.kernels import Kernel, gram_matrix
>>> gram_matrix(Kernel("rbf", gamma=0.0), [[1.0], [2.0]])
array([[1., 1.],
       [1., 1.]])
"""

from spotsvm.multi_kernel import (
    AnisotropicRbfModel,
    ConicModel,
    FixedKernelModel,
    KernelMatrices,
    KernelModel,
    RbfModel,
    TunedConicModel,
)
from spotsvm.multi_kernel.nested import nested
from spotsvm.solvers.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels.expressions import Expression

__all__ = [
    "AnisotropicRbfModel",
    "ConicModel",
    "Expression",
    "FixedKernelModel",
    "Kernel",
    "KernelMatrices",
    "KernelModel",
    "RbfModel",
    "TunedConicModel",
    "gram_matrix",
    "nested",
]
