"""What the EvoSVM study says of the paper's methods and figures; each claim is made only where the measurements carry it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from studies.evosvm_checks import PAPERS
from studies.evosvm_folds import PRINTED_AS
from studies.evosvm_printed import DEFAULT_ERROR, ERRORS
from studies.evosvm_tables import f_tests, reading_distances, threshold_distances

SHORT = 0.95  # of the optimum; what stays below is stopped short of it
STILL = 0.01  # of the optimum; what moves by less stays where it is


def on_reasons(stops: pd.DataFrame) -> str:
    """Say what stops each of the paper's four short of the optimum, from the measurements of `evosvm_checks.stops`."""
    names = [name for name in ("start", "paper's rule", "1000 generations", "longest") if name in stops]
    median = stops.groupby("method")[[*names, "generations"]].median()
    of = {str(method): row for method, row in median.to_dict("index").items()}
    begins = median["start"].iloc[0]
    start = f"On all rows, medians over data sets and C: the best of the ten random starts has {begins:.2f} of the optimum."
    mutating = [_without_rule(method, of[method], names[2:]) for method in ("switching", "hybrid")]
    if all(median[names[-1]][method] < SHORT for method in ("switching", "hybrid")):
        mutating.append(
            "Not measured, but a likely reason: their mutations send a value that is not 0 to 0, one that is too small can only "
            "grow by way of 0, which is worse at first, and crossover only swaps the values that there are."
        )
    steps = stops[stops.method == "gaussian"]
    capped = int(steps.generations.ge(1000).sum())
    gaussian = f"Of gaussian {capped} of {len(steps)} runs end at the cap of 1000 generations and not by the rule."
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
    """Say which reading of the paper gives its printed errors, from the runs, `evosvm_checks.readings` and the table.

    It is empty if nothing is printed for the data sets.
    """
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
        + (", so what is printed as LibSVM for smaller C is not this machine's plain decision." if elsewhere else ".")
    )


def _on_threshold(runs: pd.DataFrame) -> str:
    distances = threshold_distances(runs)
    means = distances.drop(columns="C").groupby("method", sort=False).mean()
    of_each = ", ".join(f"{method} {row.iloc[0]:.1f} and {row.iloc[1]:.1f}" for method, row in means.iterrows())
    cost = distances["C"].min()
    without, found = distances[distances["C"] == cost].iloc[:, 2:].mean()
    printed = [ERRORS[cost, data, PRINTED_AS[method]][0] == error for method in PAPERS for data, error in DEFAULT_ERROR.items()]
    if found < 0.5 * without:
        verdict = "So these are nearer to what such a threshold gives than to what b = 0 gives."
    elif without < 0.5 * found:
        verdict = "So these are nearer to what b = 0 gives than to what such a threshold gives."
    else:
        verdict = "Neither explains these."
    return (
        f"The printed errors of the paper's four are, with b = 0 and with a threshold found after training, so many points from "
        f"ours: {of_each}; at C = {cost:g}, where {sum(printed)} of the {len(printed)} printed errors are the default error, all "
        f"four {without:.1f} and {found:.1f}. {verdict}"
    )


def _on_spread(runs: pd.DataFrame, table: pd.DataFrame) -> str:
    tests = f_tests(runs)
    differ = tests[tests["printed F"] > 1]
    factor = float((differ["printed F"] / differ["F of the printed errors"]).median())
    largest = table[table["C"] == table["C"].max()]
    ratio = float((largest["printed sd"] / largest["sd"]).median())
    return (
        f"The printed F values are about {factor:.1f} times those that the printed errors and standard deviations have with 20 "
        f"folds{'' if 0.8 < factor < 1.25 else ', and do not follow from them'}; the printed standard deviations at C = "
        f"{largest['C'].max():g} are about {ratio:.1f} times ours."
    )
