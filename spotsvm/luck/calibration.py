"""Calibration by out-of-fold decisions: probabilities, conformal sets of classes, and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

Array = NDArray[Any]

_MOST_STEPS, _MOST_HALVINGS, _ENOUGH = 30, 15, 1e-5
#: from this number of classes on, two steps from a similar calibration are enough: a step is slow, and the score is the same
_MANY_CLASSES, _FEW_STEPS = 20, 2
_BLOCK = 2**16  # decisions that are fitted together: what stays in the processor's cache
_RIDGE = 0.05  # penalty of the offsets, as their sum is not determined
_FLAT = 1e-9  # added to the curvature along the slope


@dataclass(frozen=True)
class Calibration:
    """Log probabilities a d_c + b_c up to a common constant, of decisions d for each class c (:eq:`calibration`).

    Platt's sigmoid for two classes. Several share the slope a >= 0, (b,) (single sigmoids: log loss 0.42 instead of 0.28 on
    pendigits with 250 rows); 0 where decisions are worse than chance. Offsets are (b, k), k >= 2.
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
    """Fit a calibration by Newton's method, for each of b sets of decisions (b, n, k) and weights; :eq:`platt-target`.

    Platt's targets add a row to each class; several classes, which share a slope, one in total. `weights` have a mean of about 1,
    times the class's factor. `own_threshold`: offsets are 0, so the decisions' class is the most probable.
    """
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
    most = _MOST_STEPS if start is None or k < _MANY_CLASSES else _FEW_STEPS
    size = max(_BLOCK // d[0].size, 1)
    for first in range(0, len(d), size):
        block = slice(first, first + size)
        scaled = d[block] / spread[block, None, None]
        if k == 2:
            sigmoid = _Sigmoid(scaled[:, :, 1] - scaled[:, :, 0], y, w[block], sure[block])
            found = _minimum(sigmoid, np.stack([theta[block, 0], theta[block, 2] - theta[block, 1]], axis=1), most)
            theta[block] = found @ [[1.0, 0.0, 0.0], [0.0, -0.5, 0.5]]
        else:
            by_class = np.ascontiguousarray(scaled.transpose(0, 2, 1))
            theta[block] = _minimum(_Softmax(by_class, y, w[block], sure[block]), theta[block], most)
    a, b = theta[:, 0], theta[:, 1:]
    turned = a <= 0.0
    offset = np.zeros_like(b) if own_threshold else np.where(turned[:, None], prior, b)
    return Calibration(np.where(turned, 0.0, a / spread), offset)


def _minimum(problem: _Sigmoid | _Softmax, theta: Array, most: int) -> Array:
    """Return where Newton's method ends from `theta` in `most` steps, for each set of decisions."""
    now, values = problem.loss(theta)
    open_ = np.ones((len(theta), 1), dtype=bool)
    for _ in range(most):
        step = problem.newton_step(theta, values) * open_
        for _ in range(_MOST_HALVINGS):
            after, values = problem.loss(theta - step)
            worse = ~(after <= now)
            if not worse.any():
                break
            step[worse] *= 0.5
        better = (after < now)[:, None]
        theta = np.where(better, theta - step, theta)
        open_ &= better & (now - after > _ENOUGH * np.abs(now))[:, None]
        if not open_.any():
            break
        now = after
    return theta


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("bn,bn->b", a, b))


class _Sigmoid:
    """The cross entropy of the sigmoid of a d + c to smoothed targets, where c is the second class's offset less the first's."""

    def __init__(self, d: Array, y: Array, w: Array, sure: Array):
        self._d, self._w = d, w
        target = w * np.where(y == 1, sure[:, 1:], 1.0 - sure[:, :1])
        # the cross entropy is the sum of log(1 + exp) less this times theta
        self._linear = np.stack([_dot(target, d), target.sum(axis=1)], axis=1)

    def loss(self, theta: Array) -> tuple[Array, Array]:
        """Return the loss, and the probabilities of the second class."""
        f = theta[:, :1] * self._d + theta[:, 1:]
        e = np.exp(-np.abs(f))
        mass = 1.0 + e
        p = np.where(f > 0.0, 1.0, e) / mass
        entropy = _dot(self._w, np.log(mass) + np.maximum(f, 0.0))
        return entropy - (self._linear * theta).sum(axis=1) + 0.25 * _RIDGE * theta[:, 1] ** 2, p

    def newton_step(self, theta: Array, p: Array) -> Array:
        """Return the inverse Hessian times the gradient."""
        weighted = self._w * p
        g = _dot(weighted, self._d) - self._linear[:, 0]
        h = weighted.sum(axis=1) - self._linear[:, 1] + 0.5 * _RIDGE * theta[:, 1]
        weighted *= 1.0 - p
        by_d = weighted * self._d
        dd, dc, cc = _dot(by_d, self._d) + _FLAT, by_d.sum(axis=1), weighted.sum(axis=1) + 0.5 * _RIDGE
        step: Array = np.stack([cc * g - dc * h, dd * h - dc * g], axis=1) / (dd * cc - dc * dc)[:, None]
        return step


class _Softmax:
    """The cross entropy of softmax(a d_c + b_c) to smoothed targets; d has the shape (b, k, n)."""

    def __init__(self, d: Array, y: Array, w: Array, sure: Array):
        self._d, self._w = d, w
        k = d.shape[1]
        own = sure[:, None, y]
        target = np.where(np.arange(k)[:, None] == y, own, (1.0 - own) / (k - 1)) * w[:, None]
        # the cross entropy is the sum of log sum exp less this times theta
        self._linear = np.concatenate([np.einsum("bkn,bkn->b", target, d)[:, None], target.sum(axis=2)], axis=1)

    def loss(self, theta: Array) -> tuple[Array, Array]:
        """Return the loss, and the probabilities."""
        p = theta[:, :1, None] * self._d
        p += theta[:, 1:, None]
        top = p.max(axis=1, keepdims=True)
        p -= top
        np.exp(p, out=p)
        mass = p.sum(axis=1, keepdims=True)
        p /= mass
        penalty = 0.5 * _RIDGE * _dot(theta[:, 1:], theta[:, 1:])
        return _dot(self._w, (np.log(mass) + top)[:, 0]) - _dot(self._linear, theta) + penalty, p

    def newton_step(self, theta: Array, p: Array) -> Array:
        """Return the inverse Hessian times the gradient."""
        d, w = self._d, self._w
        b, k, _ = d.shape
        weighted = p * w[:, None]
        mean = np.einsum("bkn,bkn->bn", p, d)
        of_class = weighted.sum(axis=2)
        hessian = np.empty((b, k + 1, k + 1))
        hessian[:, 1:, 1:] = weighted @ -p.transpose(0, 2, 1)
        hessian[:, 0, 1:] = (weighted @ -mean[:, :, None])[:, :, 0]
        weighted *= d
        by_class = weighted.sum(axis=2)
        hessian[:, 0, 1:] += by_class
        hessian[:, 1:, 0] = hessian[:, 0, 1:]
        hessian[:, 0, 0] = np.einsum("bkn,bkn->b", weighted, d) - np.einsum("bn,bn,bn->b", w, mean, mean) + _FLAT
        np.einsum("bcc->bc", hessian)[:, 1:] += of_class + _RIDGE
        gradient = np.concatenate([by_class.sum(axis=1, keepdims=True), of_class + _RIDGE * theta[:, 1:]], axis=1) - self._linear
        step: Array = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        return step


def conformal_limit(scores: Array, weights: Array, coverage: float) -> float:
    """Return a limit that a new row's score exceeds with probability 1 - coverage or less (:eq:`conformal-limit`).

    Infinite with too few scores, which are nonconformities by out-of-fold decisions; the mean weight is 1.
    """
    if not len(scores):
        return np.inf
    order = np.argsort(scores)
    share = np.cumsum(weights[order]) / (weights.sum() + weights.mean())  # the new row counts as one more
    place = int(np.searchsorted(share, coverage - 1e-9))
    return float(scores[order][place]) if place < len(scores) else np.inf
