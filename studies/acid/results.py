"""The tables and the figure of the acid study: Fig. 2 as a table, Table 8, and the value of the recommendation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.estimators.class_entries import class_cutoffs
from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.studies.acid.task import CLASSES, PRINTED, acid_space

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_budget(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row per tuner and budget: mean and standard deviation over the seeds of the tuned score and of the test score.

    Optimism is the mean tuned score minus the mean test score of the same trial, the best seen.
    """
    runs = frame[frame.budget > 0]
    rows = []
    for (budget, tuner), part in runs.groupby(["budget", "tuner"], sort=False):
        row = {"design points": budget, "tuner": tuner, "tuned": part.tuned.mean(), "sd tuned": part.tuned.std(ddof=1)}
        row |= {"test": part.test.mean(), "sd test": part.test.std(ddof=1), "test of best seen": part.test_best_seen.mean()}
        row |= {"optimism": (part.tuned - part.test_best_seen).mean(), "predicted": part.predicted.mean()}
        rows.append(row | {"s a suggestion": part.ask_seconds.mean(), "runs": len(part)})
    table = pd.DataFrame(rows).sort_values("design points", kind="stable", ignore_index=True)
    untuned = frame.loc[frame.budget == 0, ["tuner", "test"]].assign(runs=1, **{"design points": 0})
    return pd.concat([untuned, table], ignore_index=True)[table.columns.tolist()]


def table_8(frame: pd.DataFrame, region: str) -> pd.DataFrame:
    """Return a row per parameter: its region, the best recommended setting of all tuners, and the paper's for other data.

    The best setting has the best predicted score after all design points; the test rows are not used. In the default region
    weights are relative to balanced weights, and the last cutoff is that of equal shares.
    """
    last = frame[(frame.budget == frame.budget.max()) & (frame.region == region)]
    best = last.loc[last.predicted.idxmax()]
    tuned = [best[f"CUTOFF[{c}]"] for c in CLASSES[:-1]] + ([1 / len(CLASSES)] if region == "default" else [])
    cutoffs = class_cutoffs(tuned, np.array(CLASSES), "scale")
    cutoffs = cutoffs / cutoffs.sum()
    rows = []
    for name, distribution in acid_space(region).items():
        low, high = distribution.support()
        rows.append({"name": name, "low": low, "high": high, "best": best[name], "paper": PRINTED[name]})
    fifth = f"CUTOFF[{CLASSES[-1]}]"
    rows.append({"name": fifth, "low": np.nan, "high": np.nan, "best": np.nan, "paper": PRINTED[fifth]})
    table = pd.DataFrame(rows)
    table["best, cutoffs that sum to 1"] = [
        cutoffs[int(name[-2]) - 1] if name.startswith("CUTOFF") else value
        for name, value in zip(table["name"], table["best"], strict=True)
    ]
    return table


def judged(frame: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Return for each budget how much better the recommended trial is than the best seen on the test rows.

    The tuners' differences are averaged for each seed, because they share its splits; the t interval is over the seeds.
    """
    runs = frame[frame.budget > 0].assign(difference=lambda f: f.test - f.test_best_seen)
    runs = runs.assign(other=runs.recommended != runs.best_seen)
    rows = []
    for budget, part in runs.groupby("budget"):
        by_seed = part.groupby("seed").difference.mean()
        low, high = nadeau_bengio(by_seed, 0.0, confidence)
        apart = part[part.other]
        row = {"design points": budget, "runs": len(part), "another trial": len(apart)}
        row |= {"better": int((apart.difference > 0).sum()), "worse": int((apart.difference < 0).sum())}
        rows.append(row | {"difference": by_seed.mean(), "low": low, "high": high})
    return pd.DataFrame(rows)


def on_scores(table: pd.DataFrame) -> str:
    """Return in words the scores of all tuners, the score without tuning, and how much of the tuned score is luck."""
    tuned, untuned = table[table["design points"] > 0], table[table["design points"] == 0]
    last = tuned[tuned["design points"] == tuned["design points"].max()].sort_values("test", ascending=False)
    scores = ", ".join(f"{row.tuner} {row.test:.3f} (tuned {row.tuned:.3f})" for row in last.itertuples())
    without = ", ".join(f"{row.tuner} {row.test:.3f}" for row in untuned.itertuples())
    shares = tuned.groupby("design points").optimism.mean()
    luck = ", ".join(f"{value:+.3f} after {budget}" for budget, value in shares.items())
    return (
        f"Mean class accuracy on the test rows after {last['design points'].iloc[0]} design points: {scores}; {without}. "
        f"Optimism of the tuned scores, on average over the tuners: {luck}."
    )


def on_parameters(frame: pd.DataFrame, confidence: float = 0.95) -> str:
    """Return in words the gains of Kriging's twelve parameters and of the default region; empty without these tuners."""
    runs = frame[frame.budget > 0].pivot(index=["budget", "seed"], columns="tuner", values="test")
    others = {"kriging, 3 parameters": "three parameters", "kriging, Table 8": "twelve in the paper's region"}
    gains = []
    for tuner, name in others.items():
        if {tuner, "kriging"} <= set(runs):
            by_budget = (runs["kriging"] - runs[tuner]).groupby("budget")
            shown = [_with_interval(part, confidence) + f" after {budget}" for budget, part in by_budget]
            gains.append(f"over {name} {', '.join(shown)}")
    return f"Kriging's twelve parameters in the default region gain {'; '.join(gains)}." if gains else ""


PAPER_S, RIVALS = "koch2011, Table 8", {"CMA-ES": "cmaes, Table 8", "random search": "random, Table 8"}


def on_figure_2(frame: pd.DataFrame, confidence: float = 0.95) -> str:
    """Return in words whether the paper's search beats its rivals in the same region, as Fig. 2 has it; empty without them."""
    runs = frame[frame.budget > 0].pivot(index=["budget", "seed"], columns="tuner", values="test")
    gains = []
    for name, tuner in RIVALS.items():
        if {PAPER_S, tuner} <= set(runs):
            by_budget = (runs[PAPER_S] - runs[tuner]).groupby("budget")
            gains.append(f"over {name} {', '.join(_with_interval(part, confidence) + f' after {b}' for b, part in by_budget)}")
    return f"In the region of Table 8 the paper's search gains on the test rows {'; '.join(gains)}." if gains else ""


def gain_table(confusions: Mapping[str, NDArray[np.intp]]) -> pd.DataFrame:
    """Return the confusion matrix of each model, with the gains that sum to its mean class accuracy.

    A row per model and true class: numbers of records by predicted class. A right record of a class of N_c records gains
    1 / (K N_c), any other nothing.
    """
    tables = []
    for model, confusion in confusions.items():
        sizes = confusion.sum(axis=1)
        gain = 1.0 / (len(CLASSES) * sizes)
        table = pd.DataFrame(confusion, columns=[f"predicted {c}" for c in CLASSES])
        table = table.assign(records=sizes, **{"gain of a right record": gain, "gain of the class": gain * np.diag(confusion)})
        table.insert(0, "model", model)
        table.insert(1, "class", list(CLASSES))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _with_interval(differences: pd.Series, confidence: float) -> str:
    low, high = nadeau_bengio(differences, 0.0, confidence)
    return f"{differences.mean():+.3f}" + ("" if np.isnan(low) else f" ({low:+.3f} to {high:+.3f})")


def on_judgement(table: pd.DataFrame) -> str:
    """Return in words whether the recommended trial is better than the best seen on the test rows."""
    last = table.iloc[-1]
    if not last["another trial"]:
        return "The recommended trial is the best seen in every run."
    sure = "" if np.isnan(last.low) else f" (95 % interval {last.low:+.4f} to {last.high:+.4f})"
    verdict = "the recommendation is the better choice" if last.low > 0 else "no clear difference"
    verdict = "the best seen would have been the better choice" if last.high < 0 else verdict
    return (
        f"The recommended trial, chosen by the model's prediction, is another than the best seen in "
        f"{last['another trial']:.0f} of {last['runs']:.0f} runs; on the test rows it does better in {last.better:.0f} of these "
        f"and worse in {last.worse:.0f}, by {last.difference:+.4f} in the mean of all runs{sure}: {verdict}."
    )


_COLOURS = (*COLOURS, "#8B5A2B", "#595959", "#7A9E00")  # and brown, grey and olive, for ten tuners
_MARKERS = "os^DvP<X*h"


def draw_acid(table: pd.DataFrame) -> Figure:
    """Draw the table of `by_budget`: tuned and test scores of each tuner after each budget, means and standard deviations."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    ax = figure.subplots()
    tuned = table[table["design points"] > 0]
    budgets = sorted(tuned["design points"].unique())
    tuners = list(dict.fromkeys(tuned.tuner))
    width = 0.8 / len(tuners)
    handles = [
        Line2D([], [], color="0.4", marker="o", mfc=fill, ls="none", label=label)
        for fill, label in (("0.4", "filled: tuned score"), ("white", "open: score on the test rows"))
    ]
    for k, tuner in enumerate(tuners):
        part = tuned[tuned.tuner == tuner].set_index("design points").loc[budgets]
        at = np.arange(len(budgets)) + (k - (len(tuners) - 1) / 2) * width
        colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
        for shift, score, fill in ((-0.12, "tuned", colour), (0.12, "test", "white")):
            spread = part[f"sd {score}"].fillna(0.0)
            ax.errorbar(at + shift * width, part[score], spread, fmt=marker, ms=6, mfc=fill, color=colour, capsize=2.5)
        handles.append(Line2D([], [], color=colour, marker=marker, ls="none", label=tuner))
    untuned = table[table["design points"] == 0]
    for style, tuner, test in zip((":", "--"), untuned.tuner, untuned.test, strict=True):
        handles.append(ax.axhline(float(test), color="0.4", ls=style, lw=1.2, label=f"{tuner} (test rows)"))
    ax.set_xticks(range(len(budgets)), [str(budget) for budget in budgets])
    ax.set_xlabel("design points (two trainings each)")
    ax.set_ylabel("mean class accuracy")
    tidy(ax)
    figure.legend(handles=handles, fontsize=8, loc="outside right center", frameon=False)
    return figure
