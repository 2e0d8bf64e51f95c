"""Default search spaces of machines, by their kernels."""

from __future__ import annotations

from typing import Any

from scipy.stats import loguniform, randint, uniform
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.estimators.dual.evo_svc import EvoSVC
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.dual.exact_svr import ExactSVR
from spotsvm.estimators.reduced.reduced_svc import ReducedSVC

Space = dict[str, Any]
#: kernels without a gamma; that of one's own may have any parameters
_PLAIN = ("linear", "precomputed", "cosine")


def machine_space(epsilon: bool = False) -> Space:
    """Return the space of an RBF machine in LIBSVM's guide, with `epsilon` for regression."""
    space = {"C": loguniform(2.0**-5, 2.0**15), "gamma": loguniform(2.0**-15, 2.0**3)}
    return space | ({"epsilon": loguniform(2.0**-8, 1.0)} if epsilon else {})


def kernel_space(machine: Any) -> Space:
    """Return the space of the parameters of a machine's kernel.

    A gamma for all kernels by name but the linear one; for a polynomial degrees of 2 to 5 and coef0 from 0 to 1, for a sigmoid
    coef0 from -1 to 1.

    Examples
    --------
    >>> [list(kernel_space(SVC(kernel=kernel))) for kernel in ("poly", "sigmoid", "linear")]
    [['gamma', 'degree', 'coef0'], ['gamma', 'coef0'], []]
    """
    kernel = machine.kernel
    if not isinstance(kernel, str) or kernel in _PLAIN:
        return {}
    space = {} if getattr(machine, "sigma", None) is not None else {"gamma": machine_space()["gamma"]}
    return space | _shape_space(kernel)


def _shape_space(kernel: Any) -> Space:
    if kernel in ("poly", "polynomial"):
        return {"degree": randint(2, 6), "coef0": uniform(0.0, 1.0)}
    return {"coef0": uniform(-1.0, 2.0)} if kernel == "sigmoid" else {}


def _with_kernel(machine: Any, *names: str) -> Space:
    """Return the space of a kernel machine: its kernel's, after C if it has one, and before its other parameters."""
    ranges = {
        "epsilon": machine_space(epsilon=True)["epsilon"],
        "nu": loguniform(0.01, 0.5),
        "alpha": loguniform(2.0**-15, 2.0**5),
    }
    first = {"C": machine_space()["C"]} if "C" in names else {}
    return first | kernel_space(machine) | {name: ranges[name] for name in names if name != "C"}


def several_kernels_space(machine: Any) -> Space:
    """Return the space of a machine with a kernel for each group of columns: that of its richest model, then the others."""
    kernel = machine.kernel if isinstance(machine.kernel, str) else None
    extra = {"epsilon": machine_space(epsilon=True)["epsilon"]} if hasattr(machine, "epsilon") else {}
    return {**machine._model_space(), **_shape_space(kernel), **extra}


#: how the space of a machine is made, by its class
MACHINE_SPACES: dict[Any, Any] = {
    (SVC, ExactSVC, EvoSVC, ConformalSVC): lambda machine: _with_kernel(machine, "C"),
    (SVR, ExactSVR): lambda machine: _with_kernel(machine, "C", "epsilon"),
    LinearSVC: lambda _: {"C": machine_space()["C"]},
    LinearSVR: lambda _: {name: machine_space(epsilon=True)[name] for name in ("C", "epsilon")},
    NuSVC: lambda machine: _with_kernel(machine, "nu"),
    NuSVR: lambda machine: _with_kernel(machine, "C", "nu"),
    OneClassSVM: lambda machine: _with_kernel(machine, "nu"),
    KernelRidge: lambda machine: _with_kernel(machine, "alpha"),
    ReducedSVC: lambda _: machine_space(),
}
