"""The runs of the study `equal_time`: entrants on a split, and what is written of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from spotsvm.studies.equal_time.budgets import Entrant
from spotsvm.studies.equal_time.entrants import measured_calmly, warm_up
from spotsvm.studies.equal_time.sets import Rows
from spotsvm.studies.equal_time.tasks import TASKS, Job, Params


class Work(NamedTuple):
    """Entrants that are to run on a split."""

    task: str
    rows: Rows
    split: int
    entrants: dict[str, Entrant]


def run_entrants(work: Work, units: Sequence[int]) -> list[dict[str, Any]]:
    """Tune on a split by each entrant; return a row an entrant and budget."""
    task = TASKS[work.task]
    X, y, new_X, new_y = work.rows.split(work.split, task.regression)
    job = Job(task, X, y, seed=work.split)
    about = {"task": work.task, "set": work.rows.name, "rows": len(work.rows.y), "columns": X.shape[1], "split": work.split}
    found = []
    judged_before: dict[str, dict[str, float]] = {}
    with measured_calmly():
        for entrant in work.entrants.values():
            warm_up(work.task, cast(Callable[..., Any], entrant))
        unit = job.unit
        for name, entrant in work.entrants.items():
            choices = entrant(job, [unit * units_ for units_ in units])
            for budget, choice in zip(units, choices, strict=True):
                setting = _text(choice.params)
                if setting not in judged_before:
                    judged_before[setting] = {
                        "score": job.score(choice.params),
                        "error": job.error(choice.params, new_X, new_y),
                    }
                measured = {
                    "entrant": name,
                    "budget": budget,
                    "looks": choice.looks,
                    "spent": choice.seconds / unit,
                    "unit": unit,
                }
                found.append(about | measured | judged_before[setting] | {"setting": setting})
    return found


def _text(params: Params) -> str:
    plain = {name: getattr(value, "item", lambda value=value: value)() for name, value in params.items()}
    return json.dumps(dict(sorted(plain.items())))


def without(work: Work, known: set[tuple[Any, ...]]) -> Work:
    """Leave the entrants out whose runs are known, by task, set, split and name."""
    left = {
        name: entrant for name, entrant in work.entrants.items() if (work.task, work.rows.name, work.split, name) not in known
    }
    return work._replace(entrants=left)
