"""The run of a cross-validated search: its arguments, its study, and the workers that score its candidates."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils import check_random_state

from spotsvm.common.checks import check_count, check_flag
from spotsvm.common.interruption import says_when_interrupted
from spotsvm.common.notices import untold
from spotsvm.common.text import checked_path, did_you_mean, names_arguments
from spotsvm.cross_validation.compile_first import compile_shared_work
from spotsvm.cross_validation.fold_answers import responses_of
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_scorer import FoldScorer, FoldScores, check_scoring_options, metric_names
from spotsvm.errors import ArgumentError, FirstTrialsFailedError, SpaceError
from spotsvm.out_of_fold.table import MOST_BYTES
from spotsvm.search_cv.estimator_space import accepted_space, grid, own_start
from spotsvm.search_cv.scoring import AUTO, CandidateScoring, CandidateSweeps, check_bounded, grid_size, swept_parameter
from spotsvm.search_cv.simplest import ONE_SE, simplicity
from spotsvm.solvers.search.contract.base import AskTell, Noise
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.space import Space
from spotsvm.study.callbacks import Callback, Callbacks
from spotsvm.study.given import StartLike
from spotsvm.study.loop import RunSettings
from spotsvm.study.record.record import Record
from spotsvm.study.recorded import in_recorded_order, recorded_seed, recorded_starts
from spotsvm.study.stop import StopRule, TimeLimit, checked_stop, checked_timeout, with_test_share
from spotsvm.study.study import Study
from spotsvm.study.workers.open import open_workers
from spotsvm.study.workers.protocol import Here, Workers, interrupts_allowed
from spotsvm.trials.constraints import N_VALUES, Constraints, ConstraintsLike
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.own_unit import OwnUnits
from spotsvm.trials.sweep import SweptParameter, described_sweep
from spotsvm.trials.trial import Trial, holds_bounds

T = TypeVar("T")
#: the value of `refit` that asks for an average of candidates
AVERAGE = "average"


def _with_names(cls: type[T]) -> type[T]:
    """Make the constructor's errors suggest the right argument, also for names from other libraries."""
    names = {"n_trials": "n_iter", "n_calls": "n_iter", "search_spaces": "space", "param_grid": "space", "n_points": "batch_size"}
    cls.__init__ = names_arguments(**names)(cls.__init__)  # type: ignore[method-assign]
    return cls


@_with_names
@dataclass(eq=False, repr=False)
class SearchArguments:
    """The arguments of a `SpotSearchCV`, which describes them."""

    estimator: Any
    space: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    _: KW_ONLY
    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    n_iter: int = 10
    search: SearchName | SearchFactory | AskTell = "kriging"
    scoring: Any = None
    n_jobs: int | None = None
    refit: bool | str | Callable[[dict[str, Any]], int] = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: int | str = "2*n_jobs"
    random_state: Any = None
    error_score: Any = np.nan
    return_train_score: bool = False
    noise: Noise = False
    batch_size: int | None = None
    engine: Literal["auto", "sklearn"] = "auto"
    sweep: str | None = "auto"
    start: StartLike = None
    stop: Literal["uncertainty"] | StopRule | None = None
    path: str | Path | None = None
    callback: Callbacks | None = None
    executor: Executor | str | Any | None = None
    trial_timeout: float | None = None
    memory_limit: int | str | None = None
    retries: int = 0
    timeout: float | None = None
    max_failures: int | None = 5
    constraints: ConstraintsLike | None = None
    prior: Mapping[str, Any] | None = None
    calibrate: bool = False
    rows: int | None = None
    keep_out_of_fold: bool = True

    @property
    def averages(self) -> bool:
        """Whether the model is an average of candidates.

        See Also
        --------
        fit : Makes it.
        """
        return isinstance(self.refit, str) and self.refit == AVERAGE

    @property
    def uses_workers(self) -> bool:
        """Whether candidates are scored whole, each in a worker.

        See Also
        --------
        fit : Scores the candidates.
        """
        return self.executor is not None or self.trial_timeout is not None or self.memory_limit is not None


def seed_of(search: SearchArguments) -> int | None:
    """Return the seed of a search; without `random_state` that of its record, which a new record gets; else None."""
    if search.random_state is not None:
        return int(check_random_state(search.random_state).randint(2**31 - 1))
    if search.path is None:
        return None
    recorded = recorded_seed(search.path)
    return int(np.random.default_rng().integers(2**31 - 1)) if recorded is None else recorded


def choosing_scorer(search: SearchArguments) -> Any:
    """Return the scorer, or its name, that chooses the best candidate; of several metrics without a choice the first."""
    scoring = search.scoring
    if callable(scoring) or isinstance(scoring, str | None):
        return scoring
    names = metric_names(scoring)
    name = search.refit if isinstance(search.refit, str) and search.refit in names else names[0]
    return scoring[name] if isinstance(scoring, Mapping) else name


def given_space(search: SearchArguments) -> Space:
    """Return the space of a search, given by either of its names; ArgumentError if both are given, or neither."""
    if search.space is not None and search.param_distributions is not None:
        raise ArgumentError("space and param_distributions are two names of one argument, and both are given; leave one out")
    given = search.param_distributions if search.space is None else search.space
    if given is None:
        raise ArgumentError("space is missing; give a dictionary of parameters as space or param_distributions")
    return given if isinstance(given, Space) else Space(given)


#: rounding error of a coordinate, from quantiles
_ROUNDING = 1e-9


class SpotSearchRun:
    """One fit of a SpotSearchCV, up to the end of its study.

    `scorer` scores candidates in this process, and describes the context for a record; `scoring` turns scores into outcomes.
    """

    def __init__(
        self,
        search: SearchArguments,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        fit_params: Mapping[str, Any],
        seed: int | None = None,
    ):
        self._search, self._X, self._y, self._splits, self._seed = search, X, y, splits, seed
        self._limit = None if search.timeout is None else TimeLimit(search.timeout)
        self.scoring = CandidateScoring(search.search, search.scoring, search.refit)
        options: dict[str, Any] = {"scoring": search.scoring, "engine": search.engine}
        self._on = partial(FoldScorer, search.estimator, X, y)
        self._fit_params, self._options = fit_params, options
        train = search.return_train_score
        needs_answers = search.keep_out_of_fold or search.averages or search.calibrate
        #: the methods that may give the answers of candidates for the test rows; empty if none are kept
        self.responses = responses_of(search.estimator, choosing_scorer(search), search.calibrate) if needs_answers else ()
        #: number of candidates whose answers were too many to keep
        self.n_dropped = 0
        self._make_scorer = partial(
            self._on, splits, fit_params, **options, error_score=search.error_score, return_train_score=train,
            responses=self.responses,
        )  # fmt: skip
        late = {} if (limit := self._limit) is None else {"is_late": lambda: limit.left <= 0.0}
        self.scorer = self._make_scorer(n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch, **late)
        space = accepted_space(search.estimator, given_space(search))
        # a record that is there is opened once, and a new one begins after all checks
        there = search.path is not None and checked_path(search.path).is_file()
        self._record = Record(search.path) if there and search.path is not None else None
        try:
            constraints, swept = self._prepared(space)
        except BaseException:
            if self._record is not None:
                self._record.close()
            raise
        space = self._space
        self.scoring = replace(self.scoring, constraints=constraints)
        # one suggestion for each configuration of the other parameters; the sweeps take the rest of the budget
        self._budget, n_values = search.n_iter, N_VALUES
        if swept is not None and not swept.listed:
            n_values, self._budget = grid_size(swept, search.n_iter), int(min(search.n_iter, swept.searched.domain.size))
        self._sweeps = CandidateSweeps(self.scoring, swept, constraints, n_values)

    def _prepared(self, space: Space) -> tuple[Constraints, SweptParameter | None]:
        """Take the order of parameters and the starts from the record, and return constraints and the swept parameter."""
        search = self._search
        space = self._space = in_recorded_order(space, self._record)
        plain = isinstance(search.search, str) and not self.scoring.objectives
        constraints = Constraints.of(search.constraints)
        swept = swept_parameter(search.sweep, space, search.estimator, self.scorer, plain)
        shared = [not self.scorer.why_not_shared(space.decode(centre)) for centre in space.centres()]
        self._shares_work, self._compiles = plain and all(shared), any(shared)
        self._start = search.start
        if search.start is None:
            start: list[dict[str, Any]] = []
            if swept is None and space.domain.size <= search.n_iter:
                start = grid(space)
            elif self._shares_work:
                start = own_start(search.estimator, space, self._X, self._y)
            self._start = [params for params in start if not constraints.violated(params)]
        if self._record is None and search.path is not None:
            self._record = Record(search.path)
        if self._record is not None and (recorded := recorded_starts(self._record)) is not None:
            about, starts, has_gone_on = recorded  # a resumed search keeps its starts
            known = cast("Any", self._start or [])
            with suppress(SpaceError, ArgumentError):  # the starts are of another space, which the study refuses
                swept = described_sweep(about, space) if search.sweep == AUTO else swept
                if search.start is None and (has_gone_on or not _are_among(starts, known, space, swept)):
                    self._start = starts
        return constraints, swept

    def run(self, task: Callback | None = None) -> Study:
        """Evaluate until the study has `n_iter` finished trials, followed by `task`; return the study, with its record closed."""
        search = self._search
        with self._new_study() as study:
            stop = None if search.stop is None else with_test_share(search.stop, self.scorer.test_share)
            with says_when_interrupted(lambda inner: self.how_to_resume(study)), suppress(FirstTrialsFailedError):
                study.run(  # `best_candidate` raises it if the first trials have failed
                    self._open_workers(),
                    self._budget,
                    batch_size=search.batch_size,
                    retries=search.retries,
                    callback=[*self._callbacks(), *([] if task is None else [task])],
                    stop=stop,
                    timeout=self._limit,
                    # a score for failed fits means that failures are expected
                    max_failures=None if np.isfinite(_score_of_failed(search)) else search.max_failures,
                )
        if study.is_exhausted:
            warnings.warn(
                f"The total space of parameters {study.n_finished} is smaller than n_iter={search.n_iter}. "
                f"Running {study.n_finished} iterations. For exhaustive searches, use GridSearchCV.",
                UserWarning,
                stacklevel=3,
            )
        return study

    def how_to_resume(self, study: Study) -> str:
        """Return how many candidates are scored, and how an interrupted fit goes on, in a sentence."""
        swept = self._sweeps.swept
        possible = (study.space if swept is None else swept.searched).domain.size
        fewer = possible < self._search.n_iter
        of = f"{int(possible)} possible" if fewer else str(self._budget)
        done = f"{study.n_finished} of {of} candidates are scored" + f" (n_iter={self._search.n_iter})" * fewer
        if self._search.path is None:
            return f"{done}; fit will start again: pass a path to SpotSearchCV to resume after an interruption"
        return f"{done} and recorded in {study.path}; the same call goes on from there"

    def own_trials(self, study: Study) -> list[Trial]:
        """Return the trial with the estimator's own parameters, if there is one: it always competes, and wins ties."""
        if not self._shares_work:
            return []
        points = [study.space.encode(params) for params in own_start(self._search.estimator, study.space, self._X, self._y)]
        done = [t for t in study.trials if t.state == "ok" and holds_bounds(t)]
        return [t for t in done for point in points if np.allclose(t.point, point, rtol=0.0, atol=_ROUNDING)][:1]

    def scores_on(
        self, splits: Sequence[Split], candidates: Sequence[Mapping[str, Any]], needed: bool = True
    ) -> list[FoldScores]:
        """Return the scores, with answers, of candidates on these folds; raise an error if all fail although they are needed."""
        n_jobs = None if self._search.uses_workers else self._search.n_jobs
        scorer = self._on(splits, self._fit_params, **self._options, n_jobs=n_jobs, advise=False, responses=self.responses)
        scores = scorer.score(candidates)
        failed = [one for one in scores if one.answers is None]
        if needed and len(failed) == len(scores):
            raise scorer.last_error or ArgumentError(f"estimator={self._search.estimator!r} gives no answers for rows")
        if failed:
            reason = (
                f"{len(failed)} of {len(scores)} candidates of the average failed in a fold and are left out: {failed[0].reason}"
            )
            warnings.warn(reason, FitFailedWarning, stacklevel=4)
        return scores

    def _open_workers(self) -> Workers:
        if not self._search.uses_workers:
            return CandidatesHere(self.scorer, self._sweeps, self._n_together())
        return self._elsewhere(CandidateObjective(self._make_scorer, self._sweeps, self._compiles))

    def _n_together(self) -> int:
        """Return how many candidates occupy `n_jobs` workers of joblib with their folds, where scikit-learn scores them."""
        search = self._search
        one_by_one = self._shares_work or search.batch_size is not None or search.error_score == "raise"
        return 1 if one_by_one else self.scorer.n_together

    def _elsewhere(self, objective: CandidateObjective) -> Workers:
        search = self._search
        limits: dict[str, Any] = {"trial_timeout": search.trial_timeout, "memory_limit": search.memory_limit}
        return CandidatesElsewhere(open_workers(objective, search.executor, n_jobs=search.n_jobs, **limits))

    def _callbacks(self) -> list[Any]:
        given = self._search.callback
        several = [] if given is None else list(given) if isinstance(given, Sequence) else [given]
        return [self._show, self._keep_best_answers, *several]

    def _keep_best_answers(self, study: Study, trial: Trial) -> None:
        """Forget the answers of the worst candidates if those of all have more bytes than a table may have."""
        sizes = {t.number: t.answers.nbytes for t in study.trials if t.answers is not None}
        if (size := sum(sizes.values())) <= MOST_BYTES:
            return
        merits = {number: self.scoring.merit(study.trials[number]) for number in sizes}
        worst_first = sorted(sizes, key=lambda number: np.nan_to_num(merits[number], nan=-np.inf))
        dropped: list[int] = []
        for number in worst_first[:-1]:
            if size <= MOST_BYTES:
                break
            dropped.append(number)
            size -= sizes[number]
        study.drop_answers(dropped)
        self.n_dropped += len(dropped)

    def _show(self, study: Study, trial: Trial) -> None:
        if self._search.verbose > 0:
            own = OwnUnits.of(study.about, study.objectives)
            name = "score" if own.error is None else own.error.title
            shown = own.trial(trial)
            score = shown.values if shown.value is None else shown.value
            print(f"[{study.n_finished}/{self._budget}] {trial.state} {name}={score} {dict(trial.params)}")

    def _new_study(self) -> Study:
        search = self._search
        objectives = self.scoring.objectives
        direction: Any = dict.fromkeys(objectives, "maximize") or "maximize"
        try:
            return Study(
                cast("Any", self._space),
                deepcopy(search.search),  # an object with ask and tell has a state, which the next fit must not see
                self._seed,
                direction=direction,
                path=self._record,
                noise=search.noise,
                start=self._start or None,
                context=self._context(objectives),
                sweep=None if self._sweeps.swept is None else self._sweeps.swept.name,
                constraints=search.constraints,
                prior=search.prior,
            )
        except BaseException:
            if self._record is not None:
                self._record.close()
            raise

    def _context(self, objectives: Sequence[str]) -> dict[str, str] | None:
        """Return the context for a record of the scores; None if it is unknown, which only a record does not allow."""
        refit = self._search.refit
        metric = refit if isinstance(refit, str) and refit not in (ONE_SE, AVERAGE) else "the first"
        try:
            return {**self.scorer.context(), "metric to optimise": ", ".join(objectives) or metric}
        except Exception:  # unusual data may fail to pickle in any way
            if self._search.path is not None:
                raise
            return None


def _are_among(
    some: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], space: Space, swept: SweptParameter | None
) -> bool:
    """Return whether configurations are among others, apart from a swept parameter and up to rounding."""

    def place(params: Mapping[str, Any]) -> NDArray[np.float64]:
        point = space.encode(params)
        return point if swept is None else swept.searched_point(point)

    known = [place(params) for params in others]
    return all(any(np.allclose(place(params), at, rtol=0.0, atol=_ROUNDING) for at in known) for params in some)


class CandidatesHere(Here):
    """Scores all waiting candidates together, so that joblib spreads their folds; `n_together` of them occupy its workers."""

    def __init__(self, scorer: FoldScorer, sweeps: CandidateSweeps, n_together: int = 1):
        super().__init__(lambda params: sweeps.outcomes([params], scorer)[0])
        self.n_together = n_together
        self._scorer, self._sweeps = scorer, sweeps

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Score all waiting candidates."""
        batch = list(self._waiting)
        self._waiting.clear()
        with interrupts_allowed():
            outcomes = self._sweeps.outcomes([params for _, params in batch], self._scorer) if batch else []
        return [(key, outcome) for (key, _), outcome in zip(batch, outcomes, strict=True)]


class CandidateObjective:
    """Scores a whole candidate, fold after fold, in whatever process or thread it is called.

    Each thread keeps its own scorer with the computed kernel matrices, and solutions to start from. With `compiles`, for shared
    work, another process compiles when it loads the objective, so that no candidate's time includes it.
    """

    def __init__(self, make_scorer: Callable[[], FoldScorer], sweeps: CandidateSweeps, compiles: bool = False):
        self._make_scorer, self._sweeps, self._compiles = make_scorer, sweeps, compiles
        self._config, self._filters, self._process = get_config(), list(warnings.filters), os.getpid()
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_own": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import numba  # noqa: F401  # its time must not count for the first candidate, and without memory it fails in its own ways

        self.__dict__.update(state, _own=threading.local())
        if self._compiles:
            compile_shared_work()

    def __call__(self, params: dict[str, Any]) -> Outcome:
        """Return the outcome of a candidate; errors that are not its own failure are raised."""
        with self._as_at_home():
            if not hasattr(self._own, "scorer"):
                self._own.scorer = self._make_scorer()
            return self._sweeps.outcomes([params], self._own.scorer)[0]

    @contextmanager
    def _as_at_home(self) -> Iterator[None]:
        """Set scikit-learn's configuration, and in another process the filters of warnings, to those of the search."""
        with config_context(**self._config), untold():
            if os.getpid() == self._process or threading.current_thread() is not threading.main_thread():
                yield
                return
            with warnings.catch_warnings():
                warnings.filters[:] = self._filters  # type: ignore[index]
                yield


class CandidatesElsewhere(AbstractContextManager["CandidatesElsewhere"]):
    """Workers that evaluate a CandidateObjective and raise its errors, which are not failures of a candidate.

    A lack of memory, for the candidate itself or for shared work, is a failure of the candidate.
    """

    def __init__(self, workers: Workers):
        self._workers = workers
        self._completed: list[tuple[int, Outcome]] = []

    @property
    def n_workers(self) -> int:
        """Number of candidates that can be scored at once now."""
        return self._workers.n_workers

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a candidate."""
        self._workers.submit(key, params)

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait for candidates; raise the error of one whose scoring raised."""
        completed = [(key, _without_memory_error(outcome)) for key, outcome in self._workers.wait(timeout)]
        self._completed = [(key, outcome) for key, outcome in completed if outcome.error is None]
        for _, outcome in completed:
            if outcome.error is not None:
                raise outcome.error
        self._completed = []
        return completed

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return the scored candidates, and kill or cancel the others."""
        completed = ((key, _without_memory_error(outcome)) for key, outcome in self._workers.abandon())
        return [*self._completed, *((key, outcome) for key, outcome in completed if outcome.error is None)]

    def __enter__(self) -> CandidatesElsewhere:
        self._workers.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._workers.__exit__(*details)


def _without_memory_error(outcome: Outcome) -> Outcome:
    return replace(outcome, error=None) if isinstance(outcome.error, MemoryError) else outcome


def check_arguments(search: SearchArguments) -> None:
    """Raise ArgumentError, or what scikit-learn raises, if an argument of a search is invalid."""
    if not hasattr(search.estimator, "fit"):
        raise ArgumentError(f"estimator={search.estimator!r} has no method fit; use an estimator")
    if isinstance(search.scoring, str) and search.scoring not in (names := get_scorer_names()):
        hint = did_you_mean(search.scoring, names) or "; use one of sklearn.metrics.get_scorer_names(), or a function"
        raise ArgumentError(f"scoring={search.scoring!r} is unknown{hint}")
    check_scoring(search.estimator, search.scoring)
    scoring = CandidateScoring(search.search, search.scoring, search.refit)
    scoring.check()
    for name, value in (("n_iter", search.n_iter), ("batch_size", 1 if search.batch_size is None else search.batch_size)):
        if not isinstance(value, Integral) or value < 1:
            raise ArgumentError(f"{name}={value!r} is not a number of candidates; use 1 or more")
    RunSettings(search.n_iter, search.batch_size, search.retries, max_failures=search.max_failures)
    checked_timeout(search.trial_timeout)
    checked_timeout(search.timeout, "timeout")
    if search.rows is not None:
        check_count("rows", search.rows, 2, after=", or None for all")
        if isinstance(search.cv, Iterable) and not hasattr(search.cv, "split"):
            raise ArgumentError(f"rows={search.rows!r} draws a sample, and cv has folds of all rows; use a number or a splitter")
    objectives = scoring.objectives
    constraints = Constraints.of(search.constraints)
    if constraints.bounds:
        check_bounded(constraints, search.scoring)
    check_scoring_options(search.engine, search.error_score)
    check_flag("keep_out_of_fold", search.keep_out_of_fold)
    _check_refit(search.refit, search.scoring)
    if _is(search.refit, ONE_SE):
        simplicity(given_space(search).names)
    if search.sweep is not None and not isinstance(search.sweep, str):
        raise ArgumentError(f"sweep={search.sweep!r} is not a parameter; use its name, 'auto' or None")
    if search.stop is not None:
        checked_stop(search.stop)
        if objectives:
            raise ArgumentError(
                f"stop={search.stop!r} is for one objective, and search={search.search!r} has several; leave it out"
            )


def _check_refit(refit: Any, scoring: Any) -> None:
    """Raise ArgumentError for an invalid `refit` with a single metric; `CandidateScoring` checks it with several."""
    if isinstance(refit, bool | np.bool_) or callable(refit):
        return
    # a callable may return several metrics, whose names are not known yet
    single = (
        [ONE_SE, AVERAGE, "score", *([scoring] if isinstance(scoring, str) else [])] if isinstance(scoring, str | None) else None
    )
    if not isinstance(refit, str) or (single is not None and refit not in single):
        raise ArgumentError(f"refit={refit!r}; use True, False, 'average', '1se', the name of a metric of scoring, or a callable")


def _score_of_failed(search: SearchArguments) -> float:
    return float("nan") if isinstance(search.error_score, str) else float(search.error_score)


def _is(refit: Any, rule: str) -> bool:
    """Return whether `refit` asks for a rule by name."""
    return isinstance(refit, str) and refit == rule
