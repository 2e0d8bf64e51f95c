"""SVMs with a kernel for each group of columns, tuned in `fit`, and the kernel models that they tune.

It may import search_cv, cross_validation, estimators, and all below them.
"""

import spotsvm.multi_kernel.multi_kernel_svc  # noqa: F401  it enters its machine in `base.MACHINES`
import spotsvm.multi_kernel.multi_kernel_svr  # noqa: F401
from spotsvm.multi_kernel.models.base import KernelModel
from spotsvm.multi_kernel.models.families import AnisotropicRbfModel, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.models.matrices import KernelMatrices

__all__ = [
    "AnisotropicRbfModel",
    "ConicModel",
    "FixedKernelModel",
    "KernelMatrices",
    "KernelModel",
    "RbfModel",
    "TunedConicModel",
]
