"""What scikit-learn's metrics compute, for many settings and many weights of rows at once.

Answers of settings have the shape (..., n), or (..., n, k) with a column for each class, and weights of rows (..., n); the axes
before the rows are broadcast. A row of weight 0 is no row, so a class without weight is absent. A score is nan where scikit-learn
gives nan or an error. With `strict` it is nan as well where scikit-learn warns and goes on, for example with 0 for 0/0. Without
`strict`, R^2 is nan as well if the target does not vary.

The influence of a row is its contribution to a score: its weighted mean over rows is the score, and changes with the weights as
the score does, to first order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def weighted_mean(values: Array, weights: Array) -> Array:
    """Return weighted means over the last axis; nan if all weights are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Array = (values * weights).sum(axis=-1) / weights.sum(axis=-1)
    return mean


def _ratio(top: Array, below: Array, otherwise: float = 0.0) -> Array:
    return np.asarray(np.divide(top, below, out=np.full(np.broadcast(top, below).shape, otherwise), where=below > 0))


# predicted classes


def hits(labels: Array, y: Array) -> Array:
    """Return 1 for each predicted class code that is right, and 0 for each other."""
    return np.asarray(labels == y, dtype=np.float32)


def _sums_by_class(labels: Array, y: Array, weights: Array, codes: Sequence[int] | None) -> tuple[Array, ...]:
    """Return for each class the weight of its rows that are predicted right, of all of them, and of those predicted to be of it.

    They are those of some classes, or of all; the code -1 stands for a class without rows, which is added as the last.
    """
    k = 2 + max(int(labels.max()), int(y.max()), *(codes or ()))
    pairs = y * k + labels
    lead = np.broadcast(pairs, weights).shape[:-1]
    size = math.prod(lead)
    if lead:
        pairs, weights = np.broadcast_to(pairs, (*lead, len(y))), np.broadcast_to(weights, (*lead, len(y)))
        pairs = pairs.reshape(size, len(y)) + k * k * np.arange(size)[:, None]
    confusion = np.bincount(pairs.ravel(), np.ravel(weights), size * k * k).reshape(*lead, k, k)
    sums = confusion.diagonal(axis1=-2, axis2=-1), confusion.sum(axis=-1), confusion.sum(axis=-2)
    return sums if codes is None else tuple(one[..., list(codes)] for one in sums)


@dataclass(frozen=True)
class LabelRatio:
    """A ratio of sums over rows for each class, averaged over classes: F-beta, precision, recall or the Jaccard index.

    "balanced" is macro over the classes of rows alone. `codes` are the classes that count (-1 is in no row), all by default, or
    the positive class if "binary". `otherwise` is the value of 0/0; `warns` says whether scikit-learn warns of it.
    """

    part: Literal["f", "precision", "recall", "jaccard"]
    average: Literal["binary", "macro", "micro", "weighted", "balanced"] = "macro"
    codes: Sequence[int] | None = None
    beta: float = 1.0
    otherwise: float = 0.0
    warns: bool = True

    def _fraction(self, hit: Array, true: Array, predicted: Array) -> tuple[Array, Array]:
        """Return numerator and denominator for the rows of a class that are predicted right, all of them, and those predicted."""
        if self.part == "f":
            return (1.0 + self.beta**2) * hit, self.beta**2 * true + predicted
        return hit, {"precision": predicted, "recall": true, "jaccard": true + predicted - hit}[self.part]

    def _counts(self, share: Array, predicted: Array) -> Array:
        """Return which classes count, from their weights in the rows and in the predictions."""
        if self.average == "balanced":
            return share > 0
        return (share + predicted > 0) | (self.codes is not None) | (self.average == "micro")

    def score(self, labels: Array, y: Array, weights: Array, strict: bool = False) -> Array:
        """Return the score of predicted class codes."""
        hit, true, predicted = _sums_by_class(labels, y, weights, self.codes)
        if self.average == "micro":
            hit, true, predicted = (one.sum(axis=-1, keepdims=True) for one in (hit, true, predicted))
        top, below = self._fraction(hit, true, predicted)
        counts = self._counts(true, predicted)
        shares = 1.0 * counts
        if self.average == "weighted":  # without any row of these classes all ratios are the same
            shares = np.where(true.sum(axis=-1, keepdims=True) > 0, true, 1.0)
        undefined = ~(np.sum(weights, axis=-1) > 0)
        if strict and self.warns and self.average == "balanced":  # a class of predictions alone, or a single class, is told
            undefined = undefined | (~counts & (predicted > 0)).any(axis=-1) | (counts.sum(axis=-1) == 1)
        elif strict and self.warns:
            undefined = undefined | (counts & (below == 0)).any(axis=-1)
        return np.where(undefined, np.nan, weighted_mean(_ratio(top, below, self.otherwise), shares))

    def influence(self, labels: Array, y: Array, weights: Array) -> Array:
        """Return the influence of each row, (m, n), on the scores of predicted class codes."""
        classes = range(1 + max(int(labels.max()), int(y.max()))) if self.codes is None else self.codes
        rows = [(1.0 * ((labels == c) & (y == c)), 1.0 * (y == c), 1.0 * (labels == c)) for c in classes]
        if self.average == "micro":
            rows = [tuple(sum(one[k] for one in rows) for k in range(3))]
        total: Any = 0.0
        shares: Any = 0.0
        for hit, true, predicted in rows:
            top, below = self._fraction(hit, true, predicted)
            size = weighted_mean(below, weights)[..., None]
            ratio = _ratio(weighted_mean(top, weights)[..., None], size, self.otherwise)
            of_class = ratio + _ratio(top - ratio * below, np.broadcast_to(size, top.shape))
            share = weighted_mean(true, weights)[..., None]
            if self.average == "weighted":
                total, shares = total + share * of_class + ratio * (true - share), shares + true
            else:
                counts = self._counts(share, weighted_mean(predicted, weights)[..., None])
                total, shares = total + np.where(counts, of_class, 0.0), shares + counts
        if self.average != "weighted":
            return np.asarray(total / shares)
        share = weighted_mean(shares, weights)[..., None]
        score = _ratio(weighted_mean(total, weights)[..., None], share)
        return np.asarray(score + _ratio(total - score * shares, np.broadcast_to(share, total.shape)))


# rankings


class _Steps:
    """Rows in the order of their answers, where equal answers are one step."""

    def __init__(self, answers: Array):
        self._order = np.argsort(answers, axis=-1)
        values = _taken(answers, self._order)
        begins = np.ones(values.shape, dtype=bool)
        np.not_equal(values[..., 1:], values[..., :-1], out=begins[..., 1:])
        n = values.shape[-1]
        place = np.arange(n)
        self._first = np.maximum.accumulate(place * begins, axis=-1)
        ends = np.where(np.concatenate([begins[..., 1:], begins[..., :1]], axis=-1), place, n)
        self._end = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1] + 1

    def ordered(self, rows: Array) -> Array:
        """Return values of rows in the order."""
        return _taken(rows, self._order)

    def sums(self, ordered: Array) -> tuple[Array, Array]:
        """Return for each row in order the sums of values over all steps before its own, and up to its own."""
        sums = np.zeros((*ordered.shape[:-1], ordered.shape[-1] + 1))
        np.cumsum(ordered, axis=-1, out=sums[..., 1:])
        return _taken(sums, self._first), _taken(sums, self._end)

    def back(self, ordered: Array) -> Array:
        """Return values in order as values of the rows."""
        rows = np.empty_like(ordered)
        np.put_along_axis(rows, self._order, ordered, axis=-1)
        return rows


def _taken(rows: Array, places: Array) -> Array:
    """Return values at places along the last axis; the axes before it are broadcast."""
    if places.ndim == 1:
        return rows[..., places]
    lead = np.broadcast_shapes(rows.shape[:-1], places.shape[:-1])
    rows, places = np.broadcast_to(rows, (*lead, rows.shape[-1])), np.broadcast_to(places, (*lead, places.shape[-1]))
    return np.take_along_axis(rows, places, axis=-1)


def _where_finite(answers: Array, values: Array) -> Array:
    return np.where(np.isfinite(answers).all(axis=-1), values, np.nan)


def roc_area(answers: Array, positive: Array, weights: Array, strict: bool = False) -> Array:
    """Return the area under the ROC curve; nan without a positive or a negative row, which scikit-learn warns of."""
    steps = _Steps(answers)
    up, down = steps.ordered(weights * positive), steps.ordered(weights * ~positive)
    before, up_to = steps.sums(down)
    with np.errstate(invalid="ignore", divide="ignore"):
        area = (up * (before + up_to)).sum(axis=-1) / (2.0 * up.sum(axis=-1) * down.sum(axis=-1))
    return _where_finite(answers, area)


def roc_influence(answers: Array, positive: Array, weights: Array) -> Array:
    """Return the influence of each row, (m, n), on the area under the ROC curve."""
    steps = _Steps(answers)
    up, down = steps.ordered(weights * positive), steps.ordered(weights * ~positive)
    p, n = up.sum(axis=-1, keepdims=True), down.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        below, above = (np.add(*steps.sums(one)) / (2.0 * size) for one, size in ((down, n), (up, p)))
        area = (up * below).sum(axis=-1, keepdims=True) / p
        is_up = steps.ordered(np.broadcast_to(positive, answers.shape))
        ranked = np.where(is_up, below, 1.0 - above)
        found = area + (ranked - area) * (p + n) / np.where(is_up, p, n)
    return steps.back(found)


def average_precision(answers: Array, positive: Array, weights: Array, strict: bool = False) -> Array:
    """Return the average precision; 0 without a positive row."""
    steps = _Steps(-answers)
    up, every = (
        steps.ordered(weights * positive),
        steps.ordered(np.broadcast_to(weights, np.broadcast_shapes(weights.shape, positive.shape))),
    )
    precision = _ratio(steps.sums(up)[1], steps.sums(every)[1])
    p = up.sum(axis=-1)
    found = _ratio((up * precision).sum(axis=-1), p, np.nan if strict else 0.0)
    return _where_finite(answers, np.where(every.sum(axis=-1) > 0, found, np.nan))


def precision_influence(answers: Array, positive: Array, weights: Array) -> Array:
    """Return the influence of each row, (m, n), on the average precision."""
    steps = _Steps(-answers)
    is_up = steps.ordered(np.broadcast_to(positive, answers.shape))
    every = steps.ordered(np.broadcast_to(weights, answers.shape))
    up = every * is_up
    size = steps.sums(every)[1]
    precision = _ratio(steps.sums(up)[1], size)
    p = up.sum(axis=-1, keepdims=True)
    found = _ratio((up * precision).sum(axis=-1, keepdims=True), p)
    # a row changes the precision at its own step and at all later ones
    later = [part.sum(axis=-1, keepdims=True) - steps.sums(part)[0] for part in (_ratio(up, size), _ratio(up * precision, size))]
    change = is_up * (precision - found + later[0]) - later[1]
    return steps.back(found + change * _ratio(every.sum(axis=-1, keepdims=True), p))


Average = Literal["macro", "weighted", "micro"]


def over_classes(binary: Any, average: Average, answers: Array, y: Array, weights: Array) -> Array:
    """Return the average over classes of the score of each class against the others; nan if a class is absent."""
    k = answers.shape[-1]
    member = y[:, None] == np.arange(k)
    shares = np.asarray(weights, dtype=np.float64) @ member
    if average == "micro":
        found = binary(answers.reshape(*answers.shape[:-2], -1), member.ravel(), np.repeat(weights, k, axis=-1))
    else:
        each = np.stack([binary(answers[..., c], member[:, c], weights) for c in range(k)], axis=-1)
        found = weighted_mean(each, shares if average == "weighted" else np.ones(k))
    return np.where((shares > 0).all(axis=-1), found, np.nan)


def influence_over_classes(binary: Any, average: Average, answers: Array, y: Array, weights: Array) -> Array:
    """Return the influence of each row, (m, n), on `over_classes`; `binary` is the influence on the score of a class."""
    m, n, k = answers.shape
    member = y[:, None] == np.arange(k)
    if average == "micro":
        flat = binary(answers.reshape(m, n * k), member.ravel(), np.repeat(weights, k))
        return np.asarray(flat.reshape(m, n, k).mean(axis=-1))
    each = np.stack([binary(answers[..., c], member[:, c], weights) for c in range(k)], axis=-1)
    if average == "macro":
        return np.asarray(each.mean(axis=-1))
    shares = weights @ member / weights.sum()
    scores = weighted_mean(np.moveaxis(each, -1, 1), weights)[:, None]
    return np.asarray((shares * each + scores * (member - shares)).sum(axis=-1))


def over_pairs(average: Average, answers: Array, y: Array, weights: Array) -> Array:
    """Return the mean area under the ROC curve over pairs of classes, each ranked by the answers for both."""
    areas, shares = [], []
    for a, b in combinations(range(answers.shape[-1]), 2):
        of_pair = weights * ((y == a) | (y == b))
        areas.append(0.5 * (roc_area(answers[..., a], y == a, of_pair) + roc_area(answers[..., b], y == b, of_pair)))
        shares.append(of_pair.sum(axis=-1))
    each = np.stack(areas, axis=-1)
    return weighted_mean(each, np.stack(shares, axis=-1) if average == "weighted" else np.ones(each.shape[-1]))


# probabilities


def add_up_to_1(probabilities: Array, tolerance: float = 1e-5) -> Array:
    """Return for each setting whether the probabilities of each row are such."""
    near = (np.abs(probabilities.sum(axis=-1) - 1.0) <= 1e-8 + tolerance).all(axis=-1)
    return np.asarray(near & (probabilities >= 0).all(axis=(-2, -1)))


def _second_of_two(probabilities: Array) -> Array:
    """Return probabilities of two classes with that of the second alone in force, as scikit-learn's scorers pass no other."""
    second = probabilities[..., 1:]
    return np.concatenate([1.0 - second, second], axis=-1) if probabilities.shape[-1] == 2 else probabilities


def log_likelihood(probabilities: Array, y: Array) -> Array:
    """Return the logarithm of the probability of each row's class."""
    eps = np.finfo(probabilities.dtype).eps
    p = np.clip(_second_of_two(probabilities), eps, 1.0 - eps)
    at = np.broadcast_to(y[:, None], (*p.shape[:-1], 1))
    return np.asarray(np.log(np.take_along_axis(p, at, axis=-1)[..., 0]))


def squared_distance(probabilities: Array, y: Array) -> Array:
    """Return the squared distance to each row's class; half of it for two classes."""
    p = _second_of_two(probabilities)
    found = ((p - np.eye(p.shape[-1])[y]) ** 2).sum(axis=-1)
    return np.asarray(0.5 * found if p.shape[-1] == 2 else found)


# numbers


def r2(predicted: Array, y: Array, weights: Array, strict: bool = False) -> Array:
    """Return R^2; nan for fewer than two rows."""
    mean = weighted_mean(y, weights)[..., None]
    left, spread = (weights * (y - predicted) ** 2).sum(axis=-1), (weights * (y - mean) ** 2).sum(axis=-1)
    found = _explained(left, spread) if strict else _where_varying(y, weights, 1.0 - _ratio(left, spread))
    return np.where((weights > 0).sum(axis=-1) > 1, found, np.nan)


def explained_variance(predicted: Array, y: Array, weights: Array, strict: bool = False) -> Array:
    """Return the share of the variance that predictions explain, whatever their bias."""
    errors, mean = y - predicted, weighted_mean(y, weights)[..., None]
    left = weighted_mean((errors - weighted_mean(errors, weights)[..., None]) ** 2, weights)
    spread = weighted_mean((y - mean) ** 2, weights)
    return _explained(left, spread) if strict else _where_varying(y, weights, 1.0 - _ratio(left, spread))


def _explained(left: Array, spread: Array) -> Array:
    """Return 1 - left / spread; without a spread 1 if nothing is left, and 0 otherwise."""
    return np.where((left == 0) & (spread == 0), 1.0, np.where(np.isfinite(left), 1.0 - _ratio(left, spread, 1.0), np.nan))


def _where_varying(y: Array, weights: Array, values: Array) -> Array:
    varies = np.where(weights > 0, y, -np.inf).max(axis=-1) > np.where(weights > 0, y, np.inf).min(axis=-1)
    return np.where(varies, values, np.nan)


def max_error(predicted: Array, y: Array, weights: Array, strict: bool = False) -> Array:
    """Return the largest absolute error."""
    return np.asarray(np.where(weights > 0, np.abs(y - predicted), -np.inf).max(axis=-1))


def median_error(predicted: Array, y: Array, weights: Array, strict: bool = False) -> Array:
    """Return the weighted median of absolute errors; where just half of the weight ends at a row, its mean with the next."""
    errors = np.abs(y - predicted)
    order = np.argsort(errors, axis=-1)
    errors, up_to = _taken(errors, order), np.cumsum(_taken(np.asarray(weights, dtype=np.float64), order), axis=-1)
    half = 0.5 * up_to[..., -1:]
    rounding = 1e-12 * half
    ends = [(up_to < half - rounding).sum(axis=-1), (up_to <= half + rounding).sum(axis=-1)]
    two = [_taken(errors, np.minimum(end, errors.shape[-1] - 1)[..., None])[..., 0] for end in ends]
    return np.where((half[..., 0] > 0) & np.isfinite(errors).all(axis=-1), 0.5 * (two[0] + two[1]), np.nan)
