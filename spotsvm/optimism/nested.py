"""Nested resampling: the whole search is repeated without the rows of each outer fold, and scored on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray

from spotsvm.class_accuracy import expected_interval
from spotsvm.optimism.intervals import (
    Interval,
    corrected_factor,
    jackknife_variance,
    repeated_variance,
    t_interval,
)
from spotsvm.optimism.outer_fold import FoldTask, Incumbent, OuterFold, run_outer_fold
from spotsvm.optimism.outer_splits import OuterSplits
from spotsvm.optimism.result import Optimism

Floats = NDArray[np.float64]
Variance = Literal["auto", "jackknife", "nadeau-bengio"]
VARIANCES: tuple[Variance, ...] = ("auto", "jackknife", "nadeau-bengio")

_NO_JACKKNIFE = (
    "The interval uses the rule of Nadeau and Bengio, which is rather wide: the jackknife needs three or more outer folds that "
    "contain each row once, and scores that are defined without some of the rows."
)
_NOISY = (
    "The last point of the curve is the best observed score, whereas the search recommends a trial by its model of the noise."
)


def run_nested(
    task: FoldTask, outer: OuterSplits, *, confidence: float, variance: Variance, n_jobs: int | None, seed: int
) -> Optimism:
    """Run every outer fold, and summarise them.

    Parameters
    ----------
    task : FoldTask
        The search and the data.
    outer : OuterSplits
        The outer folds.
    confidence : float
        Confidence level of the intervals.
    variance : {"auto", "jackknife", "nadeau-bengio"}
        Rule for the interval; "auto" is the jackknife where it can be computed.
    n_jobs : int or None
        Outer folds in parallel.
    seed : int
        Each fold derives its own seeds from it, independent of the order.
    """
    seeds = [
        tuple(int(s) for s in np.random.SeedSequence([seed, number]).generate_state(2) >> 1)
        for number in range(len(outer.splits))
    ]
    jobs = [
        joblib.delayed(run_outer_fold)(
            task, number, split, [] if variance == "nadeau-bengio" else _held_out(outer, number), seeds[number]
        )
        for number, split in enumerate(outer.splits)
    ]
    folds: list[OuterFold] = joblib.Parallel(n_jobs=n_jobs)(jobs)
    return sum_up(folds, outer, confidence, variance)


def _held_out(outer: OuterSplits, number: int) -> list[Any]:
    repeat = outer.others(number)
    return [outer.splits[k][1] for k in repeat] if len(repeat) >= 3 else []


def sum_up(folds: Sequence[OuterFold], outer: OuterSplits, confidence: float, variance: Variance) -> Optimism:
    """Return the optimism from the outer folds."""
    tuned, scores = np.array([f.tuned for f in folds]), np.array([f.outer for f in folds])
    gaps = tuned - scores
    found, degrees = (np.nan, 0) if variance == "nadeau-bengio" else _jackknife(folds, outer)
    rule = "jackknife"
    if not np.isfinite(found):
        rule, degrees = "nadeau-bengio", len(folds) - 1
        found = corrected_factor(len(folds), outer.ratio) * float(gaps.var(ddof=1))
    notes = [_NO_JACKKNIFE] if rule == "nadeau-bengio" and variance != "nadeau-bengio" else []
    spread = float(gaps.var(ddof=1))
    factor = found / spread if spread > 0 else corrected_factor(len(folds), outer.ratio)
    if any(f.incumbents and f.incumbents[-1].tuned != f.tuned for f in folds):
        notes.append(_NOISY)
    mean = float(gaps.mean())
    return Optimism(
        mean,
        t_interval(mean, found, degrees, confidence),
        confidence,
        "nested",
        rule,
        float(tuned.mean()),
        float(scores.mean()),
        expected_interval(scores, outer.ratio, confidence, folds[0].metric),
        max(f.n_trials for f in folds),
        folds[0].metric,
        tuple(_row(f) for f in folds),
        tuple(_points(folds, lambda mean, spread: t_interval(mean, factor * spread, degrees, confidence))),
        tuple(notes),
    )


def _jackknife(folds: Sequence[OuterFold], outer: OuterSplits) -> tuple[float, int]:
    """Return the jackknife's variance and its degrees of freedom; nan where it cannot be computed."""
    repeats = [[folds[k] for k in repeat] for repeat in outer.repeats or [] if len(repeat) >= 3]
    if not repeats or len(repeats) != len(outer.repeats or []):
        return float("nan"), 0
    variances = [jackknife_variance([f.without for f in repeat], [f.outer for f in repeat]) for repeat in repeats]
    means = [float(np.mean([f.tuned - f.outer for f in repeat])) for repeat in repeats]
    return repeated_variance(variances, means), min(len(repeat) for repeat in repeats) - 1


def _row(fold: OuterFold) -> dict[str, Any]:
    return {
        "fold": fold.number,
        "n_train": fold.n_train,
        "n_test": fold.n_test,
        "tuned": fold.tuned,
        "outer": fold.outer,
        "optimism": fold.tuned - fold.outer,
        "chosen_trial": fold.chosen,
        "n_trials": fold.n_trials,
        "params": fold.params,
    }


def _points(folds: Sequence[OuterFold], interval: Callable[[float, float], Interval]) -> list[dict[str, float]]:
    """Return the curve at the numbers of trials at which an incumbent changes, and at the last.

    The interval of an earlier point is computed from the spread of the folds at that point, assuming the same ratio of variance
    to spread as for the winners.
    """
    if not all(f.incumbents for f in folds):
        return []
    first = max(f.incumbents[0].n_trials for f in folds)
    last = max(f.n_trials for f in folds)
    changes = {i.n_trials for f in folds for i in f.incumbents if i.n_trials > first}
    points = []
    for n in sorted({first, last} | changes):
        now = [_at(f.incumbents, n) for f in folds]
        gaps = np.array([i.tuned - i.outer for i in now])
        mean = float(gaps.mean())
        low, high = interval(mean, float(gaps.var(ddof=1)))
        points.append(
            {
                "n_trials": n,
                "tuned": float(np.mean([i.tuned for i in now])),
                "outer": float(np.mean([i.outer for i in now])),
                "optimism": mean,
                "low": low,
                "high": high,
            }
        )
    return points


def _at(incumbents: Sequence[Incumbent], n_trials: int) -> Incumbent:
    return next(i for i in reversed(incumbents) if i.n_trials <= n_trials)
