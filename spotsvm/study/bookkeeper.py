"""Asking and telling: each step of a trial is written to the ledger before it takes effect, and the search is kept in step."""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from numbers import Integral
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.text import printable_line, shown_value
from spotsvm.errors import ArgumentError, SearchExhaustedError, SolverError, SpaceError, SpotSVMError, TrialStateError
from spotsvm.solvers.search import AskTell, Search, Suggestion, capabilities_of, describe_search, make_search
from spotsvm.solvers.search.contract.base import MOST_DRAWS, FarSighted, Noise
from spotsvm.solvers.search.registry import SearchFactory
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.space import Space
from spotsvm.study.early_stopping import with_extrapolation
from spotsvm.study.objective import with_trial
from spotsvm.study.workers.protocol import interrupts_held
from spotsvm.surrogates.domain import Domain
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.evaluation import CurrentTrial
from spotsvm.trials.events import Asked, Described, Lost, Noted, Reported, Told
from spotsvm.trials.judging import judge
from spotsvm.trials.ledger import Ledger, Turn, suggested
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.outcome import OF_THE_PROGRAM, Outcome, checked_seconds, one_line
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import FINISHED, GIVEN, START, Trial, is_given

P = ParamSpec("P")
Returned = TypeVar("Returned")
_LOG = logging.getLogger(__name__)

#: the largest budget and batch size that are stored: a record cannot store every larger integer
_MOST = 2**53


def in_turn(method: Callable[Concatenate[Any, P], Returned]) -> Callable[Concatenate[Any, P], Returned]:
    """Make threads take turns in a method of an object with a `guard`; the thread that holds it may call further methods."""

    @wraps(method)
    def one_at_a_time(self: Any, /, *args: P.args, **named: P.kwargs) -> Returned:
        with self.guard.turn:
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
        """Allow the thread of the run to ask and tell in this block."""
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


class Bookkeeper:
    """Asks the search of a study for trials and tells it their outcomes; ledger and search stay in step if a write fails.

    `start_params` maps the starting points to their parameters, without the rounding of the points.
    """

    def __init__(
        self,
        ledger: Ledger,
        search: StudySearch,
        space: Space,
        objectives: Objectives,
        constraints: Constraints,
        swept: SweptParameter | None,
        start_params: Mapping[tuple[float, ...], dict[str, Any]],
    ):
        self.ledger, self.search, self._space, self._objectives = ledger, search, space, objectives
        self._constraints, self._swept = constraints, swept
        self._start_params = dict(start_params)
        self._asked_at: dict[int, float] = {}
        self._unfinished = [t.number for t in ledger.trials if t.state == "running"]
        self.guard = RunGuard()
        #: whether the search had no further point at the last batch
        self.is_exhausted = False

    @in_turn
    def plan(self, n_trials: int, batch_size: int | None = 1) -> None:
        """Store the budget and the batch size of a run, for the status and for the code in the report that repeats the study.

        The batch size is None if it differs between runs, or if several workers got their trials one by one.
        """
        about = self.ledger.about
        before = about.get("batch_size", batch_size) if self.ledger.trials else batch_size
        plan = {
            "budget": min(int(n_trials), _MOST),
            "batch_size": None if batch_size is None or before != batch_size else min(int(batch_size), _MOST),
        }
        if any(key not in about or about[key] != value for key, value in plan.items()):
            self.ledger.append(Described(plan))

    @in_turn
    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Store a finding; see `Study.add_finding`."""
        self.ledger.append(Noted(name, finding))

    @in_turn
    def drop_answers(self, numbers: Collection[int]) -> None:
        """Forget the answers of trials; see `Study.drop_answers`."""
        self.ledger.drop_answers(numbers)

    @in_turn
    def ask(self) -> Trial:
        """Return the next trial to evaluate; see `Study.ask`."""
        self.guard.check("ask")
        trials = self.ledger.trials
        if self._unfinished:
            trial = trials[self._unfinished.pop(0)]
            self._asked_at[trial.number] = time.perf_counter()
            return trial
        number, suggestion = len(trials), None
        began = time.perf_counter()
        try:
            suggestion = self.search.suggest()
            return self._note(suggestion, time.perf_counter() - began)
        except SearchExhaustedError:
            raise
        except BaseException:
            if number == len(trials):  # the search must not remember a point that became no trial
                self.search.forget(suggestion, trials, self.ledger.turns)
            else:
                self._unfinished.insert(0, number)
            raise

    @interrupts_held()
    def _note(self, suggestion: Suggestion, seconds: float) -> Trial:
        """Turn a suggestion into a trial in the ledger."""
        point = self._space.domain.snap_one(suggestion.point)
        number = len(self.ledger.trials)
        params = self._space.decode(point, self._known_params(point, suggestion.origin))
        if self._swept is not None and suggestion.origin != START:
            params = self._swept.asked_params(params)
        trial = Trial(
            number,
            params,
            tuple(point.tolist()),
            origin=suggestion.origin,
            note=suggestion.note,
            seed=self._seed_of(number),
            ask_seconds=seconds,
            fit_seconds=suggestion.fit_seconds,
            acquisition_seconds=suggestion.acquisition_seconds,
            asked_at=time.time(),
        )
        state = self.search.state()
        self.ledger.append(Asked(trial, state))
        self.search.keep(suggestion, state)
        self._asked_at[number] = time.perf_counter()
        _LOG.debug("trial %d is asked for (%s): %s", number, "; ".join(filter(None, [trial.origin, trial.note])), trial.params)
        return trial

    def _seed_of(self, number: int) -> int:
        return int(np.random.SeedSequence([int(self.ledger.about["seed"]), number]).generate_state(1)[0])

    def _known_params(self, point: NDArray[np.float64], origin: str) -> Mapping[str, Any]:
        """Return the parameters of a point; of a starting point those that the user gave, without rounding."""
        if origin == START:
            return self._start_params.get(tuple(point.tolist()), {})
        searched = np.array if self._swept is None else self._swept.searched_point
        known = (t.params for t in self.ledger.trials if is_given(t) and np.array_equal(searched(t.point), searched(point)))
        return next(known, {})

    @in_turn  # outermost: waiting for another thread may be interrupted
    @interrupts_held()
    def finish(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """Record the outcome of a running trial, and tell the search; see `Study.tell`."""
        self.guard.check("tell")
        self.search.catch_up()
        trials = self.ledger.trials
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, Integral) or not 0 <= number < len(trials):
            raise TrialStateError(f"trial={shown_value(number)} was never asked for; this study has {len(trials)} trials")
        running = trials[number]
        if running.state != "running":
            raise TrialStateError(f"trial={number} is not running; it was told before and is {running.state!r}")
        began = self._asked_at.get(number)
        seconds = outcome.seconds if outcome.seconds is not None or began is None else time.perf_counter() - began
        event = self._judged(running, replace(outcome, seconds=seconds), len(trials))
        self.ledger.append(event)
        if number in self._unfinished:
            self._unfinished.remove(number)
        return self._tell_search(event)

    def _judged(self, running: Trial, outcome: Outcome, further: int) -> Told:
        """Return the event by which a trial ends; `further` is the number of the first trial for another value in its sweep."""
        outcome = judge(outcome, running, self.ledger.told_trials, self._objectives, self._constraints, self._swept)
        if self._swept is None:
            return Told(running.number, time.time(), outcome)
        rows = self._swept.rows(running, outcome.sweep, further, float(self._objectives.signs[0]))
        return Told(running.number, time.time(), replace(outcome, sweep=()), rows)

    def _tell_search(self, event: Told) -> Trial:
        """Tell the search of a trial that was recorded; raise ArgumentError if its outcome shows an error of the program."""
        told, *further = (self.ledger.trials[number] for number in [event.number, *(row.number for row in event.rows[1:])])
        self.search.tell(told, further)
        result = told.reason or (told.values if told.value is None else told.value)
        _LOG.info("trial %d is %s after %.3g s: %s", told.number, told.state, told.seconds or 0.0, result)
        if event.outcome.fault in OF_THE_PROGRAM:
            raise ArgumentError(event.outcome.reason)
        return told

    @in_turn
    @interrupts_held()
    def add(self, params: Mapping[str, Any], outcome: Outcome) -> Trial:
        """Add a trial that was evaluated elsewhere: checked, recorded, and only then told to the search."""
        self.guard.check("add_trial")
        self.search.catch_up()
        point = self._space.encode(params)
        number = len(self.ledger.trials)
        given = self._space.decode(point, params)
        trial = Trial(number, given, tuple(point.tolist()), origin=GIVEN, seed=self._seed_of(number))
        event = self._judged(trial, self._extrapolated(trial, outcome), number + 1)
        if event.outcome.fault in OF_THE_PROGRAM:
            raise ArgumentError(event.outcome.reason)
        self.check_allowed(given)
        if self._swept is not None:
            for key, _ in outcome.sweep:
                self.check_allowed({**given, self._swept.name: self._swept.value(key)})
        with self.search.taken(point, self.ledger.trials, self.ledger.turns) as state:
            self.ledger.append(Asked(trial, state), event)
        return self._tell_search(event)

    def _extrapolated(self, trial: Trial, outcome: Outcome) -> Outcome:
        """Return the outcome of a trial that was stopped elsewhere, with the value predicted by the trials told so far."""
        if outcome.state != "stopped":
            return outcome
        finished, sign = with_trial(trial, self.ledger.told_trials)["finished"], float(self._objectives.signs[0])
        current = CurrentTrial(trial.number, trial.seed, {}, list(outcome.steps), trial.point, finished, self._space.domain, sign)
        return with_extrapolation(outcome, current)

    def check_allowed(self, params: Mapping[str, Any]) -> None:
        """Raise SpaceError if a configuration from elsewhere violates a condition."""
        if name := self._constraints.violated(params):
            raise SpaceError(f"params={dict(params)!r} violates {name}; leave the trial out, or change the constraint")

    @in_turn
    def hold(self, trial: Trial, outcome: Outcome) -> None:
        """Record the outcome of a trial before it can be told, so that a resumed study does not evaluate the trial again."""
        if trial.number not in self.ledger.outcomes:
            self.ledger.append(Reported(trial.number, outcome))

    def held(self, trial: Trial) -> Outcome | None:
        """Return the outcome of a running trial if it is recorded; see `hold`."""
        return self.ledger.outcomes.get(trial.number)

    @in_turn
    def lose(self, trial: Trial, reason: str) -> Trial:
        """Record the reason why the worker of a trial died; the trial is still running."""
        self.ledger.append(Lost(trial.number, one_line(reason)))
        return self.ledger.trials[trial.number]

    @in_turn
    def ask_batch(self, size: int) -> list[Trial]:
        """Ask for up to `size` trials to evaluate together; see `Study.ask_batch`."""
        trials, turns = self.ledger.trials, self.ledger.turns
        if self._unfinished and turns[-1][0] == "told":
            size = min(size, len(self._unfinished))  # the rest of an interrupted batch is a batch of its own
        batch: list[Trial] = []
        try:
            while len(batch) < size and not (batch and batch[-1].origin == START and not self._start_is_next()):
                batch.append(self.ask())
        except SearchExhaustedError as error:
            if not batch and not trials:
                raise  # nothing satisfies the constraints
            if not batch:
                _LOG.warning("the study ends with %d trials: %s", len(suggested(trials)), error)
        except BaseException:
            self.hand_back(batch)
            raise
        self.is_exhausted = not batch
        return batch

    def _start_is_next(self) -> bool:
        return self.ledger.trials[self._unfinished[0]].origin == START if self._unfinished else self.search.n_starts > 0

    @in_turn
    def hand_back(self, trials: Sequence[Trial]) -> None:
        """Requeue those of these trials that are still running: `ask` returns them before any other."""
        back = {t.number for t in trials if self.ledger.trials[t.number].state == "running"}
        self._unfinished = sorted(back.union(self._unfinished))

    @property
    def n_unfinished(self) -> int:
        """Number of queued trials, which `ask` returns first."""
        return len(self._unfinished)

    @property
    @in_turn
    def waits_for_starts(self) -> bool:
        """Whether the next point depends on the best start, and starts are still running."""
        if self._unfinished or self.search.n_starts or not self.search.follows_starts:
            return False
        return all(map(is_given, self.ledger.trials)) and any(t.state == "running" for t in self.ledger.trials)

    @property
    def n_initial(self) -> int:
        """Trials of the search's initial design, or of its first generation and the starts before it."""
        return self.search.initial_trials(sum(map(is_given, suggested(self.ledger.trials))))[0]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the record out: a copy of a study is in memory, and two studies must not write one file."""
        # as pairs, since skops writes no dictionary whose keys are tuples
        pairs = list(self._start_params.items())
        return self.__dict__ | {"ledger": self.ledger.in_memory(), "_asked_at": {}, "_start_params": pairs}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._start_params = dict(state["_start_params"])
        self.search.follow(lambda: (self.ledger.trials, self.ledger.turns))


class StudySearch:
    """A search and the starting points that come before its own, kept consistent with a record whose writes may fail.

    A suggestion is confirmed by `keep` once it is recorded, or withdrawn by `forget`. Points are those of the whole space; with a
    `sweep` the search sees them in `space`, without the swept parameter.
    """

    def __init__(
        self,
        given: str | SearchFactory | AskTell,
        space: Space,
        objectives: Objectives,
        ledger: Ledger,
        noise: Noise,
        starts: Sequence[NDArray[np.float64]],
        swept: SweptParameter | None = None,
        allows: Callable[[NDArray[np.float64]], bool] | None = None,
        constraints: Constraints | None = None,
        prior: OptimumPrior | None = None,
    ):
        self._given, self._space, self._domain, self._objectives, self._noise = given, space, space.domain, objectives, noise
        self._swept, self._allows, self._prior = swept, allows, prior
        self._bounds = constraints if constraints is not None and constraints.bounds else None
        self._seed = int(ledger.about["seed"])
        self._starts = list(starts)
        self._state: Mapping[str, Any] = ledger.search_state
        self._held: Suggestion | None = None
        self._search = self._replayed(ledger.trials, ledger.turns)

    def _replayed(self, trials: Sequence[Trial], turns: Sequence[Turn]) -> AskTell:
        """Create the search and replay these trials."""
        n_objectives = len(self._objectives)
        search = make_search(
            self._given, self._domain, self._seed, noise=self._noise, n_objectives=n_objectives, space=self._space
        )
        if self._allows is not None and isinstance(search, Search):
            search.allows = self._allows
        if self._prior is not None:
            if not isinstance(search, Search) or not capabilities_of(search).follows_prior:
                raise SolverError(f"search={describe_search(self._given)} uses no prior; use 'kriging', or leave prior out")
            search.take_prior(self._prior)
        told = {t.number: self._response(t, trials, search) for t in suggested(trials) if t.state in FINISHED}
        _replay(
            search,
            self._domain,
            [replace(t, point=tuple(self._seen(t.point))) for t in trials],
            turns,
            told,
            self._ask,
            lambda search, trial: self._tell_further(search, _sweep_of(trials, trial)),
        )
        if isinstance(search, Search):
            _restore(search, self._state)
        return search

    def follow(self, past: Callable[[], tuple[Sequence[Trial], Sequence[Turn]]]) -> None:
        """Take the trials and turns that a copy replays when it first needs the search."""
        self._past = past

    def __getstate__(self) -> dict[str, Any]:
        """Leave the search out, as a record does: it is created and replayed again. An object of the user's is kept."""
        left_out = ["_past"] if self.__dict__.get("_search") is self._given else ["_past", "_search"]
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __getattr__(self, name: str) -> Any:
        if name != "_search" or "_past" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.catch_up()
        return self._search

    def catch_up(self) -> None:
        """Create the search of a copy, if it has none yet, and replay the trials so far."""
        if "_search" not in self.__dict__:
            self._search = self._replayed(*self._past())

    def _seen(self, point: ArrayLike) -> NDArray[np.float64]:
        """Return a point as the search sees it."""
        return np.array(point, dtype=float) if self._swept is None else self._swept.searched_point(point)

    def _response(self, trial: Trial, trials: Sequence[Trial], search: AskTell | None = None) -> Any:
        """Return the response of a finished trial, as the search is told it."""
        sweep = _sweep_of(trials, trial)
        if self._bounds is not None:
            held = [t for t in sweep if self._bounds.held(t.extra)]
            if not held and not capabilities_of(search or self._search).models_bounds:
                return self._failure
            sweep = held or sweep
        if self._swept is None:
            return self._objectives.response(sweep[0])
        return self._swept.response(sweep, float(self._objectives.signs[0]))

    @property
    def _failure(self) -> Any:
        """The response that a search is told for a failure."""
        several = len(self._objectives) > 1
        return np.full(len(self._objectives), np.nan) if several else np.nan

    def suggest(self) -> Suggestion:
        """Return the next start, if there is one left, or else the suggestion of the search."""
        if self._held is not None:
            return self._held
        if not self._starts:
            found = self._ask(self._search)
            if self._swept is None:
                return found
            return replace(found, point=self._swept.whole_point(self._domain.snap_one(found.point)))
        if isinstance(self._search, Search):
            self._search.assume(self._seen(self._starts[0]), given=True)
        return Suggestion(self._starts[0], START)

    def _ask(self, search: AskTell) -> Suggestion:
        """Ask a search until it suggests an allowed point, and tell it that each forbidden point failed."""
        for _ in range(MOST_DRAWS):
            found = _as_suggestion(search.ask(), search, self._domain)
            if self._allows is None or self._allows(self._domain.snap_one(found.point)):
                return found
            search.tell(self._domain.snap_one(found.point), self._failure)
        raise SolverError(f"none of {MOST_DRAWS} suggestions of the search satisfies the constraints; widen them")

    def state(self) -> dict[str, Any]:
        """Return the state of the search that trials and events do not determine, as JSON types."""
        return self._search.state() if isinstance(self._search, Search) else {}

    def keep(self, suggestion: Suggestion, state: Mapping[str, Any]) -> None:
        """Confirm that a suggestion, and the state of the search after it, are recorded as a trial."""
        self._held, self._state = None, state
        if self._starts and suggestion.point is self._starts[0]:
            del self._starts[0]

    def forget(self, suggestion: Suggestion | None, trials: Sequence[Trial], turns: Sequence[Turn]) -> None:
        """Withdraw a suggestion that became no trial (None if there is none yet): recreate the search, or suggest it again."""
        if self._search is self._given:
            self._held = suggestion
        else:
            self._search = self._replayed(trials, turns)

    @contextmanager
    def taken(self, point: ArrayLike, trials: Sequence[Trial], turns: Sequence[Turn]) -> Iterator[Mapping[str, Any]]:
        """Pass the search a point of the user, which is recorded in this context; yield the state of the search after it."""
        if isinstance(self._search, Search):
            self._search.assume(self._seen(point), given=True)
        state = self.state()
        try:
            yield state
        except BaseException:
            if isinstance(self._search, Search) and self._search is not self._given:
                self._search = self._replayed(trials, turns)
            raise
        self._state = state

    def tell(self, trial: Trial, sweep: Sequence[Trial] = ()) -> None:
        """Tell the search of a finished trial, with the further values in its sweep."""
        self._search.tell(self._seen(trial.point), self._response(trial, [trial, *sweep]))
        self._tell_further(self._search, [trial, *sweep])

    def _tell_further(self, search: Any, sweep: Sequence[Trial]) -> None:
        """Tell a search that models them the margins of the last told outcome to each bound, and its time.

        For a sweep, the margins are those of the value that is nearest to satisfying all bounds.
        """
        capabilities = capabilities_of(search)
        if self._bounds is not None and capabilities.models_bounds:
            margins = [self._bounds.margins(t.extra) for t in sweep]
            search.take_margins(max(margins, key=lambda one: min(-np.inf if np.isnan(m) else m for m in one)))
        if capabilities.models_seconds and sweep[0].seconds is not None:
            search.take_seconds(sweep[0].seconds)

    @property
    def name(self) -> str:
        """The description of the search, equal for two studies with the same search."""
        return describe_search(self._given)

    @property
    def n_starts(self) -> int:
        """Number of starts that are still to be suggested."""
        return len(self._starts)

    @property
    def follows_starts(self) -> bool:
        """Whether the first point of the search depends on the values of all starts, as it continues from the best one."""
        return capabilities_of(self._search).follows_given

    def initial_trials(self, n_started: int) -> tuple[int, str]:
        """Return how many trials the search begins with, and what they are; `n_started` starts are trials already."""
        return _initial_trials(self._search, self.n_starts + n_started)

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming trials that do not depend on any value still to be told; at least 1."""
        return self.n_starts or (max(int(self._search.n_foreseen), 1) if isinstance(self._search, FarSighted) else 1)


def initial_trials(
    search: str | SearchFactory | AskTell, space: Space, n_starts: int = 0, *, noise: Noise = "auto"
) -> tuple[int, str]:
    """Return the number of trials a search of one objective begins with, from `n_starts` on, and their name."""
    return _initial_trials(make_search(search, space.domain, 0, noise=noise, space=space), n_starts)


def _initial_trials(search: AskTell, n_starts: int) -> tuple[int, str]:
    declared = capabilities_of(search)
    further = n_starts - int(min(n_starts, declared.max_given))
    return declared.n_initial + further, f"starts and {declared.initial_name}" if further else declared.initial_name


def _sweep_of(trials: Sequence[Trial], trial: Trial) -> list[Trial]:
    """Return a trial that was told, with the further values in its sweep; the trial first."""
    if trial.sweep is None:
        return [trial]
    return [trial, *(t for t in trials if t.sweep == trial.number and t.number != trial.number)]


def _restore(search: Search, state: Mapping[str, Any]) -> None:
    """Restore the state of a search; raise SolverError if it is not valid."""
    try:
        search.restore(dict(state))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, SpotSVMError):
            raise
        why = f"{type(error).__name__}: {printable_line(str(error), 100)}"
        raise SolverError(f"the search's state cannot be read ({why}); the record is damaged, or of another version") from error


def _as_suggestion(answer: Suggestion | ArrayLike, search: AskTell, domain: Domain) -> Suggestion:
    """Return the answer of a search as a suggestion; raise SolverError if it is not a point of the unit cube."""
    if not isinstance(answer, Suggestion):
        answer = Suggestion(np.asarray(answer, dtype=float), type(search).__name__)
    if np.shape(answer.point) != (domain.dimension,) or not np.isfinite(answer.point).all():
        raise SolverError(f"the search suggests {answer.point!r}; use a point of the unit cube of dimension {domain.dimension}")
    # as a record stores them, whatever types a search of the user returns
    return replace(
        answer,
        origin=one_line(str(answer.origin)),
        note=one_line(str(answer.note)),
        fit_seconds=checked_seconds(answer.fit_seconds),
        acquisition_seconds=checked_seconds(answer.acquisition_seconds),
    )


def _replay(
    search: AskTell,
    domain: Domain,
    trials: Sequence[Trial],
    turns: Sequence[Turn],
    responses: Mapping[int, Any],
    ask: Callable[[AskTell], Suggestion],
    told: Callable[[AskTell, Trial], None],
) -> None:
    """Replay the recorded asks and tells, in the same order, on a new search; `responses` are those told, by trial number.

    A search of the library takes the recorded points. Any other search, or a search that may have been told of forbidden points,
    is asked again by `ask`, with one warning if it answers differently.
    """
    others: list[int] = []
    for what, number in turns:
        trial = trials[number]
        point = np.array(trial.point)
        if what == "told":
            search.tell(point, responses[number])
            told(search, trial)
        elif isinstance(search, Search) and (
            is_given(trial) or search.allows is None or search.capabilities.respects_constraints
        ):
            search.assume(point, given=is_given(trial))
        elif not is_given(trial):  # a start was not asked of it
            again = ask(search)
            if not np.array_equal(domain.snap_one(again.point), point):
                others.append(number)
    if others:
        further = f" and of {len(others) - 1} more" if len(others) > 1 else ""
        warnings.warn(
            f"the search no longer suggests the recorded point of trial {others[0]}{further}; the recorded points are used",
            stacklevel=6,  # the arguments of Study are checked by a wrapper
        )
