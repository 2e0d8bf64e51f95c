"""Compiled loop of the log loss of margins."""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled
def least_log_loss(z, first, least, most, steps, change):
    """Return the mean of log(1 + exp(-s z)) for the slope s between `least` and `most` that has the least.

    The loss is convex in the slope: Newton's steps from `first`, at most `steps` and until the last relative `change`, are kept
    between the bounds that the signs of slopes have shown.
    """
    slope, low, high = first, least, most
    for _ in range(steps):
        down, second = 0.0, 0.0
        for k in range(len(z)):
            p = 1.0 / (1.0 + math.exp(min(max(slope * z[k], -700.0), 700.0)))
            down -= z[k] * p
            second += z[k] * z[k] * p * (1.0 - p)
        if down < 0.0:
            low = slope
        else:
            high = slope
        step = slope - down / second if second > 0.0 else np.inf
        if low < step < high:
            new = step
        elif low > least and high < most:
            new = 0.5 * (low + high)
        else:
            new = high if down < 0.0 else low
        if abs(new - slope) <= change * slope:
            break
        slope = new
    total = 0.0
    for k in range(len(z)):
        t = -slope * z[k]
        total += max(t, 0.0) + math.log1p(math.exp(-abs(t)))
    return total / len(z)
