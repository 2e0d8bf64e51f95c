"""Acquisition functions: the worth of an evaluation, from the predicted mean and standard deviation at a point.

Every function is pure and works elementwise on arrays. A smaller response is better, and the improvement is max(best - response,
0); with `maximize` a larger response is better.

Notation: z = (best - mean) / sd, phi and Phi the standard normal density and distribution function, and
h(z) = phi(z) + z Phi(z), so that EI = sd h(z).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr, ndtr

Floats = NDArray[np.float64]

_LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)
_ROOT_HALF_PI = np.sqrt(np.pi / 2.0)
# below this z the difference 1 - |z| Phi/phi loses digits, and its asymptotic series is exact enough
_SERIES_BELOW = -30.0


def expected_improvement(mean: ArrayLike, sd: ArrayLike, best: ArrayLike, *, maximize: bool = False) -> Floats:
    """Return the expected improvement over `best` (Koch et al. 2011, eq. 11).

    Parameters
    ----------
    mean, sd : array-like
        Predicted mean and standard deviation, sd >= 0.
    best : array-like
        The response to improve on.
    maximize : bool, default=False
        Whether a larger response is better.

    Returns
    -------
    ndarray
        EI >= 0, in the units of the response; where sd is 0, the improvement of the mean itself. Below about 1e-300 it
        underflows to 0: use `log_expected_improvement` there.

    See Also
    --------
    log_expected_improvement : Its logarithm, which does not underflow.

    Notes
    -----
    Equation :eq:`expected-improvement` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> round(float(expected_improvement(-0.5, 1.0, 0.0)), 6)
    0.697797
    >>> round(float(expected_improvement(-0.5, 1.0, 0.0, maximize=True)), 6)
    0.197797
    """
    gap, sd = _gap(mean, sd, best, maximize)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ei = sd * np.exp(_log_h(gap / sd))
    return np.where(sd > 0, ei, np.maximum(gap, 0.0))


def log_expected_improvement(mean: ArrayLike, sd: ArrayLike, best: ArrayLike, *, maximize: bool = False) -> Floats:
    """Return the logarithm of the expected improvement, finite where EI itself underflows.

    The relative error of EI is below 1e-12 for `|z| <= 1e3`, and that of its logarithm below 1e-12 for all z down to -1e150. If
    sd is 0, the result is the logarithm of the mean's own improvement, -inf if the mean does not improve. See Ament et al. 2023,
    "Unexpected improvements to expected improvement".

    Parameters
    ----------
    mean, sd, best, maximize
        As in `expected_improvement`.

    Returns
    -------
    ndarray
        The values, in the shape of `mean`.

    See Also
    --------
    expected_improvement : The value itself.
    log_expected_improvement_gradient : Its slopes.

    Notes
    -----
    Equation :eq:`log-expected-improvement` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> round(float(log_expected_improvement(40.0, 1.0, 0.0)), 4)
    -808.2986
    """
    gap, sd = _gap(mean, sd, best, maximize)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.log(sd) + _log_h(gap / sd)
        return np.where(sd > 0, value, np.log(np.maximum(gap, 0.0)))


def log_expected_improvement_gradient(
    mean: ArrayLike, sd: ArrayLike, best: ArrayLike, *, maximize: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return log EI and its derivatives by the mean and by the standard deviation; valid for sd > 0.

    Returns
    -------
    value, by_mean, by_sd : ndarray
        d log EI / d mean = -Phi(z) / EI and d log EI / d sd = phi(z) / EI (the first with the other sign if maximising).

    See Also
    --------
    log_expected_improvement : The function that is differentiated.

    Notes
    -----
    Equation :eq:`improvement-gradient` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> value, by_mean, by_sd = log_expected_improvement_gradient(-0.5, 1.0, 0.0)
    >>> round(float(by_mean), 4), round(float(by_sd), 4)
    (-0.9909, 0.5045)
    """
    gap, sd = _gap(mean, sd, best, maximize)
    z = gap / sd
    log_h, log_ratio = _log_h(z), _log_h_over_phi(z)
    # the ratio that keeps its digits: Phi / h above 0, (Phi / phi) / (h / phi) below
    above = np.exp(log_ndtr(np.maximum(z, 0.0)) - np.maximum(log_h, -_LOG_ROOT_2PI))
    below = _ROOT_HALF_PI * erfcx(np.maximum(-z, 0.0) / np.sqrt(2.0)) * np.exp(-log_ratio)
    by_mean = -np.where(z >= 0, above, below) / sd
    by_sd = np.exp(-log_ratio) / sd
    return np.log(sd) + log_h, (-by_mean if maximize else by_mean), by_sd


def probability_of_improvement(mean: ArrayLike, sd: ArrayLike, best: ArrayLike, *, maximize: bool = False) -> Floats:
    """Return the probability of a response better than `best`; in [0, 1], and 0 or 1 where sd is 0.

    Parameters
    ----------
    mean, sd, best, maximize
        As in `expected_improvement`.

    Returns
    -------
    ndarray
        The values, in the shape of `mean`.

    See Also
    --------
    expected_improvement : Takes the size of the improvement into account.

    Examples
    --------
    >>> round(float(probability_of_improvement(0.0, 1.0, -1.0)), 4)
    0.1587
    """
    gap, sd = _gap(mean, sd, best, maximize)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = ndtr(gap / sd)
    return np.where(sd > 0, p, (gap > 0).astype(float))


def lower_confidence_bound(mean: ArrayLike, sd: ArrayLike, kappa: float = 2.0) -> Floats:
    """Return mean - kappa sd, the bound to minimise; valid for sd >= 0 and kappa >= 0 (kappa = 0 is the mean itself).

    Returns
    -------
    ndarray
        The values, in the shape of `mean`.

    Raises
    ------
    ValueError
        If kappa or a standard deviation is negative.

    See Also
    --------
    expected_improvement : The criterion of the default search.

    Examples
    --------
    >>> float(lower_confidence_bound(1.0, 0.5, kappa=2.0))
    0.0
    """
    if kappa < 0:
        raise ValueError(f"kappa={kappa} is negative; use 0 (the mean) or more")
    mean, sd = _checked(mean, sd)
    return mean - kappa * sd


def minimum_of_mean(mean: ArrayLike, sd: ArrayLike) -> Floats:
    """Return the predicted mean, the quantity to minimise for pure exploitation; sd >= 0 is checked and not used.

    Returns
    -------
    ndarray
        The values, in the shape of `mean`.

    See Also
    --------
    lower_confidence_bound : The mean minus kappa standard deviations.

    Examples
    --------
    >>> float(minimum_of_mean(1.0, 0.5))
    1.0
    """
    return _checked(mean, sd)[0]


def _checked(mean: ArrayLike, sd: ArrayLike) -> tuple[Floats, Floats]:
    mean, sd = np.asarray(mean, dtype=float), np.asarray(sd, dtype=float)
    if np.any(sd < 0):
        raise ValueError(f"sd has a negative entry, {float(np.min(sd))}; a standard deviation is 0 or more")
    return mean, sd


def _gap(mean: ArrayLike, sd: ArrayLike, best: ArrayLike, maximize: bool) -> tuple[Floats, Floats]:
    mean, sd = _checked(mean, sd)
    gap = np.asarray(best, dtype=float) - mean
    return (-gap if maximize else gap), sd


def _log_h(z: Floats) -> Floats:
    """Return log h(z)."""
    z = np.asarray(z, dtype=float)
    high = np.maximum(z, -1.0)
    direct = np.log(np.exp(-0.5 * high**2 - _LOG_ROOT_2PI) + high * ndtr(high))
    low = np.minimum(z, -1.0)
    return np.asarray(np.where(z > -1.0, direct, -0.5 * low**2 - _LOG_ROOT_2PI + _log_h_over_phi(low)))


def _log_h_over_phi(z: Floats) -> Floats:
    """Return log(h(z) / phi(z)) = log(1 + z Phi(z) / phi(z)), by three routes for three ranges of z."""
    z = np.asarray(z, dtype=float)
    up = np.maximum(z, 0.0)
    positive = np.log(np.exp(-0.5 * up**2 - _LOG_ROOT_2PI) + up * ndtr(up)) + 0.5 * up**2 + _LOG_ROOT_2PI
    middle = np.clip(z, _SERIES_BELOW, 0.0)
    near = np.log1p(middle * _ROOT_HALF_PI * erfcx(-middle / np.sqrt(2.0)))
    far = np.minimum(z, _SERIES_BELOW)
    t = 1.0 / far / far  # not far ** -2: that would underflow a step earlier
    series = 1.0 - t * (3.0 - t * (15.0 - t * (105.0 - t * (945.0 - t * 10395.0))))
    tail = np.log(series) - 2.0 * np.log(-far)
    return np.where(z >= 0, positive, np.where(z >= _SERIES_BELOW, near, tail))
