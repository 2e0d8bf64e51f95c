"""What the study `alga` says of its goal and of the tendencies that the paper reports, from its tables."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from studies.alga_runs import ALGA, GA_MODEL, GASVM, GRID, NSGA2
from studies.alga_sets import LARGER
from studies.alga_tables import against_grid, against_tuned, by_method, outcomes, wilcoxon_tests
from studies.dot_sets import DOT_SETS

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
    verdict = f"reached by {_named(reached)}" if len(reached) else "reached at no K that was run"
    parts = [
        f"{_name(row)}: {row['points less on Psi']:.2f} points less, "
        f"{100 * row['share of SVs']:.1f} % of the SVs, {100 * row['share of time']:.1f} % of the time"
        for row in found.to_dict("records")
    ]
    return f"{name}: {verdict} ({'; '.join(parts)})."


def _named(found: pd.DataFrame) -> str:
    return ", ".join(_name(row) for row in found.to_dict("records"))


def _name(row: dict[Hashable, Any]) -> str:
    return str(row["method"]) if row["K"] == "grown" else f"{row['method']} with K = {row['K']}"


def on_tuned(runs: pd.DataFrame) -> str:
    """Say what ALGA has of the SVC that was tuned on 1,000 rows: the variant that is nearest to it on Psi, a set at a time."""
    found = against_tuned(runs)
    if not len(found):
        return ""
    best = found.sort_values("points less on Psi", kind="stable").drop_duplicates("set").sort_index()
    parts = [
        f"{row['set']}: {_name(row)}, {-row['points less on Psi']:+.1f} points, {100 * row['share of SVs']:.0f} % of the SVs, "
        f"{row['share of time']:.1f} times the time"
        for row in best.to_dict("records")
    ]
    return f"Beside an SVC tuned on 1,000 random rows, the ALGA that is most accurate on Psi (chosen by Psi): {'; '.join(parts)}."


def on_tendencies(runs: pd.DataFrame) -> list[str]:
    """Say of each of the paper's tendencies what is found; a method that has not run is passed over."""
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
        f"{labels[str(measure)]} better in {row['better']}, worse in {row['worse']}, not told apart in {row['alike']}"
        for measure, row in of.iterrows()
    )
    return f"ALGA against GASVM, {where} (the paper: {said}), of {int(of.iloc[0].sum())} pairs of set and K: {found}."


def _on_whole(table: pd.DataFrame) -> str:
    """Say how many support vectors the machines have that were trained on all of T."""
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
    """Say at how many K ALGA takes longer than GASVM, without the grid search and with it."""
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
    """Say how far accuracy on V is above that on Psi."""
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
    """Say how ALGA stands to the most accurate points of NSGA-II's fronts."""
    some = tests[tests["ALGA less"] == NSGA2] if len(tests) else tests
    if not len(some):
        return ""
    best = some.sort_values("validation").drop_duplicates("set", keep="last").sort_index()
    parts = [
        f"{row['validation']:+.1f} on V, {row['test']:+.1f} on Psi, {row['support_vectors']:+.0f} SVs on {row['set']}"
        for row in best.to_dict("records")
    ]
    return f"ALGA at its best K less the most accurate point of NSGA-II's front, accuracies in points: {'; '.join(parts)}."
