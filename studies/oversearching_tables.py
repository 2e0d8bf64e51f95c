"""The tables of the study of oversearching: mean optimism with standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def means(runs: pd.DataFrame, by: Sequence[str], what: str = "optimism") -> pd.DataFrame:
    """Give the mean over sets and repeats and its standard error, a row for each value of `by`.

    The sets are as they are, and repeats the sample: the standard error is from the repeats within the sets. What else differs,
    such as the searches that share a repeat's rows, is averaged first.

    Parameters
    ----------
    runs : DataFrame
        With columns set, repeat, `what` and those of `by`.
    by : sequence of str
        Columns.
    what : str, default="optimism"
        The column to average.
    """
    within = list(dict.fromkeys([*by, "set"]))
    repeats = runs.groupby([*within, "repeat"], sort=False)[what].mean().reset_index()
    sets = repeats.groupby(within, sort=False)[what].agg(["mean", "var", "count"]).reset_index()
    sets["share"] = sets["var"] / sets["count"]
    found = sets.groupby(list(by), sort=False).agg(mean=("mean", "mean"), total=("share", "sum"), count=("share", "size"))
    found["se"] = np.sqrt(found["total"]) / found["count"]
    return found[["mean", "se"]].reset_index()


def by_trials(runs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Give optimism by trials: a row for each value of `by`, a column a number of trials, in percentage points.

    The last columns: its standard error after all trials; what the tuned and the held-out accuracy have gained from the first
    trial to the last.
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
    """Give what the tuned and the held-out accuracy gain from the first to the last trial, in percentage points.

    Parameters
    ----------
    runs : DataFrame
        All rows.
    tuned : str
        What was tuned.
    """
    some = runs[runs.tuned_parameters == tuned]
    gains = []
    for what in ("tuned", "held_out"):
        found = means(some, ["trials"], what).set_index("trials")["mean"]
        gains.append(100 * float(found.loc[runs.trials.max()] - found.loc[runs.trials.min()]))
    return gains[0], gains[1]


def best_on_new_rows(runs: pd.DataFrame, tuned: str) -> tuple[int, float]:
    """Give the number of trials after which the held-out accuracy is best on average, and how far it has then risen, in points.

    Parameters
    ----------
    runs : DataFrame
        All rows.
    tuned : str
        What was tuned.
    """
    found = means(runs[runs.tuned_parameters == tuned], ["trials"], "held_out").sort_values("trials")
    best = int(found["mean"].argmax())
    return int(found["trials"].iloc[best]), 100 * float(found["mean"].iloc[best] - found["mean"].iloc[0])
