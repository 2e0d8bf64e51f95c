"""The least and the most that a score can be, so that no interval goes beyond."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spotsvm.optimism.intervals import Interval

_SHARES = ("accuracy", "balanced_accuracy", "average_precision", "mean_class_accuracy")
_SHARE_FAMILIES = ("f1", "jaccard", "precision", "recall", "roc_auc")


def score_range(metric: str) -> tuple[float | None, float | None]:
    """Give the least and the most of a scorer's score by its name; None where that is not known.

    Examples
    --------
    >>> score_range("accuracy"), score_range("neg_log_loss"), score_range("r2_score"), score_range("max_error")
    ((0.0, 1.0), (None, 0.0), (None, 1.0), (None, None))
    """
    from spotsvm.shared_scores import highest_score  # on use: it imports the solvers

    metric = metric.removesuffix("_score")  # as the functions of sklearn.metrics are called
    share = metric in _SHARES or any(metric == base or metric.startswith(f"{base}_") for base in _SHARE_FAMILIES)
    return (0.0, 1.0) if share else (None, highest_score(metric))


def bounded(interval: Interval, scores: ArrayLike, metric: str) -> Interval:
    """Give an interval of a score that ends at the least and the most there can be, where these are known.

    Parameters
    ----------
    interval : tuple of float
        The interval.
    scores : array-like
        What it was made of; where they are out of the metric's range, that name has another meaning here, and nothing is cut.
    metric : str
        Name of the score.
    """
    values = np.asarray(scores, dtype=np.float64)
    least, most = score_range(metric)
    least, most = -np.inf if least is None else least, np.inf if most is None else most
    anything = metric == "score" and values.min() < 0  # by this name goes any score; below 0 it is rarely a share or an R2
    if anything or values.min() < least or values.max() > most:
        return interval
    return float(np.clip(interval[0], least, most)), float(np.clip(interval[1], least, most))
