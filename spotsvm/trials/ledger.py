"""The ledger of a study: its trials, the order in which they were asked for and told, and its findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import FINISHED, Evaluated, Trial, evaluated_fields

#: position, "asked" or "told", number of the trial; further values of a sweep have no events
Event = tuple[int, str, int]


class Ledger:
    """The trials and events of a study, in memory; `LedgerInRecord` also writes them to a file. A ledger does not use the search.

    Attributes
    ----------
    about : dict
        The description of the study, in JSON types.
    trials : list of Trial
        All trials, by number.
    events : list of (int, str, int)
        The events in order: position, "asked" or "told", number of the trial.
    findings : dict of str to dict
        Findings about the study, by name.
    outcomes : dict of int to Outcome
        Outcomes that arrived before their turn to be told, by trial number.
    """

    #: the file, if there is one
    path: Path | None = None

    def __init__(
        self,
        about: Mapping[str, Any],
        trials: Iterable[Trial] = (),
        events: Iterable[Event] = (),
        findings: Mapping[str, Mapping[str, Any]] | None = None,
        outcomes: Mapping[int, Outcome] | None = None,
    ):
        self.about: dict[str, Any] = dict(about)
        self.trials, self.events = list(trials), list(events)
        self.findings = {name: dict(finding) for name, finding in (findings or {}).items()}
        self.outcomes = dict(outcomes or {})

    @property
    def n_finished(self) -> int:
        """Number of finished trials, successful or not; a sweep counts once."""
        return sum(what == "told" for _, what, _ in self.events)

    @property
    def told_numbers(self) -> tuple[int, ...]:
        """The numbers of the finished trials, in the order in which they were told."""
        return tuple(number for _, what, number in self.events if what == "told")

    def told_before_asked(self, number: int) -> list[Trial]:
        """Return the trials that were told before a trial was asked for, in the order of telling."""
        told: list[Trial] = []
        for _, what, other in self.events:
            if what == "asked" and other == number:
                break
            if what == "told":
                told.append(self.trials[other])
        return told

    @property
    def n_told_since_asked(self) -> int:
        """Number of trials told since the last one was asked for."""
        since = 0
        while since < len(self.events) and self.events[-1 - since][1] == "told":
            since += 1
        return since

    def describe(self, entries: Mapping[str, Any]) -> None:
        """Add entries to the description of the study."""
        self.about = {**self.about, **entries}

    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Add a finding, in place of an earlier one of that name."""
        self.findings[name] = dict(finding)

    def add_asked(self, trial: Trial, search_state: Mapping[str, Any]) -> None:
        """Add a trial that was asked for; `search_state` is the state of the search after it, which only a record needs."""
        self.events.append((len(self.events), "asked", trial.number))
        self.trials.append(trial)

    def add_told(self, trial: Trial, further: Sequence[Trial] = ()) -> None:
        """Replace a running trial by the finished one, and add trials for the further values in its sweep."""
        self.trials[trial.number] = trial
        self.trials.extend(further)
        self.events.append((len(self.events), "told", trial.number))
        self.outcomes.pop(trial.number, None)

    def add_given(self, trial: Trial, search_state: Mapping[str, Any], further: Sequence[Trial] = ()) -> None:
        """Add a trial that was evaluated elsewhere, asked for and told at once."""
        self.trials += [trial, *further]
        self.events += [(len(self.events), "asked", trial.number), (len(self.events) + 1, "told", trial.number)]

    def add_lost(self, trial: Trial) -> None:
        """Replace a running trial by one with a further reason in `lost`."""
        self.trials[trial.number] = trial

    def hold(self, number: int, outcome: Outcome) -> None:
        """Keep the outcome of a running trial until it can be told."""
        self.outcomes[number] = outcome

    def after(self, n: int) -> Ledger:
        """Return a copy in memory as the ledger was after its first n finished trials."""
        ends = [k for k, (_, what, _) in enumerate(self.events) if what == "told"]
        events = self.events[: ends[n - 1] + 1] if n else []
        asked, told = ({number for _, what, number in events if what == which} for which in ("asked", "told"))
        trials = [t for t in self.trials if t.number in asked or t.sweep in told]
        trials = [t if t.number in told or t.number not in asked else _as_running(t) for t in trials]
        return Ledger(self.about, trials, events, self.findings)

    def in_memory(self) -> Ledger:
        """Return a copy without a file."""
        return Ledger(self.about, self.trials, self.events, self.findings, self.outcomes)

    def close(self) -> None:
        """Close the file, if there is one; the ledger can still be read."""


def _as_running(trial: Trial) -> Trial:
    """Return a trial as it was before it was told, except that the parameters of a sweep keep its best value."""
    return replace(trial, **evaluated_fields(Evaluated()), told_at=None, sweep=None)


def suggested(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that were asked for, without those for further values in their sweeps."""
    return [t for t in trials if t.sweep is None or t.sweep == t.number]


def finished_words(trials: Sequence[Trial]) -> str:
    """Return in words how many of the trials asked for have ended, and how many values their sweeps have.

    Examples
    --------
    >>> finished_words(
    ...     [
    ...         Trial(0, {}, (), "ok", sweep=0),
    ...         Trial(1, {}, (), "ok", sweep=0),
    ...         Trial(2, {}, ()),
    ...     ]
    ... )
    '1 of 2 trials finished, with 2 values in their sweeps'
    """
    finished, values = finished_counts(trials)
    words = f"{finished} of {len(suggested(trials))} trials finished"
    return words if finished == values else f"{words}, with {values} values in their sweeps"


def finished_counts(trials: Sequence[Trial]) -> tuple[int, int]:
    """Return how many of the trials asked for have ended, and how many trials in all, with the further values of sweeps."""
    finished, values = (sum(t.state in FINISHED for t in some) for some in (suggested(trials), trials))
    return finished, values
