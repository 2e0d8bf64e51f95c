"""Which machines the pictures of the study `alga` show: one a method, ALGA and GASVM at a K that is enough."""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.alga_parts import Parts
from studies.alga_pictures import Machine
from studies.alga_runs import ALGA, GA_MODEL, GASVM, GRID, machine_of
from studies.alga_tables import by_method

_ENOUGH = 1.0  # points of accuracy on V below the best K


def selected_size(runs: pd.DataFrame, name: str) -> int:
    """Give the smallest K at which ALGA's mean accuracy on V is within a point of its best; 0 if it has not run.

    Parameters
    ----------
    runs : DataFrame
        As `AlgaStudy.frame` gives them.
    name : str
        The set.
    """
    table = by_method(runs)
    ours = table[(table["set"] == name) & (table.method == ALGA)]
    enough = ours[ours["V %"] >= ours["V %"].max() - _ENOUGH]
    return int(enough["K"].min()) if len(enough) else 0


def selected_machines(parts: Parts, runs: pd.DataFrame) -> list[Machine]:
    """Train again the machines of run 0: of grid search, GA-model, and of GASVM and ALGA at `selected_size`.

    Parameters
    ----------
    parts : Parts
        The split.
    runs : DataFrame
        As `AlgaStudy.frame` gives them.
    """
    size = selected_size(runs, parts.name)
    of_split = runs[(runs["set"] == parts.name) & (runs.fold == parts.fold) & (runs.run == 0)]
    machines = []
    for method, wanted in ((GRID, 0), (GA_MODEL, 0), (GASVM, size), (ALGA, size)):
        for row in of_split[(of_split.method == method) & (of_split["K"] == wanted)].to_dict("records"):
            machines.append(_machine(parts, {str(key): value for key, value in row.items()}))
    return machines


def _machine(parts: Parts, row: dict[str, Any]) -> Machine:
    svc, chosen = machine_of(parts, row)
    of_size = f", K = {row['K']}" if row["K"] else ""
    scores = f"V {100 * row['validation']:.1f} %, Psi {100 * row['test']:.1f} %, {row['support_vectors']} SVs"
    return Machine(parts, f"{row['method']}{of_size}\n{scores}", svc, chosen)
