"""The tables and conclusions of the study `alga`: accuracy, support vectors, time, Wilcoxon tests, goals."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.comparison.comparison import holm, signed_rank_test
from spotsvm.studies.alga.runs import (
    ALGA,
    GA_MODEL,
    GASVM,
    GRID,
    GROWN,
    INHERITING,
    METHODS,
    NSGA2,
    RANDOM,
    REFITTED,
    TUNED,
    WITH_GRID_MODEL,
)
from spotsvm.studies.alga.sets import DOT_SETS, LARGER

MEASURES = ("validation", "test", "support_vectors")
_RUN = ["set", "method", "K", "fold", "run"]


def by_method(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means over the runs, a row per set, method and K: the paper's tables 1 and 2.

    Accuracies in percent; processor time of the search, and with the grid search before it where the model comes from there. Of
    NSGA-II each run's most accurate point on V counts.
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
    """Return a row per run; for NSGA-II, the point of the front that is most accurate on V."""
    runs = runs.reset_index(drop=True)
    best = runs.sort_values("validation", ascending=False, kind="stable").drop_duplicates(_RUN)
    return runs.loc[np.sort(best.index)]


def wilcoxon_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Test ALGA at each K against the other methods by Wilcoxon's signed ranks, two-sided; a row per set, K and opponent.

    Runs of the same number and fold are pairs; the one machine a split of the grid search is in all pairs of that split. Each p
    is also given by Holm's method, for the number of tests of its measure.
    """
    of_runs = best_of_fronts(runs)
    rows = []
    alga = of_runs[of_runs.method == ALGA]
    for (name, size), ours in alga.groupby(["set", "K"], sort=False):
        for other in (GASVM, INHERITING, RANDOM, GA_MODEL, GRID, NSGA2, TUNED, REFITTED):
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
    """Compare ALGA with grid search at each K: loss of accuracy on Psi in points, and shares of support vectors and time.

    Values are means over the runs. `reached` is whether all three meet the goal: at most 1 point, a tenth and a tenth.
    """
    found = _beside(runs, GRID)
    reached = (found["points less on Psi"] <= 1.0) & (found["share of SVs"] <= 0.1) & (found["share of time"] <= 0.1)
    return found.assign(reached=np.where(reached, "yes", "no"))


def against_tuned(runs: pd.DataFrame, opponent: str = TUNED) -> pd.DataFrame:
    """Compare ALGA with an SVC that was tuned on 1,000 rows, without a verdict."""
    return _beside(runs, opponent)


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
    """Count for each set at how many K ALGA is better or worse than an opponent, or does not differ (p > 0.05 after Holm)."""
    some = tests[tests["ALGA less"] == opponent]
    rows = []
    for name, measure in product(dict.fromkeys(some["set"]), MEASURES):
        of_set = some[some["set"] == name]
        gain = of_set[measure] * (-1.0 if measure == "support_vectors" else 1.0)
        significant = of_set[f"Holm {measure}"] <= 0.05
        better, worse = int((significant & (gain > 0)).sum()), int((significant & (gain < 0)).sum())
        rows.append({"set": name, "measure": measure, "better": better, "worse": worse, "alike": len(of_set) - better - worse})
    return pd.DataFrame(rows)


GOAL_SETS = "2d-chessboard-dots"


def on_goal(runs: pd.DataFrame) -> str:
    """Judge whether ALGA is within 1 point of grid search on Psi of the chessboards, at a tenth of its SVs and of its time."""
    found = against_grid(runs)
    found = found[found["set"].str.startswith(GOAL_SETS)]
    if not len(found):
        return ""
    texts = [_on_board(str(name), of_set) for name, of_set in found.groupby("set", sort=False)]
    return (
        "The goal on dots on a chessboard: at most 1 point less on Psi than grid search, at no more than a tenth of its support "
        f"vectors and of its time. {' '.join(texts)}"
    )


def _on_board(name: str, found: pd.DataFrame) -> str:
    reached = found[found["reached"] == "yes"]
    verdict = (
        f"reached by {', '.join(map(_name, reached.to_dict('records')))}" if len(reached) else "reached at no K that was run"
    )
    parts = [
        f"{_name(row)}: {row['points less on Psi']:.2f} points less, "
        f"{100 * row['share of SVs']:.1f} % of the SVs, {100 * row['share of time']:.1f} % of the time"
        for row in found.to_dict("records")
    ]
    return f"{name}: {verdict} ({'; '.join(parts)})."


def _name(row: dict[Hashable, Any]) -> str:
    return str(row["method"]) if row["K"] == "grown" else f"{row['method']} with K = {row['K']}"


def on_tuned(runs: pd.DataFrame) -> str:
    """Compare ALGA with the SVC tuned on 1,000 rows, and with the one refitted on all: on each set the variant best on Psi."""
    texts = [
        _on_opponent(against_tuned(runs, TUNED), "an SVC tuned on 1,000 random rows"),
        _on_opponent(against_tuned(runs, REFITTED), "the same SVC refitted on all rows"),
    ]
    return " ".join(text for text in texts if text)


def _on_opponent(found: pd.DataFrame, opponent: str) -> str:
    if not len(found):
        return ""
    best = found.sort_values("points less on Psi", kind="stable").drop_duplicates("set").sort_index()
    parts = [
        f"{row['set']}: {_name(row)}, {-row['points less on Psi']:+.1f} points, {100 * row['share of SVs']:.0f} % of the SVs, "
        f"{row['share of time']:.1f} times the time"
        for row in best.to_dict("records")
    ]
    fewer = int((best["share of SVs"] < 1).sum())
    sooner = int((best["share of time"] < 1).sum())
    better = int((best["points less on Psi"] < 0).sum())
    return (
        f"Beside {opponent}, the ALGA that is most accurate on Psi (chosen by Psi): {'; '.join(parts)}. It has fewer support "
        f"vectors on {fewer} of {len(best)} sets, took less time on {sooner}, and is more accurate on {better}."
    )


def on_tendencies(runs: pd.DataFrame) -> list[str]:
    """Return in words the results on each of the paper's tendencies; methods that have not run are left out."""
    table, tests = by_method(runs), wilcoxon_tests(runs)
    plane = table["set"].isin(DOT_SETS)
    benchmarks = [name for name in table["set"].unique() if name not in (*DOT_SETS, *LARGER)]
    texts = [
        _on_gasvm(tests, list(DOT_SETS), "sets in the plane", "better or comparable under both criteria"),
        _on_gasvm(tests, benchmarks, "UCI", "slightly better on V, worse on Psi"),
        _on_whole(table),
        _on_times(table[plane]),
        _on_fitted_to_v(table[~table["set"].isin(LARGER)]),
        _on_front(tests),
    ]
    return [text for text in texts if text]


def _on_gasvm(tests: pd.DataFrame, names: list[str], where: str, said: str) -> str:
    if not len(tests) or GASVM not in set(tests["ALGA less"]):
        return ""
    counts = outcomes(tests[tests["set"].isin(names)])
    if not len(counts):
        return ""
    of = counts.groupby("measure", sort=False)[["better", "worse", "alike"]].sum()
    labels = {"validation": "accuracy on V", "test": "accuracy on Psi", "support_vectors": "SVs"}
    found = "; ".join(
        f"{labels[str(measure)]} better in {row['better']}, worse in {row['worse']}, not significant in {row['alike']}"
        for measure, row in of.iterrows()
    )
    return f"ALGA against GASVM, {where} (the paper: {said}), of {int(of.iloc[0].sum())} pairs of set and K: {found}."


def _on_whole(table: pd.DataFrame) -> str:
    """Return in words how many support vectors the machines have that were trained on all of T."""
    parts = []
    for method in (GRID, GA_MODEL):
        some = table[table.method == method]
        if len(some):
            shares = 100 * some["SVs"] / some["vectors"]
            parts.append(f"{method} {shares.min():.0f} to {shares.max():.0f} % of T")
    best = table[table.method == ALGA].sort_values("V %").drop_duplicates("set", keep="last")
    counts = ", ".join(f"{row['SVs']:.0f} on {row['set']}" for row in best.sort_index().to_dict("records"))
    more = f"; ALGA at its K with the best accuracy on V: {counts}" if counts else ""
    return f"Support vectors (the paper: GA-model and grid search have very many): {', '.join(parts)}{more}."


def _on_times(table: pd.DataFrame) -> str:
    """Return in words at how many K ALGA takes longer than GASVM, without the grid search and with it."""
    pairs = table[table.method == ALGA].merge(table[table.method == GASVM], on=["set", "K"], suffixes=("", " of GASVM"))
    if not len(pairs):
        return ""
    longer = int((pairs["seconds"] > pairs["seconds of GASVM"]).sum())
    in_all = int((pairs["seconds"] > pairs["with grid of GASVM"]).sum())
    return (
        "Time on the sets in the plane (the paper: ALGA takes longer than GASVM, which needs a grid search first): longer than "
        f"GASVM in {longer} of {len(pairs)}, longer than grid search and GASVM together in {in_all}."
    )


def _on_fitted_to_v(table: pd.DataFrame) -> str:
    """Return in words how far accuracy on V is above that on Psi."""
    gaps = (table["V %"] - table["Psi %"]).groupby([table.method, ~table["set"].isin(DOT_SETS)]).mean()
    parts = []
    for method in (GRID, GA_MODEL, GASVM, ALGA):
        of_kind = [
            f"{gaps[method, uci]:.1f} {where}"
            for uci, where in ((False, "in the plane"), (True, "on UCI"))
            if (method, uci) in gaps
        ]
        if of_kind:
            parts.append(f"{method} {' and '.join(of_kind)}")
    if not parts:
        return ""
    return f"Accuracy on V less that on Psi, in points (the paper: GA-model is overfitted to V on UCI): {', '.join(parts)}."


def _on_front(tests: pd.DataFrame) -> str:
    """Return in words how ALGA stands to the most accurate points of NSGA-II's fronts."""
    some = tests[tests["ALGA less"] == NSGA2] if len(tests) else tests
    if not len(some):
        return ""
    best = some.sort_values("validation").drop_duplicates("set", keep="last").sort_index()
    parts = [
        f"{row['validation']:+.1f} on V, {row['test']:+.1f} on Psi, {row['support_vectors']:+.0f} SVs on {row['set']}"
        for row in best.to_dict("records")
    ]
    return f"ALGA at its best K less the most accurate point of NSGA-II's front, accuracies in points: {'; '.join(parts)}."
