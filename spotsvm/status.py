"""The status of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from spotsvm.optimism.plain import nan_to_none, plain
from spotsvm.record_writer import Writer
from spotsvm.time_spent import TimeSpent

State = Literal["running", "ended", "broken off", "idle"]


@dataclass(frozen=True)
class Incumbent:
    """The trial with the best observed value, which under noise is partly luck."""

    number: int
    value: float
    params: Mapping[str, Any]


@dataclass(frozen=True)
class RunningTrial:
    """A trial without a result yet; `seconds` since it was asked for, None if no process evaluates it or that is unknown."""

    number: int
    params: Mapping[str, Any]
    seconds: float | None


@dataclass(frozen=True)
class Status:
    """The status of a study, as `Study.status()` and `spotsvm status` report it.

    Attributes
    ----------
    path : str or None
        The record.
    state : {"running", "ended", "broken off", "idle"}
        "running": a process has the record open for writing, or the study is in memory and has a running trial. "ended": the
        budget is used, a stop rule ended the run, or every configuration was evaluated. "broken off": no process has the record
        open, and trials are left. "idle": no process has it open, and it has no budget, as after asking and telling by hand.
    reason : str
        Why the study ended; empty otherwise.
    writer : Writer or None
        The process that has the record open for writing.
    last_writer : Writer or None
        The process that had it open last, if it was killed and no other one has opened it since.
    search, seed
        The name of the search, and its seed.
    budget : int or None
        Number of trials to run; None if the study was only asked and told by hand.
    n_ok, n_failed, n_timeout, n_running : int
        Number of trials in each state.
    incumbent : Incumbent or None
        The best observed trial; None if none has succeeded, or there are several objectives.
    n_front : int or None
        Number of non-dominated trials, if there are several objectives.
    running : tuple of RunningTrial
        The trials without a result yet.
    time_spent : dict of str to TimeSpent
        Seconds spent fitting the model ("fit"), finding the next point ("acquisition"), in the rest of "asking", and in
        "evaluation".
    trials_per_minute : float or None
        Finished trials per minute of running time, over the latest trials.
    seconds_left : float or None
        Estimated time for the rest of the budget at that rate.
    seconds_since : float or None
        Time since a trial was last asked for or told.
    failures : tuple of (str, int)
        The most frequent reasons of failed trials, at most five, each with its number.
    n_lost : int
        Number of attempts at trials whose worker died.
    lost : tuple of (str, int)
        Their most frequent reasons, at most five.
    """

    path: str | None
    state: State
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
        """Number of finished trials, successful or not."""
        return self.n_ok + self.n_failed + self.n_timeout

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types; the repr of a parameter that has none of them, such as an estimator."""
        found: dict[str, Any] = nan_to_none(plain(asdict(self) | {"n_finished": self.n_finished}))
        return found
