"""The result of an oversearching analysis: how much of the tuned score is luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.common.drawing import COLOURS, new_axes, tidy
from spotsvm.common.drawing import plain as plain_label
from spotsvm.common.json_values import none_to_nan, plain
from spotsvm.errors import ArgumentError
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.intervals import ROUNDING, Floats, Interval, bounded, bounded_difference, corrected_variance, nadeau_bengio
from spotsvm.luck.sentences import optimism_sentences
from spotsvm.trials.metrics import ScoreUnit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["nested", "folds"]
METHODS: tuple[Method, ...] = ("nested", "folds")
_ROWS: dict[str, str] = {"nested": "outer fold", "folds": "fold"}
_TUNED: dict[str, str] = {"nested": "tuned score", "folds": "best candidate of the fold"}
_OUTER: dict[str, str] = {"nested": "score on the outer fold", "folds": "winner of the search"}
_CURVE = ["n_trials", "tuned", "outer", "optimism", "low", "high"]


@dataclass(frozen=True)
class Optimism(Estimate):
    """The difference between a tuned score and the score to expect on new data, as `oversearching` returns it.

    Attributes
    ----------
    optimism, interval, error, confidence, metric
        As in `Estimate`: the tuned score minus the score on new data, in the score's units. Above 0 the tuned score is too good,
        also for errors, which scorers return as negative numbers. `interval` is (nan, nan) if there is none, for example because
        all resamples agree.
    how : {"nested", "folds"}
        The method: nested resampling, or the fold scores of all candidates.
    variance : str
        The rule for the interval.
    tuned_score : float
        The score that the search reports for its winner; for nested resampling the mean over the outer folds.
    expected_score : Estimate
        The score to expect on new data, which is the tuned score minus the optimism, with its confidence interval.
    n_trials : int
        Number of trials of a search.
    rows : tuple of dict
        The rows of `frame`.
    points : tuple of dict
        The rows of `curve`.
    notes : tuple of str
        Further remarks, one sentence each.

    Examples
    --------
    >>> expected = Estimate(0.88, (0.85, 0.91), how="nested")
    >>> found = Optimism(
    ...     0.03,
    ...     (0.01, 0.05),
    ...     how="nested",
    ...     tuned_score=0.91,
    ...     expected_score=expected,
    ...     n_trials=50,
    ... )
    >>> Optimism.from_dict(found.to_dict()) == found
    True
    >>> found.expected(0.93)
    0.9
    """

    tuned_score: float = nan
    expected_score: Estimate = field(default_factory=lambda: Estimate(nan))
    n_trials: int = 0
    variance: str = "nadeau-bengio"
    rows: tuple[Mapping[str, Any], ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    #: a parameter that is None stays None
    _with_none: ClassVar[tuple[str, ...]] = ("rows",)

    def _possible(self, interval: Interval) -> Interval:
        return bounded_difference(interval, self.value, self.metric)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.how not in METHODS:
            raise ArgumentError(f"how={self.how!r} is no method of oversearching; use one of {', '.join(METHODS)}")
        if abs(self.value) <= ROUNDING * max(1.0, abs(self.tuned_score)):
            object.__setattr__(self, "value", 0.0)
        # tuples of plain values, so that an object restored from JSON is equal
        for name in ("rows", "points"):
            object.__setattr__(self, name, tuple(plain(row) for row in getattr(self, name)))
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def optimism(self) -> float:
        """The tuned score minus the score on new data."""
        return self.value

    def expected(self, tuned_score: float) -> float:
        """Return the score to expect on new data for another tuned score of the same search on similar data.

        Returns
        -------
        float
            The score to expect.
        """
        return round(float(tuned_score) - self.optimism, 12)

    def frame(self) -> pd.DataFrame:
        """Return the resamples as a frame.

        For "nested" one row per outer fold: its number of rows, the tuned and the outer score, the optimism, and the chosen
        parameters. For "folds" one row per fold: the best score of any candidate there, and the winner's.

        Returns
        -------
        DataFrame
            One row for each resample.
        """
        rows = [{k: v for k, v in row.items() if k != "params"} for row in self.rows]
        params = [{f"param_{k}": v for k, v in row.get("params", {}).items()} for row in self.rows]
        return pd.concat([pd.DataFrame(rows), pd.DataFrame(params, index=range(len(rows)))], axis=1)

    def curve(self) -> pd.DataFrame:
        """Return scores and optimism, one row per number of trials; empty except for nested resampling.

        Columns: n_trials; tuned and outer, the means over the outer folds of the best trial's scores; optimism, and its
        confidence interval from low to high.

        Returns
        -------
        DataFrame
            One row for each number of trials.
        """
        return pd.DataFrame(list(self.points), columns=_CURVE)

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as a CSV file.

        Raises
        ------
        ArgumentError
            If `path` is not a path.
        StorageError
            If the file cannot be written.
        """
        write_csv(self.frame(), path, "resamples")

    def summary(self) -> str:
        """Return a few lines: the score to expect on new data, the method, and what the method does not cover.

        Returns
        -------
        str
            The sentences, one on each line.
        """
        return "\n".join(self.sentences())

    def sentences(self, expect: bool = True) -> list[str]:
        """Return the lines of `summary`; without `expect` the first one leaves out the score to expect on new data.

        Returns
        -------
        list of str
            The sentences.
        """
        return list(
            optimism_sentences(
                self, self.expected_score, self.tuned_score, n_trials=self.n_trials, n_rows=len(self.rows),
                variance=self.variance, notes=self.notes, expect=expect,
            )
        )  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw tuned scores and scores on new data: by trials spent if there is a curve, else by resample.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure of 6 x 4 inches.

        Returns
        -------
        Axes
            The axes of the picture.
        """
        ax = new_axes(ax)
        unit, scores = ScoreUnit(str(self.metric)), ["tuned", "outer"]
        rows, curve = (frame.assign(**frame[scores].map(unit.value)) for frame in (self.frame(), self.curve()))
        tuned, outer = _TUNED[self.how], _OUTER[self.how]
        if len(curve):
            trials = curve["n_trials"].to_numpy()
            low, high = (curve["tuned"] - unit.value(1.0) * curve[end] for end in ("high", "low"))
            label = f"tuned score less the {self.confidence:.0%} interval of the optimism"
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
            ax.set_xlabel(_ROWS[self.how])
        ax.set_ylabel(plain_label(unit.title if unit.is_error else str(self.metric)))
        ax.set_title(f"optimism {self.optimism:.3g} ({self.how})", fontsize=10)
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
        return ax

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Create an Optimism from the result of `to_dict`.

        Raises
        ------
        ArgumentError
            If an entry is missing, or the method is unknown.
        """
        if "expected_score" not in found:
            raise ArgumentError("found has no 'expected_score'; pass the result of Optimism.to_dict()")
        rows = [{name: value if name == "params" else none_to_nan(value) for name, value in row.items()} for row in found["rows"]]
        expected = Estimate.from_dict(found["expected_score"])
        return super().from_dict({**found, "expected_score": expected, "rows": rows})


def expected_on_new_data(scores: Floats, ratio: float, confidence: float, metric: str, how: Method) -> Estimate:
    """Return the score to expect on new data, from scores of resamples on held-out rows; see `nadeau_bengio` for `ratio`."""
    interval = bounded(nadeau_bengio(scores, ratio, confidence), scores, metric)
    return Estimate(float(scores.mean()), interval, sqrt(corrected_variance(scores, ratio)), confidence, metric, how)
