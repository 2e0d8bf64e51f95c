"""Runs of studies to be killed: each search, in each kind of run that it has, from one seed the same."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import loguniform

from solvers.search import NestedSearch, Stage
from spotsvm import Study
from spotsvm.objectives import Directions
from spotsvm.trial import Trial
from surrogates.domain import Domain

SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
ONE_OBJECTIVE = ("kriging", "koch2011", "cmaes", "lbfgsb", "vns", "random", "lhs", "nested")
SEVERAL_OBJECTIVES = ("nsga2", "parego")

#: kinds of run that are repeatable, and what `Study.run` gets
KINDS: dict[str, dict[str, Any]] = {
    "sequential": {},
    "batches": {"batch_size": 3},
    "processes": {"batch_size": 3},
    "killable": {"batch_size": 2, "trial_timeout": 60.0},
    "noisy": {},
    "failing": {},
}
#: one that is not: who ends first is told first
ASYNCHRONOUS = "asynchronous"

Told = Callable[[Study, Trial], None]


class Objective:
    """A valley in C and gamma, whose evaluations are noted in a file.

    Parameters
    ----------
    n_values : int
        Objectives, 1 or 2.
    failing : bool
        Whether a part of the space raises, and another gives nan.
    noted : path-like or None
        A file that gets a byte an evaluation.
    """

    def __init__(self, n_values: int = 1, failing: bool = False, noted: str | Path | None = None):
        self.n_values, self.failing, self.noted = n_values, failing, noted

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """Evaluate."""
        if self.noted is not None:
            note(self.noted, ".")
        cost, width = math.log2(params["C"]), math.log2(params["gamma"])
        if self.failing and cost < 0:
            raise ValueError(f"C={params['C']:.3g} is too small")
        if self.failing and width > 0:
            return math.nan
        value = (cost - 3) ** 2 + (width + 5) ** 2
        return {"value": value, "width": width} if self.n_values == 1 else [value, abs(cost - width)]


def note(path: str | Path, text: str) -> None:
    """Append a text to a file, such that it outlives this process and the system's next crash."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, text.encode())
        os.fsync(file)
    finally:
        os.close(file)


def kinds_of(search: str) -> list[str]:
    """Give the kinds of run that a search has; noise is known to searches of one objective alone."""
    return [kind for kind in KINDS if kind != "noisy" or search not in SEVERAL_OBJECTIVES]


def run_study(search: str, kind: str, seed: int, path: str | Path, told: Told, noted: str | Path | None = None) -> None:
    """Run or resume a study to its end.

    Parameters
    ----------
    search : str
        One of `ONE_OBJECTIVE` or `SEVERAL_OBJECTIVES`.
    kind : str
        One of `KINDS`, or "asynchronous".
    seed : int
        The study's.
    path : path-like
        The record.
    told : callable
        Called with the study and each trial that has been told.
    noted : path-like, optional
        A file that gets a byte an evaluation.
    """
    several = search in SEVERAL_OBJECTIVES
    objective = Objective(2 if several else 1, kind == "failing", noted)
    direction: Directions = ("minimize", "minimize") if several else "minimize"
    with Study(SPACE, _search(search), seed, direction=direction, path=path, noise=kind == "noisy") as study:
        n_trials = max(14, study.n_initial + 3)
        if kind == "noisy":
            _ask_and_tell(study, objective, n_trials, told)
        elif kind == "processes":
            with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as executor:
                study.run(objective, n_trials, executor, **KINDS[kind], callback=told)
        elif kind == ASYNCHRONOUS:
            with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as executor:
                study.run(objective, n_trials, executor, callback=told)
        else:
            study.run(objective, n_trials, **KINDS[kind], callback=told)


def _ask_and_tell(study: Study, objective: Objective, n_trials: int, told: Told) -> None:
    """Go on by hand, with noise from each trial's own seed: two evaluations of one point differ, and a repeated run has both."""
    while study.n_finished < n_trials:
        trial = study.ask()
        noise = np.random.default_rng(trial.seed).normal()
        told(study, study.tell(trial, objective(trial.params)["value"] + noise))


def _search(name: str) -> Any:
    if name != "nested":
        return name
    stages = [
        Stage(Domain.continuous(1), 6, _to_both, _to_first, name="one width"),
        Stage(Domain.continuous(2), 20, name="both"),
    ]
    return partial(NestedSearch, stages=stages, inner="vns")


def _to_both(point: Any) -> Any:
    return np.repeat(point, 2)


def _to_first(point: Any) -> Any:
    return point[:1]
