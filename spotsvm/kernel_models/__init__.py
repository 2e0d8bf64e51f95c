"""Kernel models: families of kernels with parameters to tune, nested into each other."""

import spotsvm.multi_kernel_svc  # noqa: F401  it enters its machine in `base.MACHINES`
import spotsvm.multi_kernel_svr  # noqa: F401
from spotsvm.kernel_models.base import KernelModel
from spotsvm.kernel_models.families import AnisotropicRbfModel, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.kernel_models.matrices import KernelMatrices

__all__ = [
    "AnisotropicRbfModel",
    "ConicModel",
    "FixedKernelModel",
    "KernelMatrices",
    "KernelModel",
    "RbfModel",
    "TunedConicModel",
]
