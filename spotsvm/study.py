"""The study: a search, an objective's record, and what follows from it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from solvers.errors import SearchExhaustedError
from solvers.search import AskTell, Search, Suggestion, describe_search, make_search
from solvers.search.registry import SearchFactory
from spotsvm.errors import ArgumentError, NoCompletedTrialError, StorageError, TrialStateError
from spotsvm.evaluation import Objective, Outcome, one_line, outcome_of
from spotsvm.recommendation import Recommendation, recommend, summarise_failures
from spotsvm.record import Record
from spotsvm.resume import as_suggestion, describe_study, replay, take_up
from spotsvm.space import Space
from spotsvm.trial import FINISHED, Trial
from spotsvm.trial_loop import Callback, checked_timeout, run_trials
from spotsvm.trial_table import trial_table

_LOG = logging.getLogger(__name__)


class Study:
    """A search of a space for the best value of an objective, with a record of every trial.

    Parameters
    ----------
    space : dict or list of dict
        As RandomizedSearchCV takes it: parameter names to scipy.stats distributions with bounds, or to lists of values;
        a list of such dictionaries where parameters depend on others (see `Space`).
    search : str, callable or object, default="kriging"
        "kriging", "koch2011" (the paper's setting of it), "random" or "lhs"; or an object with `ask` and `tell`, or a
        callable `(domain, seed)` that makes one.
    seed : int or None, default=None
        Seed of every random choice; None draws one, which the record keeps.
    direction : {"minimize", "maximize"}, default="minimize"
        Whether a smaller or a larger value is better.
    path : path-like or None, default=None
        The record: an SQLite file, made or resumed. None keeps the study in memory.
    noise : "auto" or bool, default="auto"
        Whether the objective's value at one configuration can differ from evaluation to evaluation. "auto" finds out.
    trial_timeout : float or None, default=None
        Seconds after which a trial that `run` evaluates is ended.
    context : dict of str to str, optional
        What else must be the same for a record to be resumed, such as a checksum of the data.

    Attributes
    ----------
    trials : tuple of Trial
        All trials, by number.
    seed : int
        The seed in use.

    Raises
    ------
    SpaceError, StudyMismatchError, StorageError, SolverError
        All ValueErrors: a space that cannot be searched; a record of another study; a file that cannot be used; an
        unknown search.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> study = Study({"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}, seed=0)
    >>> _ = study.run(lambda p: (np.log2(p["C"]) - 3) ** 2 + (np.log2(p["gamma"]) + 5) ** 2, n_trials=20)
    >>> study.recommend().value < 0.5
    True
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        search: str | SearchFactory | AskTell = "kriging",
        seed: int | None = None,
        *,
        direction: Literal["minimize", "maximize"] = "minimize",
        path: str | Path | None = None,
        noise: Literal["auto"] | bool = "auto",
        trial_timeout: float | None = None,
        context: Mapping[str, str] | None = None,
    ):
        if direction not in ("minimize", "maximize"):
            raise ArgumentError(f"direction={direction!r} is unknown; use 'minimize' or 'maximize'")
        if noise not in ("auto", True, False):
            raise ArgumentError(f"noise={noise!r} is unknown; use 'auto', True or False")
        self.space = space if isinstance(space, Space) else Space(space)
        self.direction: Literal["minimize", "maximize"] = direction
        self.noise: Literal["auto"] | bool = noise if noise == "auto" else bool(noise)
        self.trial_timeout = checked_timeout(trial_timeout)
        self._given_search = search
        self._trials: list[Trial] = []
        self._events: list[tuple[int, str, int]] = []
        self._asked_at: dict[int, float] = {}
        self._unfinished: list[int] = []
        self._held: Suggestion | None = None
        self._record = None if path is None else Record(path)
        try:
            about = describe_study(self.space, direction, search, seed, self.noise, context or {})
            recorded = {} if self._record is None else self._record.about()
            if about["seed"] is None:
                about["seed"] = recorded.get("seed", int(np.random.default_rng().integers(2**32)))
            if self._record is not None and "space" in recorded:
                self._trials, self._events = take_up(self._record, recorded, about, self.space)
                self._unfinished = [t.number for t in self._trials if t.state == "running"]
            self.seed = int(about["seed"])
            self._search_state = recorded.get("search_state", {})
            self._search = self._living_search()
            # only now: a search that cannot be made must not be what the record remembers
            if self._record is not None and "space" not in recorded:
                self._record.describe(about)
        except BaseException:
            self.close()
            raise

    def _living_search(self) -> AskTell:
        """Make the search and let it live through the trials so far."""
        search = make_search(self._given_search, self.space.domain, self.seed, noise=self.noise)
        replay(search, self.space.domain, self._trials, self._events, self._sign)
        if isinstance(search, Search):
            search.restore(self._search_state)
        return search

    @property
    def _sign(self) -> float:
        """1 where smaller is better, -1 where larger is: the one place in which a direction is turned."""
        return 1.0 if self.direction == "minimize" else -1.0

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, by number."""
        return tuple(self._trials)

    @property
    def path(self) -> Path | None:
        """The record's file, or None."""
        return None if self._record is None else self._record.path

    @property
    def n_finished(self) -> int:
        """How many trials have ended, well or not."""
        return sum(t.state in FINISHED for t in self._trials)

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
        suggestion = self._held or as_suggestion(self._search.ask(), self._search, self.space.domain)
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
        state = self._search.state() if isinstance(self._search, Search) else {}
        if self._record is not None:
            try:
                self._record.write_asked(trial, len(self._events), state)
            except StorageError:
                self._unask(suggestion)
                raise
        self._held, self._search_state = None, state
        self._events.append((len(self._events), "asked", number))
        self._trials.append(trial)
        self._asked_at[number] = time.perf_counter()
        return trial

    def _unask(self, suggestion: Suggestion) -> None:
        """Let the search not remember a trial that the record does not; one that cannot be made anew gives it next time."""
        if self._search is self._given_search:
            self._held = suggestion
        else:
            self._search = self._living_search()

    def tell(self, trial: Trial | int, value: float | Mapping[str, float], *, seconds: float | None = None) -> Trial:
        """Say what a trial was worth.

        Parameters
        ----------
        trial : Trial or int
            A running trial, or its number.
        value : float or mapping
            The objective's value; or a mapping with it under "value" and further named numbers beside it. A value that is
            not finite makes a failed trial.
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
        began = self._asked_at.get(number)
        seconds = outcome.seconds if outcome.seconds is not None or began is None else time.perf_counter() - began
        told = replace(
            running, state=outcome.state, value=outcome.value, extra=dict(outcome.extra), reason=outcome.reason, seconds=seconds
        )
        event = (len(self._events), "told", number)
        if self._record is not None:
            self._record.write_told(told, event[0])
        self._trials[number] = told
        self._events.append(event)
        if number in self._unfinished:
            self._unfinished.remove(number)
        self._search.tell(np.array(told.point), np.nan if told.value is None else self._sign * told.value)
        return told

    def run(
        self,
        objective: Objective,
        n_trials: int = 100,
        executor: Executor | None = None,
        *,
        batch_size: int | None = None,
        trial_timeout: float | None = None,
        callback: Callback | None = None,
        raise_errors: bool = False,
    ) -> Study:
        """Evaluate the objective until the study has `n_trials` finished trials, those of earlier runs included.

        Parameters
        ----------
        objective : callable
            Takes the parameters as a dict; returns a float, or a mapping with "value" and further named numbers. What it
            raises makes a failed trial with that reason.
        n_trials : int, default=100
            Finished trials that the study is to have in the end, failed ones included.
        executor : concurrent.futures.Executor or None, default=None
            Where to evaluate; None evaluates here.
        batch_size : int or None, default=None
            Trials that are suggested and evaluated together. They, and so the results, depend on it, and on nothing else
            about the executor. None is 1, or the executor's number of workers where it tells.
        trial_timeout : float or None, default=None
            Seconds that a trial may take; None is the study's own. Without an executor the trials then run in worker
            processes, and one that takes longer is killed; with one it is given up.
        callback : callable or None, default=None
            Called with the study and each trial that was told.
        raise_errors : bool, default=False
            Whether to raise what the objective raises, after the trial has been recorded.

        Returns
        -------
        Study
            The study itself.

        Raises
        ------
        BudgetError
            If `n_trials` does not pay for the search's initial design.
        """
        run_trials(
            self,
            objective,
            n_trials,
            executor,
            batch_size=batch_size,
            trial_timeout=self.trial_timeout if trial_timeout is None else trial_timeout,
            callback=callback,
            raise_errors=raise_errors,
        )
        return self

    def ask_batch(self, size: int) -> list[Trial]:
        """Ask for up to `size` trials to evaluate together; fewer, or none, if the space has no more."""
        if self._unfinished and self._events[-1][1] == "told":
            size = min(size, len(self._unfinished))  # the rest of a batch that was cut off is a batch of its own
        batch: list[Trial] = []
        try:
            while len(batch) < size:
                batch.append(self.ask())
        except SearchExhaustedError as error:
            if not batch:
                _LOG.warning("the study ends with %d trials: %s", self.n_finished, error)
        except BaseException:
            self.hand_back(batch)
            raise
        return batch

    def hand_back(self, trials: Sequence[Trial]) -> None:
        """Let `ask` give those of these trials once more, before any other, that are still running: nobody evaluates them."""
        back = {t.number for t in trials if self._trials[t.number].state == "running"}
        self._unfinished = sorted(back.union(self._unfinished))

    @property
    def n_initial(self) -> int:
        """Trials of the search's initial design."""
        return int(getattr(self._search, "n_initial", 1))

    @property
    def best_trial(self) -> Trial:
        """The trial with the best value seen; under noise use `recommend`.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded; it lists the commonest reasons.
        """
        done = [(self._sign * t.value, t.number) for t in self._trials if t.value is not None]
        if not done:
            raise NoCompletedTrialError(f"no trial has succeeded yet: {summarise_failures(self._trials)}")
        return self._trials[min(done)[1]]

    def recommend(self) -> Recommendation:
        """Give the trial to use: under noise the best predicted among the evaluated, else the best observed.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        """
        return recommend(self._trials, self.space.domain, sign=self._sign, noise=self.noise, seed=self.seed)

    def frame(self) -> pd.DataFrame:
        """Give the trials as a frame, a row a trial; its columns are those of `trial_table`."""
        return trial_table(self._trials, self.space.names)

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as a CSV file.

        Raises
        ------
        StorageError
            If the file cannot be written.
        """
        try:
            self.frame().to_csv(path, index=False)
        except OSError as error:
            raise StorageError(f"{path}: cannot write the trials: {error.strerror or error}") from error

    def close(self) -> None:
        """Close the record; the study can still be read."""
        if self._record is not None:
            self._record.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the record behind: a copy of a study lives in memory, and two must not write one file."""
        return self.__dict__ | {"_record": None, "_asked_at": {}}

    def __repr__(self) -> str:
        search = describe_search(self._given_search)
        return f"<Study of {', '.join(self.space.names)} by {search!r}: {self.n_finished} of {len(self._trials)} trials finished>"
