"""A trial of the study `new_rows`: one entrant on one split, scored on its new rows."""

from __future__ import annotations

import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from spotsvm.studies.new_rows.entrants import REFERENCE, Entrant, Job, Made, warm_up
from spotsvm.studies.new_rows.sets import REGRESSION, Split

#: the budget of an entrant without one
OWN_TIME = 0


class Key(NamedTuple):
    """The identity of a trial."""

    set: str
    rows: int
    split: int
    entrant: str
    seed: int

    @property
    def random_state(self) -> int:
        """The seed of its random numbers."""
        return zlib.crc32(repr(tuple(self)).encode()) % 2**31


#: the columns of the file of trials: a row a trial and budget
COLUMNS: dict[str, Any] = {
    "task": str, "kind": str, "set": str, "rows": int, "columns": int, "new_rows": int, "split": int, "entrant": str, "seed": int,
    "budget": int, "looks": int, "searched": float, "seconds": float, "error": float, "failure": str,
}  # fmt: skip


def run_trial(
    key: Key, entrant: Entrant, task: str, kind: str, data: Split, unit: float, units: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Run an entrant; return a row for each budget, or for the time that it takes by itself.

    An entrant that raises an error has errors and times that are nan, and says why; the reference's error is not caught.
    """
    budgets = units if entrant.has_budget else (OWN_TIME,)
    about = {"task": task, "kind": kind, "columns": data.X.shape[1], "new_rows": len(data.new_y)} | key._asdict()
    job = Job(data.X, data.y, task == REGRESSION, key.random_state, unit)
    nothing = float("nan")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            warm_up(entrant.make, job.regression)
            made = entrant.make(job, [unit * n for n in budgets] if entrant.has_budget else (np.inf,))
            judged = [(model.looks, model.searched, model.seconds, error(model, job, data), "") for model in made]
        except Exception as failure:  # a fault of one entrant must not end a study of hours
            if key.entrant == REFERENCE:  # without its time there is no unit
                raise
            judged = [(0, nothing, nothing, nothing, f"{type(failure).__name__}: {failure}".replace("\n", " "))] * len(budgets)
    names = ("looks", "searched", "seconds", "error", "failure")
    return [about | {"budget": budget} | dict(zip(names, row, strict=True)) for budget, row in zip(budgets, judged, strict=True)]


def error(made: Made, job: Job, data: Split) -> float:
    """Return the percentage of new rows in another class, or the mean squared error in per cent of the target's variance."""
    predicted = made.model.predict(data.new_X)
    if not job.regression:
        return 100.0 * float(np.mean(predicted != data.new_y))
    return 100.0 * float(np.mean((predicted - data.new_y) ** 2) / np.var(data.new_y))
