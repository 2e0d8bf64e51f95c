"""One run of a search with several trials pending, on a virtual clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from spotsvm.recommendation import recommend
from spotsvm.space import Space
from spotsvm.start import equal_start
from spotsvm.study import Study
from spotsvm.trial import Trial
from studies.tuning_tasks import TuningTask
from studies.virtual_workers import VirtualWorkers

SPREAD = 0.5
_STREAM = 1 << 44


def virtual_durations(n: int, seed: int) -> list[float]:
    """Give the log-normal durations of a run's trials, with median 1 and deviation 0.5 of the logarithm.

    Examples
    --------
    >>> [round(duration, 2) for duration in virtual_durations(3, seed=0)]
    [0.95, 0.84, 1.0]
    """
    return [float(x) for x in np.random.default_rng([seed, _STREAM]).lognormal(0.0, SPREAD, n)]


def pending_run(task: TuningTask, search: Any, seed: int, q: int, n_trials: int) -> tuple[list[Trial], float]:
    """Run a search with q workers that take no time but that of a virtual clock; give the trials as told, and ask's mean time.

    It begins, as all do, with the task's default and the centre.

    A worker that has finished has its trial told, and is given the next one at once, so that q - 1 are pending whenever one is
    asked for, once all workers are busy. With q = 1 it is the plain sequential run.

    Parameters
    ----------
    task : TuningTask
        What is minimised.
    search : str or callable
        As in `Study`.
    seed : int
        Of the search, of the noise and of the durations.
    q : int
        Number of workers, at least 1.
    n_trials : int
        Trials asked for and told.

    Returns
    -------
    trials : list of Trial
        In the order told.
    seconds : float
        Mean processor time of an ask.
    """
    durations = iter(virtual_durations(n_trials, seed))
    told: list[Trial] = []
    asked: dict[int, Trial] = {}
    spent = 0.0
    workers = VirtualWorkers(lambda params: 0.0, q, lambda params: next(durations))
    with Study(task.space, search, seed, start=equal_start(task.space, task.default)) as study:
        while len(told) < n_trials:
            while len(workers.running) < q and len(study.trials) < n_trials:
                began = time.process_time()
                trial = study.ask()
                spent += time.process_time() - began
                asked[trial.number] = trial
                workers.submit(trial.number, trial.params)
            for number, _ in workers.wait():
                trial = asked.pop(number)
                told.append(study.tell(trial, task(dict(trial.params), trial.seed)))
    return told, spent / n_trials


def result_after(task: TuningTask, told: list[Trial], n: int, seed: int) -> float:
    """Give what a run has reached when n trials are told: the best value, or under noise the recommended trial's true value."""
    trials = told[:n]
    if not task.noisy:
        return min(t.value for t in trials if t.value is not None)
    number = recommend(trials, Space(task.space).domain, sign=1.0, noise="auto", seed=seed).number
    return task.truth(next(t.params for t in trials if t.number == number))
