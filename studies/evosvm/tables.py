"""The tables of the EvoSVM study, and their description in words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f_oneway

from spotsvm.studies.evosvm.folds import AFTER, BIASED, LIBSVM, METHODS, PAPERS, PRINTED_AS
from spotsvm.studies.evosvm.printed import ERRORS, F_TESTS, implied_f

CELL = ["data_set", "C"]
#: a method for each learner of the paper, with the threshold nearest to the printed errors at C = 1
SIX = ("gaussian", AFTER["switching"], AFTER["hybrid"], "swarm", BIASED, LIBSVM)


def cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each data set, C and method: measured and printed errors, times, and shares of the optimum."""
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


def f_test(groups: Sequence[Any]) -> tuple[float, float]:
    """Return F and the probability of a one-way ANOVA; 0 and 1 if the means are equal."""
    if np.ptp([np.mean(group) for group in groups]) == 0.0:
        return 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # groups without spread have an infinite F, which is correct
        f, p = f_oneway(*groups)
    return float(f), float(p)


def f_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each data set and C the F of the six learners over the folds, the printed F, and the F of the printed errors."""
    rows = []
    for _, group in runs[runs.method.isin(SIX)].groupby(CELL, sort=False):
        data_set, cost = group[CELL].iloc[0]
        key = cost, data_set
        f, p = f_test([errors.error.to_numpy() for _, errors in group.groupby("method")])
        printed, printed_p = F_TESTS.get(key, (np.nan, np.nan))
        implied = implied_f(*key) if key in F_TESTS else np.nan
        rows.append((data_set, cost, f, p, printed, printed_p, implied))
    columns = ["data set", "C", "F", "p", "printed F", "printed p", "F of the printed errors"]
    return pd.DataFrame(rows, columns=columns)


def as_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the errors arranged as in Table 2, a row for each C and method, with the printed errors in brackets."""

    def text(row: pd.Series) -> str:
        own = f"{row['error']:.2f}±{row['sd']:.2f}"
        return own if np.isnan(row["printed error"]) else f"{own} ({row['printed error']:.2f}±{row['printed sd']:.2f})"

    wide = table.assign(text=table.apply(text, axis=1)).pivot(index=["C", "method"], columns="data set", values="text")
    order = [(cost, method) for cost in table["C"].unique() for method in METHODS]
    return wide.loc[order, list(table["data set"].unique())].reset_index()


def by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each C and method share of the optimum, generations, time, and error minus that of the exact solution."""
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


def threshold_distances(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each C and method of the paper the mean distance to the printed errors, without and with threshold."""
    table = cells(runs)
    distance = (table["error"] - table["printed error"]).abs()
    means = distance.groupby([table["C"], table["method"]], sort=False).mean()
    rows = [
        {"C": cost, "method": method, "with b = 0": means[cost, method], "with b after": means[cost, AFTER[method]]}
        for cost in table["C"].unique()
        for method in PAPERS
    ]
    return pd.DataFrame(rows)


def on_printed(runs: pd.DataFrame, table: pd.DataFrame) -> str:
    """Compare in words the thresholds and the spread with the printed figures; empty if the data sets have no printed errors."""
    return "" if table["printed error"].isna().all() else f"{_on_threshold(runs)} {_on_spread(runs, table)}"


def _on_threshold(runs: pd.DataFrame) -> str:
    distances = threshold_distances(runs)
    n_cells = len(runs[CELL].drop_duplicates())
    texts = []
    for method, rows in distances.groupby("method", sort=False):
        without, after = rows["with b = 0"].mean(), rows["with b after"].mean()
        by_cost = ", ".join(
            f"{row['with b = 0']:.1f} and {row['with b after']:.1f} at C = {row['C']:g}" for _, row in rows.iterrows()
        )
        nearer = (
            "no difference" if f"{without:.1f}" == f"{after:.1f}" else f"{'b after' if after < without else 'b = 0'} is nearer"
        )
        texts.append(f"{method} {without:.1f} and {after:.1f}: {nearer} ({by_cost})")
    both = distances[distances.method.isin(["switching", "hybrid"])]
    return (
        "Mean distances of our errors to the printed errors of the paper's four methods in points, with b = 0 and with b after "
        f"training (the mean of y minus the decision over the free support vectors): {'; '.join(texts)}. Switching and hybrid "
        f"together, {2 * n_cells} cells: {both['with b = 0'].mean():.1f} and {both['with b after'].mean():.1f}."
    )


def _on_spread(runs: pd.DataFrame, table: pd.DataFrame) -> str:
    tests = f_tests(runs)
    differ = tests[tests["printed F"] > 1]
    factor = float((differ["printed F"] / differ["F of the printed errors"]).median())
    largest = table[table["C"] == table["C"].max()]
    ratio = float((largest["printed sd"] / largest["sd"]).median())
    return (
        f"The printed F values are about {factor:.1f} times those of the printed errors and standard deviations with 20 folds"
        f"{'' if 0.8 < factor < 1.25 else ', and do not follow from them'}; the printed standard deviations at C = "
        f"{largest['C'].max():g} are about {ratio:.1f} times ours."
    )
