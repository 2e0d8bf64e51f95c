"""The tables of the comparison of optimizers: normalised regret, with intervals over functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: the search to which all are compared
RANDOM = "random"
#: bootstrap draws of the functions, and the number of functions from which on there is an interval
N_DRAWS, LEAST_FUNCTIONS = 5000, 5
#: names of the intervals' columns
LOW, HIGH = "low", "high"


def with_regret(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the normalised regret (result - f*) / (r - f*), nan if r = f*.

    f* is the known minimum, or the best result of all runs; r the median of random search after as many evaluations.
    """
    best = runs["optimum"].fillna(runs.groupby("problem")["result"].transform("min"))
    random = runs[runs.optimizer == RANDOM].groupby(["problem", "budget"])["result"].median().rename("random")
    unit = runs.join(random, on=["problem", "budget"])["random"] - best
    return runs.assign(best_known=best, regret=(runs["result"] - best) / unit.where(unit > 0))


def by_function(runs: pd.DataFrame) -> pd.DataFrame:
    """Summarise seeds and instances, with a row for each group, function, budget and optimizer."""
    groups = runs.groupby(["group", "function", "budget", "optimizer"], sort=False)
    table = groups.agg(
        result=("result", "median"),
        regret=("regret", "median"),
        runs=("result", "size"),
        failed=("failed", lambda texts: int((texts != "").sum())),
    )
    return table.reset_index()


def over_functions(regrets: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of the mean regret when the functions are drawn again; nan for fewer than five."""
    if len(regrets) < LEAST_FUNCTIONS:
        return float("nan"), float("nan")
    means = np.random.default_rng(0).choice(regrets, (N_DRAWS, len(regrets))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each group and optimizer, the smallest mean regret after the largest budget first.

    For each budget: mean over the functions with its interval, and median. Then functions, runs, failed runs, ms a suggestion.
    """
    functions = by_function(runs)
    budgets = sorted(functions["budget"].unique())
    rows = []
    for (group, optimizer), of_one in functions.groupby(["group", "optimizer"], sort=False):
        row: dict[str, Any] = {"problems": group, "optimizer": optimizer}
        for n in budgets:
            regrets = of_one.loc[of_one["budget"] == n, "regret"].dropna().to_numpy(dtype=np.float64)
            low, high = over_functions(regrets)
            mean, median = (float(f(regrets)) if len(regrets) else float("nan") for f in (np.mean, np.median))
            name = mean_column(n)
            row |= {name: mean, f"{name} {LOW}": low, f"{name} {HIGH}": high, median_column(n): median}
        last = of_one[of_one["budget"] == budgets[-1]]
        whole = runs[(runs["group"] == group) & (runs["optimizer"] == optimizer) & (runs["budget"] == budgets[-1])]
        counts = {"functions": int(last["regret"].notna().sum()), "runs": len(whole), "failed": int(last["failed"].sum())}
        rows.append(row | counts | {"ms a suggestion": 1e3 * whole["seconds"].median()})
    table = pd.DataFrame(rows)
    order = {group: k for k, group in enumerate(functions["group"].unique())}
    keys = [table["problems"].map(order), table[mean_column(budgets[-1])]]
    return table.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def mean_column(budget: int) -> str:
    """Return the name of the column with the mean regret after a budget."""
    return f"mean regret, {budget} d"


def median_column(budget: int) -> str:
    """Return the name of the column with the median regret after a budget."""
    return f"median, {budget} d"


def shown(table: pd.DataFrame, budgets: tuple[int, ...]) -> pd.DataFrame:
    """Return the summary with a mean, its interval and the median in one cell, as pages show it."""
    cells = table[["problems", "optimizer"]].copy()
    for n in budgets:
        name = mean_column(n)
        columns = [name, f"{name} {LOW}", f"{name} {HIGH}", median_column(n)]
        cells[f"{n} d: mean, median"] = [_cell(*row) for row in table[columns].itertuples(index=False)]
    return cells.join(table[["functions", "runs", "failed", "ms a suggestion"]])


def _cell(mean: float, low: float, high: float, median: float) -> str:
    interval = "" if np.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{mean:.2f}{interval}, {median:.2f}"
