"""The best of so many random draws: quantiles of what a random search has reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

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


def chance_to_match(values: Floats, best: float, number: int) -> float:
    """Give the chance that so many random draws get as far as a value, given other draws from the same unknown distribution.

    With k of n draws as good, the share of the distribution that is as good is taken to be Beta(k + 1, n - k): that up to the
    next draw. So few draws that were all surpassed do not yet say that hardly any will get there: with none of n the chance
    of m draws is m / (n + m).

    Parameters
    ----------
    values : ndarray of shape (n,)
        What was drawn, smaller ones better.
    best : float
        The value to get to.
    number : int
        How many draws are to be made.

    References
    ----------
    David, Nagaraja 2003, "Order Statistics", section 7.2 (what lies between order statistics, whatever the distribution).

    Examples
    --------
    >>> round(chance_to_match(np.arange(20.0), -1.0, 20), 3), chance_to_match(np.arange(20.0), 19.0, 1)
    (0.5, 1.0)
    """
    n, k = len(values), int(np.sum(np.asarray(values) <= best))
    if k == n:
        return 1.0
    return float(-np.expm1(betaln(k + 1, n - k + number) - betaln(k + 1, n - k)))


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
