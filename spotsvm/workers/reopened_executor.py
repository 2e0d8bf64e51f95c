"""Evaluate trials on an executor of processes that is opened anew when one of them dies."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from spotsvm.errors import WorkersError
from spotsvm.evaluation import Objective, Outcome
from spotsvm.workers.on_executor import OnExecutor

_LOG = logging.getLogger(__name__)
_DRAIN = 1.0  # seconds that the news of a broken executor's trials may take
_OPENINGS = 3  # executors that may break, one after the other, with no trial under way


class OnReopenedExecutor(AbstractContextManager["OnReopenedExecutor"]):
    """Trials on an executor of our own, whose processes break it when they die; a new one then takes its place.

    Such an executor cannot tell which trial its process died of. Those that were under way are evaluated once more, one at a
    time: the one that is under way alone when a process dies is lost, and no other. Where it comes again, it is evaluated alone.

    Parameters
    ----------
    objective : callable
        What is evaluated.
    make_executor : callable
        Opens an executor.
    n_workers : int
        How many trials it evaluates at once.
    trial_timeout : float, optional
        Seconds that a trial may take. Its process stays busy, and is killed once all are stuck so.
    memory_limit : int or str, optional
        Memory that a trial may take; see `OnExecutor`.

    Raises
    ------
    WorkersError
        If executors break again and again while no trial is under way.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with OnReopenedExecutor(lambda params: params["x"] ** 2, lambda: ThreadPoolExecutor(2), 2) as workers:
    ...     workers.submit(0, {"x": 3})
    ...     [(key, outcome.value) for key, outcome in workers.wait()]
    [(0, 9.0)]
    """

    def __init__(
        self,
        objective: Objective,
        make_executor: Callable[[], Executor],
        n_workers: int,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
    ):
        self._make_executor = make_executor
        self._on_executor = partial(
            OnExecutor, objective, n_workers=n_workers, trial_timeout=trial_timeout, memory_limit=memory_limit, is_ours=True
        )
        self._workers = self._on_executor(executor=make_executor())
        self._open: dict[int, dict[str, Any]] = {}
        self._waiting: deque[int] = deque()
        self._under_way: dict[int, None] = {}
        self._suspects: set[int] = set()
        self._broke_idle = 0

    @property
    def n_workers(self) -> int:
        """How many trials it can evaluate at once, now; one, while it is looked for the trial that a process died of."""
        n_workers = self._workers.n_workers
        return min(n_workers, 1) if self._suspects & self._open.keys() else n_workers

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Hand over a trial."""
        self._open[key] = params
        self._waiting.append(key)
        self._hand_over()

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial has ended; give all that have, in the order in which they ended."""
        until = None if timeout is None else time.monotonic() + timeout
        while self._open:
            self._hand_over()
            left = None if until is None else max(until - time.monotonic(), 0.0)
            ended = self._taken(left)
            if ended or left == 0.0:
                return ended
        return []

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Give what has ended, and cancel the rest."""
        self._open.clear()
        self._waiting.clear()
        self._under_way.clear()
        return self._workers.abandon()

    def __exit__(self, *details: object) -> None:
        self._workers.__exit__()

    def _hand_over(self) -> None:
        while self._waiting and self._may_go(self._waiting[0]):
            key = self._waiting[0]
            try:
                self._workers.submit(key, self._open[key])
            except WorkersError:  # it broke; `wait` sees to that
                return
            self._under_way[self._waiting.popleft()] = None

    def _may_go(self, key: int) -> bool:
        return not self._under_way or (key not in self._suspects and not self._suspects & self._under_way.keys())

    def _taken(self, timeout: float | None) -> list[tuple[int, Outcome]]:
        try:
            ended = self._workers.wait(timeout)
        except WorkersError as error:  # all are stuck
            _LOG.warning("the worker processes are killed, and new ones started: %s", error)
            settled = self._settled(self._workers.abandon())
            self._reopen()
            return settled
        if not self._workers.broken:
            return self._settled(ended)
        while self._under_way.keys() - dict(ended) and (more := self._workers.wait(_DRAIN)):
            ended += more
        return self._after_a_death(ended)

    def _after_a_death(self, ended: list[tuple[int, Outcome]]) -> list[tuple[int, Outcome]]:
        """Open a new executor; where one trial alone was under way, it is lost, and else each is a suspect."""
        lost = {key: outcome for key, outcome in ended if outcome.lost}
        survived = [(key, outcome) for key, outcome in ended if not outcome.lost]
        gone = [key for key in self._under_way if key not in dict(survived)]
        self._broke_idle = 0 if self._under_way else self._broke_idle + 1
        if self._broke_idle == _OPENINGS:
            raise WorkersError(
                f"executors of worker processes broke {_OPENINGS} times in a row with no trial under way "
                f"({self._workers.broken}); try the objective without executor, or with fewer n_jobs"
            )
        if len(gone) == 1 and gone[0] in lost:
            survived.append((gone[0], lost[gone[0]]))
        else:
            _LOG.warning(
                "a worker process died with %d trials under way, which are evaluated once more, one at a time: %s",
                len(gone),
                gone,
            )
            self._suspects.update(gone)
        settled = self._settled(survived)
        self._reopen()
        return settled

    def _reopen(self) -> None:
        """Put a new executor in the place of this one; what was under way on it waits, before all else."""
        self._waiting.extendleft(reversed(self._under_way))
        self._under_way.clear()
        self._workers.__exit__()
        self._workers = self._on_executor(executor=self._make_executor())

    def _settled(self, ended: list[tuple[int, Outcome]]) -> list[tuple[int, Outcome]]:
        for key, outcome in ended:
            del self._open[key]
            self._under_way.pop(key, None)
            (self._suspects.add if outcome.lost else self._suspects.discard)(key)
        return ended
