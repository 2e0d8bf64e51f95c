"""The arguments of a cross-validated search, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils import check_random_state

from spotsvm.common.checks import check_flag
from spotsvm.common.text import did_you_mean, names_arguments
from spotsvm.cross_validation.row_sample import check_rows
from spotsvm.cross_validation.scorers import check_scoring_options, metric_names
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.scoring import CandidateScoring, check_bounded
from spotsvm.search_cv.simplest import ONE_SE, simplicity
from spotsvm.solvers.search.contract.base import AskTell, Noise
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.space import Space
from spotsvm.study.callbacks import Callbacks
from spotsvm.study.given import StartLike
from spotsvm.study.loop import RunSettings
from spotsvm.study.recorded import recorded_seed
from spotsvm.study.stop import StopRule, checked_stop, checked_timeout
from spotsvm.trials.constraints import Constraints, ConstraintsLike

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
    rows: int | tuple[int | None, int | None] | Literal["auto"] | None = None
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
    check_rows(search.rows)
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


def _is(refit: Any, rule: str) -> bool:
    """Return whether `refit` asks for a rule by name."""
    return isinstance(refit, str) and refit == rule
