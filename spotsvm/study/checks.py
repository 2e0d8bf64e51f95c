"""The conformance suites of a user's own stop rule and executor."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

from scipy.stats import uniform

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.study.stop import StopRule, checked_stop
from spotsvm.study.study import Study
from spotsvm.trials.results import StudyResults

_SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
_SEED = 10  # of random points of which the first fails
_LIMIT = 60.0  # seconds after which a trial on an executor is given up


def _bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2)


def _partly_failing(params: dict[str, Any]) -> dict[str, float]:
    """Return a value with scores of folds; a third of the space fails."""
    value = _bowl(params) if params["x"] < 0.7 else math.nan
    return {"value": value} | {f"split{k}_test_score": value + 0.05 * (k - 1) for k in range(3)}


def check_stop_rule(rule: StopRule, *, n_trials: int = 30) -> None:
    """Check that a stop rule keeps the contract of `StopRule`: a function of the finished trials that returns a text or None.

    The rule is called after each trial of a study of random points, some of which fail, in several orders, and while trials are
    under way.

    Parameters
    ----------
    rule : callable
        The rule, as for `stop` of `Study.run`.
    n_trials : int, default=30
        Trials of the study; more than the rule needs to stop a search in which there is little left to gain.

    Raises
    ------
    AssertionError
        If the rule breaks the contract; the message says how, and what would be right.

    See Also
    --------
    StopRule : The interface.

    Examples
    --------
    >>> from spotsvm import check_stop_rule
    >>> def stalled(study):
    ...     values = [t.value for t in study.finished_trials if t.state == "ok"]
    ...     if len(values) > 10 and min(values[-5:]) >= min(values[:-5]):
    ...         return "five trials are no better than those before them"
    >>> check_stop_rule(stalled)
    """
    rule = checked_stop(rule)
    study, batches = (Study(_SPACE, "random", _SEED, noise=False) for _ in range(2))
    study.run(_partly_failing, n_trials, max_failures=None)
    before = study.trials
    reasons = [_reason(rule, study.after(n), n) for n in range(1, n_trials + 1)]
    _require(study.trials == before and study.n_finished == n_trials, "the rule changes the study; only read its trials")
    for n in [*range(n_trials, 0, -1), *range(1, n_trials + 1, 2)]:
        again = _reason(rule, study.after(n), n)
        _require(
            again == reasons[n - 1],
            f"for the first {n} trials the rule returns {again!r}, and before it returned {reasons[n - 1]!r}; "
            "compute the reason from study.finished_trials, and keep nothing between calls",
        )
    batches.run(_partly_failing, n_trials, batch_size=3, max_failures=None)
    for n in range(1, n_trials + 1):
        again = _reason(rule, batches.after(n), n)
        _require(
            again == reasons[n - 1],
            f"for the first {n} trials the rule returns {again!r} while others are under way, and {reasons[n - 1]!r} if none is; "
            "use study.finished_trials and study.n_finished in place of study.trials",
        )
    _check_resumption(rule, n_trials, next((n for n, reason in enumerate(reasons, 1) if reason is not None), None))


def _reason(rule: StopRule, study: StudyResults, n: int) -> str | None:
    try:
        reason: Any = rule(study)
    except Exception as error:
        failed = sum(t.state != "ok" for t in study.finished_trials)
        raise AssertionError(
            f"the rule raises {type(error).__name__}: {error} after {n} trials, {failed} of which failed and have no value; "
            'return None while the rule cannot judge, and use only trials whose state is "ok"'
        ) from error
    text = isinstance(reason, str) and bool(reason.strip())
    _require(reason is None or text, f"the rule returns {shown_value(reason)}; return the reason to stop as text, or None")
    return None if reason is None else str(reason)


def _check_resumption(rule: StopRule, n_trials: int, end: int | None) -> None:
    """Check that a study that is interrupted ends where the undisturbed study ends."""
    if end is None or end < 2:
        return
    with tempfile.TemporaryDirectory(prefix="spotsvm-") as folder:
        for n in (end // 2, n_trials):
            with Study(_SPACE, "random", _SEED, noise=False, path=Path(folder) / "study.db") as study:
                study.run(_partly_failing, n, stop=rule, max_failures=None)
        _require(
            study.n_finished == end,
            f"an interrupted study ends after {study.n_finished} trials, and an undisturbed study after {end}; "
            "compute the reason from study.finished_trials alone",
        )


def check_executor(executor: Any, *, n_jobs: int | None = None) -> None:
    """Check that an executor evaluates the trials of a study: each its own, with failures, and in several runs.

    Parameters
    ----------
    executor : object with submit
        The executor, as for `executor` of `Study.run`. It is not shut down.
    n_jobs : int or None, default=None
        Trials at once, as for `Study.run`.

    Raises
    ------
    ArgumentError
        If `executor` is None.
    AssertionError
        If a trial has another value than the objective returns, is lost, or is not completed within a minute; the message says
        what would be right.

    See Also
    --------
    Study.run : Takes the executor.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from spotsvm import check_executor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     check_executor(executor)
    """
    if executor is None:  # `Study.run` would take its own workers
        raise ArgumentError("executor=None is no executor; use an object with submit")
    offset = 0.5

    def objective(params: dict[str, Any]) -> dict[str, float]:  # a closure, which only cloudpickle can send
        if params["x"] > 0.7:
            raise ValueError("x is too large")
        return {"value": _bowl(params) + offset, "twice": 2 * params["x"]}

    expected = Study(_SPACE, "random", 0).run(objective, 8)
    for batch_size in (4, None):
        options: dict[str, Any] = {"executor": executor, "n_jobs": n_jobs, "batch_size": batch_size, "trial_timeout": _LIMIT}
        try:
            study = Study(_SPACE, "random", 0).run(objective, 8, max_failures=None, **options)
        except Exception as error:
            raise AssertionError(
                f"a run on the executor raises {type(error).__name__}: {error}; submit(function, *args) must return a job with "
                "done and result, or a concurrent.futures.Future, in later runs as well"
            ) from error
        for trial, right in zip(study.trials, expected.trials, strict=True):
            found, wanted = ((t.params, t.state, t.value, t.extra) for t in (trial, right))
            _require(
                found == wanted,
                f"the trial of {right.params} is {trial.state!r} with the value {trial.value} and the reason {trial.reason!r}, "
                f"and the objective gives {right.state!r}, {right.value} and {right.reason!r}; submit must call function(*args) "
                "once, and the result of its job must be what the function returns",
            )


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
