"""`Comparison`: the runs of several searches, as tables and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, wilcoxon

from spotsvm.common.drawing import new_axes
from spotsvm.common.text import counted
from spotsvm.comparison.figure import Band, Centre, Floats, draw_curves
from spotsvm.comparison.runs import Run, Task, measured, recommended_number
from spotsvm.errors import ArgumentError
from spotsvm.reports.convergence import best_so_far
from spotsvm.trials.results import trial_table
from spotsvm.trials.trial import FAILED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVE_POINTS = 10


class Comparison:
    """The runs of several searches on one objective, from the same seeds, as `compare` returns them.

    Parameters
    ----------
    runs : sequence of Run
        A run for each search and seed.
    task : Task
        The settings that the runs share.
    confidence : float, default=0.95
        Confidence level of bootstrap bands.

    Attributes
    ----------
    runs : tuple of Run
        The runs, search by search.
    searches : list of str
        The labels, in the order given.
    seeds : list of int
        The seeds.
    n_trials : int
        Evaluations of a run.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from spotsvm import compare
    >>> comparison = compare(
    ...     lambda p: (p["x"] - 0.3) ** 2,
    ...     {"x": uniform(0, 1)},
    ...     ["random", "lhs"],
    ...     n_trials=10,
    ...     seeds=3,
    ... )
    >>> comparison.ranks().shape, len(comparison.frame())
    ((3, 2), 60)
    """

    def __init__(self, runs: Sequence[Run], task: Task, confidence: float = 0.95):
        self.runs = tuple(runs)
        self.searches = list(dict.fromkeys(run.search for run in runs))
        self.seeds = list(dict.fromkeys(run.seed for run in runs))
        self.n_trials = task.n_trials
        self._task = task
        self._confidence = confidence

    def after(self, n_trials: int) -> Comparison:
        """Return the comparison as it was after fewer evaluations, with the recommendations at that point.

        Returns
        -------
        Comparison
            The comparison of the same runs, each cut after these evaluations.

        Raises
        ------
        ArgumentError
            If the runs have fewer evaluations.
        """
        n_trials = self._checked(n_trials)
        runs = [self._shortened(run, n_trials) for run in self.runs]
        return Comparison(runs, replace(self._task, n_trials=n_trials), self._confidence)

    def _checked(self, n_trials: int) -> int:
        if not isinstance(n_trials, Integral) or not 1 <= n_trials <= self.n_trials:
            raise ArgumentError(f"n_trials={n_trials!r} is not a number of evaluations of these runs; use 1 to {self.n_trials}")
        return int(n_trials)

    def _shortened(self, run: Run, n_trials: int) -> Run:
        """Return a run cut to its first trials, with the recommendation after them."""
        if n_trials >= len(run.trials):
            return run
        trials = run.trials[:n_trials]
        return replace(run, trials=trials, recommended=recommended_number(trials, self._task, run.seed))

    @cached_property
    def _results(self) -> pd.DataFrame:
        return self._results_after(self.n_trials)

    def _results_after(self, n_trials: int) -> pd.DataFrame:
        found = {(run.seed, run.search): self._result(run, n_trials) for run in self.runs}
        values = [[found[seed, search] for search in self.searches] for seed in self.seeds]
        index, columns = pd.Index(self.seeds, name="seed"), pd.Index(self.searches, name="search")
        return pd.DataFrame(values, index=index, columns=columns, dtype=float)

    def _result(self, run: Run, n_trials: int) -> float:
        if self._task.measure is None:
            return float(self._best_so_far(run)[:n_trials][-1])
        run = self._shortened(run, n_trials)
        if run.recommended is None:
            return np.nan
        return measured(next(t for t in run.trials if t.number == run.recommended), self._task.measure)

    def _best_so_far(self, run: Run) -> Floats:
        return best_so_far(run.trials, self._task.sign)

    def results(self, n_trials: int | None = None) -> pd.DataFrame:
        """Return the result of each run, one row per seed and one column per search; nan where no trial succeeded.

        The result is the best value seen, or the measure of the recommended trial if there is a measure.

        Parameters
        ----------
        n_trials : int, optional
            Number of evaluations after which to take the result; by default all.

        Returns
        -------
        DataFrame
            One row for each seed, one column for each search.

        Raises
        ------
        ArgumentError
            If the runs have fewer evaluations.
        """
        return self._results.copy() if n_trials is None else self._results_after(self._checked(n_trials))

    def ranks(self) -> pd.DataFrame:
        """Return the rank of each search within each seed: 1 is the best, equal results share the mean of their ranks.

        Returns
        -------
        DataFrame
            One row for each seed, one column for each search.
        """
        return rank_searches(self._results, self._task.sign)

    def table(self) -> pd.DataFrame:
        """Summarise the final results, one row per search as in Table 5 of Koch et al. 2011, best mean rank first.

        Columns: search; best, mean, median, worst and sd (sample standard deviation) of the results over the seeds;
        mean_rank over the seeds; difference, the median over the seeds of the result minus that of the best ranked search;
        p, of Wilcoxon's signed-rank test of these differences (two-sided), and p_holm, adjusted for the number of searches
        tested; note, the reason if p is nan; runs with a result; failed trials; ask_seconds, mean time of a suggestion.

        Returns
        -------
        DataFrame
            One row for each search.

        Notes
        -----
        Few seeds show little: with k pairs without ties, the smallest possible p is 2^(1-k). So p is at least 0.0625 with 5
        seeds; it can be below 0.05 from 6 seeds on, and after Holm's adjustment for four rivals from 8 seeds on. The search
        to test against is chosen from the same runs, so p favours this search.

        References
        ----------
        Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", Table 5.
        Demsar 2006, "Statistical Comparisons of Classifiers over Multiple Data Sets", sections 3.1.3 and 3.2.2.
        """
        trials = {label: [t for run in self.runs if run.search == label for t in run.trials] for label in self.searches}
        failed = [sum(t.state in FAILED for t in trials[label]) for label in self.searches]
        seconds = [[t.ask_seconds for t in trials[label] if t.ask_seconds is not None] for label in self.searches]
        means = [float(np.mean(times)) if times else np.nan for times in seconds]
        return comparison_table(self._results, self._task.sign, failed, means)

    def frame(self) -> pd.DataFrame:
        """Return one row per trial: search, seed, and the columns of `Study.frame`, with the trial's own seed as trial_seed.

        Two columns are added: best, the best value so far, and recommended, whether the search's study recommends this trial
        in the end.

        Returns
        -------
        DataFrame
            One row for each trial.
        """
        runs = [(run, trial) for run in self.runs for trial in run.trials]
        frame = trial_table([trial for _, trial in runs], self._task.space.names).rename(columns={"seed": "trial_seed"})
        frame.insert(0, "search", [run.search for run, _ in runs])
        frame.insert(1, "seed", [run.seed for run, _ in runs])
        best = np.concatenate([self._best_so_far(run) for run in self.runs])
        frame.insert(list(frame.columns).index("value") + 1, "best", best)
        return frame.assign(recommended=[trial.number == run.recommended for run, trial in runs])

    def curves(self) -> pd.DataFrame:
        """Return the value that each run had reached after each number of evaluations: search, seed, evaluations, value.

        The value is the best seen, after each evaluation. If there is a measure, it is the measure of the trial recommended at
        that time, after each tenth of the evaluations. A run that ended early keeps its last value.

        Returns
        -------
        DataFrame
            One row for each search, seed and number of evaluations.
        """
        evaluations, curves = self._curves()
        rows = [
            (label, seed, int(n), value)
            for label, curve in curves.items()
            for seed, values in zip(self.seeds, curve, strict=True)
            for n, value in zip(evaluations, values, strict=True)
        ]
        return pd.DataFrame(rows, columns=["search", "seed", "evaluations", "value"])

    def _curves(self) -> tuple[NDArray[np.intp], dict[str, Floats]]:
        """Return the numbers of evaluations, and for each search an array of shape (n_seeds, n_points)."""
        if self._task.measure is None:
            evaluations = np.arange(1, self.n_trials + 1)
            curve_of = self._best_so_far
        else:
            evaluations = np.unique(np.linspace(0, self.n_trials, _CURVE_POINTS + 1).astype(int)[1:])
            evaluations = evaluations[evaluations > 0]

            def curve_of(run: Run) -> Floats:
                return np.array([self._result(run, int(n)) for n in evaluations])

        by_run = {(run.search, run.seed): _prolonged(curve_of(run), len(evaluations)) for run in self.runs}
        return evaluations, {label: np.array([by_run[label, seed] for seed in self.seeds]) for label in self.searches}

    def figure(
        self,
        *,
        centre: Centre = "median",
        band: Band | None = "interquartile",
        log: bool = False,
        optimum: float | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw `curves`: for each search the centre of the seeds, and a band.

        The first values can be worse by orders of magnitude; an axis that is not logarithmic leaves out the worst of them.

        Parameters
        ----------
        centre : {"median", "mean"}, default="median"
            The centre.
        band : {"interquartile", "range", "bootstrap"} or None, default="interquartile"
            Between the quartiles of the seeds; between the best and the worst seed; or the percentile bootstrap interval
            of the centre, with the comparison's confidence level. The first two show how runs differ, the last the uncertainty
            of the centre.
        log : bool, default=False
            Whether the axis of values is logarithmic.
        optimum : float, optional
            A known optimum, or a bound: the distance to it is drawn instead of the value.
        ax : Axes, optional
            Where to draw; by default a new figure of 6 x 4 inches.

        Returns
        -------
        Figure
            The figure, to be shown or saved.

        Raises
        ------
        ArgumentError
            If `centre` or `band` is unknown, or the axis is logarithmic and a value is not positive.
        """
        ax = new_axes(ax)
        evaluations, curves = self._curves()
        sign, measure = self._task.sign, self._task.measure
        if optimum is not None:
            curves = {label: sign * (curve - optimum) for label, curve in curves.items()}
            sign = 1.0
        draw_curves(
            evaluations, curves, ax, sign=sign, centre=centre, band=band, confidence=self._confidence, log=log,
            steps=measure is None,
        )  # fmt: skip
        what = "best value so far" if measure is None else f"{measure} of the recommended trial"
        ax.set_ylabel(what if optimum is None else f"{what}: distance to {optimum:.4g}")
        ax.set_xlabel(f"evaluations ({_words(centre, band, self._confidence, len(self.seeds))})")
        ax.legend(frameon=False)
        figure = ax.get_figure(root=True)
        assert figure is not None
        return figure

    def to_markdown(self) -> str:
        """Return the table as Markdown, with a note on the test.

        Returns
        -------
        str
            The table and the note.
        """
        seeds = counted(len(self.seeds), "seed")
        measure = self._task.measure
        result = "best value seen" if measure is None else f"{measure} of the recommended configuration"
        note = (
            f"Result of a run: {result} after {self.n_trials} evaluations; {self._task.direction}d; {seeds}. "
            "p: Wilcoxon signed-rank test against the best ranked search; "
            f"with {seeds} the smallest possible p is {0.5 ** (len(self.seeds) - 1):.3g}."
        )
        return f"{self.table().to_markdown(index=False, floatfmt='.4g')}\n\n{note}"

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.searches)}: {counted(len(self.seeds), 'seed')} of {self.n_trials} trials each>"

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_results"}


def _prolonged(curve: Floats, length: int) -> Floats:
    return np.concatenate([curve, np.full(length - len(curve), curve[-1])]) if len(curve) < length else curve


def _words(centre: Centre, band: Band | None, confidence: float, seeds: int) -> str:
    """Return a description of a line and its band."""
    if seeds == 1:
        return "1 seed"
    bands = {"interquartile": "quartiles", "range": "best and worst", "bootstrap": f"{confidence:.0%} bootstrap interval"}
    return f"{centre}{'' if band is None else f' and {bands[band]}'} of {seeds} seeds"


#: maximum number of differences for which all 2^n signs are tried
_ENUMERATED = 13


def rank_searches(results: pd.DataFrame, sign: float) -> pd.DataFrame:
    """Return the rank of each search within each seed, 1 for the best; equal results share the mean of their ranks.

    A result of nan, of a run in which no trial succeeded, ranks last. `sign` is 1 if a smaller result is better, else -1.
    """
    losses = np.where(np.isnan(results), np.inf, sign * results)
    return pd.DataFrame(rankdata(losses, axis=1), index=results.index, columns=results.columns)


def signed_rank_test(differences: ArrayLike) -> tuple[float, str]:
    """Test paired differences against 0 by Wilcoxon's signed ranks (1945), two-sided; return p, and the reason if it is nan.

    Differences of 0 are left out; p is exact for up to 13, without ties up to 50, else by the normal approximation.
    """
    d = np.asarray(differences, dtype=float)
    if missing := int(np.isnan(d).sum()):
        return np.nan, f"{missing} of {len(d)} pairs have a run without a result"
    if len(d) < 2:
        return np.nan, "a single seed does not show the spread"
    d = d[d != 0]
    if not len(d):
        return np.nan, "all differences are 0"
    if len(d) > _ENUMERATED:
        return float(wilcoxon(d).pvalue), ""
    ranks = rankdata(np.abs(d))
    signs = np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1
    sums, seen = signs @ ranks, ranks[d > 0].sum()
    return min(1.0, 2.0 * float(min(np.mean(sums <= seen), np.mean(sums >= seen)))), ""


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for multiple tests by Holm's step-down method (1979); nan stays nan and does not count."""
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else []
    return adjusted


def comparison_table(results: pd.DataFrame, sign: float, failed: Sequence[int], ask_seconds: Sequence[float]) -> pd.DataFrame:
    """Return a summary with one row per search, best mean rank first; `Comparison.table` describes the columns.

    `failed` has the number of failed trials of each search, `ask_seconds` the mean time of a suggestion.
    """
    losses = sign * results
    mean_rank = rank_searches(results, sign).mean()
    # for equal mean ranks the better median comes first, and a missing median last
    order = losses.median().to_frame("median").assign(rank=mean_rank).sort_values(["rank", "median"], kind="stable").index
    differences = {label: results[label] - results[order[0]] for label in order}
    tests = [signed_rank_test(differences[label]) if label != order[0] else (np.nan, "best ranked") for label in order]
    adjusted = holm([p for p, _ in tests])
    at = {label: k for k, label in enumerate(results.columns)}
    rows: list[dict[str, Any]] = []
    for label, (p, note), p_holm in zip(order, tests, adjusted, strict=True):
        row = {"search": label, "best": sign * losses[label].min(), "mean": results[label].mean()}
        row |= {"median": results[label].median(), "worst": sign * losses[label].max(), "sd": results[label].std(ddof=1)}
        row |= {"mean_rank": mean_rank[label], "difference": differences[label].median(), "p": p, "p_holm": p_holm, "note": note}
        row |= {"runs": int(results[label].notna().sum()), "failed": failed[at[label]], "ask_seconds": ask_seconds[at[label]]}
        rows.append(row)
    return pd.DataFrame(rows)
