"""The tables of the EvoSVM study."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.evosvm_checks import PAPERS, f_test
from studies.evosvm_folds import LIBSVM, METHODS, PRINTED_AS
from studies.evosvm_printed import ERRORS, F_TESTS, implied_f

CELL = ["data_set", "C"]


def cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a data set, C and method: errors, as measured and printed, time, and what of the optimum is reached."""
    rows = []
    peers = runs[runs.method == LIBSVM][[*CELL, "fold", "seconds"]]
    timed = runs.merge(peers, on=[*CELL, "fold"], suffixes=("", "_peer"))
    for _, group in timed.groupby([*CELL, "method"], sort=False):
        data_set, cost, method = group[[*CELL, "method"]].iloc[0]
        printed = ERRORS.get((cost, data_set, PRINTED_AS.get(method, "")), (np.nan, np.nan))
        rows.append(
            {
                "data set": data_set,
                "C": cost,
                "method": method,
                "error": group.error.mean(),
                "sd": group.error.std(),
                "printed error": printed[0],
                "printed sd": printed[1],
                "time / LIBSVM": (group.seconds / group.seconds_peer).median(),
                "share of optimum": group.optimum_share.median(),
                "lowest share": group.optimum_share.min(),
                "generations": group.generations.median(),
                "ended by itself": group.converged.mean(),
            }
        )
    return pd.DataFrame(rows)


def f_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a data set and C: F over the folds of the six learners that the paper has, the printed one, the implied one."""
    rows = []
    for _, group in runs[runs.method.isin(list(PRINTED_AS))].groupby(CELL, sort=False):
        data_set, cost = group[CELL].iloc[0]
        key = cost, data_set
        f, p = f_test([one.error.to_numpy() for _, one in group.groupby("method")])
        printed, printed_p = F_TESTS.get(key, (np.nan, np.nan))
        implied = implied_f(*key) if key in F_TESTS else np.nan
        rows.append((data_set, cost, f, p, printed, printed_p, implied))
    columns = ["data set", "C", "F", "p", "printed F", "printed p", "F of the printed errors"]
    return pd.DataFrame(rows, columns=columns)


def as_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Give the errors as Table 2 has them, a row a C and method; in brackets what the paper prints."""

    def text(row: pd.Series) -> str:
        own = f"{row['error']:.2f}±{row['sd']:.2f}"
        return own if np.isnan(row["printed error"]) else f"{own} ({row['printed error']:.2f}±{row['printed sd']:.2f})"

    wide = table.assign(text=table.apply(text, axis=1)).pivot(index=["C", "method"], columns="data set", values="text")
    order = [(cost, method) for cost in table["C"].unique() for method in METHODS]
    return wide.loc[order, list(table["data set"].unique())].reset_index()


def by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Give a row a C and method: share of the optimum, generations, time, and error against the optimum's without bias."""
    best = table[table.method == "exact"].set_index(["data set", "C"]).error
    rows = []
    for (cost, method), group in table.groupby(["C", "method"], sort=False):
        more = group.set_index(["data set", "C"]).error - best[best.index.get_level_values("C") == cost]
        rows.append(
            {
                "C": cost,
                "method": method,
                "share of optimum": group["share of optimum"].median(),
                "lowest": group["lowest share"].min(),
                "generations": group["generations"].median(),
                "time / LIBSVM": group["time / LIBSVM"].median(),
                "error less exact's": more.mean(),
                "cells lower": int((more < -1e-9).sum()),
                "cells higher": int((more > 1e-9).sum()),
            }
        )
    return pd.DataFrame(rows)


def reading_distances(readings: pd.DataFrame) -> pd.DataFrame:
    """Give a row a reading: mean distance to the printed errors of mySVM and LibSVM, at the largest C and at all."""
    names = [column for column in readings if "sigma" in str(column)]
    rows = []
    for name in names:
        row: dict[str, str | float] = {"reading": str(name)}
        for learner in ("mySVM", "LibSVM"):
            distance = (readings[name] - readings[f"printed {learner}"]).abs()
            row[f"to {learner}, C = {readings['C'].max():g}"] = distance[readings["C"] == readings["C"].max()].mean()
            row[f"to {learner}, all C"] = distance.mean()
        rows.append(row)
    return pd.DataFrame(rows)


def threshold_distances(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a C and method: mean distance of the errors of the paper's four to the printed, without and with threshold."""
    four = runs[runs.method.isin(PAPERS)]
    means = four.groupby([*CELL, "method"], sort=False)[["error", "error_with_threshold"]].mean().reset_index()
    means["printed"] = [
        ERRORS.get((cost, data_set, PRINTED_AS[method]), (np.nan, np.nan))[0]
        for data_set, cost, method in zip(means.data_set, means["C"], means.method, strict=True)
    ]
    means["with b = 0"] = (means.error - means.printed).abs()
    means["with b found after training"] = (means.error_with_threshold - means.printed).abs()
    readings = ["with b = 0", "with b found after training"]
    return means.groupby(["C", "method"], sort=False)[readings].mean().reset_index()


def stop_shares(stops: pd.DataFrame) -> pd.DataFrame:
    """Give a row a C and method: medians over the data sets of what of the optimum is reached when."""
    shares = stops.drop(columns="data set").groupby(["C", "method"], sort=False).median().reset_index()
    return shares.sort_values(["C", "method"], key=_order, ascending=[False, True], kind="stable", ignore_index=True)


def _order(column: pd.Series) -> pd.Series:
    return column.map({method: place for place, method in enumerate(PAPERS)}) if column.name == "method" else column


def rate_ratios(rates: pd.DataFrame) -> pd.DataFrame:
    """Give a row a data set, its size and a number of generations: medians over the seeds."""
    ratios = rates.assign(
        ratio=rates["ours a second"] / rates["one by one"],
        product_ratio=rates["ours a second"] / rates["by one product"],
    )
    table = ratios.groupby(["data set", "n", "generations"], sort=False, as_index=False).median().drop(columns="seed")
    return table.rename(columns={"ratio": "to one by one", "product_ratio": "to one product"})
