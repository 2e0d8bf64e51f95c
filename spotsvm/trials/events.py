"""The events of a study, from which its trials follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import Trial, evaluated_fields

#: the origin of a trial for a further value in a sweep
SWEEP = "sweep"


@dataclass(frozen=True)
class Described:
    """Entries of the study's description were added, or replaced."""

    entries: Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """A trial was asked for; `search_state` is the part of the search's state that the events before do not determine."""

    trial: Trial
    search_state: Mapping[str, Any] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The number of the trial."""
        return self.trial.number


@dataclass(frozen=True)
class Lost:
    """The worker of a running trial died."""

    number: int
    reason: str


@dataclass(frozen=True)
class Reported:
    """The outcome of a running trial arrived before its turn to be told."""

    number: int
    outcome: Outcome


@dataclass(frozen=True)
class Row:
    """A value in a sweep: a trial of its own, with the parameters and the outcome of this value."""

    number: int
    params: Mapping[str, Any]
    point: tuple[float, ...]
    outcome: Outcome


@dataclass(frozen=True)
class Told:
    """A running trial ended with a judged outcome; of a sweep with a row for each value, the best first."""

    number: int
    told_at: float
    outcome: Outcome
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Noted:
    """Something was found about the study beside its trials."""

    name: str
    finding: Mapping[str, Any]


@dataclass(frozen=True)
class Widened:
    """The study goes on in a wider space: its trials have other points, and sweeps still to be told may have other keys."""

    entries: Mapping[str, Any]
    points: tuple[tuple[float, ...], ...]
    outcomes: Mapping[int, Outcome]


Event = Described | Asked | Lost | Reported | Told | Noted | Widened


class EventError(ValueError):
    """An event does not fit those before it."""


def changed_trials(event: Event, known: Callable[[int], Trial | None], swept: bool) -> list[Trial]:
    """Return the trials that an event changes, as it leaves them; EventError if a trial is not running that should be.

    `known` returns a trial by its number, and `swept` is whether the trials of the study have sweeps.
    """
    match event:
        case Asked(trial):
            if known(trial.number) is not None or trial.state != "running":
                raise EventError(f"trial {trial.number} was asked for before")
            return [trial]
        case Lost(number, reason):
            trial = _running(number, known)
            return [replace(trial, lost=(*trial.lost, reason))]
        case Reported(number):
            _running(number, known)
        case Told(number, told_at, outcome, rows):
            trial = _running(number, known)
            if rows and (rows[0].number != number or any(known(row.number) is not None for row in rows[1:])):
                raise EventError(f"the sweep of trial {number} has trials of others")
            if rows:
                return [_of_row(row, trial, event) for row in rows]
            sweep = number if swept else None
            return [replace(trial, **evaluated_fields(outcome), told_at=told_at, sweep=sweep)]
        case Widened(points=points):
            moved = [(known(number), point) for number, point in enumerate(points)]
            return [replace(trial, point=point) for trial, point in moved if trial is not None]
    return []


def _running(number: int, known: Callable[[int], Trial | None]) -> Trial:
    trial = known(number)
    if trial is None or trial.state != "running":
        raise EventError(f"trial {number} is not running")
    return trial


def _of_row(row: Row, asked: Trial, told: Told) -> Trial:
    """Return the trial of a value in a sweep; only that of the best value has the times of asking and telling."""
    of_value = evaluated_fields(row.outcome) | {
        "params": row.params,
        "point": row.point,
        "attributes": {**told.outcome.attributes, **row.outcome.attributes},
        "sweep": asked.number,
    }
    if row.number == asked.number:
        return replace(asked, **of_value | {"seconds": told.outcome.seconds, "told_at": told.told_at})
    return Trial(row.number, origin=SWEEP, seed=asked.seed, **of_value)
