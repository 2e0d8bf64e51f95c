"""One run: an optimizer on a problem from a seed, with its results after each budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from spotsvm.studies.common.jobs import Row
from spotsvm.studies.peers.entrants import Entrant, Opened, RunFailed
from spotsvm.studies.peers.problems import Problem
from spotsvm.studies.peers.suites import SUITES

_SEEDS = 100_000


@lru_cache(maxsize=4)
def problem_of(suite: str, name: str) -> Problem:
    """Return a problem; a process that has made it keeps it for the next runs."""
    return SUITES[suite].make(name)


def run(suite: str, name: str, entrant: Entrant, seed: int, budgets: Sequence[int]) -> list[Row]:
    """Run an optimizer for the largest of the budgets, which are in units of the dimension; return a row for each.

    The n-th evaluation of a seed has the same noise for all. An error of the optimizer ends the run: what it has found counts.
    Without noise the result is the best value, with noise the true value of the optimizer's choice, or else of the best value.
    """
    problem = problem_of(suite, name)
    d = len(problem.parameters)
    at = {n * d: n for n in budgets}
    params: list[dict[str, Any]] = []
    values: list[float] = []
    rows: list[Row] = []
    failed, spent = "", 0.0

    def row(n: int, opened: Opened | None) -> Row:
        result = _result(problem, params, values, opened)
        return {"budget": n, "evaluations": n * d, "result": result, "seconds": spent / max(len(values), 1)}

    try:
        with entrant.opened(problem, seed, max(at)) as opened:
            while len(values) < max(at):
                asked, seconds = opened.ask()
                params.append(problem.cleaned(asked))
                values.append(problem.evaluate(params[-1], _SEEDS * seed + len(values)))
                spent += seconds + opened.tell(values[-1])
                if len(values) in at:
                    rows.append(row(at[len(values)], opened))
    except RunFailed as error:
        failed = str(error)
    rows += [row(n, None) for n in budgets[len(rows) :]]
    about = {"optimum": math.nan if problem.optimum is None else problem.optimum, "version": entrant.version, "failed": failed}
    return [{"function": problem.function, "group": problem.group} | one | about for one in rows]


def _result(problem: Problem, params: list[dict[str, Any]], values: list[float], opened: Opened | None) -> float:
    if not values:
        return math.nan
    if problem.truth is None:
        return min(values)
    chosen = opened.recommend() if opened is not None else None
    return problem.truth(problem.cleaned(chosen) if chosen else params[values.index(min(values))])
