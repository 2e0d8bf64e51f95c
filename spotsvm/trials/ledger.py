"""The ledger of a study: its trials, the order in which they were asked for and told, and its findings, all from its events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from spotsvm.trials.events import Asked, Described, Event, EventError, Noted, Reported, Told, Widened, changed_trials
from spotsvm.trials.findings import Findings
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import FINISHED, Evaluated, Trial, evaluated_fields

#: what happened to which trial, in order; further values of a sweep have no turns
Turn = tuple[Literal["asked", "told"], int]


class Store(Protocol):
    """Keeps the events of a ledger, such as a record."""

    path: Path

    def append(self, events: Sequence[Event]) -> None:
        """Keep events, all or none."""
        ...

    def close(self) -> None:
        """Release what is open."""
        ...


class Ledger:
    """The trials of a study as its events have left them, by number. A ledger does not use the search.

    `turns` are "asked" or "told" with a trial's number, in order; `outcomes` arrived before their turn to be told; `search_state`
    is that after the last trial was asked for, as far as the turns do not determine it.
    """

    def __init__(self, events: Iterable[Event] = ()):
        self.about: dict[str, Any] = {}
        self.trials: list[Trial] = []
        self.turns: list[Turn] = []
        self.told: list[int] = []
        self.findings = Findings()
        self.outcomes: dict[int, Outcome] = {}
        self.search_state: Mapping[str, Any] = {}
        self.path: Path | None = None
        self._store: Store | None = None
        for event in events:
            self.append(event)

    def append(self, *events: Event) -> None:
        """Write events, all or none, and then let them take effect; EventError if one does not fit those before it."""
        changed: dict[int, Trial] = {}
        for event in events:
            of_event = changed_trials(event, partial(self._trial, changed), "sweep" in self.about)
            changed |= {trial.number: trial for trial in of_event}
        n = len(self.trials)
        new = sorted(number for number in changed if not 0 <= number < n)
        if new != [*range(n, n + len(new))]:
            raise EventError("trials are missing")
        if self._store is not None:
            self._store.append(events)
        for number in sorted(changed):
            self.trials[number : number + 1] = [changed[number]]
        for event in events:
            self._apply(event)

    def keep_in(self, store: Store, unwritten: Sequence[Event] = ()) -> None:
        """Write events that have taken effect, and all further ones, to a store."""
        if unwritten:
            store.append(unwritten)
        self._store, self.path = store, store.path

    def drop_answers(self, numbers: Collection[int]) -> None:
        """Leave the answers of trials out of memory; a store keeps them."""
        for number in numbers:
            self.trials[number] = replace(self.trials[number], answers=None)

    def _apply(self, event: Event) -> None:
        match event:
            case Described(entries):
                self.about = {**self.about, **entries}
            case Asked(trial, search_state):
                self.turns.append(("asked", trial.number))
                self.search_state = search_state
            case Reported(number, outcome):
                self.outcomes[number] = outcome
            case Told(number):
                self.turns.append(("told", number))
                self.told.append(number)
                self.outcomes.pop(number, None)
            case Noted(name, finding):
                self.findings = self.findings.noted(name, finding)
            case Widened(entries, _, outcomes):
                self.about, self.search_state = {**self.about, **entries}, {}
                self.outcomes |= outcomes

    def _trial(self, changed: Mapping[int, Trial], number: int) -> Trial | None:
        return changed.get(number) or (self.trials[number] if 0 <= number < len(self.trials) else None)

    @property
    def n_finished(self) -> int:
        """Number of finished trials, successful or not; a sweep counts once."""
        return len(self.told)

    @property
    def told_trials(self) -> list[Trial]:
        """The finished trials, in the order in which they were told; of a sweep the best one."""
        return [self.trials[number] for number in self.told]

    def told_before_asked(self, number: int) -> list[Trial]:
        """Return the trials that were told before a trial was asked for, in the order of telling."""
        before = self.turns[: self.turns.index(("asked", number))]
        return [self.trials[other] for what, other in before if what == "told"]

    @property
    def n_told_since_asked(self) -> int:
        """Number of trials told since the last one was asked for."""
        since = 0
        while since < len(self.turns) and self.turns[-1 - since][0] == "told":
            since += 1
        return since

    def after(self, n: int) -> Ledger:
        """Return a copy in memory as the ledger was after its first n finished trials."""
        turns = self.turns[: self.turns.index(("told", self.told[n - 1])) + 1] if n else []
        asked, told = ({number for what, number in turns if what == which} for which in ("asked", "told"))
        trials = [t for t in self.trials if t.number in asked or t.sweep in told]
        return self._copy([t if t.number in told or t.number not in asked else _as_running(t) for t in trials], turns)

    def in_memory(self) -> Ledger:
        """Return a copy without a file."""
        return self._copy(list(self.trials), list(self.turns))

    def with_trials(self, trials: Iterable[Trial]) -> Ledger:
        """Return a copy in memory whose trials are others."""
        return self._copy(list(trials), list(self.turns))

    def _copy(self, trials: list[Trial], turns: list[Turn]) -> Ledger:
        other = copy(self)
        other.trials, other.turns, other.told = trials, turns, [number for what, number in turns if what == "told"]
        other.outcomes, other._store, other.path = dict(self.outcomes), None, None
        return other

    def close(self) -> None:
        """Close the file, if there is one; the ledger can still be read."""
        if self._store is not None:
            self._store.close()


def _as_running(trial: Trial) -> Trial:
    """Return a trial as it was before it was told, except that the parameters of a sweep keep its best value."""
    return replace(trial, **evaluated_fields(Evaluated()), told_at=None, sweep=None)


def suggested(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that were asked for, without those for further values in their sweeps."""
    return [t for t in trials if t.sweep is None or t.sweep == t.number]


def finished_words(trials: Sequence[Trial]) -> str:
    """Return in words how many of the trials asked for have ended, and how many values their sweeps have."""
    finished, values = finished_counts(trials)
    words = f"{finished} of {len(suggested(trials))} trials finished"
    return words if finished == values else f"{words}, with {values} values in their sweeps"


def finished_counts(trials: Sequence[Trial]) -> tuple[int, int]:
    """Return how many of the trials asked for have ended, and how many trials in all, with the further values of sweeps."""
    finished, values = (sum(t.state in FINISHED for t in some) for some in (suggested(trials), trials))
    return finished, values
