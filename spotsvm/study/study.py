"""`Study`: search a space for the best value of an objective, with a record of every trial."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from math import inf
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.interruption import says_when_interrupted
from spotsvm.common.json_values import plain_json
from spotsvm.common.text import names_arguments, shown_value
from spotsvm.errors import ArgumentError, StudyMismatchError
from spotsvm.solvers.search import AskTell
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.space import Space
from spotsvm.study.bookkeeper import Bookkeeper, StudySearch
from spotsvm.study.callbacks import Callbacks, Progress
from spotsvm.study.early_stopping import EarlyStopping, checked_early_stopping
from spotsvm.study.given import StartingPoints, StartLike, given_trial, missing_trials, trials_of_table
from spotsvm.study.loop import Followers, RunSettings, run_trials
from spotsvm.study.objective import WrappedObjective, wrapped
from spotsvm.study.readable import ReadableStudy
from spotsvm.study.record.record import Record
from spotsvm.study.recorded import in_recorded_order
from spotsvm.study.resume import describe_study, initial_state
from spotsvm.study.stop import AppliedRule, StopRule, TimeLimit, checked_timeout
from spotsvm.study.workers.open import open_workers
from spotsvm.study.workers.protocol import Workers, is_workers
from spotsvm.trials.constraints import Constraints, ConstraintsLike, allowed_keys
from spotsvm.trials.evaluation import CurrentTrial, Objective, check_takes_params
from spotsvm.trials.judging import Values, checked_extra, outcome_of, sweep_outcome
from spotsvm.trials.ledger import finished_words
from spotsvm.trials.objectives import Directions, Objectives
from spotsvm.trials.outcome import Outcome, checked_seconds, one_line
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import Trial

_LOG = logging.getLogger(__name__)


class Study(ReadableStudy):
    """A search of a space for the best value of an objective, or of several, with a record of every trial.

    Threads of one process may ask and tell: they take turns, and the trials' numbers follow the order of the calls.

    Parameters
    ----------
    space : dict, list of dict or Space
        As RandomizedSearchCV takes it: parameter names to scipy.stats distributions, ranges or lists of values;
        a list of such dictionaries where parameters depend on others (see `Space`).
    search : str, callable, object or None, default=None
        "kriging", "kriging_per_second" (improvement per predicted second, so that the trials depend on the clock), "koch2011"
        (Kriging with the settings of the paper), "cmaes", "lbfgsb", "vns", "carrizosa2014" (VNS with the settings of the paper),
        "keerthi_lin" (two lines of C and gamma), "random" or "lhs"; for several objectives "nsga2", "parego", "random" or "lhs";
        or an object with `ask` and `tell`, or a callable `(domain, seed)` that makes one, such as `nested` returns. None is
        "kriging", or "parego" for several objectives.
    seed : int or None, default=None
        Seed of every random choice; None draws one, which the record keeps.
    direction : {"minimize", "maximize"}, or a sequence or mapping of them, default="minimize"
        Whether a smaller or a larger value is better. Two or more make a study of several objectives; a mapping names them.
    path : path-like or None, default=None
        The record: an SQLite file, created or resumed. None keeps the study in memory. A record is resumed with the same space,
        or with a wider one, whose ranges and lists contain the recorded ones: trials keep their parameters, and the search
        continues in the wider space. Values in lists, such as arrays and estimators, are compared by their content.
    noise : "auto" or bool, default="auto"
        Whether the objective's value at one configuration can differ from evaluation to evaluation. "auto"
        re-evaluates the best initial point to detect noise.
    trial_timeout : float or None, default=None
        Seconds after which a trial that `run` evaluates is ended.
    start : dict, sequence of dict, Study, path-like, sequence of the last two, or None, default=None
        Configurations to evaluate first, in the order given, each once. Another study, or its record, on the same or other data,
        stands for its best five configurations that lie in the space. A list of studies or records stands for the best
        configuration of each, at most five; unless `prior` is given, a prior is learned from the best five of each and stored in
        the record. The search is told the results and continues from the best start. Starts count towards the size of an initial
        design. In CMA-ES the best start replaces one point of the first generation; in a nested search starts replace no trial.
        Configurations that a resumed record has are not evaluated again. All of its earlier starting points must still be given;
        new ones are evaluated next.
    context : dict of str to str, optional
        Further values that must be equal when a record is resumed, such as a checksum of the data; any JSON values.
    sweep : str or None, default=None
        A parameter with several values that the objective scores at once because together they cost little: for example the C of
        a support vector machine, for one kernel. The objective gets the other parameters (for a start, all of them) and returns a
        sweep: a mapping from values of this parameter to the result for each, or a sequence of such pairs if the values cannot be
        keys, such as dictionaries. The search sees only the other parameters and the best value in each sweep, with its
        neighbours to break ties; values of a list without an order have no neighbours. Every value in a sweep is a trial of its
        own in tables and record; its `sweep` is the number of the trial that was suggested. `n_trials` counts sweeps.
    constraints : callable, mapping, sequence of them, or None, default=None
        Conditions on the configuration: functions of the parameters, such as `[lambda p: p["x"] + p["y"] <= 1]`, that return
        whether they are allowed. A configuration that violates one is never evaluated. Searches that support constraints do not
        propose it; others are told that it failed, and are asked again. Equal parameters must always get the same answer. A
        record stores only the names of the functions: it is resumed if these agree and all its trials satisfy the functions
        given. Values in a `sweep` that violate a condition are dropped; a point is suggested only if the conditions allow one of
        11 values from end to end of the swept range, or one value of its list. Or bounds of further numbers that the objective
        returns, `{"memory": ("<=", 2e9)}` for one that returns `{"value": v, "memory": m}`. The best trial, the recommendation
        and the front of several objectives are among the trials that satisfy all bounds; the frame has the column
        `extra_bounds_held`. The searches with a Kriging model ("kriging", "kriging_per_second", "koch2011", "parego", "nsga2",
        and nested ones of them) model the numbers, and weigh expected improvement with the probability that the bounds hold.
        Other searches treat a point that violates a bound as failed.
    prior : mapping or None, default=None
        Where the optimum is believed to be: for some or all parameters a frozen scipy.stats distribution, as in `{"C": lognorm(1,
        scale=10)}`; for a list of values a mapping from values to weights, or a weight for each. The first trial is at the
        largest density. After n trials, expected improvement is weighted with the density to the power of 10 / n, except in every
        second suggestion, so that a wrong prior costs only some trials (see the guide, "Functions"). A prior is for the searches
        "kriging", "kriging_per_second", "koch2011", "parego" and "nsga2". For the parameter of a `sweep` it has no effect.

    Attributes
    ----------
    trials : tuple of Trial
        All trials, by number.
    seed : int
        The seed in use.
    objectives : Objectives
        Names and directions of the objectives.
    about : dict
        Entries that identify the study, as JSON types, and the versions of the packages; also in the record.
    findings : dict of str to dict
        Findings about the study, by name; see `add_finding`.

    Raises
    ------
    SpaceError, StudyMismatchError, StorageError, SolverError, ArgumentError
        All ValueErrors: a space that cannot be searched, or a start outside it; a record of another study; a file that cannot
        be used; an unknown search, or one of another number of objectives; another invalid argument.

    See Also
    --------
    SpotSearchCV : The cross-validated search of an estimator's parameters.
    compare : Several searches of one space.
    Space : The search space.
    spotsvm.searches.Search : The base class of searches.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import loguniform
    >>> study = Study(
    ...     {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)},
    ...     seed=0,
    ... )
    >>> _ = study.run(
    ...     lambda p: (np.log2(p["C"]) - 3) ** 2 + (np.log2(p["gamma"]) + 5) ** 2,
    ...     n_trials=20,
    ... )
    >>> study.recommend().value < 0.5
    True

    Two objectives, the second to be maximized:

    >>> study = Study(
    ...     {"x": [0, 1, 2, 3]},
    ...     "random",
    ...     0,
    ...     direction={"cost": "minimize", "gain": "maximize"},
    ... )
    >>> _ = study.run(lambda p: {"values": [p["x"], min(p["x"], 2)]}, n_trials=4)
    >>> [t.values for t in study.pareto()]
    [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]

    A sweep of eleven values of y for each suggested x:

    >>> from scipy.stats import uniform
    >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, seed=0, sweep="y")
    >>> _ = study.run(
    ...     lambda p: {
    ...         y: (p["x"] - 0.3) ** 2 + (y - p["x"]) ** 2
    ...         for y in np.linspace(0, 1, 11)
    ...     },
    ...     n_trials=10,
    ... )
    >>> len(study.trials), study.n_finished, study.best_trial.value < 0.01
    (110, 10, True)
    """

    @names_arguments(sampler="search", storage="path", random_state="seed", directions="direction")
    def __init__(
        self,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Space,
        search: SearchName | SearchFactory | AskTell | None = None,
        seed: int | None = None,
        *,
        direction: Directions = "minimize",
        path: str | Path | Record | None = None,
        noise: Noise = "auto",
        trial_timeout: float | None = None,
        start: StartLike = None,
        context: Mapping[str, str] | None = None,
        sweep: str | None = None,
        constraints: ConstraintsLike | None = None,
        prior: Mapping[str, Any] | OptimumPrior | None = None,
    ):
        objectives = Objectives.of(direction)
        if search is None:
            search = "parego" if objectives.several else "kriging"
        if noise not in ("auto", True, False):
            raise ArgumentError(f"noise={noise!r} is unknown; use 'auto', True or False")
        noise = noise if noise == "auto" else bool(noise)
        space = in_recorded_order(space if isinstance(space, Space) else Space(space), path)
        swept = None if sweep is None else SweptParameter(space, sweep)
        if swept is not None and objectives.several:
            raise ArgumentError(f"sweep={sweep!r} is for one objective, and the study has {len(objectives)}; leave it out")
        self.constraints = Constraints.of(constraints)
        starting = StartingPoints(start, space, swept, self.constraints)
        self.direction = direction
        self.trial_timeout = checked_timeout(trial_timeout)
        self._has_run = False
        #: of the run that is under way; `Progress` shows the time that is left
        self._limit: TimeLimit | None = None
        context = {} if context is None else context
        searched = space if swept is None else swept.searched
        believed = starting.prior if prior is None else OptimumPrior.of(prior, searched, space.names)
        noted = self.constraints.describe()
        about = describe_study(space, objectives, search, seed, noise, context, sweep, noted, believed)
        record = path if isinstance(path, Record | None) else Record(path)  # an open record is passed on
        try:
            if prior is None and believed is not None and record is not None and (tables := record.ledger().about.get("prior")):
                believed = OptimumPrior(searched, tables)  # the other studies may have gone on meanwhile
                about["prior"] = believed.describe()
            initial = initial_state(record, about, space, len(objectives), swept)
            ledger = initial.ledger
            super().__init__(ledger, space, objectives, noise, swept)
            for t in ledger.trials:
                whole = swept is None or swept.name in t.params
                if name := self.constraints.violated(t.params) if whole else "":
                    raise StudyMismatchError(
                        f"{self.path} has trial {t.number}, {dict(t.params)!r}, which violates {name}; use another file"
                    )
            left = starting.left(ledger.trials, self.path)
            study_search = StudySearch(
                search, self.searched_space, objectives, ledger, noise, left, swept,
                self._allows if self.constraints.conditions else None, self.constraints, believed,
            )  # fmt: skip
            # only now: a record must not describe a search that cannot be created
            if record is not None:
                ledger.keep_in(record, initial.unwritten)
            self._books = Bookkeeper(ledger, study_search, space, objectives, self.constraints, swept, starting.params)
        except BaseException:
            if record is not None:
                record.close()
            raise

    def _allows(self, point: NDArray[np.float64]) -> bool:
        if self.swept is None:
            return not self.constraints.violated(self.space.decode(point))
        params = self.space.decode(self.swept.whole_point(point))
        return bool(allowed_keys(self.swept, self.constraints, params))

    @names_arguments(n_iter="n_trials", n_calls="n_trials")
    def run(
        self,
        objective: Objective | Callable[[dict[str, Any], CurrentTrial], Any] | Workers,
        n_trials: int = 100,
        executor: Executor | str | Any | None = None,
        *,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
        retries: int = 0,
        callback: Callbacks | None = None,
        raise_errors: bool = False,
        stop: Literal["uncertainty"] | StopRule | None = None,
        early_stopping: Literal["improvement", "median"] | EarlyStopping | None = "improvement",
        timeout: float | TimeLimit | None = None,
        max_failures: int | None = 5,
        more: int | None = None,
        progress: bool = False,
    ) -> Study:
        """Evaluate the objective until the study has `n_trials` finished trials, those of earlier runs included.

        With several workers, each free worker gets the next trial at once, while others are still under way; a pending point is
        not suggested again. The results known at a suggestion then depend on how long trials take, so that a second run differs.
        With `batch_size` the trials depend on the seed alone.

        Parameters
        ----------
        objective : callable
            Takes the parameters as a dict; returns a `value` as `tell` takes it: a float, or a mapping with "value" and further
            named numbers, or with "folds", the scores of folds; for several objectives a sequence, or a mapping with "values". An
            exception makes a failed trial with that reason. An objective that requires a second argument also gets the trial (see
            `CurrentTrial`), with `number`, `seed`, the dict `attributes` for data to be stored with the value, and `report` and
            `should_stop` for training in steps. Or an object that evaluates trials itself (see `Workers`).
        n_trials : int, default=100
            Number of finished trials of the study at the end of the run, failed ones included. If it is below the size of the
            initial design, or of the first generation, a later run continues with the other points. A study that already has as
            many trials warns and evaluates nothing: use `more`.
        executor : concurrent.futures.Executor, object with submit, str, distributed.Client or None, default=None
            Where to evaluate. None evaluates in this process, or in spotsvm's own worker processes if `n_jobs`, `trial_timeout`
            or `memory_limit` require them. "loky" always uses those processes, "threading" makes `n_jobs` threads for this run,
            and "dask" is the Dask client in use. The jobs that an object's `submit` returns must have `done` and `result`, like
            those of submitit.
        n_jobs : int or None, default=None
            Trials to evaluate at once; -1 is all cores. None is 1, or as many as the executor has workers.
        batch_size : int or None, default=None
            Number of trials that are suggested together and told in the order asked. The trials then depend on the batch size and
            the seed, but not on the workers. None does not wait for batches.
        trial_timeout : float or None, default=None
            Seconds that a trial may take; None is the study's own. In worker processes of spotsvm's own a trial that takes longer
            is killed; on an executor it is given up.
        memory_limit : int, str or None, default=None
            Memory that a trial may take, in bytes or as "2 GiB", in worker processes of spotsvm's own.
        retries : int, default=0
            How often a trial is evaluated again after its worker died: killed, out of memory, or lost from a cluster (Dask first
            runs it again by itself). The trial's `lost` has the reason of each time. It has no effect on trials that are
            evaluated in this process or in its threads: give an executor, `n_jobs`, `trial_timeout` or `memory_limit` as well.
        callback : callable, Callback, sequence of them, or None, default=None
            Called with the study and each trial that was told; or an object with methods for the run's start and end and for each
            trial asked (see `Callback`). An exception ends the run; `StopRun` ends it without an error.
        raise_errors : bool, default=False
            Whether to raise the objective's exceptions, after the trial has been recorded.
        stop : {"uncertainty"}, callable or None, default=None
            When to end before `n_trials`: a callable that takes the study after each trial and returns the reason to stop, in a
            sentence, or None (see `StopRule`). "uncertainty" is `ImprovementBelowUncertainty`: once the largest expected
            improvement is far below the uncertainty of the score. `findings["stop"]` has the decision of the rule.
        early_stopping : {"improvement", "median"}, callable or None, default="improvement"
            When a trial that reports its steps should end early: "improvement" is `ImprovementUnlikely`, once a model of the
            learning curves gives it a probability below 5 % to become the best; "median" is `BelowMedian`, once it is worse than
            the median of the others. Or a callable that takes the trial and returns the reason to stop it, or None (see
            `EarlyStopping`). It has no effect on objectives that never call `CurrentTrial.should_stop`. None stops no trial.
        timeout : float or None, default=None
            Wall seconds for this run, after which no further trial starts; the first trial always does. Trials under way are
            finished, each within its `trial_timeout`, and so is a whole batch. If the limit ended the run, `findings["timeout"]`
            says so. The next run has the whole time again.
        max_failures : int or None, default=5
            Number of first trials that may fail for the same reason before the run ends with an error, as long as no trial of the
            study has succeeded. A run in which every trial fails is an error as well. None allows any number of failures. Each
            failed trial keeps its `traceback`.
        more : int or None, default=None
            Further trials to evaluate, in place of `n_trials`.
        progress : bool, default=False
            Whether to show the progress on standard error: a bar on a terminal, else a line for each tenth of the trials.

        Returns
        -------
        Study
            The study itself.

        Raises
        ------
        BudgetError
            If `n_trials` is below 1.
        ArgumentError
            At the first trial with a wrong number of values, or None; at the first successful trial without a number that has a
            bound; if the stop rule is unknown, or cannot be used with several objectives; if another argument is invalid.
        FirstTrialsFailedError
            If the first `max_failures` trials fail for the same reason, or all trials of the run; the traceback is a note of the
            error.
        TrialStateError
            If the study is being run already.
        KeyboardInterrupt
            After Ctrl-C: completed trials are recorded, the others are evaluated first when the study is run again, and the
            message, which is shown without a traceback, says how. A second Ctrl-C ends at once.

        See Also
        --------
        ask : The next trial, for a loop of your own.
        recommend : The trial to use afterwards.
        status : How far a run is.

        Examples
        --------
        A callback that ends the run once three trials in a row are no better than the best before them; the study keeps its
        trials, and can be continued:

        >>> from spotsvm import StopRun
        >>> def stalled(study, trial):
        ...     if trial.number - study.best_trial.number >= 3:
        ...         raise StopRun("no better for three trials")
        >>> study = Study({"x": list(range(100))}, "random", seed=0).run(
        ...     lambda p: p["x"], n_trials=50, callback=stalled
        ... )
        >>> study.n_finished - 1 - study.best_trial.number
        3

        An objective that takes the trial: its seed, and attributes that are kept in the record and shown by `frame`:

        >>> import numpy as np
        >>> def noisy(params, trial):
        ...     trial.attributes["solver"] = "smo"
        ...     return params["x"] + np.random.default_rng(trial.seed).normal()
        >>> study = Study({"x": list(range(100))}, "random", seed=0).run(
        ...     noisy, n_trials=3
        ... )
        >>> study.trials[2].attributes, study.frame()["attribute_solver"].tolist()
        ({'solver': 'smo'}, ['smo', 'smo', 'smo'])

        A run that ends after a tenth of a second, whatever it has by then:

        >>> import time
        >>> study = Study({"x": list(range(1000))}, "random", seed=0)
        >>> _ = study.run(
        ...     lambda p: time.sleep(0.02) or p["x"], n_trials=1000, timeout=0.1
        ... )
        >>> 1 <= study.n_finished <= 5, study.findings["timeout"]["timed_out"]
        (True, True)
        """
        if more is not None:
            n_trials = self._with_more(more, n_trials)
        if not is_workers(objective) and callable(objective):
            check_takes_params(objective, self.space.names)
            early = None if self.objectives.several else checked_early_stopping(early_stopping)
            objective = wrapped(objective, self.swept, early, self.space.domain, float(self.objectives.signs[0]))
        takes = isinstance(objective, WrappedObjective) and objective.takes_trial
        settings = RunSettings(n_trials, batch_size, retries, raise_errors, max_failures, takes)
        seconds = checked_timeout(self.trial_timeout if trial_timeout is None else trial_timeout)
        checked_timeout(timeout.seconds if isinstance(timeout, TimeLimit) else timeout, "timeout")
        limit = timeout if isinstance(timeout, TimeLimit | None) else TimeLimit(timeout)
        follower = [] if callback is None else callback if isinstance(callback, Sequence) else [callback]
        followers = Followers([*follower, Progress(n_trials)] if progress else callback)
        self._say_if_done(n_trials)
        rule = None if stop is None else AppliedRule(self, stop)
        with self._books.guard.running():
            self._limit = limit
            options: dict[str, Any] = {"n_jobs": n_jobs, "trial_timeout": seconds, "memory_limit": memory_limit}
            workers = objective if is_workers(objective) else open_workers(cast("Objective", objective), executor, **options)
            with says_when_interrupted(lambda inner: self._how_to_resume(n_trials)):
                run_trials(self, self._books, workers, settings, followers, rule, limit)
        self._has_run = True
        return self

    def _with_more(self, more: int, n_trials: int) -> int:
        if not isinstance(more, Integral) or isinstance(more, bool) or more < 0:
            raise ArgumentError(f"more={shown_value(more)} is not a number of trials; use a whole number")
        if n_trials != 100:
            raise ArgumentError(f"n_trials={n_trials} and more={more} are both given; use one of them")
        return self.n_finished + int(more)

    def _say_if_done(self, n_trials: int) -> None:
        """Log that a run has nothing to do; warn if this object has run before (after a resume it is normal)."""
        if self.n_finished < n_trials or n_trials < 1:
            return
        said = f"{self.n_finished} of {n_trials} trials exist already, and nothing is evaluated; run(more=...) adds to them"
        if self._has_run:
            warnings.warn(said, UserWarning, stacklevel=4)  # run is wrapped
        else:
            _LOG.info(said)

    @property
    def is_exhausted(self) -> bool:
        """Whether the search had no further point at the last batch."""
        return self._books.is_exhausted

    def ask(self) -> Trial:
        """Return the next trial to evaluate; it is running until it is told.

        After a resume, the trials that were running when the record ended come first.

        Returns
        -------
        Trial
            The trial, in the state "running".

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
        return self._books.ask()

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
            The objective's value; for several objectives a sequence with one value each, in the study's own directions. Or a
            mapping with the key "value", or "values" (a sequence, or a mapping from the names of the objectives); its other
            entries are further named numbers, or texts and lists, which become attributes of the trial. Scores of folds, or of
            other resamples, under the key "folds" are in `folds` and for `oversearching`; without "value" their mean is the
            value. An array of numbers for rows under the key "answers" is kept with the trial and in the record, and shown in no
            table. A value that is not finite makes a failed trial. Where a parameter is swept, a sweep: a mapping from its values
            to any of these, or a sequence of such pairs.
        seconds : float, optional
            Time that the evaluation took; by default the time since the trial was asked for.

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
        if self.swept is None:
            return self._books.finish(trial, outcome_of(value, seconds))
        return self._books.finish(trial, sweep_outcome(value, self.swept.name, seconds, self.swept.listed))

    def fail(
        self, trial: Trial | int, reason: str, *, extra: Mapping[str, float] | None = None, seconds: float | None = None
    ) -> Trial:
        """Report that a trial failed, with a reason in one line; `extra` takes named numbers. See `tell`.

        Returns
        -------
        Trial
            The trial, in the state "failed".

        See Also
        --------
        tell : For a trial that has a value.
        """
        outcome = Outcome("failed", None, checked_extra(extra), one_line(str(reason)), checked_seconds(seconds))
        return self._books.finish(trial, outcome)

    def ask_batch(self, size: int) -> list[Trial]:
        """Ask for up to `size` trials to evaluate together; fewer, or none, if the space has no more.

        Starts are a batch of their own: the trials after them depend on their values.

        Returns
        -------
        list of Trial
            At most `size` trials.

        See Also
        --------
        ask : One trial.
        run : Evaluates trials side by side by itself.
        """
        return self._books.ask_batch(size)

    def add_trial(
        self, params: Mapping[str, Any], value: float | Sequence[float] | Mapping[Any, Any], *, seconds: float | None = None
    ) -> Trial:
        """Add a trial that was evaluated elsewhere; the search treats it as a start, and the record stores it.

        The trial is finished, has the origin "given", and counts in `n_trials` of `run`: to evaluate 20 further trials, use
        `more=20`. Added trials replace points of an initial design, as starts do.

        Parameters
        ----------
        params : dict
            The configuration. It must be in the space.
        value : float, sequence or mapping
            The result of the objective, as `tell` takes it. nan makes a failed trial. Where a parameter is swept, the value at
            these parameters, or a sweep.
        seconds : float, optional
            Time that the evaluation took.

        Returns
        -------
        Trial
            The trial as it is now recorded.

        Raises
        ------
        SpaceError
            If the configuration is not in the space, or violates a condition.
        ArgumentError
            If the value is not a number, if there is not one value for each objective, or if `seconds` is not a time.
        StorageError
            If the record cannot be written.
        TrialStateError
            If `run` is under way.

        See Also
        --------
        from_frame : A study with all trials of a table.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1)}, seed=0)
        >>> study.add_trial({"x": 0.25}, 0.5).origin
        'given'
        >>> study.run(lambda p: (p["x"] - 0.3) ** 2, n_trials=12).n_finished
        12
        """
        given = given_trial(params, value, seconds, self.space, self.swept)
        return self._books.add(*given)

    @property
    def seconds_left(self) -> float:
        """The seconds that the run's `timeout` still leaves; infinite without one."""
        return inf if self._limit is None else self._limit.left

    def add_missing(self, rows: Sequence[tuple[Mapping[str, Any], Outcome]]) -> None:
        """Add the trials from elsewhere that the study lacks; each of its trials from elsewhere must be among them.

        Parameters
        ----------
        rows : sequence of pairs
            Parameters and outcome of each trial.

        Raises
        ------
        StudyMismatchError, ArgumentError
            If the study has another trial from elsewhere, or a configuration violates the constraints.
        """
        missing = missing_trials(rows, self.trials, self.space, self.swept)
        for params, _ in missing:  # all, before the first is recorded
            self._books.check_allowed(params)
        for row in missing:
            self._books.add(*row)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, space: Any, *args: Any, **options: Any) -> Self:
        """Return a study with the trials of a table, each added as by `add_trial`.

        Parameters
        ----------
        frame : DataFrame
            The table that `frame` returns, or a table with a column for each parameter and `value`; for several objectives
            `value_` followed by the name or index of each. Columns `param_`, `extra_`, `attribute_`, state, reason and seconds
            are used if they are there, others are ignored. Rows without a value are failed trials; rows that are running are left
            out.
        space : dict or list of dict
            As `Study` takes it.
        *args, **options
            The other arguments of `Study`. If the record at `path` has some of these trials, the others are added.

        Returns
        -------
        Study

        Raises
        ------
        ArgumentError
            If the table lacks the columns, or a row has an invalid value, time or state; the message names the row.
        SpaceError
            If a row is not in the space, or violates a condition; the message names the row. No trial is then added.
        StudyMismatchError
            If the record at `path` has added trials that are not in this table.

        See Also
        --------
        add_trial : One trial.

        Examples
        --------
        >>> import pandas as pd
        >>> from spotsvm import Study
        >>> table = pd.DataFrame({"x": [1, 2, 3], "value": [0.5, 0.25, 0.75]})
        >>> Study.from_frame(table, {"x": [1, 2, 3, 4]}, seed=0).best_trial.params
        {'x': 2}
        """
        study = cls(space, *args, **options)
        try:
            study.add_missing(trials_of_table(frame, study.space, study.objectives, study.swept))
        except BaseException:
            study.close()
            raise
        return study

    def drop_answers(self, numbers: Collection[int] | None = None) -> None:
        """Forget the answers of trials, to save memory; the record keeps them.

        Parameters
        ----------
        numbers : collection of int, optional
            The numbers of the trials; None for all.

        See Also
        --------
        tell : Keeps the answers of a trial.

        Examples
        --------
        >>> import numpy as np
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2]}, "random", 0)
        >>> told = study.tell(study.ask(), {"value": 1.0, "answers": np.ones(3)})
        >>> study.drop_answers()
        >>> study.trials[0].answers is None
        True
        """
        every = [trial.number for trial in self.trials if trial.answers is not None]
        self._books.drop_answers(every if numbers is None else [number for number in every if number in set(numbers)])

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
            If `finding` is not JSON; the message names the invalid part.
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
        self._books.add_finding(name, plain_json(finding, f"finding {name}"))

    @property
    def searched_space(self) -> Space:
        """The space that the search sees: without the parameter that is swept.

        See Also
        --------
        Space.without : Returns such a space.
        """
        return self.space if self.swept is None else self.swept.searched

    def _how_to_resume(self, n_trials: int) -> str:
        done = f"{self.n_finished} of {n_trials} trials are finished"
        if self.path is None:
            return f"{done}; call run() again to continue. A study with a path can also be resumed in another process"
        return f"{done} and recorded in {self.path}; the same call goes on from there"

    def close(self) -> None:
        """Close the record; the study can still be read.

        See Also
        --------
        load_study : Opens the record again.
        """
        with self._books.guard.turn:
            self.ledger.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the ledger: the bookkeeper copies it, without the record."""
        return {name: value for name, value in self.__dict__.items() if name != "ledger"} | {"_limit": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.ledger = self._books.ledger

    def __repr__(self) -> str:
        names = ", ".join(self.space.names) or "no parameters"
        return f"<Study of {names} by {self._books.search.name!r}: {finished_words(self.trials)}>"
