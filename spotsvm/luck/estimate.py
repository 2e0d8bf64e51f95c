"""`Estimate`: a value with a confidence interval, the method, and the uncertainty that the interval covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite, nan
from typing import Any, ClassVar, Literal, Self

from spotsvm.common.json_values import nan_to_none, none_to_nan, plain
from spotsvm.common.text import short
from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import (
    NO_INTERVAL,
    ROUNDING,
    Interval,
    bounded,
    is_too_uncertain,
    score_interval,
    score_range,
    side_of_zero,
)
from spotsvm.trials.metrics import ScoreUnit

How = Literal["draws", "rows", "held out", "nested", "folds"]
#: the uncertainty that an interval covers, by the method of the estimate
COVERS: dict[How, str] = {
    "draws": "the sampling of the rows and the choice among candidates",
    "rows": "the sampling of the rows and the folds",
    "held out": "the sampling of the held-out rows",
    "nested": "the sampling of rows and folds, and the whole search",
    "folds": "roughly the choice among the candidates",
}
#: methods of version 0.2.0, fresh splits and fresh evaluations
_GONE = ("repeats", "fresh")


@dataclass(frozen=True)
class Estimate:
    """A score, or a difference of scores, with its confidence interval; larger is better, and nan is unknown.

    `how` is by draws of rows, with a new choice in each or for one model, held-out rows, nested searches, or folds. With
    `too_few` rows for a score such as R2, its standard error is above 1 and its value nan.
    """

    value: float
    interval: Interval = NO_INTERVAL
    error: float = nan
    confidence: float = 0.95
    metric: str = "score"
    how: How = "draws"
    too_few: bool = False

    #: fields that records of earlier versions lack
    _later: ClassVar[tuple[str, ...]] = ("too_few",)
    #: fields in which None is a value, not a missing number
    _with_none: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.how not in COVERS:
            raise ArgumentError(f"how={self.how!r} is unknown; use one of {', '.join(COVERS)}")
        if is_too_uncertain(self.metric, self.value, self.error):
            object.__setattr__(self, "too_few", True)
        if self.too_few:
            object.__setattr__(self, "value", nan)
        low, high = self._possible(NO_INTERVAL if self.too_few else self.interval)
        # resamples that all agree do not show their common error
        spread = high - low > ROUNDING * max(abs(low), abs(high))
        object.__setattr__(self, "interval", (float(low), float(high)) if spread else NO_INTERVAL)

    def _possible(self, interval: Interval) -> Interval:
        """Return an interval cut to the possible values of the score."""
        return bounded(interval, [self.value], self.metric) if isfinite(self.value) and isfinite(interval[0]) else interval

    @property
    def covers(self) -> str:
        """The uncertainty that the interval covers, in words."""
        return COVERS[self.how]

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return isfinite(self.interval[0]) and isfinite(self.interval[1])

    @property
    def side(self) -> int:
        """1 if the interval is above 0, -1 if it is below 0, and 0 if it contains 0 or is unknown."""
        return side_of_zero(self.interval)

    def text(self, signed: bool = False) -> str:
        """Return value and interval as text, in the unit of the metric; `signed` is for a difference.

        Returns
        -------
        str
            Value and interval.
        """
        if self.too_few:
            return f"unknown: the rows are too few for {ScoreUnit(self.metric).title}"
        value = ScoreUnit(self.metric).value(self.value)
        return f"{score_text(value, signed)}{f' ({self.interval_text(signed)})' if self.known else ''}"

    def interval_text(self, signed: bool = False) -> str:
        """Return the interval as text, in the unit of the metric; empty if there is none.

        Returns
        -------
        str
            The interval, or an empty text.
        """
        if not self.known:
            return ""
        low, high = ScoreUnit(self.metric).interval(self.interval)
        return f"{100 * self.confidence:g} % interval {score_text(low, signed)} to {score_text(high, signed)}"

    def __str__(self) -> str:
        """Return value and interval; a loss, whose sign is that of its own unit and not that of `value`, with its name."""
        unit = ScoreUnit(self.metric)
        return f"{unit.title} {self.text()}" if unit.is_error else self.text()

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan.

        Returns
        -------
        dict
            The attributes by name.
        """
        found: dict[str, Any] = nan_to_none(plain(asdict(self)))
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Create the object from the result of `to_dict`.

        Raises
        ------
        ArgumentError
            If an entry is missing or unknown, or the method is one that only version 0.2.0 has.
        """
        if (how := found.get("how")) in _GONE:
            raise ArgumentError(f"how={how!r} is a method of version 0.2.0, which this version does not have; use that version")
        names = [field.name for field in fields(cls) if field.name in found or field.name not in cls._later]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass the result of {cls.__name__}.to_dict()")
        return cls(**{name: found[name] if name in cls._with_none else none_to_nan(found[name]) for name in names})


def score_text(value: float, signed: bool = False) -> str:
    """Return a score, or a difference of two scores with its sign, as text."""
    return short(value) if not signed else f"{value:+.3g}" if value else "0"


@dataclass(frozen=True)
class ExpectedScore(Estimate):
    """The score to expect on many new rows of the same source.

    Attributes
    ----------
    value, interval, error, confidence, metric, how
        As in `Estimate`; `value` is the score to expect (larger is better, as scorers return it), and `interval` is (nan, nan) if
        the rows are too few.
    n_rows : int
        Number of rows behind the estimate. No row was predicted by a model that had seen it.
    row_error : float
        Standard error of the score of a single row, if scores are means over rows. That of n rows is `row_error` / sqrt(n).
    units, degrees : float
        Number of independent rows that would give this error, and the degrees of freedom of the interval.
    out_of_fold, out_of_fold_error, held_out, held_out_error : float
        The scores of out-of-fold and of held-out rows, with standard errors; `value` is their weighted mean. nan if there are no
        rows of that kind.
    on_all_rows : float
        The score of the choice by all rows, on the same out-of-fold rows; nan if the draws make no choice. It is too good, and if
        it is the best or the worst possible score, the interval reaches it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from spotsvm import expected_score
    >>> X, y = load_iris(return_X_y=True)
    >>> expected = expected_score(
    ...     GridSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y), X, y
    ... )
    >>> low, high = expected.interval
    >>> least, most = expected.of_rows(
    ...     50
    ... )  # 50 new rows are a small sample themselves
    >>> least <= low < expected.value < high <= most
    True
    """

    n_rows: int = 0
    row_error: float = nan
    units: float = 0.0
    degrees: float = 0.0
    out_of_fold: float = nan
    out_of_fold_error: float = nan
    held_out: float = nan
    held_out_error: float = nan
    on_all_rows: float = nan

    _later: ClassVar[tuple[str, ...]] = ("too_few", "on_all_rows")

    @classmethod
    def of(cls, value: float, error: float, *, units: float, degrees: float, metric: str, confidence: float, **more: Any) -> Self:
        """Return the estimate with the interval that follows from its error."""
        return cls(value, error=error, metric=metric, units=units, degrees=degrees, **more).at(confidence)

    def at(self, confidence: float) -> Self:
        """Return the same estimate with the interval at another confidence level, between 0 and 1."""
        return replace(self, interval=self._ends(self.error**2, self.units, confidence), confidence=confidence)

    def _ends(self, variance: float, units: float, confidence: float) -> Interval:
        low, high = score_interval(self.value, variance, units, self.degrees, confidence, self.metric)
        least, most = score_range(self.metric)
        # where no row is wrong, or none is right, the spread of the draws says nothing of that end
        low = least if least is not None and self.on_all_rows == least else low
        return low, most if most is not None and self.on_all_rows == most else high

    def of_rows(self, n: int) -> Interval:
        """Return the interval for the score of n new rows; it is wider than `interval`, as these rows are a sample themselves.

        Returns
        -------
        Interval
            The interval for the score of n new rows.
        """
        variance = self.error**2 + self.row_error**2 / n
        units = 1.0 / (1.0 / self.units + 1.0 / n) if self.units > 0 else 0.0
        return self._ends(variance, units, self.confidence)

    def text(self, signed: bool = False) -> str:
        """Return value and interval as text, in the unit of the metric; `signed` is for a difference.

        Returns
        -------
        str
            Value and interval, or why there are none.
        """
        if self.too_few:
            return f"unknown: {self.n_rows} rows are too few for {ScoreUnit(self.metric).title}"
        return super().text(signed)
