"""One run: an optimizer on a problem from a seed, with its results after each budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spotsvm.solvers.pareto import non_dominated
from spotsvm.studies.common.jobs import Row
from spotsvm.studies.peers.entrants import Entrant, Opened, RunFailed
from spotsvm.studies.peers.problems import Params, Problem
from spotsvm.studies.peers.suites import SUITES

_SEEDS = 100_000


@lru_cache(maxsize=4)
def problem_of(suite: str, name: str) -> Problem:
    """Return a problem; a process that has made it keeps it for the next runs."""
    return SUITES[suite].make(name)


class _Seen(NamedTuple):
    """An evaluation: parameters, the value or values that are told, and whether it is allowed."""

    params: dict[str, Any]
    value: Any
    allowed: bool


def run(suite: str, name: str, label: str, entrant: Entrant, seed: int, budgets: Sequence[int], folder: Path | None) -> list[Row]:
    """Run an optimizer for the largest of the budgets, which are in units of the dimension; return a row for each.

    The n-th evaluation of a seed has the same noise for all. An error of the optimizer ends the run: what it has found counts.
    With several objectives a row has the front in place of a result.
    """
    problem = problem_of(suite, name)
    d = len(problem.parameters)
    at = {n * d: n for n in budgets}
    seen: list[_Seen] = []
    rows: list[Row] = []
    failed, spent = "", 0.0

    def row(n: int, opened: Opened | None) -> Row:
        about = {"budget": n, "evaluations": n * d, "seconds": spent / max(len(seen), 1)}
        if problem.n_objectives > 1:
            return about | {"result": math.nan, "front": _front([one.value for one in seen])}
        return about | {"result": result_of(problem, seen, opened)}

    with _record(problem, label, seed, folder and folder / suite) as record:
        try:
            with entrant.opened(problem, seed, max(at)) as opened:
                while len(seen) < max(at):
                    asked, seconds = opened.ask()
                    params = problem.cleaned(asked)
                    record(params)
                    value = problem.evaluate(params, _SEEDS * seed + len(seen))
                    constraints = problem.constraints(params) if problem.constraints else []
                    seen.append(_Seen(params, value, max(constraints, default=0.0) <= 0.0))
                    spent += seconds + opened.tell(value, constraints)
                    if len(seen) in at:
                        rows.append(row(at[len(seen)], opened))
        except RunFailed as error:
            failed = str(error)
    rows += [row(n, None) for n in budgets[len(rows) :]]
    about = {"optimum": math.nan if problem.optimum is None else problem.optimum, "version": entrant.version, "failed": failed}
    return [{"function": problem.function, "group": problem.group} | one | about for one in rows]


def _record(problem: Problem, label: str, seed: int, folder: Path | None) -> AbstractContextManager[Callable[[Params], object]]:
    if folder is None or problem.recorded is None:
        return nullcontext(lambda params: None)
    return problem.recorded(folder / label / f"{problem.name} s{seed}".replace(" ", "_"), label)


def _front(values: list[list[float]]) -> list[list[float]]:
    return [values[k] for k in non_dominated(np.array(values))] if values else []


def result_of(problem: Problem, seen: Sequence[_Seen], opened: Opened | None) -> float:
    """Return what an optimizer has found: the best allowed value, or with noise the true value of its choice."""
    allowed = [one for one in seen if one.allowed]
    known = [] if problem.feasible is None else [problem.feasible]
    if problem.truth is None or not allowed:
        return min([one.value for one in allowed] + known, default=math.nan)
    chosen = opened.recommend() if opened is not None else None
    return problem.truth(problem.cleaned(chosen) if chosen else min(allowed, key=lambda one: one.value).params)
