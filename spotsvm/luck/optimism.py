"""The result of an oversearching analysis: how much of the tuned score is luck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import floor, isfinite, isnan, log10, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, new_axes, tidy
from spotsvm.common.drawing import plain as plain_label
from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import NO_INTERVAL, Interval, score_range
from spotsvm.trials.metrics import ScoreUnit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["nested", "repeats", "folds"]
METHODS: tuple[Method, ...] = ("nested", "repeats", "folds")
#: a smaller share of a score is its rounding
_ROUNDING = 1e-12
_ROWS = {"nested": "outer fold", "repeats": "candidate, winner first", "folds": "fold"}
_TUNED = dict.fromkeys(METHODS, "tuned score") | {"folds": "best candidate of the fold"}
_OUTER = {
    "nested": "score on the outer fold",
    "repeats": "score on fresh splits",
    "folds": "winner of the search",
}
_CURVE = ["n_trials", "tuned", "outer", "optimism", "low", "high"]


@dataclass(frozen=True)
class Optimism:
    """The difference between a tuned score and the score to expect on new data, as `oversearching` returns it.

    Attributes
    ----------
    optimism : float
        Tuned score minus score on new data, in the score's units. Above 0 the tuned score is too good; also for errors, which
        scorers return as negative numbers.
    interval : tuple of float
        Confidence interval of the optimism; (nan, nan) if there is none, for example if all resamples agree.
    confidence : float
        Its confidence level, between 0 and 1.
    method : {"nested", "repeats", "folds"}
        The method: nested resampling; fresh splits for the winner and the runners-up; the fold scores of all candidates.
    variance : str
        The rule for the interval.
    tuned_score : float
        The score that the search reports for its winner; for nested resampling the mean over the outer folds.
    outer_score : float
        The score to expect on new data: the tuned score minus the optimism.
    outer_interval : tuple of float
        Confidence interval of `outer_score`.
    n_trials : int
        Number of trials of a search.
    metric : str
        Name of the score.
    rows : tuple of dict
        The rows of `frame`.
    points : tuple of dict
        The rows of `curve`.
    notes : tuple of str
        Further remarks, one sentence each.

    See Also
    --------
    oversearching : What makes it.
    judge_search : Scores the best trial on data of its own.

    Examples
    --------
    >>> found = Optimism(0.03, (0.01, 0.05), 0.95, "nested", "nadeau-bengio", 0.91, 0.88, (0.85, 0.91), 50, "accuracy")
    >>> Optimism.from_dict(found.to_dict()) == found
    True
    >>> found.expected(0.93)
    0.9
    """

    optimism: float
    interval: Interval
    confidence: float
    method: Method
    variance: str
    tuned_score: float
    outer_score: float
    outer_interval: Interval
    n_trials: int
    metric: str = "score"
    rows: tuple[Mapping[str, Any], ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ArgumentError(f"method={self.method!r} is unknown; use one of {', '.join(METHODS)}")
        if abs(self.optimism) <= _ROUNDING * max(1.0, abs(self.tuned_score)):
            object.__setattr__(self, "optimism", 0.0)
        # a tuple of plain numbers, so that what comes back from JSON is equal
        for name in ("interval", "outer_interval"):
            low, high = (float(end) for end in getattr(self, name))
            # of resamples that all agree, as records of earlier versions have it
            object.__setattr__(self, name, (low, high) if low < high else NO_INTERVAL)
        for name in ("rows", "points"):
            object.__setattr__(self, name, tuple(plain(row) for row in getattr(self, name)))
        object.__setattr__(self, "notes", tuple(self.notes))

    def expected(self, tuned_score: float) -> float:
        """Return the score to expect on new data, given another tuned score that the same search has reached on similar data.

        See Also
        --------
        summary : The expectation in words.
        """
        return round(float(tuned_score) - self.optimism, 12)

    def frame(self) -> pd.DataFrame:
        """Return the resamples as a frame.

        For "nested" one row per outer fold: its number of rows, the tuned and the outer score, the optimism, and the chosen
        parameters. For "repeats" one row per candidate, the winner first: tuned score, mean over fresh splits, and the difference
        with its interval. For "folds" one row per fold: the best score of any candidate there, and the winner's.

        See Also
        --------
        curve : The means by trials spent.
        """
        rows = [{k: v for k, v in row.items() if k != "params"} for row in self.rows]
        params = [{f"param_{k}": v for k, v in row.get("params", {}).items()} for row in self.rows]
        return pd.concat([pd.DataFrame(rows), pd.DataFrame(params, index=range(len(rows)))], axis=1)

    def curve(self) -> pd.DataFrame:
        """Return scores and optimism by trials spent, one row per number of trials; empty except for nested resampling.

        Columns: n_trials; tuned and outer, the means over the outer folds of the best trial's scores; optimism, and its
        confidence interval from low to high.

        See Also
        --------
        plot : Its picture.
        frame : The resamples behind it.
        """
        return pd.DataFrame(list(self.points), columns=_CURVE)

    def summary(self) -> str:
        """Return a few lines: the method, the score to expect on new data, and what the method does not cover.

        See Also
        --------
        expected : The score to expect, as a number.
        """
        return summarise(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw tuned scores and scores on new data: by trials spent if there is a curve, else by resample.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of 6 x 4 inches.

        See Also
        --------
        curve : What it draws.
        """
        ax = new_axes(ax)
        unit, scores = ScoreUnit(str(self.metric)), ["tuned", "outer"]
        rows, curve = (frame.assign(**frame[scores].map(unit.value)) for frame in (self.frame(), self.curve()))
        tuned, outer = _TUNED[self.method], _OUTER[self.method]
        if len(curve):
            trials = curve["n_trials"].to_numpy()
            low, high = (curve["tuned"] - unit.value(1.0) * curve[end] for end in ("high", "low"))
            label = f"{self.confidence:.0%} interval of the difference"
            ax.fill_between(trials, low, high, step="post", color=COLOURS[1], alpha=0.15, lw=0, label=label)
            ax.plot(trials, curve["tuned"], "-", drawstyle="steps-post", color=COLOURS[0], label=tuned)
            ax.plot(trials, curve["outer"], "--", drawstyle="steps-post", color=COLOURS[1], label=outer)
            ax.set_xlabel(f"trials spent (mean of {len(rows)} outer folds)")
        else:
            at = np.arange(1, len(rows) + 1)
            ax.vlines(at, rows["outer"], rows["tuned"], color="0.7", lw=1.5)
            ax.plot(at, rows["tuned"], "o", color=COLOURS[0], label=tuned)
            ax.plot(at, rows["outer"], "s", color=COLOURS[1], label=outer)
            ax.set_xticks(at)
            ax.set_xlabel(_ROWS[self.method])
        ax.set_ylabel(plain_label(unit.title if unit.is_error else str(self.metric)))
        ax.set_title(f"optimism {self.optimism:.3g} ({self.method})", fontsize=10)
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan.

        See Also
        --------
        from_dict : Reads it.
        """
        found: dict[str, Any] = nan_to_none(asdict(self))
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Optimism:
        """Create an Optimism from what `to_dict` returned.

        Raises
        ------
        ArgumentError
            If an entry is missing, or the method is unknown.

        See Also
        --------
        to_dict : Makes the dictionary.
        """
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass what Optimism.to_dict() returned")
        values = {name: found[name] for name in names}
        for name in ("optimism", "tuned_score", "outer_score", "interval", "outer_interval", "points"):
            values[name] = none_to_nan(values[name])
        # a parameter that is None stays None
        values["rows"] = [
            {name: value if name == "params" else none_to_nan(value) for name, value in row.items()} for row in values["rows"]
        ]
        return cls(**values)


def plain(value: Any) -> Any:
    """Return a value in Python's own types; the repr of a value without a JSON type, such as an estimator."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    return repr(value)


def nan_to_none(value: Any) -> Any:
    """Return a plain value with None in place of nan and infinity, which JSON does not have."""
    return _replaced(value, lambda item: None if isinstance(item, float) and not isfinite(item) else item)


def none_to_nan(value: Any) -> Any:
    """Return a plain value with nan in place of None."""
    return _replaced(value, lambda item: nan if item is None else item)


def _replaced(value: Any, by: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {name: _replaced(item, by) for name, item in value.items()}
    return [_replaced(item, by) for item in value] if isinstance(value, list | tuple) else by(value)


_DONE = {
    "nested": (
        "Method: nested resampling. In each of {rows} outer folds the whole search of {n_trials} trials was repeated without the "
        "fold's rows, and its winner was scored on them."
    ),
    "repeats": (
        "Method: fresh repeats. After one search of {n_trials} trials, the winner and the runners-up, {rows} candidates in "
        "total, were scored again on splits that the search has not used."
    ),
    "folds": (
        "Method: fold scores (Tibshirani and Tibshirani 2009). In each of {rows} folds the score of the best of {n_trials} "
        "candidates in that fold is compared with the winner's score. Nothing was fitted."
    ),
}
_RULES = {
    "jackknife": "The interval of the optimism is a jackknife over the outer folds.",
    "nadeau-bengio": "The interval of the optimism is that of Nadeau and Bengio, corrected for rows that resamples share.",
}
_LIMITS = {
    "nested": (
        "This covers the whole search, for slightly fewer rows than there are in total. It does not cover new data that differ "
        "from these rows."
    ),
    "repeats": (
        "This covers the luck of the splits among the candidates that were scored again. It does not cover the luck of the rows, "
        "which the fresh splits share with the search, so that the optimism can be larger. Nested resampling covers both."
    ),
    "folds": (
        "This is a rough estimate, and never below 0. It does not account for what the search would have found with other rows, "
        "and can be far off with few rows per fold or many candidates. Nested resampling is more reliable."
    ),
}


def summarise(found: Optimism) -> str:
    """Return a text with the score to expect on new data, the method, and what the method does not cover, a line each.

    Numbers are rounded to two digits of half the optimism's interval. A negative score, such as neg_root_mean_squared_error, is
    shown as an error without its minus.
    """
    done = _DONE[found.method].format(rows=len(found.rows), n_trials=found.n_trials)
    return "\n".join(
        part for part in [_answer(found), _verdict(found), done, _rule(found), *found.notes, _LIMITS[found.method]] if part
    )


def _answer(found: Optimism) -> str:
    decimals = _decimals(found)
    unit = ScoreUnit(found.metric)
    error, name = unit.is_error, unit.title if unit.is_error else found.metric.replace("_", " ")
    tuned, new = (number(unit.value(value), decimals) for value in (found.tuned_score, found.outer_score))
    luck = number(abs(found.optimism), decimals)
    interval = _interval(found, decimals)
    if not round(found.optimism, decimals) > 0:
        head = f"shows no optimism ({number(found.optimism, decimals)}{interval and ', ' + interval})"
    else:
        head = f"is probably {luck}{interval and f' ({interval})'} too {'low' if error else 'high'}"
    return f"The tuned {name} of {tuned} {head}; on new data expect about {new}{_between(found, decimals, error)}."


def _rule(found: Optimism) -> str:
    """Return the rule for the interval, unless a note names it."""
    if _is_empty(found.interval) or any("Nadeau" in note for note in found.notes):
        return ""
    return _RULES.get(found.variance, f"The interval of the optimism is that of {found.variance}.")


def _verdict(found: Optimism) -> str:
    low, high = found.interval
    if found.method == "folds":
        return ""
    if _is_empty(found.interval):
        return "The uncertainty of this estimate is unknown."
    if low > 0:
        return "The tuned score is too optimistic."
    if high < 0:
        return (
            "The tuned score is not too optimistic: the scores on new data are better, as can happen if the search's folds "
            "follow an order of the rows."
        )
    return "This difference can be explained by chance."


def _interval(found: Optimism, decimals: int) -> str:
    if _is_empty(found.interval):
        return ""
    low, high = found.interval
    return f"{100 * found.confidence:g} % interval {number(low, decimals)} to {number(high, decimals)}"


def _between(found: Optimism, decimals: int, error: bool) -> str:
    """Return the interval of the expected score, marking an end at the minimum or maximum of the score."""
    if _is_empty(found.outer_interval):
        return ""
    least, most = score_range(found.metric)
    low, high = found.outer_interval
    cut = {"low": low == least, "high": high == most}
    if error:
        low, high = 0.0 - high, 0.0 - low
        cut = {"low": cut["high"], "high": cut["low"]}
    ends = [f"{low:g}, the minimum," if cut["low"] else number(low, decimals)]
    ends.append(f"{high:g}, the maximum" if cut["high"] else number(high, decimals))
    return f" ({' to '.join(ends)})"


def _is_empty(interval: tuple[float, float]) -> bool:
    """Return whether there is no interval."""
    return isnan(interval[0]) or isnan(interval[1])


def _decimals(found: Optimism) -> int:
    """Return the decimals for two digits of half the optimism's interval, or the score's; without both, three of the score."""
    interval = next((i for i in (found.interval, found.outer_interval) if not _is_empty(i)), None)
    digits, size = (3, abs(found.outer_score)) if interval is None else (2, (interval[1] - interval[0]) / 2)
    return max(0, digits - 1 - floor(log10(size))) if isfinite(size) and size > 0 else 3


def number(value: float, decimals: int) -> str:
    """Return a number with so many decimals, and without a minus if it is rounded to 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
