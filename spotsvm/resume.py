"""Bring a search back to where a record left it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from solvers.errors import SolverError
from solvers.search import describe_search
from solvers.search.base import AskTell, Search, Suggestion
from spotsvm.errors import ArgumentError, StorageError, StudyMismatchError
from spotsvm.objectives import Objectives
from spotsvm.parameter_code import parameter_code
from spotsvm.record import Record
from spotsvm.space import Space
from spotsvm.start import START
from spotsvm.trial import Trial
from spotsvm.versions import versions
from surrogates.domain import Domain

_LOG = logging.getLogger(__name__)

_WORDS = {
    "space": "space",
    "direction": "direction",
    "search": "search",
    "seed": "seed",
    "noise": "setting of noise",
}
_CONTEXT = "context: "


def check_same_study(path: Path, recorded: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse to resume a record with another study.

    Raises
    ------
    StudyMismatchError
        Naming what differs, what the record has and what was given.
    """
    words = _WORDS | {key: key.removeprefix(_CONTEXT) for key in [*given, *recorded] if key.startswith(_CONTEXT)}
    for key, word in words.items():
        # as text, which tells True from 1 and sees in which order a space has its parameters: their places in a point
        if json.dumps(recorded.get(key)) != json.dumps(given.get(key)):
            before, now = _difference(recorded.get(key), given.get(key))
            raise StudyMismatchError(
                f"{path} holds a study with another {word}: it has {before}, this one {now}. Use the same {word}, or another file"
            )


def describe_study(
    space: Space, objectives: Objectives, search: Any, seed: int | None, noise: str | bool, context: Mapping[str, str]
) -> dict[str, Any]:
    """Give what identifies a study, as its record has it; ArgumentError if the seed is none."""
    if seed is not None and (not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0):
        raise ArgumentError(f"seed={seed!r} is not a seed; use an integer of at least 0, or None")
    return {
        "space": space.describe(),
        "direction": objectives.describe(),
        "search": describe_search(search),
        "seed": None if seed is None else int(seed),
        "noise": noise,
        # these two are for the reader, and need not be the same for a record to be resumed
        "versions": versions(),
        "code": [{name: parameter_code(parameter) for name, parameter in branch.items()} for branch in space.branches],
        **{f"{_CONTEXT}{key}": value for key, value in context.items()},
    }


@dataclass(frozen=True)
class Past:
    """What a study begins with.

    Attributes
    ----------
    about : dict
        What identifies the study, with a seed; to be written to a record that is new.
    is_new : bool
        Whether there is no record, or nothing in it yet.
    trials : list of Trial
        Those of the record, by number.
    events : list of (int, str, int)
        (sequence, "asked" or "told", number of the trial), in order.
    search_state : dict
        What the search remembered beyond them.
    findings : dict of str to dict
        What was found out about the study.
    """

    about: dict[str, Any]
    is_new: bool
    trials: list[Trial]
    events: list[tuple[int, str, int]]
    search_state: dict[str, Any]
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)


def take_up(record: Record | None, given: Mapping[str, Any], space: Space, n_objectives: int) -> Past:
    """Give what a study begins with: what its record has, or nothing.

    Parameters
    ----------
    record : Record or None
        The record, or None of a study in memory.
    given : mapping
        What identifies the study; without a seed it is the recorded one, or a new one.
    space : Space
        The search space.
    n_objectives : int
        Number of values of a trial that succeeded.

    Raises
    ------
    StudyMismatchError
        If the record is another study's.
    StorageError
        If it is damaged.
    """
    recorded = {} if record is None else record.about()
    about = dict(given)
    if about["seed"] is None:
        about["seed"] = recorded.get("seed", int(np.random.default_rng().integers(2**32)))
    if record is None or "space" not in recorded:
        return Past(about, True, [], [], {})
    check_same_study(record.path, recorded, about)
    trials = _checked_trials(record, space, n_objectives)
    about = {key: value for key, value in about.items() if key != "versions"} | _for_readers(recorded)
    return Past(about, False, trials, record.events(), recorded.get("search_state", {}), record.findings())


def _for_readers(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Give the versions with which a record was made, which earlier records do not say, its budget and its batches."""
    return {key: recorded[key] for key in ("versions", "budget", "batch_size") if key in recorded}


def _checked_trials(record: Record, space: Space, n_objectives: int) -> list[Trial]:
    trials = record.trials()
    for t in trials:
        if len(t.point) != space.domain.dimension or not all(0 <= u <= 1 for u in t.point):
            raise StorageError(f"{record.path} is damaged: trial {t.number} has no point of the unit cube")
        if t.values is not None and (t.state != "ok" or len(t.values) != n_objectives):
            raise StorageError(f"{record.path} is damaged: trial {t.number} is {t.state!r}, and has {len(t.values)} values")
    return [replace(t, params=space.decode(t.point)) for t in trials]


def _difference(recorded: Any, given: Any) -> tuple[str, str]:
    """Show what differs; of two spaces only the first parameter that does."""
    if isinstance(recorded, list) and isinstance(given, list):
        for before, now in zip(recorded, given, strict=False):
            for name in dict.fromkeys([*before, *now]):
                if json.dumps(before.get(name)) != json.dumps(now.get(name)):
                    return f"{name}={_shown(before.get(name))}", f"{name}={_shown(now.get(name))}"
            if list(before) != list(now):
                return f"the order {', '.join(before)}", f"the order {', '.join(now)}"
        return f"{len(recorded)} sets of parameters", f"{len(given)}"
    return repr(recorded), repr(given)


def _shown(parameter: Mapping[str, Any] | None) -> str:
    if parameter is None:
        return "(absent)"
    match parameter:
        case {"kind": "continuous", "quantiles": [float(low), *_, float(high)] as quantiles}:
            return f"a distribution on [{low:g}, {high:g}] with median {quantiles[len(quantiles) // 2]:g}"
        case {"kind": "integer", "low": low, "high": high}:
            return f"the integers {low} to {high}"
        case {"kind": "choice", "values": values}:
            return repr(values)
    return repr(parameter)


def as_suggestion(answer: Suggestion | ArrayLike, search: AskTell, domain: Domain) -> Suggestion:
    """Give what a search answers as a suggestion, or raise SolverError if it is no point of the unit cube."""
    if not isinstance(answer, Suggestion):
        answer = Suggestion(np.asarray(answer, dtype=float), type(search).__name__)
    if np.shape(answer.point) != (domain.dimension,) or not np.isfinite(answer.point).all():
        raise SolverError(f"the search suggests {answer.point!r}; use a point of the unit cube of dimension {domain.dimension}")
    return answer


def replay(
    search: AskTell, domain: Domain, trials: Sequence[Trial], events: Sequence[tuple[int, str, int]], objectives: Objectives
) -> None:
    """Let a fresh search live through what a record says: the same asks and tells, in the same order.

    Parameters
    ----------
    search : AskTell
        A search that has been neither asked nor told. The library's own take the recorded points as they are; another
        one is asked again, and a warning is logged where it answers differently.
    domain : Domain
        The cube of its points.
    trials : sequence of Trial
        The record's trials, by number.
    events : sequence of (int, str, int)
        (sequence, "asked" or "told", number of the trial), in order.
    objectives : Objectives
        What the trials were told of.
    """
    for _, what, number in events:
        trial = trials[number]
        point = np.array(trial.point)
        if what == "told":
            search.tell(point, objectives.response(trial))
        elif isinstance(search, Search):
            search.assume(point, given=trial.origin == START)
        elif trial.origin != START:  # a start was not asked of it
            again = as_suggestion(search.ask(), search, domain)
            if not np.array_equal(domain.snap_one(again.point), point):
                _LOG.warning("the search suggests another point for trial %d than it did before; the record's is kept", number)
