"""The tables and the figure of the study of oversearching: mean optimism with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter, ScalarFormatter

from spotsvm.common.drawing import COLOURS, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def means(runs: pd.DataFrame, by: Sequence[str], what: str = "optimism") -> pd.DataFrame:
    """Return the mean of a column over sets and repeats and its standard error, a row for each value of the columns `by`.

    The sets are fixed: the standard error is over the repeats within the sets. Other columns, such as the searches that share the
    rows of a repeat, are averaged first.
    """
    within = list(dict.fromkeys([*by, "set"]))
    repeats = runs.groupby([*within, "repeat"], sort=False)[what].mean().reset_index()
    sets = repeats.groupby(within, sort=False)[what].agg(["mean", "var", "count"]).reset_index()
    sets["share"] = sets["var"] / sets["count"]
    found = sets.groupby(list(by), sort=False).agg(mean=("mean", "mean"), total=("share", "sum"), count=("share", "size"))
    found["se"] = np.sqrt(found["total"]) / found["count"]
    return found[["mean", "se"]].reset_index()


def by_trials(runs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return optimism in percentage points: a row for each value of `by`, a column for each number of trials.

    The last columns are its standard error after all trials, and the gains of the tuned and of the held-out accuracy from the
    first trial to the last.
    """
    last = int(runs.trials.max())
    table = means(runs, [*by, "trials"])
    wide = 100 * table.pivot(index=list(by), columns="trials", values="mean")
    wide.columns = pd.Index([f"after {n}" for n in wide.columns])
    wide["se"] = 100 * table[table.trials == last].set_index(list(by))["se"]
    for what in ("tuned", "held_out"):
        scores = means(runs, [*by, "trials"], what).pivot(index=list(by), columns="trials", values="mean")
        wide[f"gain of {what.replace('_', '-')}"] = 100 * (scores[last] - scores.iloc[:, 0])
    order = [tuple(row) for row in runs[list(by)].drop_duplicates().itertuples(index=False)]
    return wide.reindex(order if len(by) > 1 else [row[0] for row in order]).reset_index()


def spent_on_luck(runs: pd.DataFrame, tuned: str) -> tuple[float, float]:
    """Return the gains of the tuned and of the held-out accuracy from the first to the last trial, in percentage points."""
    some = runs[runs.tuned_parameters == tuned]
    gains = []
    for what in ("tuned", "held_out"):
        found = means(some, ["trials"], what).set_index("trials")["mean"]
        gains.append(100 * float(found.loc[runs.trials.max()] - found.loc[runs.trials.min()]))
    return gains[0], gains[1]


def best_on_new_rows(runs: pd.DataFrame, tuned: str) -> tuple[int, float]:
    """Return the number of trials with the best mean held-out accuracy, and its gain until then in percentage points."""
    found = means(runs[runs.tuned_parameters == tuned], ["trials"], "held_out").sort_values("trials")
    best = int(found["mean"].argmax())
    return int(found["trials"].iloc[best]), 100 * float(found["mean"].iloc[best] - found["mean"].iloc[0])


_MARKERS = "osD^v"


def draw_optimism(runs: pd.DataFrame) -> Figure:
    """Draw the mean optimism by trials with standard errors: lines for searches above, for numbers of rows below.

    The left column has one gamma, the right column one gamma for each feature.
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(runs.tuned_parameters))
    figure = Figure(figsize=(4.0 * len(kinds) + 0.6, 6.0), layout="constrained")
    panels = figure.subplots(2, len(kinds), sharex=True, sharey=True, squeeze=False)
    for column, kind in enumerate(kinds):
        some = runs[runs.tuned_parameters == kind]
        for row, (what, unit) in enumerate((("search", ""), ("rows", " rows"))):
            panel = panels[row, column]
            _draw_lines(panel, means(some, [what, "trials"]), what, unit)
            if row == 0:
                panel.set_title(f"{kind}: {_parameters(some)} parameters", fontsize=10)
            if column == 0:
                panel.set_ylabel("optimism (percentage points)", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("trials spent", fontsize=9)
    return figure


def _draw_lines(panel: Axes, found: pd.DataFrame, what: str, unit: str) -> None:
    for k, (label, line) in enumerate(found.groupby(what, sort=False)):
        # shifted, so that no error bar hides another
        trials = line["trials"] * 1.03 ** (k - 2)
        colour, marker = COLOURS[k % len(COLOURS)], _MARKERS[k % len(_MARKERS)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 4, "lw": 1.3, "elinewidth": 0.8}
        panel.errorbar(trials, 100 * line["mean"], yerr=100 * line["se"], label=f"{label}{unit}", **style)
    panel.axhline(0, color="0.6", lw=0.8)
    panel.set_xscale("log")
    panel.set_xticks(sorted(found.trials.unique()))
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8)
    tidy(panel)
    panel.legend(frameon=False, fontsize=8)


def _parameters(runs: pd.DataFrame) -> str:
    low, high = runs.parameters.min(), runs.parameters.max()
    return f"{low}" if low == high else f"{low} to {high}"
