"""The tables, the conclusion and the figure of the study `new_rows`: paired differences with intervals over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.luck.intervals import NO_INTERVAL, nadeau_bengio
from spotsvm.studies.new_rows.entrants import OWN_TIME, REFERENCE, REFERENCE_CANDIDATES
from spotsvm.studies.new_rows.scores import AUC, BRIER, CALIBRATION, ERROR, LOG_LOSS, SCORES
from spotsvm.studies.new_rows.sets import KINDS
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPLIT = ["task", "kind", "trait", "set", "rows", "split"]
LOWER, HIGHER, OPEN, NONE = "lower", "higher", "undecided", "no interval"
_ROUNDING = 1e-9
_LEAST = 1e-9
#: number of bootstrap draws of the data sets, and the number of sets from which on there is an interval
N_DRAWS, LEAST_SETS = 5000, 5
ALL = "all"


class Measure(NamedTuple):
    """What entrants are compared by: a column, its unit, and whether differences are ratios, or more is better."""

    column: str
    title: str
    task: str = ""
    ratio: bool = False
    more_is_better: bool = False
    digits: int = 3


POINTS = Measure(ERROR, "error, points", CLASSIFICATION, digits=2)
RATIO = Measure(ERROR, "squared error, ratio", REGRESSION, ratio=True)
MEASURES = (
    POINTS,
    RATIO,
    Measure(LOG_LOSS, "log loss", CLASSIFICATION),
    Measure(AUC, "AUC", CLASSIFICATION, more_is_better=True),
    Measure(BRIER, "Brier score", CLASSIFICATION),
    Measure(CALIBRATION, "calibration error", CLASSIFICATION),
    Measure("seconds", "processor time, ratio", ratio=True),
)


class Estimate(NamedTuple):
    """A mean with its 95 % interval, nan if undefined. Ratios have geometric means."""

    mean: float
    low: float
    high: float
    ratio: bool
    digits: int = 2

    @property
    def verdict(self) -> str:
        """Position of the interval relative to no difference: below, above, or around it."""
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            return NONE
        same = 1.0 if self.ratio else 0.0
        return LOWER if self.high < same else HIGHER if self.low > same else OPEN

    def __str__(self) -> str:
        digits = ".3f" if self.ratio else f"+.{self.digits}f"
        text = f"{self.mean:{digits}}"
        return text if self.verdict == NONE else f"{text} [{self.low:{digits}}, {self.high:{digits}}]"


def estimate(differences: ArrayLike, ratio: bool) -> Estimate:
    """Return the mean of independent differences and its t interval; for logarithms of ratios the geometric mean."""
    values = np.asarray(differences, dtype=np.float64)
    return _estimate(values, ratio, NO_INTERVAL if _equal(values) else nadeau_bengio(values, 0.0))


def over_sets(differences: ArrayLike, ratio: bool) -> Estimate:
    """Return the mean of the differences of data sets, and its interval when the sets are drawn again, from five sets on."""
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < LEAST_SETS or _equal(values):
        return _estimate(values, ratio, NO_INTERVAL)
    drawn = np.random.default_rng(0).choice(values, (N_DRAWS, len(values))).mean(axis=1)
    return _estimate(values, ratio, np.quantile(drawn, [0.025, 0.975]))


def _equal(values: NDArray[np.float64]) -> bool:
    return bool(np.ptp(values) <= _ROUNDING * max(np.abs(values).max(), 1e-300))  # up to rounding


def _estimate(values: NDArray[np.float64], ratio: bool, interval: ArrayLike) -> Estimate:
    numbers = np.array([values.mean(), *np.asarray(interval)])
    mean, low, high = (np.exp(numbers) if ratio else numbers).tolist()
    return Estimate(mean, low, high, ratio)


def with_units(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the unit of each split (mean time of a reference candidate over the seeds), and the times in units."""
    unit = units(runs).rename("unit")
    runs = runs.join(unit, on=[*SPLIT])
    return runs.assign(spent=runs["seconds"] / runs["unit"])


def units(runs: pd.DataFrame) -> pd.Series[float]:
    """Return the unit of each split on which the reference has run, in seconds of processor time."""
    searched = runs[runs["entrant"] == REFERENCE].groupby(SPLIT)["searched"].mean()
    return searched / REFERENCE_CANDIDATES


def against(runs: pd.DataFrame, rival: str, measure: Measure | None = None) -> pd.DataFrame:
    """Return the difference of each entrant from a rival on the same split: as it is, or the logarithm of the ratio.

    By default it is the error, in points or in regression as a ratio. Values are means over seeds. The value of the rival is that
    at the same budget; a rival without a budget has one. Splits on which the rival has no value are left out.
    """
    column = measure.column if measure else ERROR
    values = runs.dropna(subset=column).groupby([*SPLIT, "entrant", "budget"], sort=False)[column].mean().reset_index()
    of_rival = values[values["entrant"] == rival]
    keys = SPLIT if (of_rival["budget"] == OWN_TIME).all() else [*SPLIT, "budget"]
    found = values.join(of_rival.set_index(keys)[column].rename("base"), on=keys, how="inner")
    logarithms = np.log(found[column].clip(lower=_LEAST) / found["base"].clip(lower=_LEAST))
    ratios = measure.ratio if measure else found["task"] == REGRESSION
    found["difference"] = np.where(ratios, logarithms, found[column] - found["base"])
    return found


def judgement(runs: pd.DataFrame, subject: str, rivals: Sequence[str]) -> pd.DataFrame:
    """Compare an entrant without a budget with others by each measure, over all sets and over those of each kind.

    Columns: task, rows, kind, measure, against, sets; mean, low, high and median over the sets; better and worse, the numbers of
    sets on which the entrant is better and worse; and text.
    """
    own, parts = runs[runs["budget"] == OWN_TIME], []
    for rival in rivals:
        for measure in MEASURES:
            if not {subject, rival} <= set(own.dropna(subset=measure.column)["entrant"]):
                continue
            found = against(own, rival, measure)
            found = of_sets(found[found["entrant"] == subject])
            found = found[found["task"] == measure.task] if measure.task else found
            for kind in (ALL, *KINDS):
                some = found if kind == ALL else found[(found["kind"] == kind) | (found["trait"] == kind)]
                for (task, rows), group in some.groupby(["task", "rows"], sort=False):
                    about = {"task": task, "rows": rows, "kind": kind, "measure": measure.title, "against": rival}
                    parts.append(about | _judged(group["difference"].to_numpy(dtype=float), measure))
    columns = ["task", "rows", "kind", "measure", "against", "sets", "mean", "low", "high", "median", "better", "worse", "text"]
    return pd.DataFrame(parts, columns=columns)


def _judged(differences: NDArray[np.float64], measure: Measure) -> dict[str, Any]:
    mean = over_sets(differences, measure.ratio)._replace(digits=measure.digits)
    median = float(np.median(differences))
    shown = Estimate(float(np.exp(median)) if measure.ratio else median, np.nan, np.nan, measure.ratio, measure.digits)
    lower, higher = int((differences < 0).sum()), int((differences > 0).sum())
    better, worse = (higher, lower) if measure.more_is_better else (lower, higher)
    numbers = {"mean": mean.mean, "low": mean.low, "high": mean.high, "median": shown.mean, "better": better, "worse": worse}
    return {"sets": len(differences)} | numbers | {"text": f"{mean}; {shown}; {better} : {worse}"}


def judged_table(found: pd.DataFrame, by_kind: bool) -> pd.DataFrame:
    """Return judgements with a column for each measure: the mean with its interval; the median; better : worse."""
    some = found[(found["kind"] != ALL) if by_kind else (found["kind"] == ALL)]
    keys = ["task", *(["kind"] if by_kind else []), "rows", "against"]
    table = some.pivot_table(index=keys, columns="measure", values="text", aggfunc="first", sort=False)
    table = table[[measure.title for measure in MEASURES if measure.title in table]]
    sets = some.groupby(keys, sort=False)["sets"].max()
    return table.assign(sets=sets).reset_index()[[*keys, "sets", *table.columns]].fillna("")


def judged_sentences(found: pd.DataFrame, subject: str) -> list[str]:
    """Return a sentence for each task, number of rows and rival about the error over all sets."""
    some = found[(found["kind"] == ALL) & found["measure"].isin([POINTS.title, RATIO.title])]
    sentences = []
    for row in some.sort_values(["task", "rows"], kind="stable").itertuples():
        mean, median, counts = str(row.text).split("; ")
        better, worse = counts.split(" : ")
        sentences.append(
            f"{str(row.task).capitalize()}, {row.rows} rows, {row.measure}: {subject} against {row.against} {mean}, "
            f"median {median}, better on {better} and worse on {worse} of {row.sets} sets."
        )
    return sentences


def score_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and the median over the sets of each score: a row for each task, number of rows and entrant."""
    own = runs[runs["budget"] == OWN_TIME]
    titles = dict(zip(SCORES, ("error", "RMSE", "log loss", "AUC", "Brier score", "calibration error"), strict=True))
    titles["seconds"] = "seconds"
    keys = ["task", "rows", "entrant"]
    sets = own.groupby([*keys, "set"], sort=False)[list(titles)].mean().groupby(keys, sort=False)
    parts = {f"{title}, {how}": getattr(sets[name], how)() for name, title in titles.items() for how in ("mean", "median")}
    return pd.DataFrame(parts).dropna(axis=1, how="all").reset_index()


def of_sets(found: pd.DataFrame) -> pd.DataFrame:
    """Return the mean difference over the splits for each set, entrant, budget and number of rows."""
    by = ["task", "kind", "trait", "rows", "entrant", "budget", "set"]
    return found.groupby(by, sort=False)["difference"].mean().reset_index()


def summaries(found: pd.DataFrame, by: Sequence[str] = ("task", "rows", "entrant", "budget")) -> pd.DataFrame:
    """Return the mean over data sets of the differences: a row for each combination of `by`.

    Columns: sets (their number); mean, low, high and median over the sets (ratios in regression); better, the number of sets with
    a lower error; and verdict.
    """
    keys, rows = list(by), []
    for key, values in of_sets(found).groupby(keys, sort=False):
        group = dict(zip(keys, key, strict=True))
        ratio = group["task"] == REGRESSION
        mean = over_sets(values["difference"], ratio)
        median = float(values["difference"].median())
        rows.append(
            group
            | {"sets": len(values), "mean": mean.mean, "low": mean.low, "high": mean.high}
            | {"median": float(np.exp(median)) if ratio else median, "better": int((values["difference"] < 0).sum())}
            | {"verdict": mean.verdict}
        )
    return pd.DataFrame(rows, columns=[*keys, "sets", "mean", "low", "high", "median", "better", "verdict"])


def texts(found: pd.DataFrame) -> list[str]:
    """Return the means of summaries with their intervals."""
    columns = found[["task", "mean", "low", "high"]].itertuples(index=False, name=None)
    return [str(Estimate(mean, low, high, task == REGRESSION)) for task, mean, low, high in columns]


def wide(found: pd.DataFrame, column: str, titles: dict[Any, str]) -> pd.DataFrame:
    """Return summaries with a row for each task and entrant, and a column for each value of `column`.

    A cell with fewer sets than another cell of its row has their number in parentheses.
    """
    most = found.groupby(["task", "entrant"])["sets"].transform("max")
    few = [f" ({sets} sets)" if sets < of else "" for sets, of in zip(found["sets"], most, strict=True)]
    cells = found.assign(cell=[text + count for text, count in zip(texts(found), few, strict=True)])
    table = cells.groupby(["task", "entrant"], sort=False).agg(sets=("sets", "max"))
    for value, title in titles.items():
        if len(rows := cells[cells[column] == value]):
            table[title] = rows.set_index(["task", "entrant"])["cell"]
    return table.reset_index().fillna("")


def spent(runs: pd.DataFrame, titles: dict[int, str]) -> pd.DataFrame:
    """Return the median time of each entrant in units for each budget, including the last fit."""
    table = runs.pivot_table(index=["task", "entrant"], columns="budget", values="spent", aggfunc="median", sort=False)
    shown = {budget: title for budget, title in titles.items() if budget in table}
    return table[list(shown)].set_axis(list(shown.values()), axis=1).reset_index()


def errors_by_set(runs: pd.DataFrame, entrants: Sequence[str]) -> pd.DataFrame:
    """Return the mean errors of the entrants on each set."""
    some = runs[runs["entrant"].isin(entrants)]
    table = some.pivot_table(index=["task", "kind", "set"], columns="entrant", values="error", aggfunc="mean", sort=False)
    return table[[name for name in entrants if name in table]].reset_index()


def compare_to(runs: pd.DataFrame, rival: str) -> pd.DataFrame:
    """Count the sets on which the error of an entrant is below or above that of a rival, beyond the noise of the splits.

    Columns: task, entrant, budget, sets; lower and higher, the numbers of sets by their t intervals over the splits; and higher
    on, the names of the latter with their differences, the largest first.
    """
    found = against(runs, rival)
    found = found[found["entrant"] != rival]
    rows = []
    for (task, entrant, budget), group in found.groupby(["task", "entrant", "budget"], sort=False):
        sets = {
            str(name): estimate(values, task == REGRESSION) for name, values in group.groupby("set", sort=False)["difference"]
        }
        worse = sorted((name for name, mean in sets.items() if mean.verdict == HIGHER), key=lambda name: -sets[name].mean)
        lower = sum(mean.verdict == LOWER for mean in sets.values())
        named = "; ".join(f"{name} {str(sets[name]).partition(' ')[0]}" for name in worse)
        rows.append((task, entrant, budget, len(sets), lower, len(worse), named))
    return pd.DataFrame(rows, columns=["task", "entrant", "budget", "sets", "lower", "higher", "higher on"])


def compared(runs: pd.DataFrame, subject: str, rivals: Sequence[str]) -> pd.DataFrame:
    """Compare an entrant without a budget with rivals, and name the sets on which it has the higher error.

    Columns: task, rows, against, sets, difference (with its interval), median, better (number of sets with a lower error) and
    worse on (the sets with a higher error and their differences, the largest first).
    """
    parts = []
    for rival in rivals:
        found = against(runs, rival)
        found = found[(found["entrant"] == subject) & (found["budget"] == OWN_TIME)]
        table = summaries(found)
        by_set = of_sets(found).sort_values("difference", ascending=False)
        worse = [
            by_set[(by_set["task"] == task) & (by_set["rows"] == rows) & (by_set["difference"] > 0)]
            for task, rows in zip(table["task"], table["rows"], strict=True)
        ]
        parts.append(table.assign(against=rival, difference=texts(table), **{"worse on": [_named(sets) for sets in worse]}))
    columns = ["task", "rows", "against", "sets", "difference", "median", "better", "worse on"]
    return pd.concat(parts, ignore_index=True)[columns].sort_values(["task", "rows"], kind="stable", ignore_index=True)


def _named(sets: pd.DataFrame) -> str:
    rows = sets[["set", "task", "difference"]].itertuples(index=False, name=None)
    return "; ".join(f"{name} {estimate([value], task == REGRESSION)}" for name, task, value in rows)


def judged(found: pd.DataFrame, budget: int, rows: int) -> list[str]:
    """Return a sentence for each task: the entrants with a lower, a higher and an undecided error, by their intervals.

    Entrants without a budget are judged in their own time.
    """
    some = found[found["budget"].isin([OWN_TIME, budget]) & (found["rows"] == rows) & (found["entrant"] != REFERENCE)]
    sentences = []
    for task, of_task in some.groupby("task", sort=False):
        parts = []
        for verdict in (LOWER, HIGHER, OPEN, NONE):
            rows_of = of_task[of_task["verdict"] == verdict]
            listed = [f"{name} {text}" for name, text in zip(rows_of["entrant"], texts(rows_of), strict=True)]
            if listed:
                parts.append(f"{_WORDS[verdict]} {', '.join(listed)}")
        what = "mean squared error as a ratio to" if task == REGRESSION else "error in points against"
        sets = int(of_task["sets"].max())
        sentences.append(
            f"{str(task).capitalize()}, {rows} rows, {sets} data sets, {budget} units or an entrant's own time, {what} "
            f"{REFERENCE}: {'; '.join(parts)}."
        )
    return sentences


_WORDS = {LOWER: "lower for", HIGHER: "higher for", OPEN: "undecided for", NONE: "no interval for"}
_MARKERS, _LINES = "osD^vPX*", ("-", "--", ":")


def draw(found: pd.DataFrame, times: pd.DataFrame, entrants: Sequence[str]) -> Figure:
    """Draw the difference in error on new rows by time spent: a panel for each task, a line for each entrant.

    `found` has summaries for one number of rows, `times` the median time in units (`spent`) of each task, entrant and budget.
    """
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(found["task"]))
    figure = Figure(figsize=(4.6 * len(tasks) + 2.6, 4.8), layout="constrained")
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    lines = found.merge(times, on=["task", "entrant", "budget"])
    for panel, task in zip(panels, tasks, strict=True):
        _draw_lines(panel, lines[lines["task"] == task], entrants, task == REGRESSION)
        panel.set_title(task, fontsize=10)
        panel.set_xlabel("time in units, median", fontsize=9)
        panel.set_ylabel("mean squared error, ratio" if task == REGRESSION else "error on new rows, points", fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _draw_lines(panel: Axes, found: pd.DataFrame, entrants: Sequence[str], ratio: bool) -> None:
    for k, entrant in enumerate(entrants):
        line = found[found["entrant"] == entrant].sort_values("spent")
        bars = np.abs(line[["low", "high"]].to_numpy(dtype=float).T - line["mean"].to_numpy(dtype=float))
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": _MARKERS[k % len(_MARKERS)], "ms": 4, "lw": 1.3}
        style["ls"] = _LINES[k // len(COLOURS) % len(_LINES)]
        times = line["spent"].clip(lower=0.1)
        panel.errorbar(times, line["mean"], yerr=np.nan_to_num(bars), label=entrant, elinewidth=0.8, **style)
    panel.axhline(1.0 if ratio else 0.0, color="0.6", lw=0.8)
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8)
    tidy(panel)
