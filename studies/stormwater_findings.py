"""What the stormwater study says of its tables; each claim is made only where the measurements carry it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spotsvm.optimism.set_matrix import OversearchingMatrix
from studies.stormwater_printed import TABLE_6
from studies.stormwater_runs import HAND
from studies.stormwater_tables import TARGET, TUNER, table_5

_RIVALS = ("cmaes", "lbfgsb")


def on_table_5(runs: pd.DataFrame, unit: str) -> str:
    """Say who has the lowest errors, and whether Kriging's are below those of CMA-ES and L-BFGS-B, as the paper has it."""
    of = {str(row.pop("method")): row for row in table_5(runs).to_dict("records")}
    hand = float(of.pop(HAND)["best"])
    errors = ", ".join(f"{name} {row['best']:.4g} and {row['mean']:.4g}" for name, row in of.items())
    above = [name for name, row in of.items() if row["mean"] > hand]
    parts = [
        f"RMSE on set {TARGET}{', ' + unit if unit else ''}, best and mean over the seeds: {errors}; by hand {hand:.4g}"
        + (f", which is below the mean of {' and '.join(above)}." if above else "."),
        *_on_rivals(of),
        _on_recommended(runs[runs.tuned_on > 0]),
    ]
    return " ".join(parts)


def _on_rivals(of: dict[str, dict[Any, Any]]) -> list[str]:
    """Say whether Kriging's best and mean are below those of its rivals in the paper's Table 5."""
    rivals = [name for name in _RIVALS if name in of]
    if not rivals:
        return []
    parts = []
    for what in ("best", "mean"):
        lower = [name for name in rivals if of[TUNER][what] < of[name][what]]
        others = [name for name in rivals if name not in lower]
        below = f"below {' and '.join(lower)}" if lower else ""
        parts.append(f"its {what} is " + ", ".join(filter(None, [below, f"not below {' and '.join(others)}" if others else ""])))
    return [f"Kriging: {'; '.join(parts)} (in the paper, on other data, SPOT's are below both)."]


def _on_recommended(chosen: pd.DataFrame) -> str:
    same = int(np.isclose(chosen.recommended, chosen.best_seen).sum())
    return (
        f"Evaluations have no noise: in {same} of {len(chosen)} runs the trial that is recommended is the best seen, and there "
        "the one does on fresh data what the other does."
    )


def on_table_6(matrix: OversearchingMatrix) -> str:
    """Say how much the tuned error flatters, and what the paper prints, of other data."""
    printed = ", ".join(f"{100 * v:.1f} %" for v in OversearchingMatrix(TABLE_6, matrix.names).V)
    return f"{matrix.summary()} (Printed, of other data: {printed}.)"
