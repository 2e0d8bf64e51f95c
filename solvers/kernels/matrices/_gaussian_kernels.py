"""Compiled loop of a Gaussian kernel matrix in single precision."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled(inline="always")
def power(x):
    """Return exp(256 x), x <= 0, by the series of exp(x), squared eight times; written into its loop, which stays vectorised."""
    x = x if x > -0.3125 else -0.3125  # exp(-80), below which numbers become denormal and slow
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
    """Write exp(-gamma d) for squared distances d, correct to single precision however small.

    The exponential of a 256th of the exponent by its series, squared eight times: in this form it is vectorised on every
    processor, which calls of a library function in a compiled loop are not.
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
