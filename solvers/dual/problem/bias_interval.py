"""The biases that a solution of the dual allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Distance to a bound that is only rounding, as a share of the interval between the bounds
_REST = 1e-9


def bias_interval(slope: Floats, beta: Floats, lower: Floats, upper: Floats, epsilon: float = 0.0) -> tuple[float, float]:
    """Return the smallest and the largest optimal bias.

    Each variable strictly between its bounds determines the bias; both ends are then the mean over these variables. If all
    variables are at their bounds, each limits the bias on one side. A variable that rounding has left just short of a bound
    counts as at the bound.

    Parameters
    ----------
    slope : ndarray of shape (n,)
        K beta - z, where z are labels or the target of a regression.
    beta, lower, upper : ndarray of shape (n,)
        The variables and their bounds.
    epsilon : float, default=0.0
        Half the width of the tube in regression, where 0 is a further bound of each variable.

    Returns
    -------
    float, float
        The ends of the interval; infinite where no variable limits it. If beta is not optimal, the first can be larger than the
        second.

    Notes
    -----
    Equation :eq:`threshold` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> slope, lower, upper = (
    ...     np.array([-0.9, 0.7]),
    ...     np.array([0.0, -2.0]),
    ...     np.array([2.0, 0.0]),
    ... )
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
    """Return the middle of an interval of biases; its finite end if half-infinite, and 0 if every bias is optimal."""
    ends = [end for end in (low, high) if np.isfinite(end)]
    return sum(ends) / len(ends) if ends else 0.0
