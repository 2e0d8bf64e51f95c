"""Scaling of responses near the largest float, so that their squares, sums and differences stay finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LARGEST = 480  # as a power of two: the sum of a million squares is still below 2^1024


def within_reach(values: Floats) -> tuple[Floats, float]:
    """Return responses in a unit in which one can calculate with them, and the unit: 1 unless one is beyond 1e144.

    The unit is a power of two, so the digits stay as they are.

    Parameters
    ----------
    values : ndarray
        Responses; those that are not finite stay as they are.

    Examples
    --------
    >>> within_reach(np.array([1.0, -3.0]))
    (array([ 1., -3.]), 1.0)
    >>> values, unit = within_reach(np.array([1e308, -1e308]))
    >>> bool(np.ptp(values) < 1e145), (values * unit).tolist()
    (True, [1e+308, -1e+308])
    """
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    power = int(np.frexp(largest)[1]) - _LARGEST
    return (values, 1.0) if power <= 0 else (np.ldexp(values, -power), float(np.ldexp(1.0, power)))
