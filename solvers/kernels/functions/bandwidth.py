"""The scale of a kernel: gamma as in scikit-learn, or sigma."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float


def resolve_gamma(
    gamma: Any = "scale",
    X: NDArray[np.float64] | None = None,
    *,
    sigma: Any = None,
) -> float:
    """Return gamma as a number.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features Var(X)), or 1 if X is constant; "auto" is 1 / n_features, as in scikit-learn's SVC.
    X : ndarray of shape (n_samples, n_features), optional
        The data, needed for "scale" and "auto".
    sigma : float, optional
        Instead of gamma, the width of exp(-d^2 / (2 sigma^2)): gamma is 1 / (2 sigma^2).

    Raises
    ------
    SolverError
        If `gamma` is invalid, `sigma` is not positive, both are set, X is missing, or its variance overflows.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", eq. 29.

    Examples
    --------
    >>> resolve_gamma(sigma=2.0)
    0.125
    >>> resolve_gamma("auto", np.zeros((5, 4)))
    0.25
    >>> resolve_gamma("scale", np.zeros((5, 4)))
    1.0
    """
    if sigma is not None:
        return _gamma_of_sigma(sigma, gamma)
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise SolverError(f"gamma={gamma!r}; use 'scale', 'auto' or a number")
        if X is None:
            raise SolverError(f"gamma={gamma!r} depends on the data; give X, or gamma as a number")
        return 1.0 / X.shape[1] if gamma == "auto" else _scale(X)
    if not np.isfinite(as_float(gamma)):
        raise SolverError(f"gamma={gamma!r}; use 'scale', 'auto' or a finite number")
    return as_float(gamma)


def _gamma_of_sigma(sigma: Any, gamma: Any) -> float:
    if not (isinstance(gamma, str) and gamma == "scale"):
        raise SolverError(f"sigma={sigma!r} and gamma={gamma!r} are both given; use one, gamma is 1 / (2 sigma^2)")
    width = as_float(sigma)
    if not 1e-150 < width < 1e150:
        raise SolverError(f"sigma={sigma!r}; use a positive number, from 1e-150 to 1e150")
    return 0.5 / width**2


def _scale(X: NDArray[np.float64]) -> float:
    if X.min() == X.max():  # rounding may give a constant a variance above 0
        return 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(X.var())
    if not np.isfinite(variance):
        raise SolverError("gamma='scale' needs the variance of X, which overflows; scale X, or give gamma as a number")
    with np.errstate(divide="ignore", over="ignore"):
        gamma = float(np.float64(1.0) / (X.shape[1] * variance))
    if not np.isfinite(gamma):
        raise SolverError(f"gamma='scale' is infinite, since X varies by only {variance:.3g}; scale X, or give gamma as a number")
    return gamma
