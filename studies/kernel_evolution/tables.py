"""The tables, conclusions and figure of the study of evolved kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.studies.common.paired_tests import PairedTest, corrected_resampled_t_test, over_sets
from spotsvm.studies.common.table import markdown_table
from spotsvm.studies.kernel_evolution.runs import FILES, GP, TABLE_9, TABLE_10, TUNED_RBF, method_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: the method whose errors the paper prints as those of genetic programming
PAPERS_GP = method_of("paper")
_PRINTED_AS = {PAPERS_GP: GP, TUNED_RBF: TUNED_RBF}
ALL_SETS = "all sets"


def ordered_sets(runs: pd.DataFrame) -> list[str]:
    """Return the sets in the paper's order, followed by other sets."""
    names = list(dict.fromkeys(runs["set"]))
    return [name for name in FILES if name in names] + [name for name in names if name not in FILES]


def ordered_methods(runs: pd.DataFrame) -> list[str]:
    """Return the methods, the tuned RBF kernel last."""
    names = list(dict.fromkeys(runs["method"]))
    return sorted(name for name in names if name != TUNED_RBF) + [TUNED_RBF] * (TUNED_RBF in names)


def table_9(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method and set: measured and printed errors over the splits, and times.

    The columns best, mean, worst and SD are error rates on the test rows, followed by the printed ones. Validation is the mean
    error that the search minimised, seconds the median processor time of a run.
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
    """Return for each set and grammar the run with the lowest validation error over all splits.

    Among runs with the same error, the kernel with the fewest nodes is chosen, then the first split.
    """
    evolved = runs[runs.method != TUNED_RBF].sort_values(["validation", "size", "split"])
    best = evolved.drop_duplicates(["set", "method"])
    order = {name: k for k, name in enumerate(ordered_sets(runs))}
    return best.assign(order=best["set"].map(order)).sort_values(["order", "method"]).drop(columns="order")


def best_kernels(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each set and grammar the kernel of the best run, and the printed kernel for the paper's grammar."""
    best = best_runs(runs)
    printed = [
        TABLE_10[name].text() if method == PAPERS_GP and name in TABLE_10 else ""
        for name, method in zip(best["set"], best.method, strict=True)
    ]
    shown = best.assign(kernel=best.formula, printed=printed)  # in place of the kernel as data
    columns = ["set", "method", "kernel", "constants", "C", "printed", "validation", "error", "split"]
    return shown[columns].reset_index(drop=True)


def latex_kernels(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the kernels of the best runs, and the printed ones, in LaTeX: columns set, by, LaTeX."""
    best = best_runs(runs)
    rows = []
    for name in dict.fromkeys(best["set"]):
        some = best[best["set"] == name]
        rows += [{"set": name, "by": by, "LaTeX": latex} for by, latex in zip(some.method, some.latex, strict=True)]
        if name in TABLE_10:
            rows.append({"set": name, "by": "as printed", "LaTeX": TABLE_10[name].latex()})
    return pd.DataFrame(rows)


def differences(runs: pd.DataFrame, method: str, other: str = TUNED_RBF) -> pd.DataFrame:
    """Return the paired differences between the errors of two methods, a row for each set and split.

    Columns: set, split, difference, ratio (test rows per training row).
    """
    key = ["set", "split"]
    paired = runs[runs.method == method].merge(runs[runs.method == other], on=key, suffixes=("", "_other"))
    ratio = paired.test_rows / paired.train_rows
    # equal differences of error rates must not differ by rounding
    return paired[key].assign(difference=(paired.error - paired.error_other).round(12), ratio=ratio)


def paired_tests(runs: pd.DataFrame) -> pd.DataFrame:
    """Test the error of each grammar minus that of the tuned RBF kernel: a row for each set, and one over the sets.

    Columns: difference, its 95 % interval (low, high), t, p, and the numbers of splits with a lower, equal and higher error.
    Empty if one of the methods was not run.
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
    """Return a table as markdown; formulae in LaTeX as a list, because their bars would end cells."""
    if "LaTeX" in table:
        return "\n".join(f"- {name}, {by}: ${latex}$" for name, by, latex in table.itertuples(index=False))
    return markdown_table(table, ".4f", missing="")


#: number of the paper's five sets on which the mean error should be no higher than that of the paper's GP
NO_WORSE_ON = 4
#: the set whose evolutions are timed, and the goal for their time on one core in minutes
TIMED_SET, MINUTES = "Heart", 5.0
BY_CONSTRUCTION = method_of("psd")
_SHOWN = ("set", "difference", "p")


def mean_errors(runs: pd.DataFrame, method: str) -> pd.Series:
    """Return the mean error of a method on each set; empty if it was not run."""
    return runs[runs.method == method].groupby("set").error.mean().reindex(ordered_sets(runs)).dropna()


def on_paper(runs: pd.DataFrame) -> str:
    """Return in words the number of sets on which the mean error of a method is no higher than the paper's."""
    texts = []
    for method in ordered_methods(runs):
        theirs = TUNED_RBF if method == TUNED_RBF else GP
        means = {str(name): mean for name, mean in mean_errors(runs, method).items() if (name, theirs) in TABLE_9}
        if not means:
            continue
        met = sum(mean <= TABLE_9[name, theirs].mean for name, mean in means.items())
        each = ", ".join(f"{name} {mean:.4f} ({TABLE_9[name, theirs].mean:.4f})" for name, mean in means.items())
        goal = ""
        if method != TUNED_RBF and len(means) > NO_WORSE_ON:
            goal = f": the goal of {NO_WORSE_ON} is {'met' if met >= NO_WORSE_ON else 'missed'}"
        texts.append(f"{method} is no worse than the paper's {theirs} on {met} of {len(means)} sets{goal} ({each}).")
    return f"Mean test errors, in brackets the printed means (of other splits). {' '.join(texts)}" if texts else ""


def on_tuned_rbf(runs: pd.DataFrame) -> str:
    """Return in words how the grammars compare with the tuned RBF kernel on the same splits."""
    tests = paired_tests(runs)
    if not len(tests):
        return ""
    texts = [_against_tuned_rbf(str(label), some) for label, some in tests.groupby("difference of", sort=False)]
    return " ".join(texts)


def _against_tuned_rbf(label: str, tests: pd.DataFrame) -> str:
    of_sets = tests[tests["set"] != ALL_SETS]
    over: dict[Any, Any] = tests.iloc[-1].to_dict()  # over all sets, or the only one
    differing = of_sets[of_sets["p"] < 0.05]
    named = [f"{name} ({more:+.4f}, {_probability(p)})" for name, more, p in zip(*(differing[c] for c in _SHOWN), strict=True)]
    text = f"{label}: {over['difference']:+.4f} on average over {len(of_sets)} sets"
    if pd.notna(over["p"]):
        text += f" (95 % interval {over['low']:+.4f} to {over['high']:+.4f}, {_probability(over['p'])})"
    text += f"; single sets with p below 0.05: {', '.join(named) or 'none'}."
    if label.startswith(BY_CONSTRUCTION) and len(of_sets) > NO_WORSE_ON:
        text += f" The goal of no higher error than {TUNED_RBF} on average is {'met' if over['difference'] <= 0 else 'missed'}."
    return text


def _probability(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def on_luck(runs: pd.DataFrame) -> str:
    """Return in words how much the test errors exceed the errors that the searches minimised."""
    more = (runs.error - runs.validation).groupby([runs.method, runs["set"]]).mean().groupby("method").mean()
    gaps = ", ".join(f"{method} {100 * more[method]:.1f}" for method in ordered_methods(runs))
    return (
        f"Excess of the test error over the error that the search minimised, in percentage points, means over the sets: {gaps}."
    )


def on_time(runs: pd.DataFrame) -> str:
    """Return in words the time of an evolution, on Heart if it was run."""
    evolved = runs[runs.method != TUNED_RBF]
    if not len(evolved):
        return ""
    timed = TIMED_SET if (evolved["set"] == TIMED_SET).any() else ordered_sets(evolved)[0]
    some = evolved[evolved["set"] == timed]
    evaluations = int(some.evaluations.max())
    minutes = some.groupby("method").seconds.median() / 60
    each = ", ".join(f"{method} {value:.2f}" for method, value in minutes.items())
    text = f"Minutes of processor time for {evaluations} evaluations on {timed}, the median of the splits: {each}"
    if timed == TIMED_SET and evaluations >= 2500:
        worst = evolved[evolved["set"] == timed].seconds.max() / 60
        met = "met" if worst < MINUTES else ("met in the median" if minutes.max() < MINUTES else "missed")
        text += f"; {worst:.2f} at most. The goal of {MINUTES:g} minutes is {met}"
    return f"{text}."


def on_causality(table: pd.DataFrame) -> str:
    """Return in words how much a single variation changes the kernel matrix, from the table of `causality_table`."""
    if not len(table):
        return ""
    texts = []
    for grammar, some in table.groupby("grammar", sort=False):
        over: dict[Any, Any] = some.iloc[-1].to_dict()  # over all sets, or the only one
        texts.append(
            f"{grammar} changes nothing in {100 * over['unchanged']:.0f} % of the steps, and otherwise by {over['median']:.2g} "
            f"in the median, by more than 0.5 in {100 * over['above 0.5']:.0f} % of all"
        )
    return (
        f"Change by a single variation of a random kernel, as 1 minus the centred alignment of the matrices: {'; '.join(texts)}."
    )


def draw_errors(runs: pd.DataFrame) -> Figure:
    """Draw a panel for each set: a box for each method, dots for the splits, and a diamond for the printed mean."""
    from matplotlib.figure import Figure

    sets, methods = ordered_sets(runs), ordered_methods(runs)
    figure = Figure(figsize=(1.2 + (0.5 + 0.45 * len(methods)) * max(len(sets), 2), 4.2), layout="constrained")
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    means = table_9(runs).set_index(["set", "method"])["mean printed"]
    for panel, name in zip(panels, sets, strict=True):
        some = runs[runs["set"] == name]
        shown = [method for method in methods if (some.method == method).any()]
        for k, method in enumerate(shown):
            _draw_box(panel, k, some[some.method == method].error, COLOURS[methods.index(method) % len(COLOURS)])
            panel.plot(k, means[name, method], "D", color="black", mfc="white", ms=5, zorder=4)  # nan draws nothing
        panel.set_title(name, fontsize=10)
        panel.set_xticks(range(len(shown)), shown, rotation=60, ha="right", rotation_mode="anchor", fontsize=9)
        panel.set_xlim(-0.6, len(shown) - 0.4)
        panel.tick_params(axis="y", labelsize=8)
        tidy(panel)
    panels[0].set_ylabel("misclassified share of the test rows", fontsize=9)
    panels[0].set_ylim(bottom=0)
    return figure


def _draw_box(panel: Axes, x: int, errors: pd.Series, colour: str) -> None:
    panel.boxplot(
        [errors.to_numpy()],
        positions=[x],
        widths=0.55,
        manage_ticks=False,
        showfliers=False,  # the splits are dots
        patch_artist=True,
        boxprops={"facecolor": "white", "edgecolor": colour},
        medianprops={"color": colour, "lw": 2},
        whiskerprops={"color": colour},
        capprops={"color": colour},
    )
    # equal errors side by side
    order = errors.groupby(errors.round(12)).cumcount()
    many = errors.groupby(errors.round(12)).transform("size")
    panel.plot(x + 0.07 * (order - (many - 1) / 2), errors, "o", color=colour, ms=2.5, alpha=0.7, zorder=3)
