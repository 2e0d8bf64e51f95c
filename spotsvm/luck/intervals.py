"""Variances of a mean over resamples that share rows, and the resulting intervals, within the range of the score."""

from __future__ import annotations

from math import exp, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from scipy.stats import t as student

from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]
Interval = tuple[float, float]
NO_INTERVAL: Interval = (float("nan"), float("nan"))
#: numbers that differ by less than this share of their size differ by rounding errors
ROUNDING = 1e-12
_SHARES = (
    "accuracy", "average_precision", "balanced_accuracy", "completeness", "fowlkes_mallows", "homogeneity", "mean_class_accuracy",
    "normalized_mutual_info", "rand", "top_k_accuracy", "v_measure",
)  # fmt: skip
#: names of metrics from 0 to 1, alone or with an ending such as _macro
_SHARE_FAMILIES = ("f1", "jaccard", "precision", "recall", "roc_auc")
_AT_MOST_ONE = ("adjusted_mutual_info", "d2_absolute_error", "d2_brier", "d2_log_loss", "explained_variance", "r2", "score")
#: other metrics with two ends, and the value of any objective
_RANGES: dict[str, tuple[float | None, float | None]] = {
    "matthews_corrcoef": (-1.0, 1.0),
    "adjusted_rand": (-0.5, 1.0),
    "neg_brier": (-2.0, 0.0),
    "neg_value": (None, None),
}
#: metrics in units of the spread of the target, which cannot be told if a few rows have too little of it
_OF_SPREAD = ("r2", "explained_variance", "d2_absolute_error")
#: the largest standard error, in that unit, at which such a metric says anything
_LARGEST_ERROR = 1.0


def corrected_factor(n_resamples: int, ratio: float) -> float:
    """Return the factor from the variance of J resamples to that of their mean, 1/J + n_test/n_train (Nadeau and Bengio 2003)."""
    return 1.0 / n_resamples + ratio


def corrected_variance(values: ArrayLike, ratio: float) -> float:
    """Return the variance of a mean of resamples that share rows, with `corrected_factor`; nan for fewer than two."""
    values = np.asarray(values, dtype=np.float64)
    return corrected_factor(len(values), ratio) * float(values.var(ddof=1)) if len(values) > 1 else float("nan")


def t_interval(mean: float, variance: float, degrees: float, confidence: float) -> Interval:
    """Return the t interval of a mean from the variance of the mean; no interval if the variance is 0 or nan.

    A variance of 0 means that all resamples agree; their spread then does not show their common error.
    """
    if degrees < 1 or not (np.isfinite(variance) and variance > 0):
        return NO_INTERVAL
    half = float(student.ppf(0.5 + confidence / 2, degrees)) * float(np.sqrt(variance))
    return mean - half, mean + half


def nadeau_bengio(values: ArrayLike, ratio: float, confidence: float = 0.95) -> Interval:
    """Return the corrected resampled t interval of a mean of resamples (:eq:`nadeau-bengio`; Nadeau, Bengio 2003, 3.1).

    `ratio` is test rows per training row: 1/(k - 1) in k-fold cross-validation (repeated: Bouckaert, Frank 2004), 0 for
    independent values.
    """
    values = np.asarray(values, dtype=np.float64)
    return t_interval(float(values.mean()), corrected_variance(values, ratio), len(values) - 1, confidence)


def jackknife_variance(without: ArrayLike, outer: ArrayLike) -> float:
    """Return the variance of nested resampling's mean optimism, leaving out one outer fold at a time (:eq:`jackknife`).

    Easy rows raise the outer score of their fold and the tuned scores of the others, which cancels in the mean alone (Efron,
    Stein 1981). without[k, b] is the tuned score of fold k without the rows of b, or with all rows if k = b.
    """
    without, outer = np.asarray(without, dtype=np.float64), np.asarray(outer, dtype=np.float64)
    folds = len(outer)
    if folds < 3:
        return float("nan")
    left = np.array([np.mean(np.delete(without[:, b] - outer, b)) for b in range(folds)])
    pseudo = folds * np.mean(np.diag(without) - outer) - (folds - 1) * left
    return float(pseudo.var(ddof=1) / folds)


def repeated_variance(variances: ArrayLike, means: ArrayLike) -> float:
    """Return the variance of the mean over repeats of the folds, from each repeat's variance and mean (:eq:`repeated-variance`).

    Repeats average out only the effect of drawing the folds, which is estimated from the spread of the repeats' means.
    """
    variances, means = np.asarray(variances, dtype=np.float64), np.asarray(means, dtype=np.float64)
    if len(means) < 2:
        return float(variances.mean())
    drawn = float(means.var(ddof=1))
    return max(float(variances.mean()) - (1 - 1 / len(means)) * drawn, drawn / len(means))


def check_confidence(confidence: float) -> float:
    """Return a confidence level; raise ArgumentError if it is not between 0 and 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r} is not between 0 and 1; use such as 0.95")
    return float(confidence)


def score_range(metric: str) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value of a score by its name; None if unknown."""
    metric = metric.removesuffix("_score")  # functions of sklearn.metrics end in _score
    if metric in _RANGES:
        return _RANGES[metric]
    if metric in _SHARES or any(metric == base or metric.startswith(f"{base}_") for base in _SHARE_FAMILIES):
        return 0.0, 1.0
    if metric in ("mutual_info", "positive_likelihood_ratio"):
        return 0.0, None
    return None, 0.0 if metric.startswith("neg_") else 1.0 if metric in _AT_MOST_ONE else None


def best_value(metric: str) -> float | None:
    """Return the best value of a score whose interval is on the logarithmic scale of the distance from it, such as 1 of R2."""
    least, most = score_range(metric)
    return None if (least, most) == (0.0, 1.0) else most


def difference_range(metric: str) -> tuple[float | None, float | None]:
    """Return the lowest and the highest difference of two scores by the name of the score; None if unknown."""
    least, most = score_range(metric)
    return (None, None) if least is None or most is None else (least - most, most - least)


def bounded_difference(interval: Interval, value: float, metric: str) -> Interval:
    """Return the interval of a difference, cut to the possible differences of the score if these are known."""
    (low, high), (least, most) = interval, difference_range(metric)
    if least is None or most is None or not least <= value <= most:
        return interval
    return max(low, least), min(high, most)


def is_too_uncertain(metric: str, value: float, error: float) -> bool:
    """Return whether the rows are too few to tell a score in units of the target's spread, such as R2.

    Some draws of few rows have hardly any spread, and the score is minus any number.
    """
    return metric.removesuffix("_score") in _OF_SPREAD and (error > _LARGEST_ERROR or (not isfinite(error) and value < -1.0))


def bounded(interval: Interval, scores: ArrayLike, metric: str) -> Interval:
    """Return the interval of a score, cut to the range of the metric if this range is known.

    If some of the `scores` behind the interval are outside the range, the metric's name has another meaning, and nothing is cut.
    """
    values = np.asarray(scores, dtype=np.float64)
    least, most = score_range(metric)
    least, most = -np.inf if least is None else least, np.inf if most is None else most
    anything = metric == "score" and values.min() < 0  # any score can have this name; one below 0 is rarely a share or an R2
    if anything or values.min() < least or values.max() > most:
        return interval
    return float(np.clip(interval[0], least, most)), float(np.clip(interval[1], least, most))


def score_interval(score: float, variance: float, units: float, degrees: float, confidence: float, metric: str) -> Interval:
    """Return the interval of a score with this variance, within the range of the metric (:eq:`score-interval`).

    A score from 0 to 1 has Wilson's (1927), with the number of rows that gives this variance, or `units` at 0 and 1. For errors
    and scores with an upper limit, the distance from the best is on a log scale.
    """
    if degrees < 1 or not (isfinite(score) and isfinite(variance)):
        return NO_INTERVAL
    return bounded(_unbounded(score, variance, units, degrees, confidence, metric), [score], metric)


def _unbounded(score: float, variance: float, units: float, degrees: float, confidence: float, metric: str) -> Interval:
    z = float(student.ppf(0.5 + confidence / 2, degrees) if isfinite(degrees) else norm.ppf(0.5 + confidence / 2))
    least, most = score_range(metric)
    if least == 0.0 and most == 1.0 and 0.0 <= score <= 1.0:
        rows = score * (1.0 - score) / variance if variance > 0 and 0 < score < 1 else units
        return _wilson(score, max(rows, 1.0), z)
    if not variance > 0:
        return NO_INTERVAL
    if most is not None and score < most:
        distance = most - score
        ratio = exp(min(z * sqrt(variance) / distance, 700.0))
        return most - distance * ratio, most - distance / ratio
    return score - z * sqrt(variance), score + z * sqrt(variance)


def _wilson(share: float, rows: float, z: float) -> Interval:
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    # the ends of these two are exact but for rounding
    return 0.0 if share == 0.0 else max(middle - half, 0.0), 1.0 if share == 1.0 else min(middle + half, 1.0)


def side_of_zero(interval: Interval) -> int:
    """Return 1 if the interval of a difference is above 0, -1 if it is below 0, and 0 if it contains 0 or is unknown."""
    low, high = interval
    return 1 if low > 0 else -1 if high < 0 else 0
