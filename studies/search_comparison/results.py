"""The tables and the figure of the comparison of searches: results, normalised regret and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.comparison.comparison import Comparison, rank_searches
from spotsvm.studies.tasks.tasks import TRUE_VALUE, TuningTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: the search to which all are compared
RANDOM = "random"


def run_rows(task: TuningTask, comparison: Comparison, checkpoints: Sequence[int]) -> pd.DataFrame:
    """Return a row for each search, seed and number of evaluations.

    Columns: task, evaluations, search, seed, result, rank within the seed, best_known (the known minimum, or the best value of
    all runs), and for the whole run failed (number of failed trials) and ask_seconds (mean time of a suggestion).
    """
    trials = comparison.frame()
    values = trials[f"extra_{TRUE_VALUE}"] if task.noisy else trials["value"]
    whole = trials.groupby(["search", "seed"]).agg(
        failed=("state", lambda states: int((states != "ok").sum())), ask_seconds=("ask_seconds", "mean")
    )
    parts = []
    for n in checkpoints:
        results = comparison.results(n)
        part = pd.DataFrame({"result": results.T.stack(), "rank": rank_searches(results, 1.0).T.stack()})
        part.insert(0, "evaluations", n)
        parts.append(part.join(whole).reset_index())
    frame = pd.concat(parts, ignore_index=True)
    frame.insert(0, "task", task.name)
    return frame.assign(best_known=float(values.min()) if task.optimum is None else task.optimum)


def with_regret(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the normalised regret (result - f*) / (r - f*), nan if r = f*: the task then counts in the ranks alone.

    f* is the best known value, and r the median of random search after as many evaluations.
    """
    random = runs[runs.search == RANDOM].groupby(["task", "evaluations"])["result"].median().rename("random")
    unit = runs.join(random, on=["task", "evaluations"])["random"] - runs["best_known"]
    return runs.assign(regret=(runs["result"] - runs["best_known"]) / unit.where(unit > 0))


def by_task(runs: pd.DataFrame) -> pd.DataFrame:
    """Summarise the seeds, with a row for each task, number of evaluations and search."""
    groups = runs.groupby(["task", "evaluations", "search"], sort=False)
    table = groups.agg(
        best=("result", "min"),
        mean=("result", "mean"),
        median=("result", "median"),
        worst=("result", "max"),
        sd=("result", "std"),
        regret=("regret", "median"),
        mean_rank=("rank", "mean"),
        failed=("failed", "sum"),
    )
    return table.reset_index()


def findings(runs: pd.DataFrame) -> pd.DataFrame:
    """Summarise the tasks, with a row for each search, the smallest mean rank after all evaluations first.

    Each number of evaluations has median and mean over the tasks of the median regret over the seeds, and the mean rank. The last
    has the numbers of tasks worse and better than random search by the median, failures, and ms a suggestion.
    """
    tasks = by_task(runs)
    last = int(tasks["evaluations"].max())
    table = pd.DataFrame(index=pd.Index(tasks["search"].unique(), name="search"))
    for n, at in tasks.groupby("evaluations", sort=False):
        groups = at.groupby("search")
        table[f"regret {n}"] = groups["regret"].median()
        table[f"mean regret {n}"] = groups["regret"].mean()
        table[f"rank {n}"] = groups["mean_rank"].mean()
    medians = tasks[tasks.evaluations == last].pivot(index="task", columns="search", values="median")
    table["tasks"] = medians.notna().sum()
    table["worse than random"] = medians.gt(medians[RANDOM], axis=0).sum()
    table["better"] = medians.lt(medians[RANDOM], axis=0).sum()
    whole = runs[runs.evaluations == last].groupby("search")
    table["failed"] = whole["failed"].sum()
    table["ms to ask"] = 1e3 * whole["ask_seconds"].mean()
    return table.sort_values(f"rank {last}", kind="stable").reset_index()


def worse_than_random(runs: pd.DataFrame) -> dict[str, list[str]]:
    """Return for each search the tasks on which its median result after all evaluations is worse than that of random search."""
    tasks = by_task(runs)
    medians = tasks[tasks.evaluations == tasks["evaluations"].max()].pivot(index="task", columns="search", values="median")
    order = [search for search in tasks["search"].unique() if search != RANDOM]
    return {search: medians.index[medians[search] > medians[RANDOM]].tolist() for search in order}


_COLUMNS = 4


def draw_tasks(comparisons: Mapping[str, Comparison], tasks: Sequence[TuningTask]) -> Figure:
    """Draw the convergence on each task: median and quartiles over the seeds, as distance to the minimum if it is known."""
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(tasks))
    rows = int(np.ceil(len(tasks) / columns))
    figure = Figure(figsize=(3.4 * columns, 2.6 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, task in zip(panels, tasks, strict=False):
        comparisons[task.name].figure(ax=panel, optimum=task.optimum, log=task.optimum is not None)
        panel.set_title(task.name, fontsize=9)
        evaluations = panel.get_xlabel()
        panel.set_xlabel("")
        what = "true value" if task.noisy else "best"
        panel.set_ylabel(what if task.optimum is None else f"{what} - minimum", fontsize=8)
        panel.tick_params(labelsize=8, which="both")
        panel.get_legend().remove()
    for panel in panels[len(tasks) :]:
        panel.remove()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 6), frameon=False)
    figure.supxlabel(evaluations, fontsize=9)
    return figure
