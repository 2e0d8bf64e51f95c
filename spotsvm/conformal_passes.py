"""The passes of a conformal support vector machine on the problem of one pair of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.checked_numbers import as_float
from solvers.dual.result import DualResult
from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]

# exp(-80) is 1.8e-35: nothing beside 1, and its square is still a normal number; denormals are up to 60 times slower
LOWEST_EXPONENT = -80.0
# a discriminant function this small against its terms is rounding
_ROUNDING = 1e-12


class SolvedPass(NamedTuple):
    """One pass: its solution, its kappa (0 of the first pass), and D at the rows of the problem."""

    result: DualResult
    kappa: float
    factor: Floats


def solve_passes(
    K: Floats, solve: Callable[[Floats], DualResult], kappa: float | None, n_passes: int, about: str = ""
) -> list[SolvedPass]:
    """Solve with a kernel matrix, and again with D K D, where D = exp(-kappa f^2) and f is that of the pass before.

    D is always applied to the base kernel. The product of all passes' factors would shrink the kernel further from pass to
    pass wherever f is not 0, until nothing but the boundary's nearest rows had any; so, passes differ by where they see the
    boundary, and one that sees it where the pass before did changes nothing.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The base kernel's matrix.
    solve : callable
        From a kernel matrix to the solution.
    kappa : float or None
        0 or more; None for 1 / max|f| of the pass before.
    n_passes : int
        Passes in all, 1 or more.
    about : str, default=""
        What problem it is, for messages.

    Raises
    ------
    ArgumentError
        If a pass that another follows has no support vectors, or an f that is 0 at all rows; not with kappa 0.

    References
    ----------
    Williams, Li, Feng, Wu 2005, "Scaling the Kernel Function to Improve Performance of the Support Vector Machine", eq. 5, 8.
    """
    passes = [SolvedPass(solve(K), 0.0, np.ones(len(K)))]
    scale = float(np.abs(K).max())
    while len(passes) < n_passes:
        before = passes[-1].result
        if kappa == 0.0:  # D is 1: the same problem
            passes.append(passes[-1])
            continue
        _check_boundary(before, scale, f"pass {len(passes)}{about}")
        of_pass = 1.0 / float(np.abs(before.decision).max()) if kappa is None else kappa
        factor = np.exp(log_factor(of_pass, before.decision))
        passes.append(SolvedPass(solve(K * np.outer(factor, factor)), of_pass, factor))
    return passes


def whole_result(passes: list[SolvedPass]) -> DualResult:
    """Give the last pass's result with the steps of all passes, converged if all are."""
    different = [one.result for k, one in enumerate(passes) if not k or one.result is not passes[k - 1].result]
    failed = next((result for result in different if not result.converged), None)
    last = replace(different[-1], iterations=sum(result.iterations for result in different))
    return last if failed is None else replace(last, converged=False, message=failed.message)


def log_factor(kappa: float | Floats, f: Floats) -> Floats:
    """Give log D = -kappa f^2, at least -80."""
    with np.errstate(over="ignore"):
        return np.maximum(-(kappa * f) * f, LOWEST_EXPONENT)


def check_kappa(value: Any) -> float | None:
    """Give kappa as a float, None for "auto", or raise ArgumentError."""
    if isinstance(value, str) and value == "auto":
        return None
    number = as_float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ArgumentError(f"kappa={value!r}; use 'auto' or a finite number, 0 or more (0 is the plain machine)")
    return number


def check_n_passes(value: Any) -> int:
    """Give the number of passes, or raise ArgumentError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ArgumentError(f"n_passes={value!r}; use a whole number: 1 for the plain machine, 2 for the paper's, or more")
    return int(value)


def _check_boundary(result: DualResult, scale: float, name: str) -> None:
    """Refuse a solution that has no boundary for the next pass to magnify."""
    total = float(result.alpha.sum())
    if not total > 0:
        raise ArgumentError(
            f"{name} has no support vectors, so there is no boundary for D to follow ({result.message}); "
            "raise max_iter or C, or use kappa=0"
        )
    largest = float(np.abs(result.decision).max())
    if largest <= _ROUNDING * (total * scale + abs(result.bias)) or not np.isfinite(1.0 / largest):
        raise ArgumentError(
            f"{name} has f = 0 at all training rows, so there is no boundary for D to follow: the kernel does not tell the "
            "classes apart; use other kernel parameters, or a kappa that is smaller or 0"
        )
