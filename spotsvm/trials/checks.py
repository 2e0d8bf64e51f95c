"""Checks that trials and events read from a record are consistent with its study."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from spotsvm.space.parameter import is_number
from spotsvm.space.space import Space
from spotsvm.trials.trial import FINISHED, Trial

#: cells of the table of all trials; a record with more, most of them empty, was made to fill the memory
MOST_CELLS = 5_000_000


def trial_problem(trial: Trial, space: Space, n_objectives: int) -> str:
    """Return what is inconsistent in a trial read from a record; empty if nothing is.

    Examples
    --------
    >>> space = Space({"x": [1, 2]})
    >>> trial_problem(Trial(0, {"x": 1}, (0.25,)), space, 1), trial_problem(Trial(0, {"x": 1}, (2.0,)), space, 1)
    ('', 'trial 0 has no point of the unit cube')
    """
    who = f"trial {trial.number}"
    if len(trial.point) != space.domain.dimension or not all(0 <= u <= 1 for u in trial.point):
        return f"{who} has no point of the unit cube"
    count = 0 if trial.values is None else len(trial.values)
    if count != (n_objectives if trial.state == "ok" else 0):
        return f"{who} is {trial.state!r}, and has {count} values"
    if not all(map(math.isfinite, trial.values or ())):
        return f"{who} is {trial.state!r}, and has a value that is not finite"
    return ""


def params_problem(trial: Trial, decoded: Mapping[str, Any]) -> str:
    """Return how a trial's parameters contradict those decoded from its point; empty if they do not."""
    if set(trial.params) != set(decoded):
        return f"trial {trial.number} has other parameters than the space"
    for name, value in trial.params.items():
        known = decoded[name]
        if isinstance(known, float) and not (is_number(value) and (math.isfinite(value) or value == known)):
            return f"trial {trial.number} has a parameter that is not a finite number"
        if isinstance(known, int) and not isinstance(known, bool) and not isinstance(value, numbers.Integral):
            return f"trial {trial.number} has a parameter that is not an integer"
    return ""


def events_problem(trials: Sequence[Trial], events: Sequence[tuple[int, str, int]]) -> str:
    """Return what is inconsistent in the order of events, each (sequence, "asked" or "told", trial number); empty if nothing is.

    Examples
    --------
    >>> events_problem([Trial(0, {}, ())], [(0, "told", 0), (1, "asked", 0)])
    'trial 0 was told before it was asked for'
    """
    asked: set[int] = set()
    told: set[int] = set()
    before = -1
    for sequence, what, number in events:
        if sequence <= before or not 0 <= number < len(trials):
            return "the order of its trials is lost"
        before = sequence
        if what == "told" and number not in asked:
            return f"trial {number} was told before it was asked for"
        (asked if what == "asked" else told).add(number)
    for trial in trials:
        if (trial.state in FINISHED) != (trial.number in told):
            return f"trial {trial.number} is {trial.state!r}, which contradicts its recorded events"
    return "" if len(asked) == len(trials) else "the order of its trials is lost"


def size_problem(trials: Sequence[Trial]) -> str:
    """Return why the table of all trials would fill the memory, as when each has extra numbers of other names; empty if not."""
    names = len({name for trial in trials for name in (*trial.params, *trial.extra)})
    cells, filled = names * len(trials), sum(len(trial.params) + len(trial.extra) for trial in trials)
    return f"its {len(trials)} trials have {names} different names" if cells > max(MOST_CELLS, 10 * filled) else ""
