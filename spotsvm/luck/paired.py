"""Two models on the same unseen rows: the difference of their scores, paired by row, with its standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from spotsvm.luck.intervals import NO_INTERVAL, Interval, t_interval
from spotsvm.luck.rows import Unseen, pooled

CONFIDENCE = 0.95
_STREAM = 1


Code = Literal["helped", "did not help", "no difference can be seen"]


def side_of_zero(interval: Interval) -> int:
    """Return 1 if the interval of a difference is above 0, -1 if it is below 0, and 0 if it contains 0 or is unknown.

    Examples
    --------
    >>> side_of_zero((0.01, 0.04)), side_of_zero((-0.04, -0.01)), side_of_zero((0.0, 0.0)), side_of_zero(NO_INTERVAL)
    (1, -1, 0, 0)
    """
    low, high = interval
    return 1 if low > 0 else -1 if high < 0 else 0


@dataclass(frozen=True)
class Difference:
    """By how much a second model is better than a first one on the same rows, and whether it is.

    Attributes
    ----------
    gain : float
        Score of the second model less that of the first; nan if there is none.
    error : float
        Its standard error, or the standard deviation of the draws of rows that it is the mean of; nan if there is none.
    interval : tuple of float
        Its confidence interval; (nan, nan) if there is none.
    sentence : str
        The verdict in words, where the first model is the default and the second the tuned one.
    """

    gain: float
    error: float
    interval: Interval
    sentence: str = ""

    @property
    def code(self) -> Code:
        """The verdict: the interval is above 0 ("helped"), below 0 ("did not help"), or contains 0."""
        return code_of(self.interval)

    def __str__(self) -> str:
        return self.sentence


def code_of(interval: Interval) -> Code:
    """Return the verdict on tuning by the interval of the gain."""
    codes: dict[int, Code] = {1: "helped", -1: "did not help", 0: "no difference can be seen"}
    return codes[side_of_zero(interval)]


def paired_difference(
    scorer: Any,
    first: Sequence[Unseen],
    second: Sequence[Unseen],
    seed: int,
    *,
    shares: bool = False,
    confidence: float = CONFIDENCE,
) -> Difference:
    """Return by how much the second model is better on unseen rows, which are the same for both.

    Where the score is the share of rows that are right (`shares`), the interval of independent rows held out comes from the rows
    on which one of the two alone is right: `share_interval`. Otherwise rows are drawn again together for both models.
    """
    scores = [[one.score(scorer) for one in sets] for sets in (first, second)]
    if not np.isfinite(scores).any(axis=1).all():
        return Difference(float("nan"), float("nan"), NO_INTERVAL)

    def right(unseen: Unseen) -> Any:
        return (unseen.predictions == np.asarray(unseen.y)).astype(float)

    def gain(k: int) -> Any:
        return right(second[k]) - right(first[k])

    if shares and len(first) == 1 and first[0].block == 1 and first[0].groups is None:
        by_row = gain(0)
        ends = share_interval(int((by_row > 0).sum()), int((by_row < 0).sum()), len(by_row), confidence)
        return Difference(scores[1][0] - scores[0][0], *ends)
    found = pooled(
        lambda k, rows: second[k].score(scorer, rows) - first[k].score(scorer, rows), first, [seed, _STREAM],
        of_rows=gain if shares else None,
    )  # fmt: skip
    return Difference(found.value, found.error, t_interval(found.value, found.error**2, found.degrees, confidence))


def share_interval(gained: int, lost: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """Return standard error and interval of the difference of two shares of the same n rows.

    `gained` rows are right by the second model alone, `lost` ones by the first alone. The interval adds a row to each of both,
    so that it has a length even where they are 0.

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
