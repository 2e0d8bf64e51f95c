"""Sweeps scored on folds by the user's score: all of them on some rows, and the promising ones on all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.out_of_fold.combination import Choice, Rule, choose, gains_of
from spotsvm.out_of_fold.judged_rows import JudgedRows
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.grid import Grid, score_grid
from spotsvm.tuned.screening import SCREENING_ROWS, promising
from spotsvm.tuned.sweeps import Sweep, Sweeps, sweep_of
from spotsvm.tuned.task import Task
from spotsvm.tuned.training_rows import GridRows, TrainingRows

Array = NDArray[Any]


@dataclass(frozen=True)
class SweepScorer:
    """The rows of a grid with their folds, the task on them, and how settings are judged.

    `slack` maps the gains of rows to how much worse than the best a setting must be to end its sweep; `columns_of` makes
    the columns of some kinds and encodings.
    """

    rows: TrainingRows
    task: Task
    folds: GridRows
    rule: Rule
    slack: Callable[[Array], float]
    columns_of: Callable[[Iterable[str], Iterable[str]], Columns]
    seed: int
    n_jobs: int

    @property
    def judged_rows(self) -> JudgedRows:
        """The rows that a fold tests, with their weights in scores."""
        weights, tested = self.rows.weights[self.folds.rows], self.folds.tested
        return self.task.on(tested).judged(weights[tested] / weights.mean(), self.folds.drawn_together, False)

    def scored(self, sweeps: Sweeps, costs: Callable[[Sweep], Sequence[float]], deadline: float) -> Grid:
        """Return the out-of-fold decisions of sweeps with these C, on the scale of the target."""
        task, tested, judged_rows = self.task, self.folds.tested, self.judged_rows

        def quality(setting: Any, decisions: Array) -> tuple[float, float]:
            if setting.power:
                decisions = task.smearing(decisions)(decisions)
            gains = gains_of(judged_rows, task.answers(decisions[None, tested]), self.rule)
            return float(np.average(gains[0], weights=judged_rows.weights)), self.slack(gains[0])

        with one_blas_thread():
            grid = score_grid(
                self.folds.X, task.machines, task.relevance_target, self.folds.splits, sweeps, costs, task.default, quality,
                n_jobs=self.n_jobs, deadline=deadline, columns=self.columns_of,
            )  # fmt: skip
        grid.smearings = {i: task.smearing(grid.decisions[i]) for i, one in enumerate(grid.settings) if one.power}
        for i, smearing in grid.smearings.items():
            grid.decisions[i] = smearing(grid.decisions[i]).astype(np.float32)
        return grid

    def choice(self, grid: Grid) -> Choice:
        """Return the weights of the settings of a grid, and what each row gains by each."""
        answers = self.task.answers(np.stack(grid.decisions)[:, self.folds.tested])
        return choose(self.judged_rows, answers, self.rule, self.seed)

    def screened(
        self, sweeps: Sequence[Sweep], costs: Callable[[Sweep], Sequence[float]], deadline: float
    ) -> tuple[dict[Sweep, list[float]], Screening]:
        """Return the sweeps that are promising on some rows, with the C to score on all, and how many were scored there."""
        groups = None if self.rows.units is None else self.rows.units[self.folds.sample]
        some = np.sort(self.task.sample(SCREENING_ROWS, self.seed, groups))
        few = self.folds.some(some)
        if not few.splits:
            return {sweep: list(costs(sweep)) for sweep in sweeps}, Screening()
        of_some = SweepScorer(self.rows, self.task.on(some), few, self.rule, self.slack, self.columns_of, self.seed, self.n_jobs)
        grid = of_some.scored(Sweeps(sweeps), costs, deadline)
        choice = of_some.choice(grid)
        assert choice.gains is not None
        found = promising(grid.settings, choice.gains @ of_some.judged_rows.weights, choice.weights, costs)
        return found, Screening(len({sweep_of(setting) for setting in grid.settings}), len(some), grid.complete)


@dataclass(frozen=True)
class Screening:
    """The number of sweeps scored on some rows, the number of these rows, and whether no sweep was left out."""

    n_sweeps: int = 0
    n_rows: int = 0
    complete: bool = True
