"""Asking and telling: each step of a trial is written to the record before it takes effect."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from numbers import Integral
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.errors import ArgumentError, TrialStateError
from spotsvm.common.text import shown_value
from spotsvm.solvers.errors import SearchExhaustedError
from spotsvm.solvers.search import Suggestion
from spotsvm.study.ends.time_limit import TimeLimit
from spotsvm.study.record.record import Record
from spotsvm.study.record.rows import plain_json, storable_outcome
from spotsvm.study.search import StudySearch
from spotsvm.study.status import ReadableStudy
from spotsvm.study.workers.interrupts import interrupts_held
from spotsvm.surrogates.responses import are_penalties
from spotsvm.trials.constraints import Constraints, allowed_path, noted, with_bounded_numbers
from spotsvm.trials.profile import Profile, checked_path, path_of, suggested
from spotsvm.trials.trial import START, Outcome, Trial, Values, checked_extra, checked_seconds, is_given, one_line, outcome_of

P = ParamSpec("P")
Returned = TypeVar("Returned")
_LOG = logging.getLogger(__name__)

#: the name in `extra` by which a value is noted that stands for a failure
PENALTY = "penalty"
#: the largest budget and batch size that are stored: a record may not hold all larger numbers
_MOST = 2**53


def in_turn(method: Callable[Concatenate[Any, P], Returned]) -> Callable[Concatenate[Any, P], Returned]:
    """Make threads take turns in a method of an object with a `guard`; the thread that holds it may call further methods."""

    @wraps(method)
    def one_at_a_time(self: Any, /, *args: P.args, **named: P.kwargs) -> Returned:
        with self._guard.turn:
            return method(self, *args, **named)

    return one_at_a_time


class RunGuard:
    """Exclusive access to a study: one run at a time, no other asking or telling during it, one thread at a time (`turn`)."""

    def __init__(self) -> None:
        self.renew_locks()
        self._running = False
        self._thread_of_loop: int | None = None
        _GUARDS.add(self)

    def renew_locks(self) -> None:
        """Create new locks, as a forked process needs: the thread that held one may not exist there."""
        self._lock, self.turn = threading.Lock(), threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a new guard: the copy of a running study is not running."""
        return RunGuard, ()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mark the study as running in this block; raise TrialStateError if it is running already."""
        with self._lock:
            if self._running:
                raise TrialStateError(
                    "the study is being run already, by another thread or by the run that this was called from; wait until that "
                    "run() has returned, or pass it an executor to evaluate several trials at once"
                )
            self._running = True
        try:
            yield
        finally:
            self._running = False

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Allow this thread, which is that of the run, to ask and tell in this block."""
        self._thread_of_loop = threading.get_ident()
        try:
            yield
        finally:
            self._thread_of_loop = None

    def check(self, what: str) -> None:
        """Raise TrialStateError if a run is under way and the caller is not its loop."""
        if self._running and self._thread_of_loop != threading.get_ident():
            raise TrialStateError(f"{what}() cannot be called while the study is being run; call it after run() has returned")


_GUARDS: WeakSet[RunGuard] = WeakSet()


def _renew_all() -> None:
    for guard in list(_GUARDS):
        guard.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


class AskTellStudy(ReadableStudy):
    """Asking and telling, for a class that creates or restores the search and the record; see `Study`."""

    _record: Record | None
    _search: StudySearch
    _events: list[tuple[int, str, int]]
    _findings: dict[str, dict[str, Any]]
    _unfinished: list[int]
    #: of the run that is under way
    _limit: TimeLimit | None
    _asked_at: dict[int, float]
    _outcomes: dict[int, Outcome]
    #: the parameters to start with, by their points
    _start_params: dict[tuple[float, ...], dict[str, Any]]
    _guard: RunGuard
    constraints: Constraints
    #: the parameter that is profiled, or None
    profile: Profile | None
    #: whether the search had no further point at the last batch
    is_exhausted = False

    @property
    def findings(self) -> dict[str, dict[str, Any]]:
        """A copy of the findings added by `add_finding`, by name.

        See Also
        --------
        add_finding : Adds one.
        """
        return {name: copy.deepcopy(self._findings[name]) for name in sorted(self._findings)}

    @in_turn
    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Store a finding about the study, also in its record; it replaces an earlier finding of the same name.

        A record can be resumed whatever its findings are.

        Parameters
        ----------
        name : str
            One line of text.
        finding : mapping of str to object
            JSON content; nan and infinite numbers are allowed.

        Raises
        ------
        ArgumentError
            If it is not JSON; the message names the part that is not.
        StorageError
            If the record cannot be written; the finding is then not stored.

        See Also
        --------
        findings : All of them.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2]}, "random", 0)
        >>> study.add_finding("weather", {"sun": True})
        >>> study.findings
        {'weather': {'sun': True}}
        """
        if not isinstance(name, str) or not name or name != " ".join(name.split()):
            raise ArgumentError(f"name={name!r} is not the name of a finding; use one line of text")
        plain = plain_json(finding, f"finding {name}")
        if self._record is not None:
            self._record.write_finding(name, plain)
        self._findings[name] = plain

    @in_turn
    def _plan(self, n_trials: int, batch_size: int | None = 1) -> None:
        """Store the budget and the batch size of a run, for the status and for the code in the report that repeats the study.

        The batch size is None if it differs between runs, or if several workers got their trials one by one.
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
        """Return the next trial to evaluate; it is running until it is told.

        After a resume, the trials that were running when the record ended come first.

        Raises
        ------
        SearchExhaustedError
            If the space is finite and every configuration has been asked for.
        StorageError
            If the record cannot be written.
        TrialStateError
            If `run` is under way.

        See Also
        --------
        tell : Takes the value.
        fail : Takes the reason of a failure.
        ask_batch : Several trials at once.
        """
        self._guard.check("ask")
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
            if number == len(self._trials):  # the search must not remember a point that became no trial
                self._search.forget(suggestion, self._trials, self._events)
            else:
                self._unfinished.insert(0, number)
            raise

    @interrupts_held()
    def _note(self, suggestion: Suggestion, seconds: float) -> Trial:
        """Turn a suggestion into a trial, in the record and in memory."""
        point = self.space.domain.snap_one(suggestion.point)
        number = len(self._trials)
        params = self.space.decode(point, self._known_params(point, suggestion.origin))
        if self.profile is not None and suggestion.origin != START:
            params = self.profile.asked_params(params)
        trial = Trial(
            number,
            params,
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

    def _known_params(self, point: NDArray[np.float64], origin: str) -> Mapping[str, Any]:
        """Return the parameters that a point was given with: without its rounding, also where it is evaluated again."""
        if origin == START:
            return self._start_params.get(tuple(point.tolist()), {})
        seen = np.array if self.profile is None else self.profile.searched_point
        known = (t.params for t in self._trials if is_given(t) and np.array_equal(seen(t.point), seen(point)))
        return next(known, {})

    def tell(
        self,
        trial: Trial | int,
        value: float | Sequence[float] | Mapping[str, float | Values] | Mapping[float, Any],
        *,
        seconds: float | None = None,
    ) -> Trial:
        """Tell the value of a trial.

        Parameters
        ----------
        trial : Trial or int
            A running trial, or its number.
        value : float, sequence or mapping
            The objective's value; of several objectives a sequence with one value each, in the study's own directions. Or a
            mapping with it under "value", or them under "values" (a mapping by name too, where they have names), and beside
            further named numbers, and texts and lists, which are attributes of the trial. A value that is not finite makes a
            failed trial. Where a parameter is profiled, a path: a mapping from its values to any of these, or a sequence of such
            pairs.
        seconds : float, optional
            Time that the evaluation took; by default the time since it was asked for.

        Returns
        -------
        Trial
            The trial as it is now recorded. Once this has returned, the trial survives a crash.

        Raises
        ------
        TrialStateError
            If there is no such running trial, or `run` is under way.
        StorageError
            If the record cannot be written; the trial is then still running.
        ArgumentError
            If `seconds` is not a time; the trial is then still running. If there are more or fewer values than objectives, or
            None; the trial is then recorded as failed, with the same reason.

        See Also
        --------
        ask : Gives the trial.
        fail : For a trial without a value.
        add_trial : For one that was not asked for.
        """
        seconds = checked_seconds(seconds)
        if self.profile is None:
            return self._finish(trial, outcome_of(value, seconds))
        return self._finish(trial, path_of(value, self.profile.name, seconds, self.profile.listed))

    def fail(
        self, trial: Trial | int, reason: str, *, extra: Mapping[str, float] | None = None, seconds: float | None = None
    ) -> Trial:
        """Tell that a trial failed, with a reason in one line; `extra` takes named numbers. See `tell`.

        See Also
        --------
        tell : For a trial that has a value.
        """
        return self._finish(trial, Outcome("failed", None, checked_extra(extra), one_line(str(reason)), checked_seconds(seconds)))

    @in_turn  # outermost: waiting for another thread may be interrupted
    @interrupts_held()
    def _finish(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """Record an outcome; `tell` and `fail` call this."""
        self._guard.check("tell")
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, Integral) or not 0 <= number < len(self._trials):
            raise TrialStateError(f"trial={shown_value(number)} was never asked for; this study has {len(self._trials)} trials")
        running = self._trials[number]
        if running.state != "running":
            raise TrialStateError(f"trial={number} is not running; it was told before and is {running.state!r}")
        if self.profile is None:
            outcome, wrong = self.objectives.judged(outcome)
        else:
            outcome, wrong = checked_path(outcome, self.objectives.judged, self.profile)
        if not wrong and not any(t.state == "ok" for t in self._trials):
            outcome, wrong = with_bounded_numbers(outcome, self.constraints)
        began = self._asked_at.get(number)
        seconds = outcome.seconds if outcome.seconds is not None or began is None else time.perf_counter() - began
        told, path = self._told(running, replace(outcome, seconds=seconds), len(self._trials))
        event = (len(self._events), "told", number)
        if self._record is not None:
            self._record.write_told(told, event[0], path)
        self._trials[number] = told
        self._trials.extend(path)
        self._events.append(event)
        self._outcomes.pop(number, None)
        if number in self._unfinished:
            self._unfinished.remove(number)
        self._search.tell(told, path)
        result = told.reason or (told.values if told.value is None else told.value)
        _LOG.info("trial %d is %s after %.3g s: %s", number, told.state, seconds or 0.0, result)
        if wrong:
            raise ArgumentError(wrong)
        return told

    def _told(self, running: Trial, outcome: Outcome, further: int) -> tuple[Trial, tuple[Trial, ...]]:
        """Return a trial with its judged outcome, and trials for the other values on its path, from number `further`."""
        outcome = storable_outcome(outcome)
        if self.constraints.bounds or self.constraints.conditions:
            outcome = (
                noted(outcome, self.constraints)
                if self.profile is None
                else allowed_path(outcome, self.profile, self.constraints, running.params)
            )
        values = outcome.values if isinstance(outcome.values, tuple) else None
        told = replace(
            running, state=outcome.state, value=outcome.value, values=values, extra=dict(outcome.extra),
            reason=outcome.reason, seconds=outcome.seconds, told_at=time.time(), traceback=outcome.traceback,
            attributes=outcome.attributes,
        )  # fmt: skip
        if self._is_penalty(told):
            told = replace(told, extra={PENALTY: 1.0, **told.extra})
        if self.profile is None:
            return told, ()
        return self.profile.finished(told, outcome.path, further, float(self.objectives.signs[0]))

    def _is_penalty(self, told: Trial) -> bool:
        """Return whether the value of a trial stands for a failure, by those told before it."""
        if self.profile is not None or told.value is None:
            return False
        values = [self._trials[number].value for number in self._told_numbers] + [told.value]
        sign = float(self.objectives.signs[0])
        return bool(are_penalties([np.nan if value is None else sign * value for value in values])[-1])

    @in_turn
    def _hold(self, trial: Trial, outcome: Outcome) -> None:
        """Record the outcome of a trial before it can be told, so that a resumed study does not evaluate the trial again."""
        if trial.number not in self._outcomes:
            outcome = storable_outcome(outcome)
            if self._record is not None:
                self._record.write_outcome(trial.number, outcome)
            self._outcomes[trial.number] = outcome

    def _held(self, trial: Trial) -> Outcome | None:
        """Return the outcome of a running trial if it is recorded; see `hold`."""
        return self._outcomes.get(trial.number)

    @in_turn
    def _lose(self, trial: Trial, reason: str) -> Trial:
        """Record the reason why the worker of a trial died; the trial is still running."""
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

        See Also
        --------
        ask : One trial.
        run : Evaluates trials side by side by itself.
        """
        if self._unfinished and self._events[-1][1] == "told":
            size = min(size, len(self._unfinished))  # the rest of a batch that was cut off is a batch of its own
        batch: list[Trial] = []
        try:
            while len(batch) < size and not (batch and batch[-1].origin == START and not self._start_is_next()):
                batch.append(self.ask())
        except SearchExhaustedError as error:
            if not batch and not self._trials:
                raise  # nothing satisfies the constraints
            if not batch:
                _LOG.warning("the study ends with %d trials: %s", len(suggested(self._trials)), error)
        except BaseException:
            self._hand_back(batch)
            raise
        self.is_exhausted = not batch
        return batch

    def _start_is_next(self) -> bool:
        return self._trials[self._unfinished[0]].origin == START if self._unfinished else self._search.n_starts > 0

    @in_turn
    def _hand_back(self, trials: Sequence[Trial]) -> None:
        """Requeue those of these trials that are still running: `ask` returns them before any other."""
        back = {t.number for t in trials if self._trials[t.number].state == "running"}
        self._unfinished = sorted(back.union(self._unfinished))

    @property
    @in_turn
    def n_finished(self) -> int:
        """Number of finished trials, successful or not; of several values on a path only one counts.

        See Also
        --------
        status : The number of trials in each state.
        """
        return sum(what == "told" for _, what, _ in self._events)

    @property
    def _n_unfinished(self) -> int:
        """Number of queued trials, which `ask` returns first."""
        return len(self._unfinished)

    @property
    def _told_numbers(self) -> tuple[int, ...]:
        """The numbers of the trials that have ended, in the order in which they were told."""
        return tuple(number for _, what, number in self._events if what == "told")

    @property
    @in_turn
    def _n_told_since_asked(self) -> int:
        """Number of trials told since the last one was asked for."""
        since = 0
        while since < len(self._events) and self._events[-1 - since][1] == "told":
            since += 1
        return since

    @property
    @in_turn
    def _waits_for_starts(self) -> bool:
        """Whether the next point depends on the best start, and starts are still running."""
        if self._unfinished or self._search.n_starts or not self._search.follows_starts:
            return False
        return all(map(is_given, self._trials)) and any(t.state == "running" for t in self._trials)

    @property
    def _n_initial(self) -> int:
        """Trials of the search's initial design, or of its first generation and the starts before it."""
        return self._search.initial_trials(sum(map(is_given, suggested(self._trials))))[0]

    @property
    def _n_foreseen(self) -> int:
        """Number of trials that follow whatever values are told until they are asked for; at least 1."""
        return self._search.n_foreseen
