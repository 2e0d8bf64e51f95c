"""The steps of a run: ask, hand over to a worker, take back, tell; and what to keep of it when it is broken off."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from spotsvm.ask_tell_study import AskTellStudy
from spotsvm.callbacks import Followers
from spotsvm.errors import StorageError, WorkersError
from spotsvm.evaluation import Outcome
from spotsvm.interrupts import Interrupts
from spotsvm.run_settings import RunSettings
from spotsvm.stopper import Stopper
from spotsvm.trial import Trial
from spotsvm.workers.here import Here
from spotsvm.workers.protocol import Workers
from surrogates.errors import SpotSVMError

_LOG = logging.getLogger(__name__)
#: seconds after which waiting looks whether Ctrl-C was pressed
_PATIENCE = 0.2


class TrialRun:
    """One run of a study on workers; the loops of `trial_loop` say in which order it takes its steps.

    Parameters
    ----------
    study : AskTellStudy
        What is run.
    workers : Workers
        What evaluates.
    settings : RunSettings
        How long it goes on.
    followers : Followers
        Who hears of what is asked and told.
    stopper : Stopper
        The rule that may end it early.
    interrupts : Interrupts
        Ctrl-C, held back but while waiting.

    Attributes
    ----------
    running : dict of int to Trial
        What was handed over and has not come back.
    """

    def __init__(
        self,
        study: AskTellStudy,
        workers: Workers,
        settings: RunSettings,
        followers: Followers,
        stopper: Stopper,
        interrupts: Interrupts,
    ):
        self.study, self.workers, self.settings = study, workers, settings
        self._followers, self._stopper, self._interrupts = followers, stopper, interrupts
        self.running: dict[int, Trial] = {}
        self._asked: dict[int, Trial] = {}
        self._came: dict[int, Outcome] = {}  # in the order in which they did
        self._exhausted = False
        self._follower_failed = False

    @property
    def left(self) -> int:
        """How many trials may still be asked for."""
        return self.settings.n_trials - self.study.n_finished - len(self._asked)

    @property
    def exhausted(self) -> bool:
        """Whether the search had no more to suggest."""
        return self._exhausted

    @property
    def may_ask(self) -> bool:
        """Whether there is budget, the search has more, and no rule ends it; what an earlier run left open comes in any case."""
        return self.left > 0 and not self._exhausted and (self.study.n_unfinished > 0 or not self._stopper.reached())

    @property
    def may_start(self) -> bool:
        """Whether to ask for a trial now: a worker has nothing to do, and the search needs no start's value first.

        One worker is counted on even while none is there.
        """
        return self.may_ask and len(self.running) < max(self.workers.n_workers, 1) and not self.study.waits_for_starts

    def start_next(self) -> None:
        """Ask for a trial and hand it over, unless the search has no more."""
        for trial in self.ask(1):
            self.start(trial)

    def ask(self, size: int) -> list[Trial]:
        """Ask for trials to evaluate together; none if the search has no more."""
        with self.study.guard.loop():
            batch = self.study.ask_batch(size)
        self._asked |= {trial.number: trial for trial in batch}
        self._exhausted = not batch
        return batch

    def start(self, trial: Trial) -> None:
        """Hand a trial over, or take what came of it in an earlier run."""
        self._tell_followers("on_ask", trial)
        if (outcome := self.study.held(trial)) is not None:
            self._came[trial.number] = outcome
        else:
            self._hand_over(trial)

    def _hand_over(self, trial: Trial) -> None:
        self.running[trial.number] = trial
        self.workers.submit(trial.number, dict(trial.params))

    def collect(self, *, wait: bool) -> None:
        """Take what has come back, and wait for it if nothing has; a trial whose worker died may go on its way again."""
        while self.running and not self._came:
            self._interrupts.check()
            for number, outcome in self._take(_PATIENCE if wait else 0.0):
                del self.running[number]
                self._came[number] = outcome
            if not wait:
                break
        # Ctrl-C goes to the processes of an executor as well, and they may die of it
        self._interrupts.check(_PATIENCE if any(outcome.lost for outcome in self._came.values()) else 0.0)
        for trial, outcome in self.ended:
            if not outcome.lost:
                continue
            if self._may_try_again(trial, outcome):
                del self._came[trial.number]
                self._hand_over(trial)
            else:
                self._came[trial.number] = replace(outcome, lost=False)

    @property
    def ended(self) -> list[tuple[Trial, Outcome]]:
        """What has come back and is neither told nor held, in the order in which it did."""
        return [(self._asked[number], outcome) for number, outcome in self._came.items()]

    def came(self, trial: Trial) -> Outcome | None:
        """Give what came of a trial that is to be told, if it is known."""
        return self._came.get(trial.number) or self.study.held(trial)

    def _take(self, timeout: float) -> list[tuple[int, Outcome]]:
        if isinstance(self.workers, Here):
            with self._interrupts.allowed():
                return self.workers.wait()
        try:
            return self.workers.wait(timeout)
        except WorkersError:
            self._interrupts.check(_PATIENCE)
            raise

    def _may_try_again(self, trial: Trial, outcome: Outcome) -> bool:
        """Keep that a worker died, and say whether the trial may be evaluated again."""
        lost = len(self.study.lose(trial, outcome.reason).lost)
        _LOG.warning("trial %d has lost its worker, attempt %d: %s", trial.number, lost, outcome.reason)
        return lost <= self.settings.retries

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """Tell the study; and raise what the objective raised, if that is wanted."""
        told = self._finish(trial, outcome)
        self._tell_followers("on_tell", told)
        if self.settings.raise_errors and outcome.error is not None:
            raise outcome.error

    def hold_ended(self) -> None:
        """Keep what has come back before its turn to be told."""
        for trial, outcome in self.ended:
            self._hold(trial, outcome)

    def _hold(self, trial: Trial, outcome: Outcome) -> None:
        del self._came[trial.number]
        with _in_the_error(trial, outcome):
            self.study.hold(trial, outcome)

    def _finish(self, trial: Trial, outcome: Outcome) -> Trial:
        self._came.pop(trial.number, None)
        with self.study.guard.loop(), _in_the_error(trial, outcome):
            told = self.study.finish(trial, outcome)
        del self._asked[trial.number]
        return told

    def _tell_followers(self, what: str, trial: Trial) -> None:
        self._follower_failed = True
        getattr(self._followers, what)(self.study, trial)
        self._follower_failed = False

    @contextmanager
    def nothing_lost(self) -> Iterator[None]:
        """Whatever breaks the run off: keep what has come back, and hand the rest back to the study."""
        try:
            yield
        except BaseException as error:
            self._interrupts.pressed |= isinstance(error, KeyboardInterrupt)
            if isinstance(error, SystemExit | GeneratorExit):  # as a program's own handler of a signal raises it
                _LOG.warning("the run ends, because %r was raised in it; its trials come first when it goes on", error)
            try:
                self._keep_what_came(error)
            finally:
                self.study.hand_back(list(self._asked.values()))
            raise

    def _keep_what_came(self, error: BaseException) -> None:
        self._came |= self.workers.abandon()
        for trial, outcome in self.ended:
            if outcome.lost:  # its worker may have died of the same Ctrl-C
                continue
            try:
                if self.settings.batch_size is not None:
                    self._hold(trial, outcome)
                    continue
                told = self._finish(trial, outcome)
                if not self._follower_failed:
                    self._tell_followers("on_tell", told)
            except SpotSVMError as failure:
                for note in [str(failure), *getattr(failure, "__notes__", [])]:
                    error.add_note(note)


@contextmanager
def _in_the_error(trial: Trial, outcome: Outcome) -> Iterator[None]:
    """Where the record cannot be written, put into the error what may have taken hours to find out."""
    try:
        yield
    except StorageError as error:
        given: Any = outcome.value if outcome.value is not None else outcome.values or outcome.reason
        error.add_note(f"trial {trial.number} gave {given}; it can be told")
        raise
