"""How a study stands, as `spotsvm status` says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from spotsvm.record_writer import Writer
from spotsvm.time_spent import TimeSpent

Stand = Literal["running", "ended", "broken off", "idle"]


@dataclass(frozen=True)
class Incumbent:
    """The trial with the best value seen, which under noise is a lucky one."""

    number: int
    value: float
    params: Mapping[str, Any]


@dataclass(frozen=True)
class RunningTrial:
    """A trial that is not told yet; `seconds` since it was asked for, None where no process evaluates it or nobody knows."""

    number: int
    params: Mapping[str, Any]
    seconds: float | None


@dataclass(frozen=True)
class Status:
    """How a study stands.

    Attributes
    ----------
    path : str or None
        The record.
    state : {"running", "ended", "broken off", "idle"}
        "running": a process has it open for writing, or it is in memory and has a running trial. "ended": it has its budget, or
        a stop rule ended it, or its space is used up. "broken off": no process has it open, and trials are left. "idle": the
        same, of a study that was asked and told by hand and has no budget.
    reason : str
        Why it ended; empty otherwise.
    writer : Writer or None
        The process that has it open for writing.
    last_writer : Writer or None
        The one that had, if it was killed and nobody has taken its place.
    search, seed
        Those of the study.
    budget : int or None
        Trials that it is to have in the end; None where it was asked and told by hand.
    n_ok, n_failed, n_timeout, n_running : int
        Trials in each state.
    incumbent : Incumbent or None
        The best trial seen; None where none has succeeded, or there are several objectives.
    n_front : int or None
        Of several objectives, how many trials no other dominates.
    running : tuple of RunningTrial
        The trials that are not told yet.
    time_spent : dict of str to TimeSpent
        Seconds spent in fitting the model ("fit"), finding the next point ("acquisition"), the rest of "asking", "evaluation".
    trials_per_minute : float or None
        How many have ended a minute, of late, while it ran.
    seconds_left : float or None
        What the rest of the budget takes at that pace.
    seconds_since : float or None
        Since a trial was last asked for or told.
    failures : tuple of (str, int)
        The commonest reasons of failed trials, five at most, and how often each.
    n_lost : int
        Attempts at trials that ended with their worker.
    lost : tuple of (str, int)
        Their commonest reasons, five at most.
    """

    path: str | None
    state: Stand
    reason: str
    writer: Writer | None
    last_writer: Writer | None
    search: str
    seed: int | None
    budget: int | None
    n_ok: int
    n_failed: int
    n_timeout: int
    n_running: int
    incumbent: Incumbent | None
    n_front: int | None
    running: tuple[RunningTrial, ...]
    time_spent: Mapping[str, TimeSpent]
    trials_per_minute: float | None
    seconds_left: float | None
    seconds_since: float | None
    failures: tuple[tuple[str, int], ...]
    n_lost: int
    lost: tuple[tuple[str, int], ...]

    @property
    def n_finished(self) -> int:
        """How many trials have ended, well or not."""
        return self.n_ok + self.n_failed + self.n_timeout

    def to_dict(self) -> dict[str, Any]:
        """Give all of it in JSON's types; a parameter that has none of them, such as an estimator, as its text."""
        return {name: _plain(value) for name, value in [*asdict(self).items(), ("n_finished", self.n_finished)]}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)
