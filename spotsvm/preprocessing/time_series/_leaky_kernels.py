"""Compiled sums over a sliding window with geometrically decaying weights."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled

_LOWEST = 1e-300  # smaller numbers count as 0: their products are denormal, slow and inexact


@compiled
def leaky_sums(values, decay, window, out):
    """Write sum_{i=0..window} decay^i values[t - i] into out[t], with 0 before the first value.

    In blocks of window + 1, summed forward and backward from 0: nothing is subtracted, so values outside the window leave no
    rounding error.
    """
    n = len(values)
    size = min(window + 1, n)
    powers = np.empty(size + 1)
    for k in range(size + 1):
        power = decay ** float(k)  # 0 ** 0 is 1
        powers[k] = power if power > _LOWEST else 0.0
    ends = np.zeros(size + 1)  # of the block before: what its values from k on have left at its end
    for first in range(0, n, size):
        count = min(size, n - first)
        total = 0.0
        for k in range(count):
            total = total * decay + values[first + k]
            total = total if abs(total) > _LOWEST else 0.0
            out[first + k] = total + powers[k + 1] * ends[k + 1]
        total = 0.0
        for k in range(count - 1, -1, -1):
            total += powers[size - 1 - k] * values[first + k]
            ends[k] = total
