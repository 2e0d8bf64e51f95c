"""Oversearching between sets: configurations tuned on each of several sets, and applied to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from spotsvm.common.errors import ArgumentError, NoCompletedTrialError
from spotsvm.comparison.runs import (
    Entrant,
    check_direction_and_jobs,
    check_entrants,
    checked_seeds,
    labelled_searches,
    record_name,
    run_jobs,
)
from spotsvm.comparison.set_matrix import OversearchingMatrix, checked_names
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.study.study import Study
from spotsvm.trials.trial import call

_APPLIED = "applied to other sets"
SetObjective = Callable[[dict[str, Any], str], float | Mapping[str, float]]


def oversearching_between_sets(
    objective: SetObjective,
    space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    sets: Sequence[str],
    search: Entrant = "kriging",
    n_trials: int = 200,
    seeds: int | Sequence[int] = 5,
    *,
    direction: Literal["minimize", "maximize"] = "minimize",
    noise: Noise = "auto",
    n_jobs: int | None = None,
    path: str | Path | None = None,
) -> OversearchingMatrix:
    """Search on each set from each seed, and apply the recommended configuration to all sets.

    Each search sees one set; only its winner is evaluated on the others. The diagonal has the value that the search reports for
    its winner: the expected value of `Study.recommend`.

    Parameters
    ----------
    objective : callable
        Takes the parameters as a dict, and the name of a set; returns a float above 0, or a mapping with "value".
    space : dict or list of dict
        As `Study` takes it.
    sets : sequence of str
        Names of two sets or more.
    search : str or callable, default="kriging"
        As in `compare`: a name, or a callable `(domain, seed)`.
    n_trials : int, default=200
        Trials of each search.
    seeds : int or sequence of int, default=5
        Number of searches on each set, from the seeds 0, 1, ...; or the seeds.
    direction : {"minimize", "maximize"}, default="minimize"
        Whether a smaller or a larger value is better.
    noise : "auto" or bool, default="auto"
        As in `Study`.
    n_jobs : int or None, default=None
        Searches in parallel, each in its own process; -1 means one per processor, None means 1. The matrix does not depend on it.
    path : path-like, optional
        A folder for the records, one file per search. The same call resumes after an interruption.

    Returns
    -------
    OversearchingMatrix
        With V_t and S_t, `frame()`, `to_csv()`, `to_markdown()` and `plot()`.

    Raises
    ------
    ArgumentError
        If there are fewer than two sets, a winner has no value on another set, or its value on its own set is not above 0.
    BudgetError
        If `n_trials` is smaller than the search's initial design.
    NoCompletedTrialError
        If no trial of a search has succeeded.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> best = {"spring": 0.2, "summer": 0.5, "autumn": 0.6}
    >>> def error(params, name):
    ...     return 1.0 + (params["x"] - best[name]) ** 2
    >>> matrix = oversearching_between_sets(error, {"x": uniform(0, 1)}, list(best), n_trials=12, seeds=2)
    >>> [round(v, 2) for v in matrix.V.tolist()]
    [0.12, 0.05, 0.09]
    """
    names = checked_names(sets)
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} is not callable; use a function of the parameters and a set's name")
    check_direction_and_jobs(direction, n_jobs)
    all_seeds = checked_seeds(seeds)
    entrants = labelled_searches([search])
    shared = space if isinstance(space, Space) else Space(space)
    check_entrants(entrants, shared, n_trials, noise=noise)
    folder = None if path is None else Path(path)

    def row(seed: int, name: str) -> list[float]:
        own = None if folder is None else folder / record_name(name, seed)
        context = {"set": name}
        with Study(cast("Any", shared), search, seed, direction=direction, path=own, noise=noise, context=context) as study:
            return _tuned_and_applied(study, objective, n_trials, name, names)

    jobs = [(seed, name) for seed in all_seeds for name in names]
    rows = np.array(list(run_jobs(row, jobs, n_jobs))).reshape(len(all_seeds), len(names), len(names))
    return OversearchingMatrix(rows, names, direction)


def _tuned_and_applied(study: Study, objective: SetObjective, n_trials: int, tuned_on: str, names: Sequence[str]) -> list[float]:
    """Return a row of the matrix: the value of one search's winner on each set."""
    try:
        study.run(partial(_on_set, objective, tuned_on), n_trials)
        winner = study.recommend()
    except NoCompletedTrialError as error:
        raise NoCompletedTrialError(f"set {tuned_on!r}, seed {study.seed}: {error}") from error
    known = study.findings.get(_APPLIED, {})
    applied = dict(known.get("values", {})) if known.get("number") == winner.number else {}
    for name in names:
        if name == tuned_on or name in applied:
            continue
        outcome = call(partial(_on_set, objective, name), dict(winner.params))
        if outcome.value is None:
            raise ArgumentError(
                f"the winner of the search on {tuned_on!r} from seed {study.seed} has no value on {name!r}: {outcome.reason}"
            ) from outcome.error
        applied[name] = outcome.value
        study.add_finding(_APPLIED, {"number": winner.number, "values": applied})
    return [winner.value if name == tuned_on else applied[name] for name in names]


def _on_set(objective: SetObjective, name: str, params: dict[str, Any]) -> float | Mapping[str, float]:
    return objective(params, name)
