"""Ask, evaluate, tell, until a budget is spent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from numbers import Integral, Real
from typing import TYPE_CHECKING

from spotsvm.errors import ArgumentError, BudgetError, StorageError
from spotsvm.evaluation import Here, InKillableWorkers, Objective, OnExecutor, Outcome
from spotsvm.stop_rule import StopRule
from spotsvm.stopper import Stopper
from spotsvm.trial import Trial

if TYPE_CHECKING:
    from spotsvm.study import Study

Callback = Callable[["Study", Trial], None]


def run_trials(
    study: Study,
    objective: Objective,
    n_trials: int,
    executor: Executor | None,
    *,
    batch_size: int | None,
    trial_timeout: float | None,
    callback: Callback | None,
    raise_errors: bool,
    stop: str | StopRule | None = None,
) -> None:
    """Evaluate until the study has `n_trials` finished trials; the arguments are those of `Study.run`."""
    check_budget(study, n_trials, "n_trials")
    timeout = checked_timeout(trial_timeout)
    size = _checked_batch_size(batch_size, executor)
    # what the search plans together comes out the same one by one
    study.plan(n_trials, 1 if executor is not None and batch_size is None and study.plans_ahead else size)
    stopper = Stopper(study, stop)
    with _evaluator(objective, executor, timeout, size) as evaluator:
        while (left := n_trials - study.n_finished) > 0 and not stopper.reached():
            planned = executor is not None and batch_size is None and study.plans_ahead
            batch = study.ask_batch(min(study.n_ready if planned else size, left))
            if not batch:
                break
            try:
                for trial, outcome in zip(batch, evaluator.evaluate([dict(t.params) for t in batch]), strict=True):
                    told = _finish(study, trial, outcome)
                    if callback is not None:
                        callback(study, told)
                    if raise_errors and outcome.error is not None:
                        raise outcome.error
            except BaseException:
                study.hand_back(batch)
                raise
    stopper.report()


def _finish(study: Study, trial: Trial, outcome: Outcome) -> Trial:
    try:
        return study.finish(trial, outcome)
    except StorageError as error:
        # what may have taken hours to find out must not be lost with it
        given = outcome.value if outcome.value is not None else outcome.values or outcome.reason
        error.add_note(f"trial {trial.number} gave {given}; it can be told")
        raise


def check_budget(study: Study, n_trials: int, name: str) -> None:
    """Raise BudgetError if so many trials do not pay for how the search begins, nor for the whole of a small space."""
    if n_trials < min(study.n_initial, study.space.domain.size):
        raise BudgetError(
            f"{name}={n_trials} is below the {study.initial_name} of {study.n_initial} trials; "
            "use at least that, or search='random'"
        )


def checked_timeout(timeout: float | None) -> float | None:
    """Give the timeout back, or raise ArgumentError if it is not a time."""
    if timeout is not None and not (_is_number(timeout, Real) and 0 < timeout <= threading.TIMEOUT_MAX):
        raise ArgumentError(f"trial_timeout={timeout!r} is not a time; use a positive number of seconds, or None")
    return timeout


def _checked_batch_size(batch_size: int | None, executor: Executor | None) -> int:
    if batch_size is None:
        return max(int(getattr(executor, "_max_workers", 1)), 1)
    if not _is_number(batch_size, Integral) or batch_size < 1:
        raise ArgumentError(f"batch_size={batch_size!r} is not a number of trials; use 1 or more")
    return int(batch_size)


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _evaluator(
    objective: Objective, executor: Executor | None, timeout: float | None, size: int
) -> Here | OnExecutor | InKillableWorkers:
    if executor is not None:
        return OnExecutor(objective, executor, timeout)
    return Here(objective) if timeout is None else InKillableWorkers(objective, size, timeout)
