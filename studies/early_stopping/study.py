"""Whether a search reaches the same value in half the steps if its trials can end early."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from spotsvm import Study
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.early_stopping.tasks import TASKS, StepTask

#: the rules, as `Study.run` takes them
RULES: dict[str, Any] = {"none": None, "median": "median", "improvement": "improvement"}


class EarlyStoppingStudy(Experiment):
    """Trials that end early, compared with complete trials, at equal numbers of steps.

    A search tunes three models that learn in steps: a multi-layer perceptron (30 epochs), boosting (100 rounds, each
    fifth reported) and a support vector machine on more and more rows (nine steps from 40 to 800). Without a rule a run has
    `n_trials` complete trials. With a rule it has as many trials as fit into half of these steps.

    Parameters
    ----------
    quick : bool, default=False
        One seed of 12 trials.
    n_trials : int, optional
        Complete trials of a run without a rule, at least 8; by default 40.
    seeds : int, optional
        Number of runs of each rule on each task; by default 10.
    search : str, default="kriging"
        The search, as `Study` takes it.
    tasks : sequence of str, default=("perceptron", "boosting", "rows")
        The tasks.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "early_stopping"
    reads_data = False
    _table_caption = "Best value of a complete trial, mean of the seeds"
    _notes = (
        "`full` is the best value after all steps without a rule, and `half` that after half of the steps, with each rule. "
        "`trials` and `stopped` count the trials that the half of the steps allowed, and those of them that were stopped. "
        "`missed` counts stopped trials that, completed afterwards, are better than the best trial before them. Smaller values "
        "are better."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        n_trials: int | None = None,
        seeds: int | None = None,
        search: Any = "kriging",
        tasks: Sequence[str] = tuple(TASKS),
    ):
        super().__init__(quick)
        self.n_trials = n_trials if n_trials is not None else (12 if quick else 40)
        self.seeds = seeds if seeds is not None else (1 if quick else 10)
        self.search, self.tasks = search, tuple(tasks)
        check_least(self, 8, "n_trials")
        check_least(self, 1, "seeds")
        check_names("tasks", self.tasks, TASKS)

    def _measure(self) -> pd.DataFrame:
        rows = [
            {"task": name, "rule": rule, "seed": seed, **self._run(TASKS[name](seed), rule, seed)}
            for name in self.tasks
            for seed in range(self.seeds)
            for rule in RULES
        ]
        return pd.DataFrame(rows)

    def _run(self, task: StepTask, rule: str, seed: int) -> dict[str, Any]:
        most = self.n_trials * len(task.steps)
        budget = most if rule == "none" else most // 2

        def spent(study: Any) -> str | None:
            return "the steps are spent" if sum(len(t.steps) for t in study.trials) >= budget else None

        began = time.perf_counter()
        study = Study(task.space, self.search, seed).run(task, 8 * self.n_trials, early_stopping=RULES[rule], stop=spent)
        seconds = time.perf_counter() - began
        values = np.array([np.inf if t.value is None else t.value for t in study.trials])
        steps = np.cumsum([len(t.steps) for t in study.trials])
        half = steps <= most // 2
        stopped = [t for t in study.trials if t.state == "stopped"]
        return {
            "half": values[half].min(),
            "full": values.min() if rule == "none" else np.nan,
            "trials": int(half.sum()),
            "stopped": len(stopped),
            "missed": sum(self._final(task, t) < values[: t.number].min() for t in stopped),
            "seconds": seconds,
        }

    @staticmethod
    def _final(task: StepTask, trial: Any) -> float:
        """Return the value that a stopped trial would have had."""
        return list(task.losses(dict(trial.params), trial.seed))[-1]

    def table(self) -> pd.DataFrame:
        """Return a row a task and rule: the means over the seeds."""
        means = self.frame().drop(columns="seed").groupby(["task", "rule"], sort=False).mean()
        wins = self._against_full().groupby(["task", "rule"], sort=False)["at least as good"].sum()
        return means.assign(**{"seeds at least as good as full": wins}).reset_index()

    def _against_full(self) -> pd.DataFrame:
        """Return the runs with whether each is, after half of the steps, at least as good as the one without a rule after all."""
        frame = self.frame()
        full = frame[frame.rule == "none"].set_index(["task", "seed"]).full
        reference = np.array([full[task, seed] for task, seed in zip(frame.task, frame.seed, strict=True)])
        return frame.assign(**{"at least as good": frame.half <= reference})

    def conclusion(self) -> str:
        """Return in words what half of the steps reach with each rule."""
        table = self.table().set_index(["task", "rule"])
        said = []
        for task in self.tasks:
            halves = ", ".join(f"{table.half[task, rule]:.4g} ({rule})" for rule in RULES)
            said.append(f"{task}: {table.full[task, 'none']:.4g} after all steps without a rule; after half of them {halves}")
        return f"Best values, mean of {self.seeds} seeds. {'; '.join(said)}."
