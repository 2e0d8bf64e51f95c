"""The best of so many random draws: quantiles of what a random search has reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.reports.study_model import StudyModel

Floats = NDArray[np.float64]

#: the lower edge, the middle and the upper edge of the band
QUANTILES = (0.1, 0.5, 0.9)
_POOL = 4096
_NOISE_DRAWS = 8


def best_of(values: Floats, numbers: Floats, quantiles: tuple[float, ...] = QUANTILES) -> Floats:
    """Give quantiles of the smallest of m values drawn at random, with replacement, for each number m.

    The smallest of m exceeds the p-quantile of one with probability (1 - p)^m, so its q-quantile is that of one at
    1 - (1 - q)^(1/m).

    Parameters
    ----------
    values : ndarray of shape (n,)
        What can be drawn.
    numbers : ndarray of shape (k,)
        Numbers of draws.
    quantiles : tuple of float, default=(0.1, 0.5, 0.9)
        Between 0 and 1.

    Returns
    -------
    ndarray of shape (len(quantiles), k)

    References
    ----------
    David, Nagaraja 2003, "Order Statistics", section 2.1.

    Examples
    --------
    >>> best_of(np.arange(10.0), np.array([1, 2, 100])).tolist()
    [[0.0, 0.0, 0.0], [4.0, 2.0, 0.0], [8.0, 6.0, 0.0]]
    """
    shares = 1.0 - (1.0 - np.array(quantiles)[:, None]) ** (1.0 / np.asarray(numbers, dtype=float))
    # less one part in 10^12: 0.5 that has come out as 0.5 and a bit is still 0.5
    places = np.ceil(shares * len(values) - 1e-12).astype(int) - 1
    return np.asarray(np.sort(values)[np.clip(places, 0, len(values) - 1)])


def random_values(model: StudyModel, seed: int) -> Floats:
    """Give values that random search would see if the model were right, smaller ones better.

    They are predictions at uniformly random points of the cube, under noise each with several draws of the noise added.

    Parameters
    ----------
    model : StudyModel
        The model.
    seed : int
        Seed of the points.
    """
    rng = np.random.default_rng([seed, 1 << 42])
    values = model.sign * model.mean(rng.random((_POOL, model.domain.dimension)))
    if model.noise <= 0:
        return values
    return (values[:, None] + model.noise * rng.normal(size=(_POOL, _NOISE_DRAWS))).ravel()
