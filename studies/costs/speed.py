"""Time saved by shared work in cross-validation, and agreement of the scores with LIBSVM's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import qmc
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.svm import SVC

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.shared_folds import CLOSER
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.problem import DualProblem
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram import gram_matrix, kernel_matrix
from spotsvm.solvers.kernels.matrices.single_gram import SingleGram
from spotsvm.studies.common.data import DataSet, Floats, Split, read_set, stand_ins
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.common.jobs import Job

Rows = NDArray[np.intp]

TOL = 1e-3  # SVC's
REFERENCE_TOL = 1e-6


class Gaps(NamedTuple):
    """Two solutions of one fold: their violations of the optimality conditions, and their deviating predictions.

    `ours_off` and `sklearn_off` count test rows that a float64 solution with a violation of at most 1e-6 predicts differently.
    `same_score` is whether our measured solution gives the recorded score.
    """

    ours: float
    sklearn: float
    ours_off: int
    sklearn_off: int
    same_score: bool


class FoldGaps:
    """Solve single folds as the shared work does, to measure the solutions."""

    def __init__(self, data: DataSet):
        self._data = data
        self._gram = SingleGram(data.X)
        self._solver = FoldSolver(len(data.y))

    def measure(self, setting: dict[str, float], split: Split, machine: SVC, score: float) -> Gaps:
        """Return the violations of the optimality conditions in float64, and the deviating predictions, of both solutions.

        `machine` is scikit-learn's model, fitted to the training rows. `score` is the accuracy from the shared work on this fold.
        """
        (train, test), cost = split, setting["C"]
        data, kernel = self._data, Kernel("rbf", gamma=setting["gamma"])
        beta, decision = self._solve(cost, kernel, train)
        predicted = np.where(decision[test] >= 0, 1.0, -1.0)
        y = data.y[train]
        problem = DualProblem(gram_matrix(kernel, data.X[train]), y, np.full(len(train), cost), bias=True)
        theirs = np.zeros(len(train))
        theirs[machine.support_] = np.abs(machine.dual_coef_[0])
        gaps = [problem.kkt(a, problem.decision(a))[0] for a in (np.abs(beta[train]), theirs)]
        X_test = data.X[test]
        best = solve_dual(problem.K, y, cost, "exact", bias=True, tol=REFERENCE_TOL, start=np.abs(beta[train]))
        optimal = kernel_matrix(kernel, X_test, data.X[train]) @ (best.alpha * y) + best.bias > 0
        off = [int(np.sum((p > 0) != optimal)) for p in (predicted, machine.predict(X_test))]
        return Gaps(gaps[0], gaps[1], off[0], off[1], bool(np.isclose(np.mean(predicted == data.y[test]), score)))

    def _solve(self, cost: float, kernel: Kernel, train: Rows) -> tuple[Floats, Floats]:
        y = self._data.y
        K, offset = self._gram.matrix(kernel)
        whole = Target(y, *symmetric_bounds(cost, y, False))
        labels = np.zeros(len(y))
        labels[train] = y[train]
        part = Target(labels, *symmetric_bounds(cost, labels, False))
        start = self._solver.cold(K, offset, whole, TOL)
        state = self._solver.warm(K, offset, part, start, whole.z, TOL * CLOSER)
        return state.beta, state.decision(part)


GOAL, AIM = 8.0, 12.0
LARGE_C = 2.0**12
FOLDS = 5


def settings(count: int) -> list[dict[str, float]]:
    """Draw settings by a Latin hypercube: C from 2^-5 to 2^15 and gamma from 2^-15 to 2^3, on logarithmic scales."""
    points = qmc.LatinHypercube(2, rng=np.random.default_rng(0)).random(count)
    return [{"C": 2.0 ** (20 * u - 5), "gamma": 2.0 ** (18 * v - 15)} for u, v in points.tolist()]


@dataclass(kw_only=True)
class SpeedStudy(Experiment):
    """Cross-validation with shared work compared with scikit-learn: times, and scores of each setting.

    Both score the same settings of SVC on the same five folds of standardised data, in one process and one thread, and alternate
    at each setting. Times are processor times after compilation ("warm"). Our scorer keeps the work that settings share, so the
    time of the first setting includes the distances. At the end one call of `cross_val_scores` scores all settings again. The
    function of scikit-learn is `cross_validate`, which `cross_val_score` calls, with a cache of 1000 MB. If a score differs, the
    violation of the optimality conditions is measured in float64 at both solutions.

    Parameters
    ----------
    quick : bool, default=False
        Six settings on two small sets of scikit-learn.
    n_jobs, path
        See `Experiment`.
    """

    name = "speed"
    drawn = ("ratio", "ratio, one call", "worst ratio", "equal")

    measures_times = True

    def _jobs(self) -> list[Job]:
        candidates = settings(6 if self.quick else 50)
        _warm_up()
        return [Job({"data_set": data.name, "n": len(data.y)}, _compare, (data, candidates)) for data in self._sets()]

    def _sets(self) -> list[DataSet]:
        if self.quick:
            return stand_ins()
        sonar, pima, waveform, ringnorm = (read_set(name) for name in ("sonar", "pima", "ida_waveform", "ida_ringnorm"))
        sets = [sonar, pima.first(700, "pima")]
        sets += [data.first(n, name) for n in (2000, 5000) for data, name in ((waveform, "waveform"), (ringnorm, "ringnorm"))]
        return [data.standardised() for data in sets]

    def table(self) -> pd.DataFrame:
        """Return a row for each data set: times and ratios, the number of equal settings, and violations of the others."""
        return pd.DataFrame([_summary(group) for _, group in self.frame().groupby(["data_set", "n"], sort=False)])

    def conclusion(self) -> str:
        """Return in words the ratios of times, the number of slower settings, and the agreement of the scores."""
        table, runs = self.table(), self.frame()
        totals = ", ".join(f"{row.ratio:.1f} on {row.data_set} ({row.n})" for row in table.itertuples())
        slower = runs[runs.ratio < 1.0]
        small = runs[runs.C <= LARGE_C]
        differ = runs[~runs["equal"]]
        worse = int((differ.our_gap > differ.sklearn_gap).sum())
        return (
            f"scikit-learn's time over ours for all settings, warm: {totals}; the goal of {GOAL:g} is reached on "
            f"{int((table.ratio >= GOAL).sum())} of {len(table)} sets, {AIM:g} on {int((table.ratio >= AIM).sum())}. "
            f"Ours took longer than scikit-learn in {len(slower)} of {len(runs)} settings (lowest ratio {runs.ratio.min():.2f}). "
            f"All fold scores are equal in {int(runs['equal'].sum())} of {len(runs)} settings, and within one test point in "
            f"{int((runs.points <= 1).sum())}; for C up to 2^12 in {int((small.points <= 1).sum())} of {len(small)}. Where they "
            f"differ, our largest violation in float64 is above scikit-learn's in {worse} of {len(differ)} settings"
            + (_on_differences(differ) if len(differ) else ".")
        )


def _on_differences(differ: pd.DataFrame) -> str:
    return (
        f" (ours at most {differ.our_gap.max():.2g}, scikit-learn's {differ.sklearn_gap.max():.2g}). In the folds that differ, "
        f"our predictions deviate from those of a solution to 1e-6 on {differ.our_rows_off.sum()} test rows, scikit-learn's on "
        f"{differ.sklearn_rows_off.sum()}. For these violations our solution is computed again, fold by fold; in "
        f"{int(differ.gap_checked.sum())} of the {len(differ)} settings it gives the recorded scores."
    )


def _warm_up() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.choice([-1.0, 1.0], 300)
    candidates = [{"C": cost, "gamma": gamma} for cost in (0.1, 2.0**15) for gamma in (2.0**-10, 2.0**-3, 4.0)]
    cross_val_scores(SVC(), X, y, candidates)
    cross_validate(SVC(), X, y)


def _compare(data: DataSet, candidates: Sequence[dict[str, float]]) -> pd.DataFrame:
    """Score all settings by both in turns, and then by one call."""
    splits = list(StratifiedKFold(FOLDS).split(data.X, data.y))
    scorer = FoldScorer(SVC(), data.X, data.y, splits, {}, engine="auto")
    gaps = FoldGaps(data)
    rows = []
    for number, setting in enumerate(candidates):
        began = time.process_time()
        numbers = scorer.score([setting])[0].numbers
        ours_seconds = time.process_time() - began
        ours = np.array([numbers[f"split{k}_test_score"] for k in range(FOLDS)])
        began = time.process_time()
        peer = cross_validate(SVC(cache_size=1000, **setting), data.X, data.y, cv=FOLDS, return_estimator=True)
        sklearn_seconds = time.process_time() - began
        points = np.round(np.abs(ours - peer["test_score"]) * [len(test) for _, test in splits]).astype(int)
        worst = _worst([gaps.measure(setting, splits[k], peer["estimator"][k], ours[k]) for k in np.flatnonzero(points)])
        row: dict[str, Any] = {"setting": number, **setting}
        row |= {"ours_seconds": ours_seconds, "sklearn_seconds": sklearn_seconds, "ratio": sklearn_seconds / ours_seconds}
        row |= {f"ours_{k}": score for k, score in enumerate(ours)}
        row |= {f"sklearn_{k}": score for k, score in enumerate(peer["test_score"])}
        row |= {"points": int(points.max()), "folds_differ": int((points > 0).sum()), "equal": not points.any()}
        row |= {"our_gap": worst.ours, "sklearn_gap": worst.sklearn, "our_rows_off": worst.ours_off}
        rows.append(row | {"sklearn_rows_off": worst.sklearn_off, "gap_checked": worst.same_score})
    left_to_sklearn = scorer.n_fitted
    began = time.process_time()
    whole = cross_val_scores(SVC(), data.X, data.y, candidates)
    seconds = time.process_time() - began
    frame = pd.DataFrame(rows)
    frame["same_in_whole_call"] = np.isclose(whole, frame[[f"ours_{k}" for k in range(FOLDS)]].to_numpy()).all(axis=1)
    return frame.assign(whole_call_seconds=seconds, left_to_sklearn=left_to_sklearn)


def _worst(gaps: Sequence[Gaps]) -> Gaps:
    """Return the largest violations over the folds, nan without folds, and the sums of deviating rows."""
    if not gaps:
        return Gaps(np.nan, np.nan, 0, 0, True)
    return Gaps(
        max(g.ours for g in gaps),
        max(g.sklearn for g in gaps),
        sum(g.ours_off for g in gaps),
        sum(g.sklearn_off for g in gaps),
        all(g.same_score for g in gaps),
    )


def _summary(group: pd.DataFrame) -> dict[str, Any]:
    small, differ = group[group.C <= LARGE_C], group[~group["equal"]]
    ours, sklearn = group.ours_seconds.sum(), group.sklearn_seconds.sum()
    return {
        "data_set": group.data_set.iloc[0],
        "n": int(group.n.iloc[0]),
        "settings": len(group),
        "seconds": ours,
        "in one call": group.whole_call_seconds.iloc[0],
        "scikit-learn": sklearn,
        "ratio": sklearn / ours,
        "ratio, one call": sklearn / group.whole_call_seconds.iloc[0],
        "median ratio": group.ratio.median(),
        "worst ratio": group.ratio.min(),
        "goal": GOAL,
        "met": bool(sklearn / ours >= GOAL),
        "equal": int(group["equal"].sum()),
        "within a point": int((group.points <= 1).sum()),
        "of C <= 2^12": len(small),
        "equal there": int(small["equal"].sum()),
        "within a point there": int((small.points <= 1).sum()),
        "largest difference": int(group.points.max()),
        "our gap, where they differ": differ.our_gap.max(),
        "scikit-learn's gap": differ.sklearn_gap.max(),
        "our gap larger": int((differ.our_gap > differ.sklearn_gap).sum()),
        "our rows off": int(differ.our_rows_off.sum()),
        "scikit-learn's": int(differ.sklearn_rows_off.sum()),
        "left to scikit-learn": int(group.left_to_sklearn.iloc[0]),
    }
