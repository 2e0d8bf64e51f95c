"""Checks that kernel values, of single precision or from rows with an offset, hold the digits that decisions need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.estimators import Floats
from spotsvm.solvers.kernels import Kernel

Single = NDArray[np.float32]

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
#: the least spread of kernel values, as a share of the largest
_LEAST_SPREAD = 1e-3
#: How many times the rounding that there is without any offset makes it the offset's
_TIMES = 100.0
#: From how many standard deviations on a mean is an offset, and from what share of the largest offset on it is named
_DEVIATIONS, _SHARE = 4.0, 0.1
_SHOWN = 3
_SOME = 64  # rows that are looked at in pairs


class LostDigitsError(NotSharedError):
    """A machine's own library loses digits of the data that shared work keeps, so that their scores differ.

    `advice` is the text for the user, empty if no column has an offset.
    """

    def __init__(self, reason: str, advice: str):
        super().__init__(reason)
        self.advice = advice


class Digits:
    """Checks of the precision of the kernel values of rows; `label` returns the name of a column by its number."""

    def __init__(self, X: Floats, label: Callable[[int], str]):
        self._X, self._label = X, label
        self._mean, self._deviation = X.mean(axis=0), X.std(axis=0)
        squares = np.einsum("ij,ij->i", X, X)
        self._longest = int(squares.argmax())
        self._largest = float(squares[self._longest])

    @cached_property
    def offset_columns(self) -> list[int]:
        """The columns whose values are far from zero for how much they differ, the farthest first."""
        offset = np.abs(self._mean)
        far = np.flatnonzero((offset > _DEVIATIONS * self._deviation) & (offset >= _SHARE * offset.max()))
        found: list[int] = far[np.argsort(-np.log10(offset[far]).round(1), kind="stable")].tolist()
        return found

    def check(self, kernel: Kernel, *, by_libsvm: bool, reach: float, tol: float) -> None:
        """Raise LostDigitsError if a machine's own library rounds kernel values so much that its decisions change.

        LIBSVM computes exp(-gamma (<x, x> + <z, z> - 2 <x, z>)) from the rows as they are in double precision, and stores kernel
        values in single precision. Shared work uses distances, and the linear kernel, of centred rows. `by_libsvm` is whether
        LIBSVM trains the machine, or our own solver, in double precision. `reach` is how much a decision changes at most if
        kernel values change by one. `tol` is the solver's tolerance.
        """
        if kernel.base == "squared distances":
            if not by_libsvm:
                return
            error, usual = 4 * _DOUBLE * kernel.gamma * self._largest, _SINGLE
            constant = 2 * kernel.gamma * float(np.square(self._deviation).sum()) < _TIMES * _SINGLE
        elif kernel.base == "inner products":
            unit = _DOUBLE if kernel.name == "linear" and not by_libsvm else _SINGLE
            error = unit * float(kernel.of(np.array([self._largest]))[0])
            usual, constant = _TIMES * _SINGLE * self._half_distance(kernel), False
        else:
            return
        lost = not (error <= usual or error * reach <= tol)
        if lost or (constant and self.offset_columns):
            raise LostDigitsError(f"kernel: {kernel.label} loses digits of the data", self._advice(kernel, self.offset_columns))

    def _advice(self, kernel: Kernel, columns: list[int]) -> str:
        if not columns:
            return ""
        shown = ", ".join(f"{self._label(j)} ({self._mean[j]:.3g} +- {self._deviation[j]:.2g})" for j in columns[:_SHOWN])
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        return (
            f"The offset of {shown}{more} costs the kernel {kernel.label} the digits in which rows differ, which makes machines "
            "less accurate. Subtract it, for example by a StandardScaler before the machine in a pipeline."
        )

    def _half_distance(self, kernel: Kernel) -> float:
        """Return half the largest squared distance of some rows in the space of a kernel of inner products."""
        rows = self._X - self._mean if kernel.name == "linear" else self._X
        some = rows[np.append(np.arange(0, len(rows), max(len(rows) // _SOME, 1)), self._longest)]
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernel.of(some @ some.T)
            diagonal = K.diagonal()
            return float((0.5 * (diagonal[:, None] + diagonal) - K).max())


def check_scale(K: Single, offset: float) -> None:
    """Raise NotSharedError if kernel values are almost equal, or, without a constant subtracted, too small or too large."""
    some = _some_rows(K)
    low, high = float(some.min()), float(some.max())
    largest = max(high, -low)
    if high - low < _LEAST_SPREAD * largest or (offset == 0.0 and not 1e-6 < largest < 1e9):
        raise NotSharedError(f"kernel values from {low:.6g} to {high:.6g} leave single precision too few digits")


def some_squares(K: Single) -> Single:
    """Return the squares of some rows of a kernel matrix, for `check_rounding`."""
    with np.errstate(over="ignore"):
        squares: Single = np.square(_some_rows(K))
    return squares


def check_rounding(squares: Single, betas: Sequence[Floats], most: float) -> None:
    """Raise NotSharedError if rounded kernel values leave a decision open by more than `most`.

    A decision is sum_j beta_j K_ij; the roundings of its terms, each up to 2^-24 of it, add up as random numbers do. Large
    terms that cancel out, as of a heavy linear kernel, leave little of a light one beside them.
    """
    for beta in betas:
        with np.errstate(over="ignore", invalid="ignore"):
            left_open = _SINGLE * float(np.sqrt((squares @ np.square(beta.astype(np.float32))).max()))
        if not left_open <= most:
            raise NotSharedError(f"single precision leaves decisions open by {left_open:.2g}")


def _some_rows(K: Single) -> Single:
    return K[:: max(len(K) // 64, 1)]
