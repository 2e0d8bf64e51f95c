"""Gain of a good prior of the optimum, and loss of evaluations by a wrong prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from spotsvm import Study
from spotsvm.errors import DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.tasks.tasks import TASKS, TuningTask, make_tasks

#: tasks without noise; some share a space, so that priors can be learned from each other
DEFAULT_TASKS = (
    "svc_rbf_breast_cancer", "svc_rbf_ionosphere", "svc_rbf_sonar", "svc_rbf_german400", "svr_diabetes", "branin", "hartmann6",
)  # fmt: skip
_WIDTH = 0.1  # standard deviation of a prior in the unit cube
_REFERENCE_SEED = 10_000


@dataclass(frozen=True)
class _Near:
    """A normal prior around a point of the unit interval, for the argument `prior`; a uniform prior if `width` is None."""

    parameter: Any
    at: float
    width: float | None = _WIDTH

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the cumulative probability at values of the parameter."""
        low, high = self.parameter.low, self.parameter.high
        u = np.array([self.parameter.encode(min(max(value, low), high)) for value in np.ravel(x)])
        return u if self.width is None else np.asarray(norm.cdf(u, self.at, self.width))

    def support(self) -> tuple[float, float]:
        return self.parameter.low, self.parameter.high


def run_prior(task: TuningTask, options: Mapping[str, Any], seed: int, n_trials: int) -> list[Row]:
    """Run a Kriging search with the options of a prior; return the best value after each trial."""
    study = Study(task.space, "kriging", seed, noise=False, **options).run(_Error(task), n_trials)
    values = [np.inf if t.value is None else t.value for t in study.trials]
    return [{"trial": n, "best": best} for n, best in enumerate(np.minimum.accumulate(values), start=1)]


@dataclass(kw_only=True)
class OptimumPriorsStudy(Experiment):
    """Kriging searches with good, flat, misleading and learned priors of the optimum, compared with no prior.

    A good prior is normal around the best point of a reference run with other seeds, a misleading prior around the worst of 100
    random points; the standard deviation is a tenth of the range of each coordinate. A flat prior is uniform. A learned prior
    comes from records of 25 trials of the other tasks with the same space (`start=[records]`), and the search starts at their
    best configurations.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 15 trials on two tasks.
    n_jobs, path
        See `Experiment`.
    n_trials : int, optional
        Trials of a run, at least 10; by default 50.
    seeds : int or sequence of int, optional
        Seeds of the runs of each prior, or their number; by default 10.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`, with continuous parameters and without noise.
    """

    name = "optimum_priors"
    shared = ("n_trials", "tasks")  # the learned prior of a task is of the other tasks
    _table_caption = "Mean normalised regret, and the delay of each prior in evaluations"
    _notes = (
        "Normalised regret: 0 is the known minimum, or the best value of all runs if it is not known; 1 is the mean of the runs "
        "without a prior after ten evaluations. The goal of `behind` is the best value of the median run without a prior after "
        "25 evaluations. `behind` is the number of evaluations until the median run with the prior reaches this goal, minus "
        "that without a prior. Negative numbers are savings. A + after the number marks a lower bound of runs that ended before."
    )

    n_trials: int = either(50, 15, least=10)
    seeds: Seeds = either(10, 2)
    tasks: Sequence[str] = either(DEFAULT_TASKS, ("svc_rbf_sonar", "branin"), among=TASKS)

    @property
    def checkpoints(self) -> list[int]:
        """Numbers of evaluations at which results are taken."""
        return [n for n in (10, 25, 50) if n <= self.n_trials]

    def _measure(self) -> pd.DataFrame:
        tasks, left_out = make_tasks(self.tasks)
        if not tasks:
            raise DataError(f"no task can be made: {'; '.join(left_out.values())}")
        records = {t.name: Study(t.space, "kriging", _REFERENCE_SEED, noise=False).run(_Error(t), 25) for t in tasks}
        frame = self._run(
            Job({"task": task.name, "prior": prior, "seed": seed}, run_prior, (task, options, seed, self.n_trials))
            for task in tasks
            for prior, options in self._options(task, records).items()
            for seed in self.seeds
        )
        optima = {task.name: task.optimum for task in tasks if task.optimum is not None}
        best = frame.task.map(frame.groupby("task").best.min().to_dict() | optima)
        ten = frame[(frame.prior == "none") & (frame.trial == 10)].groupby("task").best.mean()
        return frame.assign(regret=(frame.best - best) / (frame.task.map(ten) - best).where(lambda gap: gap > 0))

    def _options(self, task: TuningTask, records: Mapping[str, Study]) -> dict[str, dict[str, Any]]:
        """Return the arguments of `Study` for each prior."""
        space = Space(task.space)
        reference = Study(task.space, "kriging", _REFERENCE_SEED + 1, noise=False).run(_Error(task), 2 * self.n_trials)
        random = Study(task.space, "random", _REFERENCE_SEED).run(_Error(task), 100)
        worst = max((t for t in random.trials if t.value is not None), key=lambda t: t.value or 0.0)
        options: dict[str, dict[str, Any]] = {"none": {}}
        for name, params in (("good", reference.best_trial.params), ("flat", None), ("misleading", worst.params)):
            point = np.full(space.domain.dimension, 0.5) if params is None else space.encode(params)
            width = None if params is None else _WIDTH
            beliefs = {axis.name: _Near(axis.parameter, at, width) for axis, at in zip(space.axes, point.tolist(), strict=True)}
            options[name] = {"prior": beliefs}
        described = space.describe()
        others = [study for name, study in records.items() if name != task.name and study.space.describe() == described]
        return options | ({"learned": {"start": others}} if others else {})

    def table(self) -> pd.DataFrame:
        """Return a row for each task and prior: the mean regret at the checkpoints, and the delay in evaluations."""
        frame = self.frame()
        chosen = frame[frame.trial.isin(self.checkpoints)]
        means = chosen.groupby(["task", "prior", "trial"], sort=False).regret.mean().unstack("trial")
        means.columns = [f"regret {n}" for n in means.columns]
        return means.assign(behind=[self._behind(task, prior) for task, prior in means.index]).reset_index()

    def _behind(self, task: str, prior: str) -> str:
        frame = self.frame()
        medians = frame[frame.task == task].groupby(["prior", "trial"]).best.median()
        n = min(25, self.n_trials)
        goal = medians["none"][n]
        first = int(np.argmax(medians["none"].to_numpy() <= goal))
        reached = medians[prior].to_numpy() <= goal
        return f"{int(np.argmax(reached)) - first:+d}" if reached.any() else f"{self.n_trials - first:+d}+"

    def conclusion(self) -> str:
        """Return in words the mean regret with each prior."""
        table = self.table()
        means = table.groupby("prior", sort=False)[f"regret {self.checkpoints[-1]}"].mean()
        regrets = ", ".join(f"{value:.3g} ({prior})" for prior, value in means.items())
        return f"Mean regret after {self.checkpoints[-1]} evaluations, over the tasks that have the prior: {regrets}."


class _Error:
    """A task without noise as an objective."""

    def __init__(self, task: TuningTask):
        self._task = task

    def __call__(self, params: dict[str, Any]) -> float:
        return float(self._task.error(params))
