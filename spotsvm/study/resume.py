"""The initial state of a study: its description, the content of its record, checked, and its search restored from both."""

from __future__ import annotations

import logging
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from spotsvm.common.data_hash import CONTENT
from spotsvm.common.fingerprint import versions
from spotsvm.common.json_values import MOST_DIGITS, plain_json
from spotsvm.common.text import printable_line, shown_value
from spotsvm.errors import ArgumentError, StudyMismatchError
from spotsvm.solvers.search import describe_search
from spotsvm.space.description import parameter_code, same_parameter
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.parameter import is_number
from spotsvm.space.space import Space
from spotsvm.study.record.codec import brief_repr
from spotsvm.study.record.record import Record
from spotsvm.study.record.salvage import damaged
from spotsvm.study.record.widening import is_wider, moved_outcome, moved_trial
from spotsvm.trials.events import Described, Event, Widened
from spotsvm.trials.ledger import Ledger, suggested
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import START, Trial

_LOG = logging.getLogger(__name__)


_WORDS = {key: key for key in ("space", "direction", "search", "seed", "sweep", "constraints")} | {
    "noise": "setting of noise",
    "prior": "prior of the optimum",
}
#: entries that a message does not show: fingerprints of data, and tables of densities
_UNSHOWN = ("data", "prior of the optimum")
_CONTEXT = "context: "


def is_seed(seed: Any) -> bool:
    """Return whether a value is a seed: a whole number of at least 0 that a record can hold."""
    return isinstance(seed, int | np.integer) and not isinstance(seed, bool) and 0 <= int(seed) < 10**MOST_DIGITS


def check_same_study(path: Path, recorded: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise StudyMismatchError, which names the difference, if a record belongs to another study than the one given."""
    words = _WORDS | {key: key.removeprefix(_CONTEXT) for key in [*given, *recorded] if key.startswith(_CONTEXT)}
    for key, word in words.items():
        before, now = recorded.get(key), given.get(key)
        # compared as text, which distinguishes True from 1, and the order of the parameters
        if not same_parameter(before, now):
            before, now = _difference(before, now)
            further = "; a wider space, which contains the recorded one, works as well" if key == "space" else ""
            if word == "data" and str(given.get(key)).startswith(CONTENT) and not str(recorded.get(key)).startswith(CONTENT):
                of = recorded.get("versions")
                version = of.get("spotsvm", "0.2.0") if isinstance(of, Mapping) else "0.2.0"
                error = StudyMismatchError(
                    f"{path} was begun by spotsvm {printable_line(str(version), 40)}, which described data in another way; end "
                    "it with that version, or use another file"
                )
                error.differs = "version"
                raise error
            if word in _UNSHOWN:
                other = "other data" if word == "data" else f"a study with another {word}"
                error = StudyMismatchError(f"{path} belongs to {other}; use the same {word}, or another file")
            else:
                error = StudyMismatchError(
                    f"{path} holds a study with another {word}: it has {before}, this one {now}. "
                    f"Use the same {word}, or another file{further}"
                )
            error.differs = word
            raise error


def describe_study(
    space: Space,
    objectives: Objectives,
    search: Any,
    seed: int | None,
    noise: str | bool,
    context: Mapping[str, str],
    sweep: str | None = None,
    constraints: Sequence[str] = (),
    prior: OptimumPrior | None = None,
) -> dict[str, Any]:
    """Return the entries that identify a study, as in its record; raise ArgumentError for an invalid seed or context."""
    if seed is not None and not is_seed(seed):
        raise ArgumentError(f"seed={shown_value(seed)} is not a seed; use an integer of at least 0, or None")
    return {
        "space": space.describe(),
        "direction": objectives.describe(),
        "search": describe_search(search),
        "seed": None if seed is None else int(seed),
        "noise": noise,
        **({} if sweep is None else {"sweep": sweep}),
        **({"constraints": list(constraints)} if constraints else {}),
        **({} if prior is None else {"prior": prior.describe()}),
        # these two may differ when a record is resumed
        "versions": versions(),
        "code": [{name: parameter_code(parameter) for name, parameter in branch.items()} for branch in space.branches],
        **{f"{_CONTEXT}{key}": value for key, value in plain_json(context, "context").items()},
    }


@dataclass(frozen=True)
class InitialState:
    """The initial state of a study: its ledger in memory, with a seed in its description, and events that its record lacks."""

    ledger: Ledger
    unwritten: tuple[Event, ...] = ()


def initial_state(
    record: Record | None, given: Mapping[str, Any], space: Space, n_objectives: int, swept: SweptParameter | None = None
) -> InitialState:
    """Return the initial state of a study: the content of its record, or nothing.

    Without a seed in `given`, the recorded seed or a new one is used. Raises StudyMismatchError if the record belongs to another
    study, and StorageError if it is damaged.
    """
    ledger = Ledger() if record is None else record.ledger()
    about, recorded = dict(given), ledger.about
    if about["seed"] is None:
        about["seed"] = recorded.get("seed", int(np.random.default_rng().integers(2**32)))
    if record is None or "space" not in recorded:
        first = Described(about)
        return InitialState(Ledger([first]), (first,))
    if not is_seed(about["seed"]):
        raise damaged(record.path, f"its seed is {brief_repr(about['seed'])}")
    widened = is_wider(recorded["space"], about["space"])
    check_same_study(record.path, recorded | {"space": about["space"]} if widened else recorded, about)
    unwritten: list[Event] = []
    if widened:
        unwritten.append(_widened(record.path, ledger, about, space, n_objectives, swept))
        ledger.append(*unwritten)
        _LOG.info("%s goes on in a wider space", record.path)
    ledger.trials = _checked_trials(record.path, ledger.trials, space, n_objectives, swept)
    kept = {key: recorded[key] for key in ("versions", "budget", "batch_size") if key in recorded}
    ledger.about = {key: value for key, value in about.items() if key != "versions"} | kept
    own = suggested(ledger.trials)
    left = sum(t.state == "running" for t in own)
    _LOG.info("%s goes on after %d trials, %d of them unfinished", record.path, len(own), left)
    return InitialState(ledger, tuple(unwritten))


def _widened(
    path: Path, ledger: Ledger, about: Mapping[str, Any], space: Space, n_objectives: int, swept: SweptParameter | None
) -> Widened:
    """Return the event by which the trials and the outcomes of a ledger get their places in a wider space."""
    narrow = Space.described(ledger.about["space"])
    for t in ledger.trials:
        if problem := trial_problem(t, narrow, n_objectives):
            raise damaged(path, problem)
    outcomes = ledger.outcomes
    if swept is not None:
        outcomes = {number: moved_outcome(one, swept.name, narrow, space) for number, one in outcomes.items()}
    points = tuple(moved_trial(t, narrow, space).point for t in ledger.trials)
    return Widened({key: about[key] for key in ("space", "code")}, points, outcomes)


def _checked_trials(
    path: Path, trials: Sequence[Trial], space: Space, n_objectives: int, swept: SweptParameter | None
) -> list[Trial]:
    for t in trials:
        if problem := trial_problem(t, space, n_objectives):
            raise damaged(path, problem)
    if problem := size_problem(trials):
        raise damaged(path, problem)
    # finished trials keep the parameters that were evaluated, and starts those given; of others they follow from the point
    decoded = [space.decode(t.point, t.params if t.state != "running" or t.origin == START else {}) for t in trials]
    if swept is not None:
        decoded = [swept.known_params(params, t.params) for params, t in zip(decoded, trials, strict=True)]
    return [replace(t, params=params) for t, params in zip(trials, decoded, strict=True)]


def _difference(recorded: Any, given: Any) -> tuple[str, str]:
    """Return texts of two entries that differ; for two spaces, of the first parameter that differs."""
    if isinstance(recorded, list) and isinstance(given, list) and all(isinstance(one, Mapping) for one in (*recorded, *given)):
        for before, now in zip(recorded, given, strict=False):
            for name in dict.fromkeys([*before, *now]):
                if not same_parameter(before.get(name), now.get(name)):
                    one, other = f"{name}={_parameter_text(before.get(name))}", f"{name}={_parameter_text(now.get(name))}"
                    return one, other if other != one else "values with the same texts and other contents"
            if list(before) != list(now):
                return f"the order {', '.join(before)}", f"the order {', '.join(now)}"
        return f"{len(recorded)} sets of parameters", f"{len(given)}"
    return printable_line(repr(recorded), 400), printable_line(repr(given), 400)


def _parameter_text(parameter: Any) -> str:
    """Return the text of a described parameter."""
    if parameter is None:
        return "(absent)"
    match parameter:
        case {"kind": "continuous", "quantiles": [_, *_] as quantiles} if all(isinstance(q, float) for q in quantiles):
            return f"a distribution on [{quantiles[0]:g}, {quantiles[-1]:g}] with median {quantiles[len(quantiles) // 2]:g}"
        case {"kind": "integer", "low": int(low), "high": int(high)}:
            return f"the integers {low} to {high}"
        case {"kind": "choice", "values": values}:
            return printable_line(repr(values), 400)
    return printable_line(repr(parameter), 400)


#: maximum cells of the table of all trials; a record with more, most of them empty, was made to exhaust the memory
MOST_CELLS = 5_000_000


def trial_problem(trial: Trial, space: Space, n_objectives: int) -> str:
    """Return what is inconsistent in a trial read from a record; empty if nothing is."""
    who = f"trial {trial.number}"
    if len(trial.point) != space.domain.dimension or not all(0 <= u <= 1 for u in trial.point):
        return f"{who} has no point of the unit cube"
    count = 0 if trial.values is None else len(trial.values)
    if count != (n_objectives if trial.state == "ok" else 0):
        return f"{who} is {trial.state!r}, and has {count} values"
    if trial.state == "stopped" and not trial.steps:
        return f"{who} is 'stopped', and has no step"
    numbers_of = [number for step in trial.steps for number in step]
    if not all(map(math.isfinite, numbers_of)) or any(later <= step for (step, _), (later, _) in pairwise(trial.steps)):
        return f"{who} has steps that do not rise"
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


def size_problem(trials: Sequence[Trial]) -> str:
    """Return why the table of all trials would exhaust the memory (each may have extra numbers of other names); empty if not."""
    names = len({name for trial in trials for name in (*trial.params, *trial.extra, *trial.attributes)})
    cells, filled = names * len(trials), sum(len(t.params) + len(t.extra) + len(t.attributes) for t in trials)
    return f"its {len(trials)} trials have {names} different names" if cells > max(MOST_CELLS, 10 * filled) else ""
