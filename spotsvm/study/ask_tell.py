"""The trials of a study: asked for, told, handed back, each step in the record before it counts."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from spotsvm.common.errors import ArgumentError, TrialStateError
from spotsvm.common.text import shown_value
from spotsvm.solvers.errors import SearchExhaustedError
from spotsvm.solvers.search import Suggestion
from spotsvm.study.guards import RunGuard, in_turn
from spotsvm.study.readable import ReadableStudy
from spotsvm.study.record.record import Record
from spotsvm.study.record.rows import plain_json
from spotsvm.study.search import StudySearch
from spotsvm.study.workers.interrupts import interrupts_held
from spotsvm.trials.outcome import Outcome, Values, checked_extra, checked_seconds, one_line, outcome_of
from spotsvm.trials.start import START
from spotsvm.trials.trial import Trial


def checked_finding(name: str, finding: Mapping[str, Any]) -> dict[str, Any]:
    """Give a finding as it is read back from a record: tuples as lists, all else as it is.

    Parameters
    ----------
    name : str
        Its name, one line of text.
    finding : mapping of str to object
        What JSON can hold: text, truth values, None, Python's own numbers (nan and infinite ones too), lists and mappings.

    Raises
    ------
    ArgumentError
        If the name is no line of text, or a part of the finding is not JSON; it says which.

    Examples
    --------
    >>> checked_finding("judgement", {"difference": 0.5, "interval": (0.1, 0.9)})
    {'difference': 0.5, 'interval': [0.1, 0.9]}
    """
    if not isinstance(name, str) or not name or name != " ".join(name.split()):
        raise ArgumentError(f"name={name!r} does not name a finding; use a line of text")
    return plain_json(finding, f"finding {name}")


class StudyFindings:
    """Findings of a study, for a class with a guard, and a record or None."""

    _record: Record | None
    _findings: dict[str, dict[str, Any]]
    guard: RunGuard

    @property
    def findings(self) -> dict[str, dict[str, Any]]:
        """What was found out about the study, by name: a copy of what `add_finding` was given."""
        return {name: copy.deepcopy(self._findings[name]) for name in sorted(self._findings)}

    @in_turn
    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Keep what was found out about the study, in its record too; in place of an earlier finding of that name.

        Findings are no part of what must be the same for a record to be resumed.

        Parameters
        ----------
        name : str
            Its name, one line of text.
        finding : mapping of str to object
            What JSON can hold; nan and infinite numbers too.

        Raises
        ------
        ArgumentError
            If it is not JSON; the message says which part.
        StorageError
            If the record cannot be written; the finding is then not kept.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2]}, "random", 0)
        >>> study.add_finding("weather", {"sun": True})
        >>> study.findings
        {'weather': {'sun': True}}
        """
        plain = checked_finding(name, finding)
        if self._record is not None:
            self._record.write_finding(name, plain)
        self._findings[name] = plain


_LOG = logging.getLogger(__name__)


#: of what is planned: nobody gets there, and not all numbers can be read from a record
_MOST = 2**53


class AskTellStudy(ReadableStudy, StudyFindings):
    """Asking and telling, for a class that makes the search and the record, or takes them up; see `Study`."""

    _record: Record | None
    _search: StudySearch
    _events: list[tuple[int, str, int]]
    _unfinished: list[int]
    _asked_at: dict[int, float]
    _outcomes: dict[int, Outcome]
    guard: RunGuard
    _is_exhausted = False

    @in_turn
    def plan(self, n_trials: int, batch_size: int | None = 1) -> None:
        """Say how many finished trials the study is to have in the end, and how many are evaluated together.

        It is for those who read the record meanwhile, and for the code that repeats the study; a batch size that has changed
        between two runs is None, as it is where several workers got a trial each as they came free.
        """
        before = self.about.get("batch_size", batch_size) if self._trials else batch_size
        plan = {
            "budget": min(int(n_trials), _MOST),
            "batch_size": None if batch_size is None or before != batch_size else min(int(batch_size), _MOST),
        }
        if any(key not in self.about or self.about[key] != value for key, value in plan.items()):
            self.about = {**self.about, **plan}
            if self._record is not None:
                self._record.describe(plan)

    @in_turn
    def ask(self) -> Trial:
        """Give the next trial to evaluate; it is running until it is told.

        After a resume, the trials that were running when the record ended come first.

        Raises
        ------
        SearchExhaustedError
            If the space is finite and every configuration has been asked for.
        StorageError
            If the record cannot be written.
        TrialStateError
            If `run` is under way.
        """
        self.guard.check("ask")
        if self._unfinished:
            trial = self._trials[self._unfinished.pop(0)]
            self._asked_at[trial.number] = time.perf_counter()
            return trial
        number, suggestion = len(self._trials), None
        began = time.perf_counter()
        try:
            suggestion = self._search.suggest()
            return self._note(suggestion, time.perf_counter() - began)
        except SearchExhaustedError:
            raise
        except BaseException:
            if number == len(self._trials):  # not even half of a question may be left in the search
                self._search.forget(suggestion, self._trials, self._events)
            else:
                self._unfinished.insert(0, number)
            raise

    @interrupts_held()
    def _note(self, suggestion: Suggestion, seconds: float) -> Trial:
        """Make a suggestion a trial, in the record and here."""
        point = self.space.domain.snap_one(suggestion.point)
        number = len(self._trials)
        trial = Trial(
            number,
            self.space.decode(point),
            tuple(point.tolist()),
            origin=suggestion.origin,
            note=suggestion.note,
            seed=int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0]),
            ask_seconds=seconds,
            fit_seconds=suggestion.fit_seconds,
            acquisition_seconds=suggestion.acquisition_seconds,
            asked_at=time.time(),
        )
        state = self._search.state()
        if self._record is not None:
            self._record.write_asked(trial, len(self._events), state)
        self._search.keep(suggestion, state)
        self._events.append((len(self._events), "asked", number))
        self._trials.append(trial)
        self._asked_at[number] = time.perf_counter()
        _LOG.debug("trial %d is asked for (%s): %s", number, "; ".join(filter(None, [trial.origin, trial.note])), trial.params)
        return trial

    def tell(
        self,
        trial: Trial | int,
        value: float | Sequence[float] | Mapping[str, float | Values],
        *,
        seconds: float | None = None,
    ) -> Trial:
        """Say what a trial was worth.

        Parameters
        ----------
        trial : Trial or int
            A running trial, or its number.
        value : float, sequence or mapping
            The objective's value; of several objectives a sequence with one value each, in the study's own directions. Or a
            mapping with it under "value", or them under "values" (a mapping by name too, where they have names), and further
            named numbers beside. A value that is not finite makes a failed trial.
        seconds : float, optional
            Time that the evaluation took; by default the time since it was asked for.

        Returns
        -------
        Trial
            The trial as it is now recorded. What this returns from survives a crash.

        Raises
        ------
        TrialStateError
            If there is no such running trial, or `run` is under way.
        StorageError
            If the record cannot be written; the trial is then still running.
        ArgumentError
            If `seconds` is no time; the trial is then still running. If there are more or fewer values than objectives; the trial
            has failed, and its reason says the same.
        """
        return self.finish(trial, outcome_of(value, checked_seconds(seconds)))

    def fail(
        self, trial: Trial | int, reason: str, *, extra: Mapping[str, float] | None = None, seconds: float | None = None
    ) -> Trial:
        """Say that a trial gave no value, and why, in one line; `extra` takes named numbers all the same. See `tell`."""
        return self.finish(trial, Outcome("failed", None, checked_extra(extra), one_line(str(reason)), checked_seconds(seconds)))

    @in_turn  # outside: who waits for another thread may be interrupted
    @interrupts_held()
    def finish(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """Take an outcome as it is; what `tell` and `fail` come down to."""
        self.guard.check("tell")
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, Integral) or not 0 <= number < len(self._trials):
            raise TrialStateError(f"trial={shown_value(number)} was never asked for; this study has {len(self._trials)} trials")
        running = self._trials[number]
        if running.state != "running":
            raise TrialStateError(f"trial={number} is not running; it was told before and is {running.state!r}")
        outcome, wrong = self.objectives.judged(outcome)
        began = self._asked_at.get(number)
        seconds = outcome.seconds if outcome.seconds is not None or began is None else time.perf_counter() - began
        told = replace(
            running, state=outcome.state, value=outcome.value, values=outcome.values, extra=dict(outcome.extra),
            reason=outcome.reason, seconds=seconds, told_at=time.time(),
        )  # fmt: skip
        event = (len(self._events), "told", number)
        if self._record is not None:
            self._record.write_told(told, event[0])
        self._trials[number] = told
        self._events.append(event)
        self._outcomes.pop(number, None)
        if number in self._unfinished:
            self._unfinished.remove(number)
        self._search.tell(told)
        result = told.reason or (told.values if told.value is None else told.value)
        _LOG.info("trial %d is %s after %.3g s: %s", number, told.state, seconds or 0.0, result)
        if wrong:
            raise ArgumentError(wrong)
        return told

    @in_turn
    def hold(self, trial: Trial, outcome: Outcome) -> None:
        """Keep what came of a running trial that is not to be told yet: a resumed study has it, and does not evaluate again."""
        if trial.number not in self._outcomes:
            if self._record is not None:
                self._record.write_outcome(trial.number, outcome)
            self._outcomes[trial.number] = outcome

    def held(self, trial: Trial) -> Outcome | None:
        """Give what came of a running trial, if it is known; see `hold`."""
        return self._outcomes.get(trial.number)

    @in_turn
    def lose(self, trial: Trial, reason: str) -> Trial:
        """Keep that the worker which evaluated a trial has died, and why; the trial is still running."""
        running = self._trials[trial.number]
        lost = replace(running, lost=(*running.lost, one_line(reason)))
        if self._record is not None:
            self._record.write_lost(lost)
        self._trials[lost.number] = lost
        return lost

    @in_turn
    def ask_batch(self, size: int) -> list[Trial]:
        """Ask for up to `size` trials to evaluate together; fewer, or none, if the space has no more.

        Starts are a batch of their own: what comes after them depends on their values.
        """
        if self._unfinished and self._events[-1][1] == "told":
            size = min(size, len(self._unfinished))  # the rest of a batch that was cut off is a batch of its own
        batch: list[Trial] = []
        try:
            while len(batch) < size and not (batch and batch[-1].origin == START and not self._start_is_next()):
                batch.append(self.ask())
        except SearchExhaustedError as error:
            if not batch:
                _LOG.warning("the study ends with %d trials: %s", len(self._trials), error)
        except BaseException:
            self.hand_back(batch)
            raise
        self._is_exhausted = not batch
        return batch

    def _start_is_next(self) -> bool:
        return self._trials[self._unfinished[0]].origin == START if self._unfinished else self._search.n_starts > 0

    @in_turn
    def hand_back(self, trials: Sequence[Trial]) -> None:
        """Let `ask` give those of these trials once more, before any other, that are still running: nobody evaluates them."""
        back = {t.number for t in trials if self._trials[t.number].state == "running"}
        self._unfinished = sorted(back.union(self._unfinished))

    @property
    @in_turn
    def n_finished(self) -> int:
        """How many trials have ended, well or not."""
        return len(self._events) - len(self._trials)  # each was asked once, and told once if it has ended

    @property
    def n_unfinished(self) -> int:
        """How many running trials nobody evaluates: `ask` gives them first."""
        return len(self._unfinished)

    @property
    def is_exhausted(self) -> bool:
        """Whether the search had no more to suggest when a run asked it last."""
        return self._is_exhausted

    @property
    def told_numbers(self) -> tuple[int, ...]:
        """The numbers of the trials that have ended, in the order in which they were told."""
        return tuple(number for _, what, number in self._events if what == "told")

    @property
    @in_turn
    def n_told_since_asked(self) -> int:
        """How many trials were told since one was asked for last."""
        since = 0
        while since < len(self._events) and self._events[-1 - since][1] == "told":
            since += 1
        return since

    @property
    @in_turn
    def waits_for_starts(self) -> bool:
        """Whether what is asked for next follows from the best start, and starts are still running."""
        if self._unfinished or self._search.n_starts or not self._search.follows_starts:
            return False
        return all(t.origin == START for t in self._trials) and any(t.state == "running" for t in self._trials)

    @property
    def n_initial(self) -> int:
        """Trials of the search's initial design, or of its first generation and the starts before it."""
        return self._initial_trials[0]

    @property
    def initial_name(self) -> str:
        """What the first `n_initial` trials are: the initial design, the first generation."""
        return self._initial_trials[1]

    @property
    def _initial_trials(self) -> tuple[int, str]:
        return self._search.initial_trials(sum(t.origin == START for t in self._trials))

    @property
    def n_ready(self) -> int:
        """How many trials can be asked for now without any of them depending on a value that is not told yet; at least 1."""
        return self._search.n_ready
