"""Make a kernel from the parameters of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.bandwidth import resolve_gamma
from spotsvm.solvers.kernels.functions.kernel import Kernel, check_kernel_name


def make_kernel(
    kernel: Any = "rbf",
    X: NDArray[np.float64] | None = None,
    *,
    gamma: Any = "scale",
    coef0: float = 0.0,
    degree: int = 3,
    sigma: Any = None,
) -> Kernel:
    """Make a kernel from the parameters of scikit-learn's SVC, or with sigma in place of gamma.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name or callable as in `Kernel`; a `Kernel` is returned unchanged.
    X : ndarray of shape (n_samples, n_features), optional
        The data, needed for gamma="scale" and "auto".
    gamma : {"scale", "auto"} or float, default="scale"
        As in `resolve_gamma`.
    coef0, degree : float, int
        As in `Kernel`.
    sigma : float, optional
        Width of the kernel "rbf", instead of gamma: exp(-d^2 / (2 sigma^2)).

    Raises
    ------
    SolverError
        If a parameter is invalid, or `sigma` is set with a kernel other than "rbf".

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", eq. 28 to 30.

    Examples
    --------
    >>> make_kernel("rbf", sigma=0.5).gamma
    2.0
    """
    if isinstance(kernel, Kernel):
        return kernel
    check_kernel_name(kernel)
    if sigma is not None and kernel != "rbf":
        raise SolverError(f"sigma={sigma!r} is the width of the kernel 'rbf'; the kernel {kernel!r} has none")
    uses_gamma = isinstance(kernel, str) and kernel not in ("linear", "precomputed")
    if not uses_gamma and isinstance(gamma, str):
        X = np.ones((1, 1))  # gamma is checked although this kernel does not use it
    return Kernel(kernel, resolve_gamma(gamma, X, sigma=sigma), coef0, degree)
