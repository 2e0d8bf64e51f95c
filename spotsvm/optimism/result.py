"""The result of an oversearching analysis: how much of the tuned score is luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from spotsvm.errors import ArgumentError
from spotsvm.optimism.intervals import NO_INTERVAL
from spotsvm.optimism.plain import nan_to_none, none_to_nan, plain
from spotsvm.optimism.wording import summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["nested", "repeats", "folds"]
METHODS: tuple[Method, ...] = ("nested", "repeats", "folds")
Interval = tuple[float, float]

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
        # a tuple of plain numbers, so that what comes back from JSON is equal
        for name in ("interval", "outer_interval"):
            low, high = (float(end) for end in getattr(self, name))
            # of resamples that all agree, as records of earlier versions have it
            object.__setattr__(self, name, (low, high) if low < high else NO_INTERVAL)
        for name in ("rows", "points"):
            object.__setattr__(self, name, tuple(plain(row) for row in getattr(self, name)))
        object.__setattr__(self, "notes", tuple(self.notes))

    def expected(self, tuned_score: float) -> float:
        """Return the score to expect on new data, given another tuned score that the same search has reached on similar data."""
        return round(float(tuned_score) - self.optimism, 12)

    def frame(self) -> pd.DataFrame:
        """Return the resamples as a frame.

        For "nested" one row per outer fold: its number of rows, the tuned and the outer score, the optimism, and the chosen
        parameters. For "repeats" one row per candidate, the winner first: tuned score, mean over fresh splits, and the difference
        with its interval. For "folds" one row per fold: the best score of any candidate there, and the winner's.
        """
        rows = [{k: v for k, v in row.items() if k != "params"} for row in self.rows]
        params = [{f"param_{k}": v for k, v in row.get("params", {}).items()} for row in self.rows]
        return pd.concat([pd.DataFrame(rows), pd.DataFrame(params, index=range(len(rows)))], axis=1)

    def curve(self) -> pd.DataFrame:
        """Return scores and optimism by trials spent, one row per number of trials; empty except for nested resampling.

        Columns: n_trials; tuned and outer, the means over the outer folds of the best trial's scores; optimism, and its
        confidence interval from low to high.
        """
        return pd.DataFrame(list(self.points), columns=_CURVE)

    def summary(self) -> str:
        """Return a few sentences: the method, the score to expect on new data, and what the method does not cover."""
        return summarise(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw tuned scores and scores on new data: by trials spent if there is a curve, else by resample.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of 6 x 4 inches.
        """
        from spotsvm.optimism.plot import plot_optimism

        return plot_optimism(
            self.frame(),
            self.curve(),
            optimism=self.optimism,
            method=self.method,
            metric=self.metric,
            confidence=self.confidence,
            ax=ax,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan."""
        found: dict[str, Any] = nan_to_none(asdict(self))
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Optimism:
        """Create an Optimism from what `to_dict` returned.

        Raises
        ------
        ArgumentError
            If an entry is missing, or the method is unknown.
        """
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass what Optimism.to_dict() returned")
        values = {name: found[name] for name in names}
        for name in ("optimism", "tuned_score", "outer_score", "interval", "outer_interval", "points"):
            values[name] = none_to_nan(values[name])
        values["rows"] = [_row(row) for row in values["rows"]]
        return cls(**values)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with nan for missing scores; a parameter that is None stays None."""
    return {name: value if name == "params" else none_to_nan(value) for name, value in row.items()}


def row_params(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the parameters in rows, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row.get("params", {})))
