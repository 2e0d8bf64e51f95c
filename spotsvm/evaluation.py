"""Evaluate an objective: here, on an executor, or in a worker process that can be killed when its time is up."""

from __future__ import annotations

import concurrent.futures
import math
import numbers
import pickle
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from spotsvm.trial import State

Values = Sequence[float] | Mapping[str, float]
Objective = Callable[[dict[str, Any]], float | Sequence[float] | Mapping[str, float | Values]]


@dataclass(frozen=True)
class Outcome:
    """What came of evaluating one configuration; the fields are those of a Trial.

    `values` are there where several were returned, as a tuple or by name, and `value` where one was.
    """

    state: State
    value: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    seconds: float | None = None
    error: BaseException | None = None
    values: tuple[float, ...] | Mapping[str, float] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle; an error that would not unpickle, and so would break the pool that it is sent through, as its text."""
        error = self.error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # what an error of the user's raises when it is pickled can be anything
            error = RuntimeError(self.reason)
        return Outcome, (self.state, self.value, dict(self.extra), self.reason, self.seconds, error, self.values)


def outcome_of(returned: Any, seconds: float | None = None) -> Outcome:
    """Judge what an objective returned.

    Parameters
    ----------
    returned : object
        A finite number; two or more of them in a sequence; or a mapping with a number under "value" or several under
        "values" (a sequence, or a mapping by the names of the objectives), and further named numbers. All else is a failure.
    seconds : float, optional
        Time that the evaluation took.

    Examples
    --------
    >>> outcome_of({"values": [0.1, 12], "time": 3}).values
    (0.1, 12.0)
    >>> outcome_of(float("nan")).reason
    'the objective returned nan'
    """
    extra: dict[str, float] = {}
    value, several = returned, _is_several(returned)
    if isinstance(returned, Mapping):
        key = "value" if "value" in returned else "values"
        if key not in returned:
            keys = ", ".join(sorted(map(repr, returned)))
            reason = f"the objective returned a mapping without 'value', or 'values' of several objectives (it has {keys})"
            return Outcome("failed", reason=reason, seconds=seconds)
        value, several = returned[key], key == "values"
        for name, number in returned.items():
            if name == key:
                continue
            if not isinstance(name, str) or not _is_number(number):
                return Outcome(
                    "failed", reason=f"the objective returned {name!r}: {number!r}, which is not a named number", seconds=seconds
                )
            extra[name] = float(number)
    if several:
        return _outcome_of_values(value, extra, seconds)
    if not _is_number(value):
        return Outcome(
            "failed", extra=extra, reason=f"the objective returned {_short(value)}, which is not a number", seconds=seconds
        )
    if not math.isfinite(float(value)):
        return Outcome("failed", extra=extra, reason=f"the objective returned {float(value)}", seconds=seconds)
    return Outcome("ok", float(value), extra, seconds=seconds)


def _outcome_of_values(given: Any, extra: Mapping[str, float], seconds: float | None) -> Outcome:
    named = isinstance(given, Mapping)
    numbers = list(given.values()) if named else list(given) if _is_row(given) else []
    if not numbers or not all(map(_is_number, numbers)):
        reason = f"the objective returned 'values': {_short(given)}, which are not numbers"
        return Outcome("failed", extra=extra, reason=reason, seconds=seconds)
    values = tuple(float(number) for number in numbers)
    if not all(map(math.isfinite, values)):
        return Outcome("failed", extra=extra, reason=f"the objective returned {_short(list(values))}", seconds=seconds)
    return Outcome("ok", None, extra, seconds=seconds, values=dict(zip(given, values, strict=True)) if named else values)


def _is_several(returned: Any) -> bool:
    return _is_row(returned) and len(returned) > 1 and all(map(_is_number, returned))


def _is_row(value: Any) -> bool:
    """Tell whether a value is a list, a tuple or an array of one dimension."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def call(objective: Objective, params: dict[str, Any]) -> Outcome:
    """Evaluate the objective once; whatever it raises becomes a failed outcome."""
    began = time.perf_counter()
    try:
        returned = objective(params)
        return outcome_of(returned, time.perf_counter() - began)
    except Exception as error:
        return Outcome("failed", reason=_reason(error), seconds=time.perf_counter() - began, error=error)


class Evaluator(Protocol):
    """Evaluates configurations, several at once where it can, and gives the outcomes in the order given."""

    def evaluate(self, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
        """Evaluate each configuration."""
        ...


class Here(AbstractContextManager["Here"]):
    """One after the other, in this process."""

    def __init__(self, objective: Objective):
        self._objective = objective

    def evaluate(self, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
        """Evaluate each configuration."""
        for params in batch:
            yield call(self._objective, params)

    def __exit__(self, *details: object) -> None:
        return None


class OnExecutor(AbstractContextManager["OnExecutor"]):
    """All of a batch at once on an executor of the user's; a trial past its time is given up, but its worker stays busy."""

    def __init__(self, objective: Objective, executor: concurrent.futures.Executor, timeout: float | None):
        self._objective, self._executor, self._timeout = objective, executor, timeout

    def evaluate(self, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
        """Evaluate each configuration."""
        began = time.monotonic()
        futures = [self._executor.submit(call, self._objective, params) for params in batch]
        workers = getattr(self._executor, "_max_workers", None) or len(batch)
        for k, future in enumerate(futures):
            try:
                if self._timeout is None:
                    yield future.result()
                    continue
                # the time of a trial that waits for a worker begins when the worker's earlier ones must have ended
                outcome = future.result(max(began + self._timeout * (k // workers + 1) - time.monotonic(), 0.0))
                yield outcome if (outcome.seconds or 0.0) <= self._timeout else timed_out(self._timeout)
            except concurrent.futures.TimeoutError:
                future.cancel()
                yield timed_out(self._timeout)
            except Exception as error:  # the executor's own: a broken pool, a result that would not pickle
                yield Outcome("failed", reason=_reason(error), error=error)

    def __exit__(self, *details: object) -> None:
        return None


class InKillableWorkers(AbstractContextManager["InKillableWorkers"]):
    """All of a batch at once in worker processes of our own, which are killed when a trial outlives its time.

    Killing takes the whole pool, so the other trials of the batch start again in a new one.
    """

    def __init__(self, objective: Objective, workers: int, timeout: float):
        import cloudpickle

        self._payload = cloudpickle.dumps(objective)
        self._workers, self._timeout = workers, timeout
        self._pool: Any = None
        self._suspicious = False

    def evaluate(self, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
        """Evaluate each configuration."""
        done: dict[int, Outcome] = {}
        while len(done) < len(batch):
            self._evaluate_rest(batch, done)
        for k in range(len(batch)):
            yield done[k]

    def _evaluate_rest(self, batch: Sequence[dict[str, Any]], done: dict[int, Outcome]) -> None:
        """Start what is not done yet, as many as there are workers, and kill the pool if one is late or dies."""
        waiting = [k for k in range(len(batch)) if k not in done][: 1 if self._suspicious else self._workers]
        pool = self._ready_pool()
        futures = {k: pool.submit(_call_pickled, self._payload, batch[k]) for k in waiting}
        concurrent.futures.wait(futures.values(), timeout=self._timeout)
        died = False
        for k, future in futures.items():
            ended = future.done()
            error = future.exception() if ended else None
            if not ended:
                done[k] = timed_out(self._timeout)
            elif error is None:
                done[k] = future.result()
            elif not isinstance(error, concurrent.futures.BrokenExecutor):
                done[k] = Outcome("failed", reason=_reason(error))
            elif len(waiting) == 1:
                done[k] = Outcome("failed", reason="the worker process died (killed, out of memory, or a crash in compiled code)")
            died = died or isinstance(error, concurrent.futures.BrokenExecutor)
        # a dead worker takes the whole pool: go on one by one, so that only the trial that killed it fails
        self._suspicious = died
        if died or any(done[k].state == "timeout" for k in waiting if k in done):
            self._kill()

    def _ready_pool(self) -> Any:
        if self._pool is None:
            import loky

            self._pool = loky.ProcessPoolExecutor(max_workers=self._workers)
            # the time limit is for the objective: start the workers and load its imports first
            for future in [self._pool.submit(_load, self._payload) for _ in range(self._workers)]:
                future.result()
        return self._pool

    def _kill(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def __exit__(self, *details: object) -> None:
        self._kill()


def timed_out(timeout: float | None) -> Outcome:
    """Make the outcome of a trial that outlived its time."""
    return Outcome("timeout", reason=f"it took longer than trial_timeout={timeout:g} s", seconds=timeout)


def _load(payload: bytes) -> Objective:
    import cloudpickle

    return cast("Objective", cloudpickle.loads(payload))


def _call_pickled(payload: bytes, params: dict[str, Any]) -> Outcome:
    return call(_load(payload), params)


def _reason(error: BaseException) -> str:
    """Say in one line what was raised and where."""
    try:
        text = one_line(str(error))
    except Exception:  # an error that cannot even say what it is
        text = ""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text[:500]}{where}"


def one_line(text: str) -> str:
    """Give text as one line that can be written as UTF-8: a file name in an error's text may hold what cannot."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def _is_number(value: Any) -> bool:
    if isinstance(value, numbers.Real):
        return True
    try:
        return getattr(value, "shape", None) == () and isinstance(value.item(), numbers.Real)
    except (AttributeError, TypeError, ValueError):
        return False


def _short(value: Any) -> str:
    text = one_line(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
