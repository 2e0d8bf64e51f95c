"""Kernel models: families of kernels with parameters to tune, nested into each other."""

from spotsvm.kernel_models.anisotropic import AnisotropicRbfModel
from spotsvm.kernel_models.base import KernelModel
from spotsvm.kernel_models.conic import ConicModel
from spotsvm.kernel_models.fixed import FixedKernelModel
from spotsvm.kernel_models.matrices import KernelMatrices
from spotsvm.kernel_models.rbf import RbfModel
from spotsvm.kernel_models.tuned_conic import TunedConicModel

__all__ = [
    "AnisotropicRbfModel",
    "ConicModel",
    "FixedKernelModel",
    "KernelMatrices",
    "KernelModel",
    "RbfModel",
    "TunedConicModel",
]
