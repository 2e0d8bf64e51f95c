"""The picture of the comparison of searches: a panel a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spotsvm.comparison import Comparison
from studies.tuning_tasks import TuningTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 4


def draw_tasks(comparisons: Mapping[str, Comparison], tasks: Sequence[TuningTask]) -> Figure:
    """Draw the convergence on each task: median and quartiles over the seeds; the distance to the minimum where it is known."""
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
