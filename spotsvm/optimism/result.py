"""What an analysis of oversearching found: how much of the tuned score is luck."""

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
    """How much better a tuned score looks than what is to be expected on new data; `oversearching` makes it.

    Attributes
    ----------
    optimism : float
        Tuned score less score on new data, in the score's units; above 0 the tuned score flatters, for errors too, since a
        scorer gives them with a minus.
    interval : tuple of float
        Confidence interval of the optimism; (nan, nan) where there is none, as of resamples that all agree.
    confidence : float
        Its confidence, between 0 and 1.
    method : {"nested", "repeats", "folds"}
        How it was found: nested resampling; fresh splits for the winner and the runners-up; the fold scores of all candidates.
    variance : str
        By what rule the interval was made.
    tuned_score : float
        What the search reports of its winner; of nested resampling the mean over the outer folds.
    outer_score : float
        What is to be expected on new data: the tuned score less the optimism.
    outer_interval : tuple of float
        Confidence interval of `outer_score`.
    n_trials : int
        Trials of a search.
    metric : str
        Name of the score.
    rows : tuple of dict
        What `frame` shows.
    points : tuple of dict
        What `curve` shows.
    notes : tuple of str
        What else is to be known, a sentence each.

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
        """Give what is to be expected on new data of another tuned score that the same search has reached on such data."""
        return round(float(tuned_score) - self.optimism, 12)

    def frame(self) -> pd.DataFrame:
        """Give the resamples as a frame.

        Of "nested" a row an outer fold: its number of rows, the tuned and the outer score, the optimism, and the parameters
        chosen. Of "repeats" a row a candidate, the winner first: tuned score, mean over fresh splits, and the difference with its
        interval. Of "folds" a row a fold: the best score that any candidate has there, and the winner's.
        """
        rows = [{k: v for k, v in row.items() if k != "params"} for row in self.rows]
        params = [{f"param_{k}": v for k, v in row.get("params", {}).items()} for row in self.rows]
        return pd.concat([pd.DataFrame(rows), pd.DataFrame(params, index=range(len(rows)))], axis=1)

    def curve(self) -> pd.DataFrame:
        """Give scores and optimism by trials spent, a row a number of trials; empty but for nested resampling.

        Columns: n_trials, tuned and outer, means over the outer folds of the best trial's scores; optimism, and its
        confidence interval from low to high.
        """
        return pd.DataFrame(list(self.points), columns=_CURVE)

    def summary(self) -> str:
        """Say in a few sentences what was done, what is to be expected on new data, and what the method does not cover."""
        return summarise(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it: by trials spent where there is a curve, else the resamples' tuned and new scores.

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
        """Give it as plain JSON: numbers, texts, lists and dictionaries, and None for what is not a number."""
        found: dict[str, Any] = nan_to_none(asdict(self))
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Optimism:
        """Make it from what `to_dict` gave.

        Raises
        ------
        ArgumentError
            If something is missing, or the method is unknown.
        """
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; give what Optimism.to_dict() returned")
        values = {name: found[name] for name in names}
        for name in ("optimism", "tuned_score", "outer_score", "interval", "outer_interval", "points"):
            values[name] = none_to_nan(values[name])
        values["rows"] = [_row(row) for row in values["rows"]]
        return cls(**values)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Give a row whose scores are numbers; a parameter that is None stays so."""
    return {name: value if name == "params" else none_to_nan(value) for name, value in row.items()}


def row_params(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Give the names of the parameters in rows, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row.get("params", {})))
