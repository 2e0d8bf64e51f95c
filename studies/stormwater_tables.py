"""Tables 5 and 6 of Koch et al. 2011 from the runs of the stormwater study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spotsvm.optimism.set_matrix import OversearchingMatrix
from studies.stormwater_error import REGION
from studies.stormwater_printed import SETS_6, TABLE_5, TABLE_6, TABLE_6_SD
from studies.stormwater_runs import HAND

TARGET = 4  # the set that Table 5 tunes on
TUNER = "kriging"  # of Table 6


def table_5(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a search: best, mean, worst and standard deviation over the seeds of the error on set 4, with the printed ones.

    The columns `untouched` and `trained` are mean errors of the same settings on sets 1 and 3, which no search of these runs has
    seen, and on set 2.
    """
    rows = []
    for search, group in runs[runs.tuned_on.isin([0, TARGET])].groupby("search", sort=False):
        found = group[f"set_{TARGET}"]
        row: dict[str, Any] = {
            "method": search,
            "best": found.min(),
            "mean": found.mean(),
            "worst": found.max(),
            "SD": found.std(),
        }
        row |= {"untouched": group[["set_1", "set_3"]].to_numpy().mean(), "trained": group["set_2"].mean()}
        printed = TABLE_5.get(str(search))
        if printed is not None:
            row |= {"printed as": printed.method, "printed best": printed.best, "printed mean": printed.mean}
            row |= {"printed worst": printed.worst, "printed SD": printed.sd}
        rows.append(row)
    table = pd.DataFrame(rows)
    return pd.concat([table[table.method != HAND], table[table.method == HAND]], ignore_index=True)


def set_matrix(runs: pd.DataFrame) -> OversearchingMatrix:
    """Give the matrix of Table 6: tuned by Kriging on each of sets 1, 3 and 4, applied to all of them, by seed."""
    ours = runs[(runs.search == TUNER) & runs.tuned_on.isin(SETS_6)]
    seeds = sorted(ours.seed.unique())
    by_run = ours.set_index(["seed", "tuned_on"])
    values = [[[by_run.loc[(seed, v), f"set_{t}"] for t in SETS_6] for v in SETS_6] for seed in seeds]
    return OversearchingMatrix(np.array(values, dtype=float), [f"set {t}" for t in SETS_6])


def table_6(matrix: OversearchingMatrix) -> pd.DataFrame:
    """Give the matrix with S_t and V_t (in percent), standard deviations over the seeds, and the printed figures beside ours."""
    printed = OversearchingMatrix(TABLE_6, matrix.names)
    columns: dict[str, Any] = {"tuned on": [*matrix.names, "S_t", "V_t, %"]}
    for k, name in enumerate(matrix.names):
        columns[f"on {name}"] = [*matrix.mean[:, k], matrix.S[k], 100 * matrix.V[k]]
        columns[f"SD {name}"] = [*matrix.std[:, k], np.nan, 100 * matrix.V_error[k]]
    for k, name in enumerate(matrix.names):
        columns[f"printed {name}"] = [*printed.mean[:, k], printed.S[k], 100 * printed.V[k]]
        columns[f"printed SD {name}"] = [*(row[k] for row in TABLE_6_SD), np.nan, np.nan]
    return pd.DataFrame(columns)


def winners(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the recommended setting of each run."""
    return runs[["tuned_on", "search", "seed", *REGION]].reset_index(drop=True)
