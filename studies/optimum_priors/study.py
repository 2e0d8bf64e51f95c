"""What a prior of the optimum gains where it is right, and how many evaluations it costs where it is wrong."""

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
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.tasks.tasks import TASKS, TuningTask, make_tasks

#: tasks without noise, of which some have one space, so that a prior can be learned from the others
DEFAULT_TASKS = (
    "svc_rbf_breast_cancer", "svc_rbf_ionosphere", "svc_rbf_sonar", "svc_rbf_german400", "svr_diabetes", "branin", "hartmann6",
)  # fmt: skip
PRIORS = ("none", "good", "flat", "misleading", "learned")
_WIDTH = 0.1  # of a belief, in the unit cube
_REFERENCE_SEED = 10_000


@dataclass(frozen=True)
class _Near:
    """A normal prior around a point of the unit interval, for the argument `prior`; a uniform prior if `width` is None."""

    parameter: Any
    at: float
    width: float | None = _WIDTH

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the probability up to values of the parameter."""
        low, high = self.parameter.low, self.parameter.high
        u = np.array([self.parameter.encode(min(max(one, low), high)) for one in np.ravel(x)])
        return u if self.width is None else np.asarray(norm.cdf(u, self.at, self.width))

    def support(self) -> tuple[float, float]:
        """Return the ends."""
        return self.parameter.low, self.parameter.high


class OptimumPriorsStudy(Experiment):
    """Kriging searches with good, flat, misleading and learned priors of the optimum, compared with no prior.

    A good prior is normal around the best point of a reference run with other seeds, a misleading prior around the worst of 100
    random points; the standard deviation is a tenth of each coordinate's range. A flat prior is uniform. A learned prior comes
    from records of 25 trials of the other tasks with the same space (`start=[records]`), and the search starts at their best
    configurations.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 15 evaluations on two tasks.
    n_trials : int, optional
        Evaluations of a run, at least 10; by default 50.
    seeds : int, optional
        Number of runs of each prior; by default 10.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`, with continuous parameters and without noise.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "optimum_priors"
    _table_caption = "Mean normalised regret, and the evaluations by which a prior is behind none"
    _notes = (
        "Normalised regret: 0 is the known minimum or else the best value of all runs, 1 the mean of the runs without a prior "
        "after ten evaluations. `behind` is how many more evaluations than without a prior the median run needs for what the "
        "median run without one has reached after 25; negative numbers are evaluations saved, and a number with + is the least, "
        "as the runs ended before."
    )

    def __init__(
        self, quick: bool = False, *, n_trials: int | None = None, seeds: int | None = None, tasks: Sequence[str] | None = None
    ):
        super().__init__(quick)
        self.n_trials = n_trials if n_trials is not None else (15 if quick else 50)
        self.seeds = seeds if seeds is not None else (2 if quick else 10)
        self.tasks = tuple(tasks if tasks is not None else (("svc_rbf_sonar", "branin") if quick else DEFAULT_TASKS))
        check_least(self, 10, "n_trials")
        check_least(self, 1, "seeds")
        check_names("tasks", self.tasks, TASKS)

    @property
    def checkpoints(self) -> list[int]:
        """Numbers of evaluations at which results are taken."""
        return [n for n in (10, 25, 50) if n <= self.n_trials]

    def _measure(self) -> pd.DataFrame:
        tasks, left_out = make_tasks(self.tasks)
        if not tasks:
            raise DataError(f"no task can be made: {'; '.join(left_out.values())}")
        references = {task.name: self._reference(task) for task in tasks}
        records = {name: study for name, (study, _) in references.items()}
        rows = []
        for task in tasks:
            for prior, options in self._options(task, records, references[task.name][1]).items():
                for seed in range(self.seeds):
                    study = Study(task.space, "kriging", seed, noise=False, **options).run(_Error(task), self.n_trials)
                    values = [np.inf if t.value is None else t.value for t in study.trials]
                    rows += [
                        {"task": task.name, "prior": prior, "seed": seed, "trial": n, "best": best}
                        for n, best in enumerate(np.minimum.accumulate(values), start=1)
                    ]
        frame = pd.DataFrame(rows)
        known = {task.name: task.optimum for task in tasks if task.optimum is not None}
        least = frame.groupby("task").best.min().to_dict() | known
        ten = frame[(frame.prior == "none") & (frame.trial == 10)].groupby("task").best.mean()
        best = frame.task.map(least)
        return frame.assign(regret=(frame.best - best) / (frame.task.map(ten) - best).where(lambda gap: gap > 0))

    def _reference(self, task: TuningTask) -> tuple[Study, dict[str, Any]]:
        """Return a short study of a task, and the worst of 100 random points."""
        study = Study(task.space, "kriging", _REFERENCE_SEED, noise=False).run(_Error(task), 25)
        random = Study(task.space, "random", _REFERENCE_SEED).run(_Error(task), 100)
        return study, dict(max((t for t in random.trials if t.value is not None), key=lambda t: t.value or 0.0).params)

    def _options(self, task: TuningTask, records: Mapping[str, Study], worst: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the arguments of `Study` with each prior."""
        space = Space(task.space)
        long = Study(task.space, "kriging", _REFERENCE_SEED + 1, noise=False).run(_Error(task), 2 * self.n_trials)
        options: dict[str, dict[str, Any]] = {"none": {}}
        for name, params in (("good", long.best_trial.params), ("flat", None), ("misleading", worst)):
            point = np.full(space.domain.dimension, 0.5) if params is None else space.encode(params)
            width = None if params is None else _WIDTH
            beliefs = {axis.name: _Near(axis.parameter, at, width) for axis, at in zip(space.axes, point.tolist(), strict=True)}
            options[name] = {"prior": beliefs}
        described = space.describe()
        others = [study for name, study in records.items() if name != task.name and study.space.describe() == described]
        return options | ({"learned": {"start": others}} if others else {})

    def table(self) -> pd.DataFrame:
        """Return a row a task and prior: the mean regret at the checkpoints, and the evaluations behind no prior."""
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
        """Return in words what each prior gains or costs."""
        table = self.table()
        means = table.groupby("prior", sort=False)[f"regret {self.checkpoints[-1]}"].mean()
        said = ", ".join(f"{value:.3g} ({prior})" for prior, value in means.items())
        return f"Mean regret after {self.checkpoints[-1]} evaluations, over the tasks that have the prior: {said}."


class _Error:
    """A task without noise as an objective."""

    def __init__(self, task: TuningTask):
        self._task = task

    def __call__(self, params: dict[str, Any]) -> float:
        """Return the error."""
        return float(self._task.error(params))
