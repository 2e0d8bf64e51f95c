"""Checks that kernel values of single precision hold the digits that decisions need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.estimators import Floats

Single = NDArray[np.float32]

#: of a number in single precision, and the least spread of kernel values, as a share of the largest
_ROUNDING, _LEAST_SPREAD = 2.0**-24, 1e-3


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
            left_open = _ROUNDING * float(np.sqrt((squares @ np.square(beta.astype(np.float32))).max()))
        if not left_open <= most:
            raise NotSharedError(f"single precision leaves decisions open by {left_open:.2g}")


def _some_rows(K: Single) -> Single:
    return K[:: max(len(K) // 64, 1)]
