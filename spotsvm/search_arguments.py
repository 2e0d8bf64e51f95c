"""The arguments of a cross-validated search, and their checks."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.metrics import check_scoring

from spotsvm.candidate_scoring import CandidateScoring
from spotsvm.errors import ArgumentError
from spotsvm.fold_scores import check_engine
from spotsvm.run_settings import RunSettings, checked_timeout
from spotsvm.stop_rule import checked_stop


class SearchArguments(Protocol):
    """The arguments of a `SpotSearchCV`, which describes them."""

    estimator: Any
    space: Any
    n_iter: int
    search: Any
    scoring: Any
    n_jobs: int | None
    refit: Any
    verbose: int
    pre_dispatch: int | str
    random_state: Any
    error_score: Any
    return_train_score: bool
    noise: Any
    batch_size: int | None
    engine: Any
    racing: bool
    start: Any
    stop: Any
    path: str | Path | None
    callback: Any
    executor: Any
    trial_timeout: float | None
    memory_limit: int | str | None
    retries: int

    @property
    def uses_workers(self) -> bool:
        """Whether candidates are scored whole, each in a worker."""
        ...


def check_arguments(search: SearchArguments) -> None:
    """Raise ArgumentError, or what scikit-learn raises, if an argument of a search makes no sense.

    Parameters
    ----------
    search : SearchArguments
        The search, before it is fitted.
    """
    if not hasattr(search.estimator, "fit"):
        raise ArgumentError(f"estimator={search.estimator!r} has no fit; give an estimator")
    check_scoring(search.estimator, search.scoring)
    scoring = CandidateScoring(search.search, search.scoring, search.refit)
    scoring.check()
    for name in ("n_iter", "batch_size"):
        value = getattr(search, name)
        if name == "batch_size" and value is None:
            continue
        if not isinstance(value, Integral) or value < 1:
            raise ArgumentError(f"{name}={value!r} is not a number of candidates; use 1 or more")
    RunSettings(search.n_iter, search.batch_size, search.retries)
    checked_timeout(search.trial_timeout)
    objectives = scoring.objectives
    check_engine(search.engine)
    if not isinstance(search.racing, bool | np.bool_):
        raise ArgumentError(f"racing={search.racing!r}; use True or False")
    if search.racing and objectives:
        raise ArgumentError(f"racing=True is for one objective, and search={search.search!r} has several; leave it out")
    if search.racing and search.uses_workers:
        raise ArgumentError(
            "racing=True compares each candidate with the best before it, which workers do not know of each other; leave it out, "
            "or leave out executor, trial_timeout and memory_limit"
        )
    if search.stop is not None:
        checked_stop(search.stop)
        if objectives:
            raise ArgumentError(
                f"stop={search.stop!r} is for one objective, and search={search.search!r} has several; leave it out"
            )
    if search.error_score != "raise" and not isinstance(search.error_score, Real):
        raise ArgumentError(f"error_score={search.error_score!r} is not a score; use 'raise' or a number")
