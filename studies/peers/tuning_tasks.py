"""The suite of the fourteen tuning tasks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from spotsvm.studies.peers.problems import Params, Problem, parameters_of
from spotsvm.studies.tasks.tasks import TASKS, make_task


def names(dimensions: Sequence[int], instances: Sequence[int]) -> list[str]:
    """Return the names of the tasks, which have dimensions of their own and no instances."""
    return list(TASKS)


@cache
def make(name: str) -> Problem:
    """Return a task; DataError if its data are missing."""
    task = make_task(name)

    def evaluate(params: Params, seed: int) -> float:
        return float(task.error(params, seed))

    return Problem(
        name, name, "tasks", parameters_of(task.space), evaluate, task.truth if task.noisy else None, optimum=task.optimum
    )
