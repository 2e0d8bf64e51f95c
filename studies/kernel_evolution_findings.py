"""What the study of evolved kernels finds, in words from its figures."""

from __future__ import annotations

from typing import Any

import pandas as pd

from studies.kernel_evolution_printed import GP, TABLE_9, TUNED_RBF
from studies.kernel_evolution_runs import method_of
from studies.kernel_evolution_tables import ALL_SETS, ordered_methods, ordered_sets, paired_tests

#: on how many of the paper's five sets the mean error is to be no higher than the paper's GP
NO_WORSE_ON = 4
#: evaluations on Heart, and the minutes that they are to take on one core
TIMED_SET, MINUTES = "Heart", 5.0
BY_CONSTRUCTION = method_of("psd")
_TOLD = ("set", "difference", "p")


def mean_errors(runs: pd.DataFrame, method: str) -> pd.Series:
    """Give a method's mean error on each set; empty if it was not run."""
    return runs[runs.method == method].groupby("set").error.mean().reindex(ordered_sets(runs)).dropna()


def on_paper(runs: pd.DataFrame) -> str:
    """Say on how many sets a method's mean error is no higher than the paper's of the same kind."""
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
    return f"Mean test errors, in brackets the printed means, which are of other splits. {' '.join(texts)}" if texts else ""


def on_tuned_rbf(runs: pd.DataFrame) -> str:
    """Say how the grammars compare with the tuned RBF kernel on the same splits."""
    tests = paired_tests(runs)
    if not len(tests):
        return ""
    texts = [_against_tuned_rbf(str(label), some) for label, some in tests.groupby("difference of", sort=False)]
    return " ".join(texts)


def _against_tuned_rbf(label: str, tests: pd.DataFrame) -> str:
    of_sets = tests[tests["set"] != ALL_SETS]
    over: dict[Any, Any] = tests.iloc[-1].to_dict()  # over all sets, or the only one
    differing = of_sets[of_sets["p"] < 0.05]
    named = [f"{name} ({more:+.4f}, {_probability(p)})" for name, more, p in zip(*(differing[c] for c in _TOLD), strict=True)]
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
    """Say how much lower the errors are that the searches went by than those on the test rows."""
    more = (runs.error - runs.validation).groupby([runs.method, runs["set"]]).mean().groupby("method").mean()
    gaps = ", ".join(f"{method} {100 * more[method]:.1f}" for method in ordered_methods(runs))
    return f"The test error exceeds the error that a search chose by, in percentage points, means over the sets: {gaps}."


def on_time(runs: pd.DataFrame) -> str:
    """Say what an evolution takes, on Heart if it is there."""
    evolved = runs[runs.method != TUNED_RBF]
    if not len(evolved):
        return ""
    timed = TIMED_SET if (evolved["set"] == TIMED_SET).any() else ordered_sets(evolved)[0]
    some = evolved[evolved["set"] == timed]
    evaluations = int(some.evaluations.max())
    minutes = some.groupby("method").seconds.median() / 60
    each = ", ".join(f"{method} {value:.2f}" for method, value in minutes.items())
    text = f"{evaluations} evaluations on {timed} take so many minutes of processor time, the median of the splits: {each}"
    if timed == TIMED_SET and evaluations >= 2500:
        worst = evolved[evolved["set"] == timed].seconds.max() / 60
        met = "met" if worst < MINUTES else ("met in the median" if minutes.max() < MINUTES else "missed")
        text += f"; {worst:.2f} at most. The goal of {MINUTES:g} minutes is {met}"
    return f"{text}."


def on_causality(table: pd.DataFrame) -> str:
    """Say how much a single variation changes the kernel matrix.

    Parameters
    ----------
    table : DataFrame
        As `causality_table` gives it.
    """
    if not len(table):
        return ""
    texts = []
    for grammar, some in table.groupby("grammar", sort=False):
        over: dict[Any, Any] = some.iloc[-1].to_dict()  # over all sets, or the only one
        texts.append(
            f"{grammar} changes nothing in {100 * over['unchanged']:.0f} % of the steps, and else by {over['median']:.2g} in the "
            f"median, by more than 0.5 in {100 * over['above 0.5']:.0f} % of all"
        )
    return f"A single variation of a random kernel, by 1 less the centred alignment of the matrices: {'; '.join(texts)}."
