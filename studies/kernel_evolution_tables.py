"""The tables of the study of evolved kernels: Table 9, the kernels of Table 10, and tests of the differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from studies.kernel_evolution_printed import FILES, GP, TABLE_9, TABLE_10, TUNED_RBF
from studies.kernel_evolution_runs import method_of
from studies.markdown_table import markdown_table
from studies.paired_tests import PairedTest, corrected_resampled_t_test, over_sets

#: the method whose errors the paper prints as those of genetic programming
PAPERS_GP = method_of("paper")
_PRINTED_AS = {PAPERS_GP: GP, TUNED_RBF: TUNED_RBF}
ALL_SETS = "all sets"


def ordered_sets(runs: pd.DataFrame) -> list[str]:
    """Give the sets in the paper's order; those that it has not come last."""
    names = list(dict.fromkeys(runs["set"]))
    return [name for name in FILES if name in names] + [name for name in names if name not in FILES]


def ordered_methods(runs: pd.DataFrame) -> list[str]:
    """Give the methods, the tuned RBF kernel last."""
    names = list(dict.fromkeys(runs["method"]))
    return sorted(name for name in names if name != TUNED_RBF) + [TUNED_RBF] * (TUNED_RBF in names)


def table_9(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a method and set: errors over the splits, as measured and as printed, and what a run takes.

    Columns best, mean, worst and SD are misclassified shares of the test rows, the printed ones beside them; validation is the
    mean error that the search went by; seconds are the median processor time of a run.
    """
    rows: list[dict[str, Any]] = []
    for method in ordered_methods(runs):
        for name in ordered_sets(runs):
            some = runs[(runs["set"] == name) & (runs.method == method)]
            if not len(some):
                continue
            error = some.error
            printed = TABLE_9.get((name, _PRINTED_AS.get(method, "")))
            ours = {"best": error.min(), "mean": error.mean(), "worst": error.max(), "SD": error.std()}
            theirs = dict.fromkeys(ours, np.nan) if printed is None else dict(zip(ours, printed, strict=True))
            row: dict[str, Any] = {"method": method, "set": name, "splits": len(some)}
            row |= ours | {f"{what} printed": value for what, value in theirs.items()}
            rows.append(row | {"validation": some.validation.mean(), "seconds": some.seconds.median()})
    return pd.DataFrame(rows)


def best_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Give each set's and grammar's run with the lowest validation error of all splits.

    Of runs with the same error the one whose kernel has fewest nodes counts, then the first split.
    """
    evolved = runs[runs.method != TUNED_RBF].sort_values(["validation", "size", "split"])
    best = evolved.drop_duplicates(["set", "method"])
    places = {name: k for k, name in enumerate(ordered_sets(runs))}
    return best.assign(place=best["set"].map(places)).sort_values(["place", "method"]).drop(columns="place")


def best_kernels(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a set and grammar: the kernel of the best run, and beside that of the paper's grammar the printed one."""
    best = best_runs(runs)
    printed = [
        TABLE_10[name].text() if method == PAPERS_GP and name in TABLE_10 else ""
        for name, method in zip(best["set"], best.method, strict=True)
    ]
    shown = best.assign(kernel=best.formula, printed=printed)  # in place of the kernel as data
    columns = ["set", "method", "kernel", "constants", "C", "printed", "validation", "error", "split"]
    return shown[columns].reset_index(drop=True)


def latex_kernels(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the kernels of the best runs, and the printed ones, in LaTeX: columns set, by, LaTeX."""
    best = best_runs(runs)
    rows = []
    for name in dict.fromkeys(best["set"]):
        some = best[best["set"] == name]
        rows += [{"set": name, "by": by, "LaTeX": latex} for by, latex in zip(some.method, some.latex, strict=True)]
        if name in TABLE_10:
            rows.append({"set": name, "by": "as printed", "LaTeX": TABLE_10[name].latex()})
    return pd.DataFrame(rows)


def differences(runs: pd.DataFrame, method: str, other: str = TUNED_RBF) -> pd.DataFrame:
    """Give the paired differences of two methods' errors: a row a set and split.

    Columns: set, split, difference, ratio (rows tested on per row trained on).
    """
    key = ["set", "split"]
    paired = runs[runs.method == method].merge(runs[runs.method == other], on=key, suffixes=("", "_other"))
    ratio = paired.test_rows / paired.train_rows
    # differences of shares that are the same differ by rounding, which is no spread
    return paired[key].assign(difference=(paired.error - paired.error_other).round(12), ratio=ratio)


def paired_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Give a row a grammar and set, and one over the sets: its error less that of the tuned RBF kernel, and a test of that.

    Columns: difference, its 95 % interval (low, high), t, p, and in how many splits the error is lower, equal and higher. Empty
    where a method was not run.
    """
    rows: list[dict[str, Any]] = []
    for method in ordered_methods(runs):
        paired = differences(runs, method)
        if method == TUNED_RBF or not len(paired):
            continue
        of_sets = {name: paired[paired["set"] == name] for name in ordered_sets(paired)}
        for name, some in of_sets.items():
            rows.append(_tested(method, name, some, corrected_resampled_t_test(some.difference, some.ratio.iloc[0])))
        if len(of_sets) > 1:
            every = over_sets(
                [some.difference for some in of_sets.values()], [float(some.ratio.iloc[0]) for some in of_sets.values()]
            )
            rows.append(_tested(method, ALL_SETS, paired, every))
    return pd.DataFrame(rows)


def _tested(method: str, name: str, paired: pd.DataFrame, test: PairedTest) -> dict[str, Any]:
    counts = {
        "lower": int((paired.difference < 0).sum()),
        "equal": int((paired.difference == 0).sum()),
        "higher": int((paired.difference > 0).sum()),
    }
    row: dict[str, Any] = {"difference of": f"{method} - {TUNED_RBF}", "set": name, "difference": test.mean}
    return row | {"low": test.low, "high": test.high, "t": test.t, "p": test.p} | counts


def shown_table(table: pd.DataFrame) -> str:
    r"""Give a table as markdown; one of formulae in LaTeX as a list, for their bars would end cells.

    Examples
    --------
    >>> print(shown_table(pd.DataFrame({"set": ["Heart"], "kernel": ["|x_i|^2"]})))
    | set   | kernel    |
    |:------|:----------|
    | Heart | \|x_i\|^2 |
    >>> print(shown_table(pd.DataFrame({"set": ["Heart"], "by": ["GP"], "LaTeX": [r"\|x\|"]})))
    - Heart, GP: $\|x\|$
    """
    if "LaTeX" in table:
        return "\n".join(f"- {name}, {by}: ${latex}$" for name, by, latex in table.itertuples(index=False))
    return markdown_table(table, ".4f", missing="")
