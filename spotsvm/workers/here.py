"""Evaluate trials in this process."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager
from typing import Any

from spotsvm.evaluation import Objective, Outcome, call
from spotsvm.interrupts import interrupts_allowed


class Here(AbstractContextManager["Here"]):
    """One trial after the other, in this process and this thread, while somebody waits for it.

    Parameters
    ----------
    objective : callable
        What is evaluated. What it raises makes a failed outcome, but for KeyboardInterrupt and SystemExit, which are raised.

    Examples
    --------
    >>> with Here(lambda params: params["x"] ** 2) as workers:
    ...     workers.submit(7, {"x": 3})
    ...     [(key, outcome.value) for key, outcome in workers.wait()]
    [(7, 9.0)]
    """

    n_workers = 1

    def __init__(self, objective: Objective):
        self._objective = objective
        self._waiting: deque[tuple[int, dict[str, Any]]] = deque()

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Keep a trial for `wait` to evaluate."""
        self._waiting.append((key, params))

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Evaluate the trial that has waited longest, however long it takes."""
        if not self._waiting:
            return []
        key, params = self._waiting.popleft()
        with interrupts_allowed():
            return [(key, call(self._objective, params))]

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Forget what waits."""
        self._waiting.clear()
        return []

    def __exit__(self, *details: object) -> None:
        self._waiting.clear()
