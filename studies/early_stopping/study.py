"""Early stopping of trials: whether a search reaches the same value in half of the steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spotsvm import Study
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.early_stopping.tasks import TASKS

#: the rules, as `Study.run` takes them
RULES: dict[str, Any] = {"none": None, "median": "median", "improvement": "improvement"}


def run_rule(name: str, rule: str, seed: int, search: Any, n_trials: int) -> Row:
    """Tune a task with a rule; return the best values, the numbers of trials and the time."""
    task = TASKS[name](seed)
    most = n_trials * len(task.steps)
    budget = most if rule == "none" else most // 2

    def spent(study: Any) -> str | None:
        return "the steps are spent" if sum(len(t.steps) for t in study.trials) >= budget else None

    def final_value(trial: Any) -> float:
        return list(task.losses(dict(trial.params), trial.seed))[-1]

    began = time.perf_counter()
    study = Study(task.space, search, seed).run(task, 8 * n_trials, early_stopping=RULES[rule], stop=spent)
    seconds = time.perf_counter() - began
    values = np.array([np.inf if t.value is None else t.value for t in study.trials])
    half = np.cumsum([len(t.steps) for t in study.trials]) <= most // 2
    stopped = [t for t in study.trials if t.state == "stopped"]
    return {
        "half": values[half].min(),
        "full": values.min() if rule == "none" else np.nan,
        "trials": int(half.sum()),
        "stopped": len(stopped),
        "missed": sum(final_value(t) < values[: t.number].min() for t in stopped),
        "seconds": seconds,
    }


@dataclass(kw_only=True)
class EarlyStoppingStudy(Experiment):
    """Trials that end early, compared with complete trials, at equal numbers of steps.

    A search tunes three models that learn in steps: a multi-layer perceptron (30 epochs), boosting (100 rounds, every fifth round
    is reported) and a support vector machine trained on 40 to 800 rows (nine steps). Without a rule a run has `n_trials` complete
    trials. With a rule it has as many trials as fit into half of these steps.

    Parameters
    ----------
    quick : bool, default=False
        One seed of 12 trials.
    n_jobs, path
        See `Experiment`.
    n_trials : int, optional
        Complete trials of a run without a rule, at least 8; by default 40.
    seeds : int or sequence of int, optional
        Seeds of the runs of each rule on each task, or their number; by default 10.
    search : str, default="kriging"
        The search, as `Study` takes it.
    tasks : sequence of str, default=("perceptron", "boosting", "rows")
        The tasks.
    """

    name = "early_stopping"
    reads_data = False
    shared = ("n_trials", "search")
    _table_caption = "Best value of a complete trial, mean over the seeds"
    _notes = (
        "`full` is the best value of a run without a rule. `half` is the best value of a run with the rule after half of these "
        "steps. `trials` and `stopped` count the trials within this half, and those of them that the rule stopped. "
        "`missed` counts stopped trials whose final value would have been better than all trials before them. Smaller values "
        "are better."
    )

    n_trials: int = either(40, 12, least=8)
    seeds: Seeds = either(10, 1)
    search: Any = "kriging"
    tasks: Sequence[str] = either(tuple(TASKS), among=TASKS)

    def _jobs(self) -> list[Job]:
        return [
            Job({"task": task, "rule": rule, "seed": seed}, run_rule, (task, rule, seed, self.search, self.n_trials))
            for task in self.tasks
            for seed in self.seeds
            for rule in RULES
        ]

    def table(self) -> pd.DataFrame:
        """Return a row for each task and rule: the means over the seeds."""
        frame = self.frame()
        full = frame[frame.rule == "none"].set_index(["task", "seed"]).full
        reference = np.array([full[task, seed] for task, seed in zip(frame.task, frame.seed, strict=True)])
        groups = frame.assign(wins=frame.half <= reference).drop(columns="seed").groupby(["task", "rule"], sort=False)
        return groups.mean().drop(columns="wins").assign(**{"seeds at least as good as full": groups.wins.sum()}).reset_index()

    def conclusion(self) -> str:
        """Return in words the best values after half of the steps with each rule."""
        table = self.table().set_index(["task", "rule"])
        texts = []
        for task in self.tasks:
            halves = ", ".join(f"{table.half[task, rule]:.4g} ({rule})" for rule in RULES)
            texts.append(f"{task}: {table.full[task, 'none']:.4g} after all steps without a rule; after half of them {halves}")
        return f"Best values, mean over {len(self.seeds)} seeds. {'; '.join(texts)}."
