"""The biases that a solution of the dual allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: What rounding leaves of a step to a bound, as a share of the interval between the bounds
_REST = 1e-9


def bias_interval(slope: Floats, beta: Floats, lower: Floats, upper: Floats, epsilon: float = 0.0) -> tuple[float, float]:
    """Return the least and the largest optimal bias.

    A variable between its bounds leaves one bias, and the mean over all such variables is both ends. Where all are at their
    bounds, each says on which side of its own value the bias is. One that rounding has left short of a bound is at it.

    Parameters
    ----------
    slope : ndarray of shape (n,)
        K beta - z, where z are labels or the target of a regression.
    beta, lower, upper : ndarray of shape (n,)
        The variables and their bounds.
    epsilon : float, default=0.0
        Half the width of the tube of a regression; its variables have 0 as a bound, too.

    Returns
    -------
    float, float
        The ends, infinite where no variable sets one. The first is the larger where beta is not optimal.

    Notes
    -----
    Equation :eq:`threshold` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> slope, lower, upper = np.array([-0.9, 0.7]), np.array([0.0, -2.0]), np.array([2.0, 0.0])
    >>> bias_interval(slope, np.array([2.0, -2.0]), lower, upper)
    (-0.7, 0.9)
    >>> bias_interval(slope, np.array([2.0, -1.0]), lower, upper)
    (-0.7, -0.7)
    """
    rest = _REST * (upper - lower)
    off_zero = (np.abs(beta) > rest) | (epsilon == 0.0)
    can_rise, can_fall = beta < upper - rest, beta > lower + rest
    free = can_rise & can_fall & off_zero
    if free.any():
        mean = -float((slope[free] + epsilon * np.sign(beta[free])).mean())
        return mean, mean
    rise = (slope + np.where(beta >= -rest, epsilon, -epsilon))[can_rise]
    fall = (slope + np.where(beta > rest, epsilon, -epsilon))[can_fall]
    return -float(np.min(rise, initial=np.inf)), -float(np.max(fall, initial=-np.inf))


def middle_bias(low: float, high: float) -> float:
    """Return the middle of an interval of biases, of a half-infinite one its end, and 0 where any bias is optimal."""
    ends = [end for end in (low, high) if np.isfinite(end)]
    return sum(ends) / len(ends) if ends else 0.0
