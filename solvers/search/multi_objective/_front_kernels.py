"""Compiled expected hypervolume improvement over boxes."""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled

_ROOT_HALF = 0.7071067811865476
_DENSITY = 0.3989422804014327


@compiled
def add_gains(means, deviations, levels, slopes, counts, low, high, out):
    """Add to `out` (M,) the sum over boxes of the products of expected gains; `means`, `deviations` (m, M) of normal variables.

    A gain is the integral of the probability to be below a level, times the slope, from the lower to the upper end of a box:
    `levels` and `slopes` (m, K) of `counts` (m,) levels, `low` and `high` (B, m) the ends as indices of levels plus 1.
    """
    m, K = levels.shape
    table = np.zeros((m, K + 1))
    for i in range(len(out)):
        for j in range(m):
            mean, sd = means[j, i], deviations[j, i]
            before, total = 0.0, 0.0
            for k in range(counts[j]):
                z = (levels[j, k] - mean) / sd
                below = 0.5 * math.erfc(-z * _ROOT_HALF)
                gain = sd * (_DENSITY * math.exp(-0.5 * z * z) + z * below)
                total += slopes[j, k] * max(gain - before, 0.0)
                table[j, k + 1] = total
                before = gain
        volume = 0.0
        for b in range(len(low)):
            product = 1.0
            for j in range(m):
                product *= table[j, high[b, j]] - table[j, low[b, j]]
            volume += product
        out[i] += volume
