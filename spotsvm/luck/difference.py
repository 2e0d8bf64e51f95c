"""Two models on the same unseen rows: the difference of their scores, paired by row, with its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import Any

import numpy as np
from scipy.stats import norm

from spotsvm.luck.bootstrap import mean_score, spread
from spotsvm.luck.estimate import Estimate, How
from spotsvm.luck.intervals import (
    ROUNDING,
    Floats,
    Interval,
    bounded_difference,
    corrected_variance,
    nadeau_bengio,
    t_interval,
)
from spotsvm.luck.rows import Unseen, pooled
from spotsvm.luck.sentences import DECISIONS, Decision, gain_sentence

CONFIDENCE = 0.95
_STREAM = 1


@dataclass(frozen=True)
class Difference(Estimate):
    """The score of a second model less that of a first model on the same rows, with the verdict.

    The attributes are those of every `Estimate`.

    Examples
    --------
    >>> (
    ...     Difference(0.03, (0.01, 0.05)).decision,
    ...     Difference(0.03, (-0.01, 0.07)).decision,
    ... )
    ('helped', 'no difference seen')
    """

    def _possible(self, interval: Interval) -> Interval:
        return bounded_difference(interval, self.value, self.metric)

    @property
    def decision(self) -> Decision:
        """The verdict: the interval is above 0 ("helped"), below 0 ("did not help"), or contains 0 ("no difference seen")."""
        return DECISIONS[self.side]

    def turned(self) -> Difference:
        """Return the difference of the first model less the second.

        Returns
        -------
        Difference
            The difference with the opposite sign.
        """
        low, high = self.interval
        return Difference(-self.value, (-high, -low), self.error, self.confidence, self.metric, self.how, self.too_few)


@dataclass(frozen=True)
class TuningGain(Difference):
    """The score of the tuned model less that of the default, and whether tuning has helped.

    Attributes
    ----------
    value, interval, error, confidence, metric, how
        As in `Estimate`; `value` is the score of the tuned model less that of the default.
    beats_constant : bool
        Whether the tuned model is also better than a constant.

    Examples
    --------
    >>> gain = TuningGain(0.03, (0.01, 0.05), 0.01, metric="accuracy")
    >>> gain.decision
    'helped'
    >>> print(gain)
    Tuning helped: accuracy of the tuned SVM less that of the default is +0.03 (95 % interval +0.01 to +0.05).
    """

    beats_constant: bool = True

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return gain_sentence(self, self.beats_constant)

    def __str__(self) -> str:
        return self.sentence


def tuning_gain(scores: Floats, default: Floats, constant: Floats, metric: str, units: float) -> TuningGain:
    """Return the gain of tuned models over the default in the same draws, and whether they are better than a constant.

    Notes
    -----
    Equation :eq:`verdict` of the chapter :doc:`/method/index`.
    """

    def over(other: Floats) -> TuningGain:
        gains = np.where(np.isclose(scores, other, rtol=ROUNDING, atol=0.0), 0.0, scores - other)
        gain, error = mean_score(gains), spread(gains)
        return TuningGain(gain, t_interval(gain, error**2, units - 1.0, CONFIDENCE), error, CONFIDENCE, metric)

    return replace(over(default), beats_constant=over(constant).side > 0)


def difference_on_folds(
    first: Floats,
    second: Floats,
    ratio: float,
    *,
    confidence: float = CONFIDENCE,
    how: How = "repeats",
) -> Difference:
    """Return the second model's score less the first's on the same folds; with a single fold there is no interval.

    `ratio` is the number of rows tested on per row trained on, as in `nadeau_bengio`; 0 for independent pairs of scores.
    """
    gains = second - first
    interval = nadeau_bengio(gains, ratio, confidence)
    return Difference(float(gains.mean()), interval, sqrt(corrected_variance(gains, ratio)), confidence, how=how)


def paired_difference(
    scorer: Any,
    first: Sequence[Unseen],
    second: Sequence[Unseen],
    seed: int,
    *,
    metric: str = "score",
    shares: bool = False,
    confidence: float = CONFIDENCE,
) -> Difference:
    """Return the second model's score less the first's on unseen rows, which are the same for both.

    If the score is the share of correct rows (`shares`), the interval for independent held-out rows comes from the rows on which
    only one of the two models is correct (`share_interval`). Otherwise it comes from draws of rows, the same for both models.
    """
    how: How = "held out" if len(first) == 1 else "rows"
    scores = [[one.score(scorer) for one in sets] for sets in (first, second)]
    if not np.isfinite(scores).any(axis=1).all():
        return Difference(nan, metric=metric, how=how)

    def gain(k: int) -> Any:
        return second[k].correct - first[k].correct

    if shares and len(first) == 1 and first[0].block == 1 and first[0].groups is None:
        by_row = gain(0)
        error, ends = share_interval(int((by_row > 0).sum()), int((by_row < 0).sum()), len(by_row), confidence)
        return Difference(scores[1][0] - scores[0][0], ends, error, confidence, metric, how)
    found = pooled(
        lambda k, rows: second[k].score(scorer, rows) - first[k].score(scorer, rows), first, [seed, _STREAM],
        of_rows=gain if shares else None,
    )  # fmt: skip
    ends = t_interval(found.value, found.error**2, found.degrees, confidence)
    return Difference(found.value, ends, found.error, confidence, metric, how)


def share_interval(gained: int, lost: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """Return the standard error and the interval of the difference of two shares of the same n rows.

    `gained` rows are correct only by the second model, `lost` rows only by the first. The interval adds a row to each of these
    counts, so its length is positive even if both are 0.

    Notes
    -----
    Equation :eq:`share-interval` of the chapter :doc:`/method/index`.

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
