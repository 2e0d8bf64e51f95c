"""The study: a search of a space, asked and told, with a record of every trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

from solvers.search import AskTell
from solvers.search.base import Noise
from solvers.search.registry import SearchFactory
from spotsvm.ask_tell_study import AskTellStudy
from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Objective
from spotsvm.findings import StudyFindings
from spotsvm.objectives import Directions, Objectives
from spotsvm.record import Record
from spotsvm.resume import describe_study, take_up
from spotsvm.space import Space
from spotsvm.start import start_points, starts_left
from spotsvm.stop_rule import StopRule
from spotsvm.study_search import StudySearch
from spotsvm.trial_loop import Callback, checked_timeout, run_trials


class Study(AskTellStudy, StudyFindings):
    """A search of a space for the best value of an objective, or of several, with a record of every trial.

    Parameters
    ----------
    space : dict or list of dict
        As RandomizedSearchCV takes it: parameter names to scipy.stats distributions with bounds, or to lists of values;
        a list of such dictionaries where parameters depend on others (see `Space`).
    search : str, callable or object, default="kriging"
        "kriging", "koch2011" (the paper's setting of it), "cmaes", "lbfgsb", "vns", "carrizosa2014" (the paper's setting of it),
        "random" or "lhs"; of several objectives "nsga2", "parego", "random" or "lhs"; or an object with `ask` and `tell`, or a
        callable `(domain, seed)` that makes one, such as `nested` gives.
    seed : int or None, default=None
        Seed of every random choice; None draws one, which the record keeps.
    direction : {"minimize", "maximize"}, or a sequence or mapping of them, default="minimize"
        Whether a smaller or a larger value is better. Two or more make a study of as many objectives; a mapping names them.
    path : path-like or None, default=None
        The record: an SQLite file, made or resumed. None keeps the study in memory.
    noise : "auto" or bool, default="auto"
        Whether the objective's value at one configuration can differ from evaluation to evaluation. "auto" finds out.
    trial_timeout : float or None, default=None
        Seconds after which a trial that `run` evaluates is ended.
    start : dict, sequence of dict, or None, default=None
        Configurations to evaluate first, in the order given, each once, and by `run` before any other. The search is told of
        them and goes on from the best; they take the place of as many points of an initial design, but not of CMA-ES's first
        generation nor of a nested search's trials. Where a record is resumed, those that it has are not asked for again; all at
        which it has started must still be among them, and further ones are asked for next.
    context : dict of str to str, optional
        What else must be the same for a record to be resumed, such as a checksum of the data.

    Attributes
    ----------
    trials : tuple of Trial
        All trials, by number.
    seed : int
        The seed in use.
    objectives : Objectives
        Names and directions of the objectives.
    about : dict
        What identifies the study, in JSON's types, and the versions it was made with; the record has it too.
    findings : dict of str to dict
        What was found out about the study; see `add_finding`.

    Raises
    ------
    SpaceError, StudyMismatchError, StorageError, SolverError
        All ValueErrors: a space that cannot be searched, or a start outside it; a record of another study; a file that cannot
        be used; an unknown search, or one of another number of objectives.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import loguniform
    >>> study = Study({"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}, seed=0)
    >>> _ = study.run(lambda p: (np.log2(p["C"]) - 3) ** 2 + (np.log2(p["gamma"]) + 5) ** 2, n_trials=20)
    >>> study.recommend().value < 0.5
    True

    Two objectives, of which the second is to be large:

    >>> study = Study({"x": [0, 1, 2, 3]}, "random", 0, direction={"cost": "minimize", "gain": "maximize"})
    >>> _ = study.run(lambda p: {"values": [p["x"], min(p["x"], 2)]}, n_trials=4)
    >>> [t.values for t in study.pareto()]
    [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        search: str | SearchFactory | AskTell = "kriging",
        seed: int | None = None,
        *,
        direction: Directions = "minimize",
        path: str | Path | None = None,
        noise: Noise = "auto",
        trial_timeout: float | None = None,
        start: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        context: Mapping[str, str] | None = None,
    ):
        self.objectives = Objectives.of(direction)
        if noise not in ("auto", True, False):
            raise ArgumentError(f"noise={noise!r} is unknown; use 'auto', True or False")
        self.space = space if isinstance(space, Space) else Space(space)
        starts = start_points(start, self.space)
        self.direction = direction
        self.noise: Noise = noise if noise == "auto" else bool(noise)
        self.trial_timeout = checked_timeout(trial_timeout)
        self._asked_at: dict[int, float] = {}
        about = describe_study(self.space, self.objectives, search, seed, self.noise, context or {})
        self._record = None if path is None else Record(path)
        try:
            past = take_up(self._record, about, self.space, len(self.objectives))
            self._trials, self._events, self._findings = past.trials, past.events, past.findings
            self._unfinished = [t.number for t in self._trials if t.state == "running"]
            self.seed = int(past.about["seed"])
            self.about = past.about
            left = starts_left(starts, self._trials, self.path)
            self._search = StudySearch(search, self.space.domain, self.objectives, past, self.noise, left)
            # only now: a search that cannot be made must not be what the record remembers
            if self._record is not None and past.is_new:
                self._record.describe(past.about)
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path | None:
        """The record's file, or None."""
        return None if self._record is None else self._record.path

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
        stop: Literal["uncertainty"] | StopRule | None = None,
    ) -> Study:
        """Evaluate the objective until the study has `n_trials` finished trials, those of earlier runs included.

        Parameters
        ----------
        objective : callable
            Takes the parameters as a dict; returns what `tell` takes: a float, or a mapping with "value" and further named
            numbers; of several objectives a sequence, or a mapping with "values". What it raises makes a failed trial with
            that reason.
        n_trials : int, default=100
            Finished trials that the study is to have in the end, failed ones included.
        executor : concurrent.futures.Executor or None, default=None
            Where to evaluate; None evaluates here.
        batch_size : int or None, default=None
            Trials that are suggested and evaluated together. They, and so the results, depend on it, and on nothing else
            about the executor. None is 1; with an executor, as many as the search has ready at a time, such as a
            generation of CMA-ES, or else the executor's number of workers where it tells.
        trial_timeout : float or None, default=None
            Seconds that a trial may take; None is the study's own. Without an executor the trials then run in worker
            processes, and one that takes longer is killed; with one it is given up.
        callback : callable or None, default=None
            Called with the study and each trial that was told.
        raise_errors : bool, default=False
            Whether to raise what the objective raises, after the trial has been recorded.
        stop : {"uncertainty"}, ImprovementBelowUncertainty or None, default=None
            When to end before `n_trials`: "uncertainty" once the largest expected improvement is far below the uncertainty of
            the score. What the rule did is told by `findings["stop"]`.

        Returns
        -------
        Study
            The study itself.

        Raises
        ------
        BudgetError
            If `n_trials` does not pay for the search's initial design, or its first generation.
        ArgumentError
            If the objective returns more or fewer values than there are objectives, at the first trial that does; if there is no
            such stop rule, or several objectives for it.
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
            stop=stop,
        )
        return self

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
        done = f"{self.n_finished} of {len(self._trials)} trials finished"
        return f"<Study of {', '.join(self.space.names)} by {self._search.name!r}: {done}>"
