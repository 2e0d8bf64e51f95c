"""The tables of the EvoSVM study, and their description in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.studies.evosvm.checks import f_test
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


def reading_distances(readings: pd.DataFrame) -> pd.DataFrame:
    """Return for each reading the mean distance to the printed errors of mySVM and LibSVM, at the largest C and over all C."""
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


def stop_shares(stops: pd.DataFrame) -> pd.DataFrame:
    """Return for each C and method the median shares of the optimum over the data sets, at each stage."""
    shares = stops.drop(columns="data set").groupby(["C", "method"], sort=False).median().reset_index()
    return shares.sort_values(["C", "method"], key=_order, ascending=[False, True], kind="stable", ignore_index=True)


def _order(column: pd.Series) -> pd.Series:
    return column.map({method: k for k, method in enumerate(PAPERS)}) if column.name == "method" else column


def rate_ratios(rates: pd.DataFrame) -> pd.DataFrame:
    """Return medians over the seeds for each data set, size and number of generations."""
    ratios = rates.assign(
        ratio=rates["ours a second"] / rates["one by one"],
        product_ratio=rates["ours a second"] / rates["by one product"],
    )
    table = ratios.groupby(["data set", "n", "generations"], sort=False, as_index=False).median().drop(columns="seed")
    return table.rename(columns={"ratio": "to one by one", "product_ratio": "to one product"})


SHORT = 0.95  # share of the optimum below which a method is stopped short
STILL = 0.01  # share of the optimum below which a gain counts as none


def on_reasons(stops: pd.DataFrame) -> str:
    """Return in words why each of the paper's four methods stops, from the measurements of `checks.stops`."""
    names = [name for name in ("start", "paper's rule", "1000 generations", "longest") if name in stops]
    median = stops.groupby("method")[[*names, "generations"]].median()
    of = {str(method): row for method, row in median.to_dict("index").items()}
    begins = median["start"].iloc[0]
    start = f"On all rows, medians over data sets and C: the best of the ten random starts has {begins:.2f} of the optimum."
    mutating = [_without_rule(method, of[method], names[2:]) for method in ("switching", "hybrid")]
    if all(median[names[-1]][method] < SHORT for method in ("switching", "hybrid")):
        mutating.append(
            "A likely reason, which is not measured: their mutations set a nonzero value to 0, so a value that is too small can "
            "only grow after it has been 0, which is worse at first. Crossover only swaps existing values."
        )
    steps = stops[stops.method == "gaussian"]
    capped = int(steps.generations.ge(1000).sum())
    gaussian = f"With gaussian {capped} of {len(steps)} runs end at the cap of 1000 generations and not by the rule."
    return " ".join(
        [
            start,
            *mutating,
            gaussian,
            _without_rule("gaussian", of["gaussian"], names[2:]),
            _without_rule("swarm", of["swarm"], names[2:]),
        ]
    )


def _without_rule(method: str, median: Mapping[Any, float], later: list[str]) -> str:
    by_rule, last = median["paper's rule"], median[later[-1]]
    shares = " and ".join(f"{median[name]:.2f} ({name})" for name in later)
    if by_rule >= SHORT:
        verdict = "it is not stopped short"
    elif last >= SHORT:
        verdict = "the rule is what stops it"
    elif last - by_rule < STILL:
        verdict = "the rule is not what stops it"
    else:
        verdict = "the rule costs it something and is not all that stops it"
    return (
        f"With the rule of 5 idle generations {method} ends at {by_rule:.2f} of the optimum, after {median['generations']:.0f} "
        f"generations, without it at {shares}: {verdict}."
    )


def on_readings(runs: pd.DataFrame, readings: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return in words the readings that are nearest to the printed errors; empty if the data sets have no printed errors."""
    if table["printed error"].isna().all():
        return ""
    return " ".join([_on_sigma(readings), _on_threshold(runs), _on_spread(runs, table)])


def _on_sigma(readings: pd.DataFrame) -> str:
    distances = reading_distances(readings)
    nearest = distances.iloc[distances.iloc[:, 1].argmin()]
    name, (to_mysvm, to_mysvm_all, to_libsvm, to_libsvm_all) = nearest.iloc[0], nearest.iloc[1:].astype(float)
    elsewhere = to_libsvm_all > 1.0 and to_libsvm_all > 3.0 * to_libsvm
    return (
        f"Of the four readings '{name}' is nearest to the printed errors of the exact solvers at C = {readings['C'].max():g} "
        f"(mean distance {to_mysvm:.2f} points to mySVM, {to_libsvm:.2f} to LibSVM); over all C it is {to_mysvm_all:.2f} from "
        f"mySVM and {to_libsvm_all:.2f} from LibSVM"
        + (". So the errors printed for LibSVM at smaller C are not this machine's plain decision." if elsewhere else ".")
    )


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
