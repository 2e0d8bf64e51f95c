"""A kernel function by name, with its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float, is_count

Floats = NDArray[np.float64]
KernelFunction = Callable[[Any, Any], Any]
Base = Literal["inner products", "squared distances", "Manhattan distances", "rows", "precomputed"]

_BASES: dict[str, Base] = {
    "linear": "inner products",
    "poly": "inner products",
    "sigmoid": "inner products",
    "rbf": "squared distances",
    "laplacian": "Manhattan distances",
    "epanechnikov": "squared distances",
    "multiquadric": "squared distances",
    "negative_multiquadric": "squared distances",
    "precomputed": "precomputed",
}
KERNELS = tuple(_BASES)

# exp(-80) is 1.8e-35: negligible beside 1, but a normal number in both precisions; denormals are up to 60 times slower
_LOWEST_EXPONENT = -80.0


@dataclass(frozen=True)
class Kernel:
    """A kernel function k(x, z).

    ========================= ==========================================
    `name`                    k(x, z), with d = ||x - z||
    ========================= ==========================================
    `"linear"`                <x, z>
    `"poly"`                  (gamma <x, z> + coef0)^degree
    `"rbf"`                   exp(-gamma d^2)
    `"laplacian"`             exp(-gamma sum_j abs(x_j - z_j))
    `"sigmoid"`               tanh(gamma <x, z> + coef0)
    `"epanechnikov"`          max(0, 1 - gamma d^2)
    `"multiquadric"`          sqrt(gamma d^2 + coef0^2)
    `"negative_multiquadric"` -sqrt(gamma d^2 + coef0^2)
    `"precomputed"`           the data are the values of the kernel
    a callable                what it returns
    ========================= ==========================================

    "epanechnikov", "multiquadric", "negative_multiquadric" and "sigmoid" are indefinite. The multiquadric grows with the
    distance: it is a hard test case for solvers rather than a similarity. Its negative is conditionally positive definite, so
    the dual with a bias is convex.

    Parameters
    ----------
    name : str or callable
        A name from the table, or a function of two arrays of shapes (n, d) and (m, d) that returns a matrix of shape (n, m).
    gamma : float, default=1.0
        Finite; not negative where it multiplies a distance. Mierswa's kappa in eq. 28 and 30.
    coef0 : float, default=0.0
        Finite. Mierswa's delta in eq. 28; -delta in eq. 30.
    degree : int, default=3
        Power of the polynomial, at least 0.

    Raises
    ------
    SolverError
        If a parameter is invalid.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", eq. 28 to 30; for eq. 29's sigma see `resolve_gamma`.
    Schoelkopf 2001, "The Kernel Trick for Distances", for conditionally positive definite kernels.

    Examples
    --------
    >>> Kernel("rbf", gamma=0.5).positive_semidefinite
    True
    >>> Kernel("sigmoid").positive_semidefinite
    False
    >>> Kernel("poly", gamma=-1.0).positive_semidefinite
    False
    """

    name: str | KernelFunction
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __post_init__(self) -> None:
        check_kernel_name(self.name)
        check_finite_number("gamma", self.gamma)
        check_finite_number("coef0", self.coef0)
        if self.base.endswith("distances") and self.gamma < 0:
            raise SolverError(
                f"gamma={self.gamma!r}; it scales a {self.base.removesuffix('s')} in the kernel {self.name!r}: use 0 or more"
            )
        if not is_count(self.degree, 0):
            raise SolverError(f"degree={self.degree!r}; the power of a polynomial kernel is a whole number, 0 or more")

    @property
    def base(self) -> Base:
        """The quantity from which the kernel is computed; "rows" for a callable."""
        return _BASES[self.name] if isinstance(self.name, str) else "rows"

    @property
    def exponential(self) -> bool:
        """Whether the kernel is exp(-gamma d) of a distance d."""
        return self.name in ("rbf", "laplacian")

    @property
    def label(self) -> str:
        """Name and parameters of the kernel, for error messages."""
        if not isinstance(self.name, str):
            return f"the callable {getattr(self.name, '__qualname__', repr(self.name))}"
        if self.name in ("linear", "precomputed"):
            return repr(self.name)
        shown = f"{self.name!r} with gamma={self.gamma:.6g}"
        if self.name not in ("rbf", "laplacian", "epanechnikov"):
            shown += f", coef0={self.coef0:.6g}"
        return shown + (f", degree={self.degree}" if self.name == "poly" else "")

    @property
    def positive_semidefinite(self) -> bool:
        """Whether every matrix of this kernel is known to be positive semidefinite; False if it is not known."""
        if self.name == "poly":
            return self.degree == 0 or (self.gamma >= 0 and self.coef0 >= 0)
        return self.name in ("linear", "rbf", "laplacian")

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Turn inner products or distances (see `base`) into kernel values, in place.

        Parameters
        ----------
        values : ndarray
            Overwritten, of any shape, in single or double precision.

        Returns
        -------
        ndarray
            The kernel values, in the shape of the argument.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if self.name == "linear":
                return values
            if self.gamma == 0.0:
                values.fill(0.0)  # also where a distance overflows
            else:
                values *= float(-self.gamma if self.exponential else self.gamma)
            return self._of_scaled(values)

    def _of_scaled(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.exponential:
            np.maximum(values, _LOWEST_EXPONENT, out=values)
            return np.asarray(np.exp(values, out=values))
        if self.name == "epanechnikov":
            np.subtract(1.0, values, out=values)
            return np.asarray(np.maximum(values, 0.0, out=values))
        if self.name in ("multiquadric", "negative_multiquadric"):
            values += float(self.coef0) * float(self.coef0)
            np.sqrt(values, out=values)
            return values if self.name == "multiquadric" else np.asarray(np.negative(values, out=values))
        values += float(self.coef0)
        return np.asarray(np.tanh(values, out=values)) if self.name == "sigmoid" else _power(values, int(self.degree))


def _power(values: NDArray[Any], degree: int) -> NDArray[Any]:
    """Raise to a whole power by squaring, which is several times faster than `np.power` from degree 3 on."""
    result: NDArray[Any] | None = None
    while degree:
        if degree & 1:
            result = values.copy() if result is None else np.multiply(result, values, out=result)
        degree >>= 1
        if degree:
            np.multiply(values, values, out=values)
    return np.ones_like(values) if result is None else result


def check_kernel_name(name: Any) -> None:
    """Raise SolverError unless `name` is a known kernel or a callable."""
    if not callable(name) and not (isinstance(name, str) and name in KERNELS):
        raise SolverError(
            f"kernel={name!r} is not known; use one of {', '.join(map(repr, KERNELS))}, or a function of two arrays"
        )


def check_finite_number(name: str, value: Any) -> None:
    """Raise SolverError unless `value` is a finite number."""
    if not np.isfinite(as_float(value)):
        raise SolverError(f"{name}={value!r}; use a finite number")


def resolve_gamma(
    gamma: Any = "scale",
    X: NDArray[np.float64] | None = None,
    *,
    sigma: Any = None,
) -> float:
    """Return gamma as a number: "scale" and "auto" as in scikit-learn's SVC ("scale" is 1 if X is constant).

    `sigma` in its place is the width of exp(-d^2 / (2 sigma^2)), Mierswa 2006, eq. 29.
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


def make_kernel(
    kernel: Any = "rbf",
    X: NDArray[np.float64] | None = None,
    *,
    gamma: Any = "scale",
    coef0: float = 0.0,
    degree: int = 3,
    sigma: Any = None,
) -> Kernel:
    """Make a kernel from the parameters of scikit-learn's SVC, or for "rbf" with sigma in place of gamma; a `Kernel` is kept.

    Mierswa 2006, "Evolutionary Learning with Kernels", eq. 28 to 30. X is needed for gamma="scale" and "auto".
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
