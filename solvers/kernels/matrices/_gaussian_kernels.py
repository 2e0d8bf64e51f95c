"""Compiled loop of a Gaussian kernel matrix in single precision."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled(inline="always")
def power(x):
    """Return exp(256 x), x <= 0, by the series of exp(x), squared eight times; inlined, so that its loop stays vectorised."""
    x = x if x > -0.3125 else -0.3125  # the result is exp(-80); much smaller results would be denormal and slow
    tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
    e = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return e * e


@compiled
def fill_gaussian(distances, gamma, K):
    """Write exp(-gamma d) for squared distances d, correct to single precision even for tiny values.

    The exponential of x / 256 is computed by its series and squared eight times. This form is vectorised on every processor; a
    call of a library function in a compiled loop is not.
    """
    scale = -gamma / 256.0
    for i in range(distances.shape[0]):
        d = distances[i]
        out = K[i]
        for k in range(d.shape[0]):
            out[k] = np.float32(power(scale * np.float64(d[k])))


@compiled
def fill_gaussian_less_one(distances, gamma, K):
    """Write exp(-gamma d) - 1, correct to single precision however near to 0: doubled by (1 + e)^2 - 1 = e (2 + e)."""
    scale = -gamma / 256.0
    for i in range(distances.shape[0]):
        d = distances[i]
        out = K[i]
        for k in range(d.shape[0]):
            x = scale * np.float64(d[k])
            x = x if x > -0.3125 else -0.3125
            tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
            e = x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            out[k] = np.float32(e)
