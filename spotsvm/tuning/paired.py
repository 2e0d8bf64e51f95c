"""Two machines on the same held-out rows: the difference of their scores, paired by row, with its standard error."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import get_tags

from spotsvm.trials.scores.intervals import NO_INTERVAL, Interval, t_interval
from spotsvm.tuning.results import RememberedPredictions, resampled_rows, score_or_nan

CONFIDENCE = 0.95
_STREAM = 1


def held_out_difference(
    scorer: Any,
    default: Any,
    tuned: Any,
    X: Any,
    y: Any,
    seed: int,
    *,
    shares: bool = False,
    block: int = 1,
    groups: Any = None,
    resamples: int = 200,
) -> tuple[float, float, Interval]:
    """Return by how much the tuned machine is better on held-out rows, with standard error and interval; nan if there is none.

    Where the score is the share of rows that are right (`shares`), these come from the rows on which one of the two alone is
    right: `share_interval`. Otherwise, and where rows depend on each other, rows are drawn again together for both machines:
    whole groups, or `block` neighbours of a series, at once.
    """
    remembered = [RememberedPredictions(one, X) for one in (default, tuned)]
    n = len(y)
    scores = [score_or_nan(scorer, one, np.arange(n), y) for one in remembered]
    difference = scores[1] - scores[0]
    if not np.isfinite(difference):
        return float("nan"), float("nan"), NO_INTERVAL
    if shares and block == 1 and groups is None:
        right = [np.asarray(one.predict(np.arange(n)) == np.asarray(y)) for one in remembered]
        return difference, *share_interval(int((right[1] & ~right[0]).sum()), int((right[0] & ~right[1]).sum()), n)
    rng = np.random.default_rng([seed, _STREAM])
    classify = get_tags(default).estimator_type == "classifier"
    units = n / block if groups is None else len(np.unique(groups))
    again = []
    for _ in range(resamples if units > 1 else 0):
        rows = resampled_rows(rng, n, block, groups)
        if not classify or y.iloc[rows].nunique() > 1:
            first, second = (score_or_nan(scorer, one, rows, y.iloc[rows]) for one in remembered)
            again.append(second - first)
    known = np.array(again)[np.isfinite(again)]
    if len(known) < resamples / 2:
        return difference, float("nan"), NO_INTERVAL
    variance = float(known.var(ddof=1)) * units / (units - 1)
    return difference, float(np.sqrt(variance)), t_interval(difference, variance, units - 1, CONFIDENCE)


def share_interval(gained: int, lost: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """Return standard error and interval of the difference of two shares of the same n rows.

    `gained` rows are right by the second machine alone, `lost` ones by the first alone. The interval adds a row to each of both,
    so that it has a length even where they are 0.

    References
    ----------
    Bonett, Price 2012, "Adjusted Wald confidence interval for a difference of binomial proportions based on paired data".

    Examples
    --------
    >>> error, (low, high) = share_interval(6, 2, 50)
    >>> round(error, 3), round(low, 3), round(high, 3)
    (0.06, -0.04, 0.194)
    """
    more, less = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    error = float(np.sqrt((more + less - (more - less) ** 2) / (n + 2)))
    half = float(norm.ppf(0.5 + confidence / 2)) * error
    return error, (max(more - less - half, -1.0), min(more - less + half, 1.0))
