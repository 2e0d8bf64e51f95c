"""Calibration by out-of-fold decisions: probabilities, conformal sets of classes, and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

Array = NDArray[Any]

_MOST_STEPS, _ENOUGH = 30, 1e-5
_RIDGE = 0.05  # penalty of the offsets, as their sum is not determined


@dataclass(frozen=True)
class Calibration:
    """Log probabilities a d_c + b_c up to a common constant, of decisions d for each class c.

    For two classes this is Platt's sigmoid. Several classes share one slope: normalised sigmoids of the single classes are worse
    (log loss 0.42 instead of 0.28 on pendigits with 250 rows, and worse on all of four sets).

    Attributes
    ----------
    slope : ndarray of shape (b,)
        The slope a, 0 or more: for decisions worse than chance it is 0, and the probabilities are the shares of the classes.
    offset : ndarray of shape (b, k)
        The offsets b_c; for two classes k is 2.

    Notes
    -----
    Equation :eq:`calibration` of the chapter :doc:`/method/index`.
    """

    slope: Array
    offset: Array

    def __call__(self, decisions: Array) -> Array:
        """Return the log odds of the second of two classes, (b, n, 1), or log probabilities of several, (b, n, k)."""
        if decisions.shape[-1] == 1:
            odds = (self.offset[:, 1] - self.offset[:, 0])[:, None, None]
            return np.asarray(decisions * self.slope[:, None, None] + odds)
        return np.asarray(log_softmax(decisions * self.slope[:, None, None] + self.offset[:, None, :], axis=-1))


def calibrate(
    decisions: Array, y: Array, weights: Array, start: Calibration | None = None, *, own_threshold: bool = False
) -> Calibration:
    """Fit a calibration by Newton's method, for each of b sets of decisions and weights.

    The targets are Platt's: they add a row to each class, so that separable decisions do not give certainty. Several classes
    share a slope, so only one row in total is added for them: a row for each class would make the probabilities far too flat.

    Parameters
    ----------
    decisions : ndarray of shape (b, n, k)
        Decisions; k is 1 for two classes, positive for the second.
    y : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (b, n)
        Weights of rows, with a mean of about 1, times the factor of their class: weights of classes move the threshold of the
        decisions, so they must move that of the probabilities.
    start : Calibration, optional
        A similar calibration, as starting point.
    own_threshold : bool
        Whether the most probable class is that of the decisions themselves: the offsets are 0.

    Returns
    -------
    Calibration
        The fitted calibration.

    Notes
    -----
    Equation :eq:`platt-target` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> decisions, y = (
    ...     np.array([[[-1.0], [-1.0], [1.0], [1.0]]]),
    ...     np.array([0, 1, 0, 1]),
    ... )
    >>> calibrate(decisions, y, np.ones((1, 4)))(decisions).ravel().round(6)
    array([0., 0., 0., 0.])
    """
    from spotsvm.luck._calibration_kernels import fit_softmax  # on use, as it loads numba

    d = np.asarray(decisions, dtype=np.float64)
    d = np.concatenate([-0.5 * d, 0.5 * d], axis=-1) if d.shape[-1] == 1 else d - d.mean(axis=-1, keepdims=True)
    k = d.shape[-1]
    w = np.asarray(weights, dtype=np.float64)
    counts = w @ np.eye(k)[y]
    spread = np.sqrt(np.einsum("bn,bnk,bnk->b", w, d, d) / np.maximum(w.sum(axis=1), 1e-300)) + 1e-300
    prior = np.log(counts + 1.0)
    prior -= prior.mean(axis=1, keepdims=True)
    theta = np.empty((len(d), k + 1))
    theta[:, 0] = 0.0 if start is None else start.slope * spread
    theta[:, 1:] = prior if start is None else start.offset
    evidence = counts if k == 2 else np.repeat(counts.sum(axis=1, keepdims=True), k, axis=1)
    sure = (evidence + 1.0) / (evidence + 2.0)
    fit_softmax(d / spread[:, None, None], y, w, sure, _RIDGE, theta, _MOST_STEPS, _ENOUGH)
    a, b = theta[:, 0], theta[:, 1:]
    turned = a <= 0.0
    offset = np.zeros_like(b) if own_threshold else np.where(turned[:, None], prior, b)
    return Calibration(np.where(turned, 0.0, a / spread), offset)


def conformal_limit(scores: Array, weights: Array, coverage: float) -> float:
    """Return a limit that a new row's score exceeds with probability 1 - coverage or less; infinite with too few scores.

    Parameters
    ----------
    scores, weights : ndarray of shape (n,)
        Nonconformity score of each row by its out-of-fold decision, and its weight; the mean weight is 1.
    coverage : float
        Coverage, between 0 and 1.

    Notes
    -----
    Equation :eq:`conformal-limit` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> (
    ...     conformal_limit(np.arange(1.0, 100.0), np.ones(99), 0.9),
    ...     conformal_limit(np.arange(5.0), np.ones(5), 0.9),
    ... )
    (90.0, inf)
    """
    if not len(scores):
        return np.inf
    order = np.argsort(scores)
    share = np.cumsum(weights[order]) / (weights.sum() + weights.mean())  # the new row counts as one more
    place = int(np.searchsorted(share, coverage - 1e-9))
    return float(scores[order][place]) if place < len(scores) else np.inf
