"""Simulated workers: an evaluation ends at its virtual time, and takes no real time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from spotsvm.trials.evaluation import call
from spotsvm.trials.outcome import Outcome


class VirtualWorkers(AbstractContextManager["VirtualWorkers"]):
    """Workers as `spotsvm.study.workers` defines them, on a virtual clock; an evaluation takes one second by default.

    Time that passes on `clock` between two calls of `wait` passes on the virtual clock as well: with `time.perf_counter` the
    workers wait while a trial is suggested. `most` is the largest number of evaluations at once.
    """

    def __init__(
        self,
        objective: Callable[[dict[str, Any]], Any],
        n_workers: int,
        duration: Callable[[dict[str, Any]], float] = lambda params: 1.0,
        clock: Callable[[], float] = lambda: 0.0,
    ):
        self.n_workers, self._objective, self._duration, self._clock = n_workers, objective, duration, clock
        self._time, self._since, self.most = 0.0, clock(), 0
        self.running: dict[Any, tuple[float, dict[str, Any]]] = {}
        self.spans: list[tuple[float, float]] = []
        self.submitted: list[Any] = []

    @property
    def now(self) -> float:
        """The virtual time."""
        return self._time + (self._clock() - self._since)

    @property
    def busy(self) -> float:
        """Seconds of all evaluations."""
        return sum(end - start for start, end in self.spans)

    def busy_share(self) -> float:
        """Return the share of the workers' time, from the first submission to the last, in which they evaluate."""
        first, last = self.spans[0][0], self.spans[-1][0]
        return sum(min(end, last) - start for start, end in self.spans) / (self.n_workers * (last - first))

    def submit(self, key: Any, params: dict[str, Any]) -> None:
        """Start an evaluation."""
        now = self.now
        end = now + self._duration(params)
        self.spans.append((now, end))
        self.submitted.append(key)
        self.running[key] = end, params
        self.most = max(self.most, len(self.running))

    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        """Return the evaluations that have ended; advance the clock to the next end unless `timeout` is 0."""
        now = self.now
        if timeout != 0 and self.running:
            now = max(now, min(end for end, _ in self.running.values()))
        due = sorted((key for key, (end, _) in self.running.items() if end <= now), key=lambda key: self.running[key][0])
        ended = [(key, call(self._objective, self.running.pop(key)[1])) for key in due]
        self._time, self._since = now, self._clock()
        return ended

    def abandon(self) -> list[Any]:
        """Return the keys of running evaluations, and stop them."""
        self.running.clear()
        return []

    def __exit__(self, *details: object) -> None:
        self.running.clear()


def log_normal_durations(seed: int, n: int, mean: float, spread: float = 0.5) -> list[float]:
    """Return log-normal durations of a given mean; `spread` is the standard deviation of their logarithms."""
    return [float(x) for x in mean * np.random.default_rng(seed).lognormal(-(spread**2) / 2, spread, n)]
