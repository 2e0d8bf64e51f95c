"""The tables of the study `alga`: accuracy, support vectors and time, Wilcoxon tests, and what the goals ask for."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from spotsvm.comparison_table import holm, signed_rank_test
from studies.alga_runs import ALGA, GA_MODEL, GASVM, GRID, GROWN, INHERITING, METHODS, NSGA2, RANDOM, TUNED, WITH_GRID_MODEL

MEASURES = ("validation", "test", "support_vectors")
_RUN = ["set", "method", "K", "fold", "run"]


def by_method(runs: pd.DataFrame) -> pd.DataFrame:
    """Give means over the runs, a row a set, method and K: the paper's tables 1 and 2.

    Accuracies in percent, with standard deviations over the runs; numbers of vectors and of support vectors; processor time of
    the search, and with the grid search before it where the method takes its model from there. Of NSGA-II each run's most
    accurate point on V counts; the others are in the measurements.
    """
    of_runs = best_of_fronts(runs)
    grid_seconds = of_runs[of_runs.method == GRID].set_index(["set", "fold"])["seconds"]
    rows = []
    for (name, method, size), some in of_runs.groupby(["set", "method", "K"], sort=False):
        before = grid_seconds.reindex(some.set_index(["set", "fold"]).index) if method in WITH_GRID_MODEL else None
        rows.append(
            {
                "set": name,
                "method": method,
                "K": size if size else np.nan,
                "runs": len(some),
                "V %": 100 * some.validation.mean(),
                "sd V": 100 * some.validation.std(ddof=1),
                "Psi %": 100 * some.test.mean(),
                "sd Psi": 100 * some.test.std(ddof=1),
                "vectors": some.vectors.mean(),
                "SVs": some.support_vectors.mean(),
                "machines": some.evaluations.mean(),
                "seconds": some.seconds.mean(),
                "with grid": some.seconds.mean() + (0.0 if before is None else before.mean()),
            }
        )
    order = {method: k for k, method in enumerate(METHODS)}
    sets = {name: k for k, name in enumerate(dict.fromkeys(runs["set"]))}
    return pd.DataFrame(rows).sort_values(
        ["set", "method", "K"], key=lambda c: c.map(sets if c.name == "set" else order) if c.name != "K" else c, ignore_index=True
    )


def best_of_fronts(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a run: of NSGA-II the point of the front that is most accurate on V."""
    runs = runs.reset_index(drop=True)
    best = runs.sort_values("validation", ascending=False, kind="stable").drop_duplicates(_RUN)
    return runs.loc[np.sort(best.index)]


def wilcoxon_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Test ALGA at each K against the other methods by Wilcoxon's signed ranks, two-sided; a row a set, K and opponent.

    Runs of the same number and fold are pairs: they have the same seed, and ALGA and GASVM start from the same training sets.
    Grid search has no seed: its one machine a split is in all pairs of that split. For each of accuracy on V, accuracy on Psi (in
    points) and number of support vectors: the mean difference, p, and p by Holm's method for the number of tests of that measure.
    """
    of_runs = best_of_fronts(runs)
    rows = []
    alga = of_runs[of_runs.method == ALGA]
    for (name, size), ours in alga.groupby(["set", "K"], sort=False):
        for other in (GASVM, INHERITING, RANDOM, GA_MODEL, GRID, NSGA2, TUNED):
            theirs = of_runs[(of_runs["set"] == name) & (of_runs.method == other) & of_runs["K"].isin([0, size])]
            if not len(theirs):
                continue
            keys = ["fold"] if other == GRID else ["fold", "run"]
            pairs = ours.merge(theirs, on=keys, suffixes=("", " other"))
            row = {"set": name, "K": size, "ALGA less": other, "pairs": len(pairs)}
            for measure in MEASURES:
                difference = pairs[measure] - pairs[f"{measure} other"]
                unit = 1.0 if measure == "support_vectors" else 100.0
                row |= {measure: unit * difference.mean(), f"p {measure}": signed_rank_test(difference)[0]}
            rows.append(row)
    tests = pd.DataFrame(rows)
    for measure in MEASURES if len(tests) else ():
        tests.insert(list(tests).index(f"p {measure}") + 1, f"Holm {measure}", holm(tests[f"p {measure}"]))
    return tests


def against_grid(runs: pd.DataFrame) -> pd.DataFrame:
    """Give what ALGA has of grid search at each K: points of accuracy on Psi less, shares of its support vectors and time.

    Means over the runs. `reached` says whether all three are as the goal has it: at most 1 point, a tenth and a tenth.
    """
    found = _beside(runs, GRID)
    reached = (found["points less on Psi"] <= 1.0) & (found["share of SVs"] <= 0.1) & (found["share of time"] <= 0.1)
    return found.assign(reached=np.where(reached, "yes", "no"))


def against_tuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the same of the SVC that was tuned on 1,000 rows, without a verdict."""
    return _beside(runs, TUNED)


def _beside(runs: pd.DataFrame, opponent: str) -> pd.DataFrame:
    table = by_method(runs)
    theirs = table[table.method == opponent].set_index("set")
    ours = table[table.method.isin([ALGA, INHERITING, GROWN]) & table["set"].isin(theirs.index)]
    base = theirs.loc[ours["set"]]
    return pd.DataFrame(
        {
            "set": ours["set"],
            "method": ours["method"],
            "K": ["grown" if method == GROWN else str(int(size)) for method, size in zip(ours["method"], ours["K"], strict=True)],
            "points less on Psi": base["Psi %"].to_numpy() - ours["Psi %"],
            "share of SVs": ours["SVs"] / base["SVs"].to_numpy(),
            "share of time": ours["seconds"] / base["seconds"].to_numpy(),
        }
    ).reset_index(drop=True)


def outcomes(tests: pd.DataFrame, opponent: str = GASVM) -> pd.DataFrame:
    """Count, a row a set, at how many K ALGA is better, worse, or not told apart (p > 0.05 after Holm) from an opponent."""
    some = tests[tests["ALGA less"] == opponent]
    rows = []
    for name, measure in product(dict.fromkeys(some["set"]), MEASURES):
        of_set = some[some["set"] == name]
        gain = of_set[measure] * (-1.0 if measure == "support_vectors" else 1.0)
        told = of_set[f"Holm {measure}"] <= 0.05
        better, worse = int((told & (gain > 0)).sum()), int((told & (gain < 0)).sum())
        rows.append({"set": name, "measure": measure, "better": better, "worse": worse, "alike": len(of_set) - better - worse})
    return pd.DataFrame(rows)
