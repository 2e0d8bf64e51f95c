"""Ask, evaluate, tell, until a budget is spent: a trial for each worker that is free, or batch after batch."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from spotsvm.common.text import counted, shown_value
from spotsvm.errors import ArgumentError, BudgetError, SpotSVMError, StorageError, WorkersError
from spotsvm.study.bookkeeper import Bookkeeper
from spotsvm.study.callbacks import Callbacks, StopRun
from spotsvm.study.objective import with_trial
from spotsvm.study.stop import AppliedRule, FirstFailures, StopRule, TimeLimit, first_trials_failed
from spotsvm.study.workers.protocol import Interrupts, TogetherWorkers, Workers
from spotsvm.surrogates.domain import Domain
from spotsvm.trials.edges import edges_of
from spotsvm.trials.findings import CALLBACK, STOP, TIMEOUT, Stop, content_of
from spotsvm.trials.outcome import Outcome, one_line
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial


def run_trials(
    study: StudyResults,
    books: Bookkeeper,
    workers: Workers,
    settings: RunSettings,
    followers: Followers,
    rule: AppliedRule | None = None,
    limit: TimeLimit | None = None,
) -> None:
    """Evaluate until the study has `settings.n_trials` finished trials, or a stop rule, the time limit or the search ends it.

    Nothing else may ask or tell the study meanwhile; the workers are closed at the end.
    """
    books.plan(settings.n_trials, settings.batch_size or 1)
    with followers.during(study), workers, Interrupts() as interrupts:
        run = TrialRun(study, books, workers, settings, followers, rule, interrupts, limit)
        with run.saving_what_is_completed():
            if settings.batch_size is not None:
                in_batches(run, settings.batch_size)
            elif run.n_together > 1:
                in_batches(run, run.n_together, foreseen=True)
            else:
                as_workers_are_free(run)
    if rule is not None:
        books.add_finding(STOP, content_of(rule.finding(study)))
    if limit is not None and (timed_out := limit.finding(study)) is not None:
        books.add_finding(TIMEOUT, content_of(timed_out))
    if (stop := followers.ended_by) is not None:
        n, why = study.n_finished, f": {one_line(str(stop)).rstrip('.')}" if str(stop) else ""
        sentence = f"A callback ended the run after {counted(n, 'trial')}{why}."
        books.add_finding(STOP, content_of(Stop(True, n, CALLBACK, sentence)))
    run.end()
    if _LOG.isEnabledFor(logging.INFO) and not study.objectives.several and any(map(may_be_best, study.trials)):
        for edge in edges_of(study.best_trial.params, study.space):
            _LOG.info("the best trial seen is at the end of a range: %s", edge)


def as_workers_are_free(run: TrialRun) -> None:
    """Submit a trial to each free worker at once, and tell each outcome when it arrives: no worker waits for the slowest.

    Only a search that continues from the best start waits for the last start. With several workers the recorded order of asks and
    tells, not the seed alone, determines the run.
    """
    while run.may_ask or run.pending:
        if run.may_submit:
            for trial in run.ask(1):
                run.submit(trial)
        if len(run.pending) > 1:
            run.books.plan(run.settings.n_trials, None)
        run.collect(wait=not run.may_submit)
        for trial, outcome in run.completed:
            run.tell(trial, outcome)


def in_batches(run: TrialRun, size: int, *, foreseen: bool = False) -> None:
    """Evaluate `size` trials together, and tell them in the order asked, so that they do not depend on the workers.

    A trial that is completed before its turn is recorded at once, and told in its turn. With `foreseen`, trials that depend on a
    value still to be told are left for later batches, so that the trials are the same as one by one.
    """
    while run.may_ask:
        batch = run.ask(min(size, run.left, run.books.search.n_foreseen) if foreseen else min(size, run.left))
        for trial in batch:
            run.submit(trial)
        turns = deque(batch)
        while turns:
            if (outcome := run.outcome_of(turns[0])) is not None:
                run.tell(turns.popleft(), outcome)
            else:
                run.record_completed()
                run.collect(wait=True)


@dataclass(frozen=True)
class RunSettings:
    """Budget of a run, and how it handles the outcomes; see `Study.run`. Raises ArgumentError if a number is not valid."""

    n_trials: int
    batch_size: int | None = None
    retries: int = 0
    raise_errors: bool = False
    max_failures: int | None = None
    with_trial: bool = False

    def __post_init__(self) -> None:
        if not _is_whole(self.n_trials):
            raise ArgumentError(f"n_trials={shown_value(self.n_trials)} is not a number of trials; use a whole number")
        if self.n_trials < 1:
            raise BudgetError(f"n_trials={shown_value(self.n_trials)} is not a number of trials; use 1 or more")
        if self.batch_size is not None and (not _is_whole(self.batch_size) or self.batch_size < 1):
            raise ArgumentError(f"batch_size={shown_value(self.batch_size)} is not a number of trials; use 1 or more, or None")
        if not _is_whole(self.retries) or self.retries < 0:
            raise ArgumentError(f"retries={shown_value(self.retries)} is not a number of further attempts; use 0 or more")
        most = self.max_failures
        if most is not None and (not _is_whole(most) or most < 1):
            raise ArgumentError(f"max_failures={shown_value(most)} is not a number of trials; use 1 or more, or None")


def check_budget(n_trials: int, name: str, initial: tuple[int, str], domain: Domain) -> None:
    """Raise BudgetError if a search that is compared would not get beyond its initial trials; see `initial_trials`."""
    n_initial, what = initial
    if n_trials < min(n_initial, domain.size):
        raise BudgetError(f"{name}={n_trials} is below the {what} of {n_initial} trials; use at least that, or search='random'")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_LOG = logging.getLogger(__name__)

#: seconds between two checks for Ctrl-C while waiting
_PATIENCE = 0.2


class TrialRun:
    """The steps of one run of a study on workers; the two loops above call them in their orders.

    `interrupts` delays Ctrl-C, except where an objective is evaluated in this thread. `pending` has the trials that were
    submitted and are not completed, by number.
    """

    def __init__(
        self,
        study: StudyResults,
        books: Bookkeeper,
        workers: Workers,
        settings: RunSettings,
        followers: Followers,
        rule: AppliedRule | None,
        interrupts: Interrupts,
        limit: TimeLimit | None = None,
    ):
        self.study, self.books, self.workers, self.settings = study, books, workers, settings
        self._followers, self._interrupts = followers, interrupts
        self.pending: dict[int, Trial] = {}
        self._asked: dict[int, Trial] = {}
        self._completed: dict[int, Outcome] = {}  # in the order in which they arrived
        self._exhausted = False
        self._follower_failed = False
        self._failures = FirstFailures(study, settings.max_failures)
        #: trials that the workers evaluate together if they are foreseen; a stop rule may end the run between them
        self.n_together = workers.n_together if rule is None and isinstance(workers, TogetherWorkers) else 1
        #: stop rules that always end the run; `rule` ends it only after the leftovers of an earlier run
        self._ends: list[StopRule] = [self._budget_is_used, self._search_is_exhausted, *([] if limit is None else [limit])]
        self._rule: StopRule | None = rule

    @property
    def left(self) -> int:
        """Number of trials that may still be asked for."""
        return self.settings.n_trials - self.study.n_finished - len(self._asked)

    def _budget_is_used(self, study: StudyResults) -> str | None:
        return "all trials of the budget are asked for" if self.left <= 0 else None

    def _search_is_exhausted(self, study: StudyResults) -> str | None:
        return "every configuration is evaluated" if self._exhausted else None

    @property
    def may_ask(self) -> bool:
        """Whether a trial may be asked for: leftovers of an earlier run first, then new trials unless the rule forbids it."""
        if any(end(self.study) is not None for end in self._ends):
            return False
        return self.books.n_unfinished > 0 or self._rule is None or self._rule(self.study) is None

    @property
    def may_submit(self) -> bool:
        """Whether to ask for a trial now: a worker is free, and the search needs no start's value first.

        At least one worker is assumed, even while there is none.
        """
        return self.may_ask and len(self.pending) < max(self.workers.n_workers, 1) and not self.books.waits_for_starts

    def ask(self, size: int) -> list[Trial]:
        """Ask for trials to evaluate together; none if the search has no more."""
        with self.books.guard.loop():
            batch = self.books.ask_batch(size)
        self._asked |= {trial.number: trial for trial in batch}
        self._exhausted = not batch
        return batch

    def submit(self, trial: Trial) -> None:
        """Submit a trial, or take its outcome from an earlier run."""
        self._tell_followers("on_ask", trial)
        if (outcome := self.books.held(trial)) is not None:
            self._completed[trial.number] = outcome
        else:
            self._submit(trial)

    def _submit(self, trial: Trial) -> None:
        self.pending[trial.number] = trial
        self.workers.submit(trial.number, self._sent(trial))

    def _sent(self, trial: Trial) -> dict[str, Any]:
        if not self.settings.with_trial:
            return dict(trial.params)
        return with_trial(trial, self.books.ledger.told_before_asked(trial.number))

    def collect(self, *, wait: bool) -> None:
        """Collect the completed trials, and wait for one if asked to; a trial whose worker died may be submitted again."""
        while self.pending and not self._completed:
            self._interrupts.check()
            try:
                completed = self.workers.wait(_PATIENCE if wait else 0.0)
            except WorkersError:
                self._interrupts.check(_PATIENCE)
                raise
            for number, outcome in completed:
                del self.pending[number]
                self._completed[number] = outcome
            if not wait:
                break
        # Ctrl-C goes to the processes of an executor as well, and they may die of it
        self._interrupts.check(_PATIENCE if any(outcome.lost for outcome in self._completed.values()) else 0.0)
        for trial, outcome in self.completed:
            if not outcome.lost:
                continue
            if self._may_retry(trial, outcome):
                del self._completed[trial.number]
                self._submit(trial)
            else:
                self._completed[trial.number] = replace(outcome, lost=False)

    @property
    def completed(self) -> list[tuple[Trial, Outcome]]:
        """Trials that are completed and neither told nor recorded, with their outcomes, in the order in which they arrived."""
        return [(self._asked[number], outcome) for number, outcome in self._completed.items()]

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """Return the outcome of a trial that is to be told, or None if it is not completed."""
        return self._completed.get(trial.number) or self.books.held(trial)

    def _may_retry(self, trial: Trial, outcome: Outcome) -> bool:
        """Record that a worker died, and return whether the trial may be evaluated again."""
        lost = len(self.books.lose(trial, outcome.reason).lost)
        _LOG.warning("trial %d has lost its worker, attempt %d: %s", trial.number, lost, outcome.reason)
        return lost <= self.settings.retries

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """Tell the study; raise the error of the objective if `raise_errors` is set, or if the first trials fail alike."""
        told = self._finish(trial, outcome)
        self._tell_followers("on_tell", told)
        if self.settings.raise_errors and outcome.error is not None:
            raise outcome.error
        if (said := self._failures(self.study)) is not None:
            raise first_trials_failed(said, told) from outcome.error

    def end(self) -> None:
        """Raise FirstTrialsFailedError if all trials of the run have failed, fewer than its limit or for several reasons."""
        if (said := self._failures.at_end(self.study)) is not None:
            raise first_trials_failed(said, self.study.finished_trials[-1])

    def record_completed(self) -> None:
        """Record the outcomes that arrived before their turn to be told."""
        for trial, outcome in self.completed:
            self._record(trial, outcome)

    def _record(self, trial: Trial, outcome: Outcome) -> None:
        del self._completed[trial.number]
        with _in_the_error(trial, outcome):
            self.books.hold(trial, outcome)

    def _finish(self, trial: Trial, outcome: Outcome) -> Trial:
        self._completed.pop(trial.number, None)
        with self.books.guard.loop(), _in_the_error(trial, outcome):
            told = self.books.finish(trial, outcome)
        del self._asked[trial.number]
        return told

    def _tell_followers(self, what: str, trial: Trial) -> None:
        self._follower_failed = True
        getattr(self._followers, what)(self.study, trial)
        self._follower_failed = False

    @contextmanager
    def saving_what_is_completed(self) -> Iterator[None]:
        """If an error or interrupt ends the block, record the completed trials and requeue the others in the study."""
        try:
            yield
        except BaseException as error:
            self._interrupts.pressed |= isinstance(error, KeyboardInterrupt)
            if isinstance(error, SystemExit | GeneratorExit):  # raised by a program's own signal handler, for example
                _LOG.warning("the run ends, because %r was raised in it; its trials come first when it is resumed", error)
            try:
                self._save_completed(error)
            finally:
                self.books.hand_back(list(self._asked.values()))
            raise

    def _save_completed(self, error: BaseException) -> None:
        self._completed |= self.workers.abandon()
        for trial, outcome in self.completed:
            if outcome.lost:  # its worker may have died of the same Ctrl-C
                continue
            try:
                if self.settings.batch_size is not None or self.n_together > 1:
                    self._record(trial, outcome)
                    continue
                told = self._finish(trial, outcome)
                if not self._follower_failed:
                    self._tell_followers("on_tell", told)
            except SpotSVMError as failure:
                for note in [str(failure), *getattr(failure, "__notes__", [])]:
                    error.add_note(note)


@contextmanager
def _in_the_error(trial: Trial, outcome: Outcome) -> Iterator[None]:
    """Add the outcome, which may have taken hours, to the error that the record cannot be written."""
    try:
        yield
    except StorageError as error:
        given: Any = outcome.value if outcome.value is not None else outcome.values or outcome.reason
        error.add_note(f"trial {trial.number} returned {given}, which is not recorded; pass it to tell()")
        raise


_METHODS = ("on_start", "on_ask", "on_tell", "on_end")


class Followers:
    """The callbacks of a run, called in the order given."""

    def __init__(self, callback: Callbacks | None):
        several = callback if isinstance(callback, Sequence) else [] if callback is None else [callback]
        self._followers = [_checked(one) for one in several]
        self.ended_by: StopRun | None = None

    @contextmanager
    def during(self, study: Any) -> Iterator[None]:
        """Report the start of a run and, however the block is left, its end; `StopRun` leaves it without an error."""
        self.ended_by = None
        with ExitStack() as ends:
            for follower in self._followers:
                ends.callback(_call, follower, "on_end", study)
                try:
                    _call(follower, "on_start", study)
                except StopRun as stop:
                    self.ended_by = stop  # a block cannot be skipped: the first trial ends it
            _LOG.info("a run starts, to have %s trials: %s", study.about.get("budget"), repr(study))
            try:
                yield
            except StopRun as stop:
                self.ended_by = stop
                _LOG.info("a callback ends the run: %s", stop)
            finally:
                _LOG.info("the run ends: %s", repr(study))

    def on_ask(self, study: Any, trial: Trial) -> None:
        """Report a trial that is about to be evaluated."""
        if self.ended_by is not None:
            raise self.ended_by
        for follower in self._followers:
            _call(follower, "on_ask", study, trial)

    def on_tell(self, study: Any, trial: Trial) -> None:
        """Report a finished trial."""
        for follower in self._followers:
            if _has_methods(follower):
                _call(follower, "on_tell", study, trial)
            else:
                follower(study, trial)


def _checked(callback: Any) -> Any:
    if isinstance(callback, type):
        raise ArgumentError(f"callback={callback.__name__} is a class; use an object of it, {callback.__name__}(...)")
    if not (_has_methods(callback) or callable(callback)):
        raise ArgumentError(
            f"callback={callback!r} cannot be called; use a callable that takes the study and the trial, or an object with "
            f"one of the methods {', '.join(_METHODS)}"
        )
    return callback


def _has_methods(callback: Any) -> bool:
    return any(callable(getattr(callback, name, None)) for name in _METHODS)


def _call(follower: Any, method: str, *arguments: Any) -> None:
    if callable(heard := getattr(follower, method, None)):
        heard(*arguments)
