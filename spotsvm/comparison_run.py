"""One run of a comparison: one search, one seed."""

from __future__ import annotations

import inspect
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from solvers.search.base import Noise
from spotsvm.comparison_entrants import Entrant
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.recommendation import recommend
from spotsvm.space import Space
from spotsvm.start import Start, equal_start
from spotsvm.study import Study
from spotsvm.trial import FINISHED, Trial

Direction = Literal["minimize", "maximize"]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """The settings that all runs of a comparison share; the fields are arguments of `compare`."""

    objective: Callable[..., float | Mapping[str, float]]
    space: Space
    n_trials: int
    direction: Direction = "minimize"
    noise: Noise = "auto"
    measure: str | None = None
    folder: Path | None = None
    start: Start | None = None

    @property
    def sign(self) -> float:
        """1 if a smaller value is better, -1 if a larger one is."""
        return 1.0 if self.direction == "minimize" else -1.0


@dataclass(frozen=True)
class Run:
    """The trials of one search from one seed.

    Attributes
    ----------
    search : str
        Its label.
    seed : int
        Its seed.
    trials : tuple of Trial
        The finished trials, by number.
    recommended : int or None
        Number of the trial to use, as `Study.recommend` says; None if no trial has succeeded.
    """

    search: str
    seed: int
    trials: tuple[Trial, ...]
    recommended: int | None


def run_search(task: Task, label: str, search: Entrant, seed: int) -> Run:
    """Run a search from the shared start, or resume its record; return its trials and the final recommendation.

    Raises
    ------
    ArgumentError
        If the objective does not return the measure.
    StorageError
        If the record cannot be read or written, or is of another study.
    """
    path = None if task.folder is None else task.folder / record_name(label, seed)
    start = equal_start(task.space, task.start)
    with Study(
        cast("Any", task.space), search, seed, direction=task.direction, path=path, noise=task.noise, start=start
    ) as study:
        study.run(_with_seed(task.objective, study), task.n_trials, callback=_measure_check(task.measure))
        trials = tuple(t for t in study.trials if t.state in FINISHED)[: task.n_trials]
    return Run(label, seed, trials, recommended_number(trials, task, seed))


def run_jobs(function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Result]:
    """Return the results of a function for several tuples of arguments, in their order, each as it is ready.

    Parameters
    ----------
    function : callable
        Takes the arguments of a job.
    jobs : sequence of tuple
        Arguments.
    n_jobs : int or None
        Processes, as joblib takes it; None and 1 are this process.
    """
    if n_jobs in (None, 1):
        return (function(*job) for job in jobs)
    import joblib

    parallel: Iterable[Result] = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(function)(*job) for job in jobs
    )
    return parallel


def recommended_number(trials: tuple[Trial, ...], task: Task, seed: int) -> int | None:
    """Return the number of the recommended trial; None if none has succeeded."""
    try:
        return recommend(trials, task.space.domain, sign=task.sign, noise=task.noise, seed=seed).number
    except NoCompletedTrialError:
        return None


#: most characters of a label in a file name; file systems allow 255 bytes in total
_LONGEST = 100


def record_name(label: str, seed: int) -> str:
    """Return the file name of a run: the label, with a checksum if it has characters that do not fit in a file name.

    Examples
    --------
    >>> record_name("kriging", 3), record_name("L-BFGS-B, fine", 0)
    ('kriging_seed3.db', 'L-BFGS-B_fine_041cdd29_seed0.db')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", label)[:_LONGEST]
    # lower case: some file systems take A.db and a.db for one file
    mark = "" if plain == label == label.lower() else f"_{zlib.crc32(label.encode('utf-8', 'surrogatepass')):08x}"
    return f"{plain}{mark}_seed{seed}.db"


def _with_seed(objective: Callable[..., Any], study: Study) -> Callable[[dict[str, Any]], Any]:
    """Return an objective of the parameters alone: a parameter `seed` gets the seed of the running trial."""
    if not takes_seed(objective):
        return objective

    def seeded(params: dict[str, Any]) -> Any:
        return objective(params, seed=next(t.seed for t in study.trials if t.state == "running"))

    return seeded


def takes_seed(objective: Callable[..., Any]) -> bool:
    """Return whether an objective has a second parameter named `seed` that no functools.partial has set.

    Examples
    --------
    >>> takes_seed(lambda params, seed: 0.0), takes_seed(lambda params: 0.0)
    (True, False)
    """
    if isinstance(objective, partial) and "seed" in objective.keywords:
        return False
    try:
        parameters = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some callables of compiled code have no signature
        return False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(p.name == "seed" and p.kind in named for p in parameters[1:])


def _measure_check(measure: str | None) -> Callable[[Study, Trial], None] | None:
    """Return a callback that checks the measure, so that a misspelt one costs one evaluation and not all."""
    if measure is None:
        return None

    def check(study: Study, trial: Trial) -> None:
        if trial.state == "ok":
            measured(trial, measure)

    return check


def measured(trial: Trial, measure: str) -> float:
    """Return the measure of a trial; raise ArgumentError if the objective did not return it."""
    if measure not in trial.extra:
        known = ", ".join(map(repr, trial.extra)) or "none"
        raise ArgumentError(
            f"measure={measure!r} was not returned by the objective at {dict(trial.params)}; besides 'value' it returned {known}"
        )
    return trial.extra[measure]
