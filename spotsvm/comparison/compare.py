"""`compare`: run several searches on one objective, with equal budgets and the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from spotsvm.common.interruption import says_when_interrupted
from spotsvm.comparison.comparison import Comparison
from spotsvm.comparison.runs import (
    Run,
    Searches,
    Task,
    check_direction_and_jobs,
    check_entrants,
    checked_seeds,
    labelled_searches,
    run_jobs,
    run_search,
)
from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import check_confidence
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.study.given import Start, equal_start


def compare(
    objective: Callable[..., float | Mapping[str, float]],
    space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    searches: Searches = ("kriging", "cmaes", "lbfgsb", "vns", "random"),
    n_trials: int = 100,
    seeds: int | Sequence[int] = 5,
    *,
    direction: Literal["minimize", "maximize"] = "minimize",
    names: Sequence[str] | None = None,
    noise: Noise = "auto",
    measure: str | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    callback: Callable[[Run], None] | None = None,
    path: str | Path | None = None,
    start: Start | None = None,
) -> Comparison:
    """Run each search from each seed for `n_trials` evaluations, and compare what they find.

    Each run is a Study. All runs evaluate the same configurations first: those of `start`, then the centre of the space. The
    same seeds are used for every search, so their results are compared in pairs. All evaluations count, including failed trials.

    Parameters
    ----------
    objective : callable
        Takes the parameters as a dict; returns a float, or a mapping with "value" and further named numbers. If it raises, the
        trial has failed. An objective with a second parameter named `seed` gets the trial's own seed, which is the same for the
        n-th trial of every search: draw all noise from it, so that the results depend on nothing else.
    space : dict or list of dict
        As `Study` takes it.
    searches : sequence or dict, default=("kriging", "cmaes", "lbfgsb", "vns", "random")
        Names, or callables `(domain, seed)` such as a functools.partial of a search's class; each may be in a pair
        (label, search). Or a dict from label to search.
    n_trials : int, default=100
        Evaluations of each run.
    seeds : int or sequence of int, default=5
        Number of runs of each search, with the seeds 0, 1, ...; or a list of seeds. See `Comparison.table` on small numbers of
        seeds.
    direction : {"minimize", "maximize"}, default="minimize"
        Whether a smaller or a larger value is better, also for the measure.
    names : sequence of str, optional
        A label for each search.
    noise : "auto" or bool, default="auto"
        As in `Study`.
    measure : str, optional
        Name of a further number that the objective returns; runs are compared by this number at the recommended trial. Examples
        are a score on rows that no search uses, or the true value of a noisy function. By default the best value seen is used.
    confidence : float, default=0.95
        Confidence level of the figure's bootstrap bands, between 0 and 1.
    n_jobs : int or None, default=None
        Number of parallel runs, each in its own process; -1 means one per processor, None means 1. It changes the times of
        suggestions, but not the trials.
    callback : callable or None, default=None
        Called in this process with each `Run` as it ends, search by search.
    path : path-like, optional
        A folder for the records, one file per run. The same call resumes after an interruption. None keeps the runs in memory.
    start : dict, sequence of dict, or None, default=None
        Configurations that every run evaluates first, such as an estimator's defaults. The centre of the space follows: the
        median of each distribution and the middle of integers and lists of values, for each dictionary of the space.

    Returns
    -------
    Comparison
        With `table()`, `frame()`, `figure()` and others.

    Raises
    ------
    ArgumentError
        If there are no searches or seeds, or a label or seed is repeated; if a search is for several objectives or cannot be
        created; if the objective does not return the measure. A ValueError.
    BudgetError
        If `n_trials` is smaller than a search's initial design. A ValueError.
    SpaceError, StudyMismatchError, StorageError
        As in `Study`.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> space = {"x": uniform(-1, 2), "y": uniform(-1, 2)}
    >>> comparison = compare(
    ...     lambda p: p["x"] ** 2 + p["y"] ** 2,
    ...     space,
    ...     ["kriging", "random"],
    ...     n_trials=15,
    ...     seeds=2,
    ... )
    >>> comparison.table()["search"].tolist()
    ['kriging', 'random']
    """
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} is not callable; use a function of the parameters")
    if not isinstance(measure, str | None) or measure == "value":
        raise ArgumentError(f"measure={measure!r} is not the name of a further number; use None for the best value seen")
    confidence = check_confidence(confidence)
    check_direction_and_jobs(direction, n_jobs)
    labelled = labelled_searches(searches, names)
    all_seeds = checked_seeds(seeds)
    task = Task(
        objective=objective,
        space=space if isinstance(space, Space) else Space(space),
        n_trials=n_trials,
        direction=direction,
        noise=noise,
        measure=measure,
        folder=None if path is None else Path(path),
        start=start,
    )
    first = equal_start(task.space, start)
    check_entrants(labelled, task.space, n_trials, noise=noise, start=first)
    jobs = [(task, label, search, seed) for label, search in labelled.items() for seed in all_seeds]
    runs: list[Run] = []

    def how_to_resume(inner: str) -> str:
        done = f"{len(runs)} of {len(jobs)} runs are finished"
        if path is None:
            return f"{done}; compare will start again: pass a path to resume after an interruption"
        return f"{done} and recorded in {path}; the same call goes on from there"

    with says_when_interrupted(how_to_resume):
        for run in run_jobs(run_search, jobs, n_jobs):
            runs.append(run)
            if callback is not None:
                callback(run)
    return Comparison(runs, task, confidence)
