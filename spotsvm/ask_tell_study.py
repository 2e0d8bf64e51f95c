"""The trials of a study: asked for, told, handed back, each step in the record before it counts."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from solvers.errors import SearchExhaustedError
from spotsvm.errors import ArgumentError, StorageError, TrialStateError
from spotsvm.evaluation import Outcome, Values, one_line, outcome_of
from spotsvm.record import Record
from spotsvm.start import START
from spotsvm.study_results import StudyResults
from spotsvm.study_search import StudySearch
from spotsvm.trial import Trial

_LOG = logging.getLogger(__name__)


class AskTellStudy(StudyResults):
    """Asking and telling, for a class that makes the search and the record, or takes them up; see `Study`."""

    _record: Record | None
    _search: StudySearch
    _events: list[tuple[int, str, int]]
    _unfinished: list[int]
    _asked_at: dict[int, float]

    def plan(self, n_trials: int, batch_size: int = 1) -> None:
        """Say how many finished trials the study is to have in the end, and how many are evaluated together.

        It is for those who read the record meanwhile, and for the code that repeats the study; a batch size that has changed
        between two runs is None.
        """
        before = self.about.get("batch_size", batch_size) if self._trials else batch_size
        plan = {"budget": int(n_trials), "batch_size": int(batch_size) if before == batch_size else None}
        if any(key not in self.about or self.about[key] != value for key, value in plan.items()):
            self.about = {**self.about, **plan}
            if self._record is not None:
                self._record.describe(plan)

    def ask(self) -> Trial:
        """Give the next trial to evaluate; it is running until it is told.

        After a resume, the trials that were running when the record ended come first.

        Raises
        ------
        SearchExhaustedError
            If the space is finite and every configuration has been asked for.
        StorageError
            If the record cannot be written.
        """
        if self._unfinished:
            trial = self._trials[self._unfinished.pop(0)]
            self._asked_at[trial.number] = time.perf_counter()
            return trial
        began = time.perf_counter()
        suggestion = self._search.suggest()
        point = self.space.domain.snap_one(suggestion.point)
        number = len(self._trials)
        trial = Trial(
            number,
            self.space.decode(point),
            tuple(point.tolist()),
            origin=suggestion.origin,
            note=suggestion.note,
            seed=int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0]),
            ask_seconds=time.perf_counter() - began,
        )
        state = self._search.state()
        if self._record is not None:
            try:
                self._record.write_asked(trial, len(self._events), state)
            except StorageError:
                self._search.forget(suggestion, self._trials, self._events)
                raise
        self._search.keep(suggestion, state)
        self._events.append((len(self._events), "asked", number))
        self._trials.append(trial)
        self._asked_at[number] = time.perf_counter()
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
            If there is no such running trial.
        StorageError
            If the record cannot be written; the trial is then still running.
        ArgumentError
            If there are more or fewer values than objectives; the trial has failed, and its reason says the same.
        """
        return self.finish(trial, outcome_of(value, seconds))

    def fail(
        self, trial: Trial | int, reason: str, *, extra: Mapping[str, float] | None = None, seconds: float | None = None
    ) -> Trial:
        """Say that a trial gave no value, and why, in one line; `extra` takes named numbers all the same. See `tell`."""
        numbers = {name: float(number) for name, number in (extra or {}).items()}
        return self.finish(trial, Outcome("failed", None, numbers, one_line(str(reason)), seconds))

    def finish(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """Take an outcome as it is; what `tell` and `fail` come down to."""
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, Integral) or not 0 <= number < len(self._trials):
            raise TrialStateError(f"trial={number!r} was never asked for; this study has {len(self._trials)} trials")
        running = self._trials[number]
        if running.state != "running":
            raise TrialStateError(f"trial={number} is not running; it was told before and is {running.state!r}")
        outcome, wrong = self.objectives.judged(outcome)
        began = self._asked_at.get(number)
        seconds = outcome.seconds if outcome.seconds is not None or began is None else time.perf_counter() - began
        told = replace(
            running, state=outcome.state, value=outcome.value, values=outcome.values, extra=dict(outcome.extra),
            reason=outcome.reason, seconds=seconds,
        )  # fmt: skip
        event = (len(self._events), "told", number)
        if self._record is not None:
            self._record.write_told(told, event[0])
        self._trials[number] = told
        self._events.append(event)
        if number in self._unfinished:
            self._unfinished.remove(number)
        self._search.tell(told)
        if wrong:
            raise ArgumentError(wrong)
        return told

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
                _LOG.warning("the study ends with %d trials: %s", self.n_finished, error)
        except BaseException:
            self.hand_back(batch)
            raise
        return batch

    def _start_is_next(self) -> bool:
        return self._trials[self._unfinished[0]].origin == START if self._unfinished else self._search.n_starts > 0

    def hand_back(self, trials: Sequence[Trial]) -> None:
        """Let `ask` give those of these trials once more, before any other, that are still running: nobody evaluates them."""
        back = {t.number for t in trials if self._trials[t.number].state == "running"}
        self._unfinished = sorted(back.union(self._unfinished))

    @property
    def n_initial(self) -> int:
        """Trials of the search's initial design, or of its first generation and the starts before it."""
        n_starts = 0 if self._search.counts_starts else self._search.n_starts + sum(t.origin == START for t in self._trials)
        return self._search.n_initial + n_starts

    @property
    def initial_name(self) -> str:
        """What the first `n_initial` trials are: the initial design, the first generation."""
        name = self._search.initial_name
        return name if self.n_initial == self._search.n_initial else f"starts and {name}"

    @property
    def n_ready(self) -> int:
        """How many trials can be asked for now without any of them depending on a value that is not told yet; at least 1."""
        return self._search.n_ready

    @property
    def plans_ahead(self) -> bool:
        """Whether those trials were planned together, as a generation is: then an executor gets them and no more."""
        return self._search.plans_ahead
