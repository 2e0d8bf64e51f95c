"""The tables, the judgement and the figure of the study `equal_time`: differences and regrets with intervals over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter, ScalarFormatter
from numpy.typing import ArrayLike

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.studies.equal_time.entrants import DEFAULTS, RANDOM
from spotsvm.trials.scores.intervals import NO_INTERVAL, nadeau_bengio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPLIT = ["task", "set", "split"]
LOWER, HIGHER, OPEN, NONE = "lower", "higher", "not told apart", "no interval"


class Estimate(NamedTuple):
    """A mean with its 95 % interval; nan where there is none.

    Examples
    --------
    >>> str(Estimate(-0.25, -0.4, -0.1))
    '-0.25 [-0.40, -0.10]'
    """

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the interval lies below 0, above it, or holds it."""
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            return NONE
        return LOWER if self.high < 0 else HIGHER if self.low > 0 else OPEN

    def __str__(self) -> str:
        if self.verdict == NONE:
            return f"{self.mean:+.2f}"
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def over_data_sets(values: ArrayLike) -> Estimate:
    """Return the mean of a value of each data set, and its t interval: the sets are a sample of those one may have."""
    return _estimate(values, 0.0)


def over_splits(values: ArrayLike) -> Estimate:
    """Return the mean of a value of each split of one set, and its interval; splits into thirds share rows."""
    return _estimate(values, 0.5)


def _estimate(values: ArrayLike, ratio: float) -> Estimate:
    values = np.asarray(values, dtype=np.float64)
    equal = np.ptp(values) <= _ROUNDING * np.abs(values).max()  # their spread is that of rounding
    return Estimate(float(values.mean()), *(NO_INTERVAL if equal else nadeau_bengio(values, ratio)))


_ROUNDING = 1e-9


def with_regret(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the regret of the cross-validated score: in points, and normalised.

    The best known score is that of any entrant on the split, at any budget. The unit of a set and budget is the median over its
    splits of random search's regret; where that is 0 the normalised regret is nan, for all.

    Examples
    --------
    >>> runs = pd.DataFrame({"task": "t", "set": "s", "split": 0, "budget": 9, "entrant": ["random search", "a", "b"]})
    >>> with_regret(runs.assign(score=[0.8, 0.9, 0.85]))["regret"].round(6).tolist()
    [1.0, 0.0, 0.5]
    """
    best = runs.groupby(_SPLIT)["score"].transform("max")
    runs = runs.assign(regret_points=100 * (best - runs["score"]))
    random = runs[runs.entrant == RANDOM].groupby(["task", "set", "budget"])["regret_points"].median().rename("unit_of_regret")
    unit = runs.join(random, on=["task", "set", "budget"])["unit_of_regret"]
    return runs.assign(regret=runs["regret_points"] / unit.where(unit > _ROUNDING))


def against(runs: pd.DataFrame, what: str, reference: str) -> pd.DataFrame:
    """Return each row's difference from the reference entrant on the same split, at the same budget.

    Rows of splits that the reference has not run are left out.
    """
    keys = [*_SPLIT, "budget"]
    base = runs[runs.entrant == reference].set_index(keys)[what].rename("base")
    found = runs.join(base, on=keys, how="inner")
    return found.assign(difference=found[what] - found["base"])


def summaries(runs: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the mean over data sets of a column's means over splits: a row a task, entrant and budget.

    Columns: sets, mean, low, high, median (over the sets) and verdict, on the side of 0.
    """
    by, rows = ["task", "entrant", "budget"], []
    sets = runs.groupby([*by, "set"], sort=False)[what].mean().dropna()
    for key, values in sets.groupby(level=by, sort=False):
        estimate = over_data_sets(values)
        told = {"sets": len(values), **estimate._asdict(), "median": float(values.median()), "verdict": estimate.verdict}
        rows.append(dict(zip(by, cast("tuple[Any, ...]", key), strict=True)) | told)
    return pd.DataFrame(rows, columns=[*by, "sets", "mean", "low", "high", "median", "verdict"])


def _texts(found: pd.DataFrame) -> list[str]:
    return [str(Estimate(*row)) for row in found[["mean", "low", "high"]].to_numpy(dtype=float).tolist()]


def wide(found: pd.DataFrame) -> pd.DataFrame:
    """Return summaries as a row a task and entrant, with a column for each budget; where it has fewer sets, with their number."""
    most = found.groupby(["task", "entrant"])["sets"].transform("max")
    counts = [f" ({sets} sets)" if sets < of else "" for sets, of in zip(found["sets"], most, strict=True)]
    cells = found.assign(
        cell=[text + count for text, count in zip(_texts(found), counts, strict=True)],
        column=[f"{budget} units" for budget in found.budget],
    )
    table = cells.groupby(["task", "entrant"], sort=False).agg(sets=("sets", "max"))
    for column, rows in cells.groupby("column", sort=False):
        table[column] = rows.set_index(["task", "entrant"])["cell"]
    return table.reset_index()


def beside_defaults(runs: pd.DataFrame, budget: int) -> pd.DataFrame:
    """Return on how many data sets an entrant's error is below and above that of the defaults, beyond the noise of the splits.

    Columns: task, entrant, sets; lower, higher (sets whose interval excludes 0); largest loss, in points, and on which set.
    """
    found = against(runs[runs.budget == budget], "error", DEFAULTS)
    rows = []
    for (task, entrant), of_one in found[found.entrant != DEFAULTS].groupby(["task", "entrant"], sort=False):
        sets = {str(name): over_splits(values) for name, values in of_one.groupby("set", sort=False)["difference"]}
        verdicts = [estimate.verdict for estimate in sets.values()]
        worst = max(sets, key=lambda name: sets[name].mean)
        rows.append((task, entrant, len(sets), verdicts.count(LOWER), verdicts.count(HIGHER), sets[worst].mean, worst))
    return pd.DataFrame(rows, columns=["task", "entrant", "sets", "lower", "higher", "largest loss", "on"])


def work(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the median number of settings that each entrant had scored at each budget."""
    table = runs.pivot_table(index=["task", "entrant"], columns="budget", values="looks", aggfunc="median", sort=False)
    table.columns = pd.Index([f"{budget} units" for budget in table.columns])
    return table.reset_index()


def judged(found: pd.DataFrame, budget: int, what: str, reference: str) -> list[str]:
    """Return a sentence a task that says of each entrant at a budget what its interval supports, and no more.

    Parameters
    ----------
    found : DataFrame
        Summaries of differences from the reference.
    budget : int
        The budget.
    what : str
        What the differences are of.
    reference : str
        What the entrants are compared with; it is not judged itself.
    """
    sentences = []
    for task, rows in found[(found.budget == budget) & (found.entrant != reference)].groupby("task", sort=False):
        parts = []
        for verdict in (LOWER, HIGHER, OPEN, NONE):
            some = rows[rows.verdict == verdict]
            listed = [f"{entrant} {text}" for entrant, text in zip(some["entrant"], _texts(some), strict=True)]
            if listed:
                parts.append(f"{_SAID[verdict]} {', '.join(listed)}")
        if parts:
            sets = int(rows["sets"].max())
            sentences.append(f"{task}, {budget} units, {sets} data sets, {what} against {reference}: {'; '.join(parts)}.")
    return sentences


_SAID = {LOWER: "lower for", HIGHER: "higher for", OPEN: "not told apart for", NONE: "no interval for"}
_MARKERS, _LINES = "osD^vPX*", ("-", "--", ":")


def draw(errors: pd.DataFrame, regrets: pd.DataFrame, entrants: Sequence[str]) -> Figure:
    """Draw error on new rows (above) and regret (below) against time, a column a task, a line an entrant."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(errors["task"]))
    figure = Figure(figsize=(3.6 * len(tasks) + 1.6, 6.4), layout="constrained")
    panels = figure.subplots(2, len(tasks), sharex=True, squeeze=False)
    for column, task in enumerate(tasks):
        for row, (found, label) in enumerate(((errors, "error on new rows (points)"), (regrets, "regret (points)"))):
            panel = panels[row, column]
            _draw_lines(panel, found[found["task"] == task], entrants)
            if column == 0:
                panel.set_ylabel(label, fontsize=9)
        panels[0, column].set_title(task, fontsize=10)
        panels[1, column].set_xlabel("time in units", fontsize=9)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _draw_lines(panel: Axes, found: pd.DataFrame, entrants: Sequence[str]) -> None:
    for k, entrant in enumerate(entrants):
        line = found[found.entrant == entrant]
        # a little apart, so that the intervals do not hide each other
        times = line["budget"] * 1.03 ** (k - len(entrants) / 2)
        bars = np.abs(line[["low", "high"]].to_numpy().T - line["mean"].to_numpy())
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": _MARKERS[k % len(_MARKERS)], "ms": 4, "lw": 1.3}
        style["ls"] = _LINES[k // len(COLOURS) % len(_LINES)]
        panel.errorbar(times, line["mean"], yerr=np.nan_to_num(bars), label=entrant, elinewidth=0.8, **style)
    panel.axhline(0, color="0.6", lw=0.8)
    panel.set_xscale("log")
    panel.set_xticks(sorted(found.budget.unique()))
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8)
    tidy(panel)
