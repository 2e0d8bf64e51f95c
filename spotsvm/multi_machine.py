"""The parameters of a multiple-kernel machine, from which it can be trained elsewhere with the same result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.kernels.multi_kernel import MultiKernel
from spotsvm.errors import ArgumentError
from spotsvm.kernel_settings import KernelSettings
from spotsvm.svm_machine import SvmMachine, common_parameters, rounded_if_sound


@dataclass(frozen=True)
class MultiMachine(SvmMachine):
    """The parameters of a multiple-kernel machine; what they mean for its kernel is compared as the kernel is.

    Attributes
    ----------
    settings : KernelSettings
        The parameters of the kernels.
    """

    settings: KernelSettings = field(default_factory=KernelSettings, compare=False)

    def kernel_on(self, X: NDArray[np.float64], names: Sequence[str] | None = None) -> MultiKernel:
        """Return the combined kernel as it is for some training rows, or raise a SpotSVMError."""
        columns = self.settings.columns(X.shape[1], names)
        weights = self.settings.weight_table(1)
        kernel = self.settings.combined(self.settings.bases(columns, self.settings.gammas(X, columns)), weights[0])
        if not kernel.positive_semidefinite:
            raise ArgumentError(f"{kernel.label} may be indefinite: its solutions need not be unique")
        return kernel

    @property
    def kernel_depends_on_rows(self) -> bool:
        """Whether another choice of training rows makes another kernel."""
        return any(isinstance(gamma, str) and gamma == "scale" for gamma in self.settings.named_gamma().values())


def read_multi_machine(p: Mapping[str, Any]) -> SvmMachine | None:
    """Return a machine from the parameters of a multiple-kernel machine; None where the work cannot be shared."""
    if p["tune"] is not None:
        return None
    regression = "epsilon" in p
    names = ("groups", "kernel", "gamma", "scales", "weights", "combine", "degree", "coef0")
    settings = KernelSettings(**{name: p[name] for name in names})
    try:
        settings.named_gamma()
    except ArgumentError:
        return None
    return rounded_if_sound(
        MultiMachine(
            regression=regression,
            kernel="several",
            gamma=1.0,
            degree=3,
            coef0=0.0,
            settings=settings,
            **common_parameters(p, regression),
        )
    )
