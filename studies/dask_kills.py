"""A study on a Dask cluster of two processes, one of which is killed again and again."""

from __future__ import annotations

import importlib
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spotsvm import Study
from spotsvm.trial import Trial
from studies.killable_runs import SPACE, Objective, note

EVERY = 20


class Slow:
    """A valley that takes a while, so that a process that is killed has something to do.

    Parameters
    ----------
    seconds : float
        How long it takes.
    """

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """Evaluate."""
        time.sleep(self.seconds)
        return Objective()(params)


def run_with_kills(path: str, answer: str, n_trials: int, retries: int, seconds: float = 0.1) -> None:
    """Run a study on a LocalCluster of two processes, kill one of them every 20 trials, and write what became of it as JSON.

    Parameters
    ----------
    path : str
        The record. What was told is noted in `path`.told.
    answer : str
        The file to write.
    n_trials : int
        Trials of the study.
    retries : int
        As `Study.run` takes it.
    seconds : float, default=0.1
        How long an evaluation takes.
    """
    distributed: Any = importlib.import_module("distributed")
    kills = 0
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        Study(SPACE, "random", 0, path=path) as study,
    ):

        def told(study: Study, trial: Trial) -> None:
            nonlocal kills
            note(f"{path}.told", f"{trial.number}\n")
            if study.n_finished % EVERY == 0 and study.n_finished < n_trials:
                pids = sorted(client.run(os.getpid).values())
                os.kill(pids[kills % len(pids)], signal.SIGKILL)
                kills += 1

        began = time.perf_counter()
        study.run(Slow(seconds), n_trials, client, retries=retries, callback=told)
        numbers = [int(line) for line in Path(f"{path}.told").read_text(encoding="utf-8").splitlines()]
        states = Counter(trial.state for trial in study.trials)
        became = {
            "trials": n_trials, "kills": kills, "retries": retries, "ok": states["ok"], "failed": states["failed"],
            "running": states["running"], "lost_workers": sum(len(trial.lost) for trial in study.trials),
            "told_twice": len(numbers) - len(set(numbers)), "untold": n_trials - len(set(numbers)),
            "not_killed": (n_trials - 1) // EVERY - kills,
            "unexplained": sum(trial.state == "failed" and not trial.reason for trial in study.trials),
            "seconds": time.perf_counter() - began,
        }  # fmt: skip
        Path(answer).write_text(json.dumps(became), encoding="utf-8")
