"""The status of a study, and its report, also while it runs."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from spotsvm.common.facts import Facts, ShowsFacts
from spotsvm.common.json_values import nan_to_none, plain
from spotsvm.common.text import counted, duration
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.solvers.pareto import non_dominated
from spotsvm.space.space import Space
from spotsvm.study.record.opening import Writer, left_behind, lock_path, writer_of
from spotsvm.study.record.record import read_ledger
from spotsvm.trials.findings import CALLBACK, Findings
from spotsvm.trials.ledger import Ledger, suggested
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.own_unit import OwnUnits
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.sweep import described_sweep
from spotsvm.trials.timing import TimeSpent, time_spent, trials_per_minute
from spotsvm.trials.trial import FAILED, FINISHED, Trial, holds_bounds

State = Literal["running", "ended", "broken off", "idle"]


@dataclass(frozen=True)
class Incumbent:
    """The trial with the best observed value, which under noise is too good on average.

    `metric` is the name of the scorer where the value is a negated error, else empty.
    """

    number: int
    value: float
    params: Mapping[str, Any]
    metric: str = ""


@dataclass(frozen=True)
class RunningTrial:
    """A trial without a result yet; `seconds` since it was asked for, None if no process evaluates it or that is unknown."""

    number: int
    params: Mapping[str, Any]
    seconds: float | None


@dataclass(frozen=True, repr=False)
class Status(ShowsFacts):
    """The status of a study, as `Study.status()` and `spotsvm status` report it.

    Attributes
    ----------
    path : str or None
        The record.
    state : {"running", "ended", "broken off", "idle"}
        "running": a process has the record open for writing, or the study is in memory and has a running trial. "ended": the
        budget is used, a stop rule or a time limit ended the run, or every configuration was evaluated. "broken off": no process
        has the record open, and trials are left. "idle": no process has it open, and it has no budget, as after asks and tells
        by hand.
    reason : str
        Why the study ended; empty otherwise.
    writer : Writer or None
        The process that has the record open for writing.
    last_writer : Writer or None
        The process that had it open last, if it was killed and no other one has opened it since.
    search, seed
        The name of the search, and its seed.
    n_trials : int or None
        Number of trials to run; None if the study was only asked and told by hand.
    n_ok, n_stopped, n_failed, n_timeout, n_running : int
        Number of trials in each state.
    incumbent : Incumbent or None
        The best observed trial of those that hold the bounds; None if there is none, or there are several objectives.
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
        The most frequent reasons of failed trials, at most five, each with its count.
    n_lost : int
        Number of attempts at trials whose worker died.
    lost : tuple of (str, int)
        The most frequent reasons of these deaths, at most five, each with its count.

    See Also
    --------
    Study.status : Returns it.
    Trial : One trial of a study.

    Examples
    --------
    >>> from spotsvm import Study
    >>> status = (
    ...     Study({"x": [1, 2, 3]}, "random", 0)
    ...     .run(lambda p: p["x"], n_trials=2)
    ...     .status()
    ... )
    >>> status.state, status.n_finished, status.n_trials
    ('ended', 2, 2)
    """

    path: str | None
    state: State
    reason: str
    writer: Writer | None
    last_writer: Writer | None
    search: str
    seed: int | None
    n_trials: int | None
    n_ok: int
    n_stopped: int
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

    def _facts(self) -> Facts:
        budget = "" if self.n_trials is None else f" of {self.n_trials}"
        rows: list[tuple[str, Any]] = [("search", f"{self.search}, seed {self.seed}"), ("finished", f"{self.n_finished}{budget}")]
        counts = (
            ("stopped", self.n_stopped),
            ("failed", self.n_failed),
            ("timed out", self.n_timeout),
            ("running", self.n_running),
        )
        rows += [(name, number) for name, number in counts if number]
        if self.incumbent is not None:
            rows.append(("best seen", f"{self.incumbent.value:.6g} in trial {self.incumbent.number}"))
        if self.n_front is not None:
            rows.append(("front", counted(self.n_front, "trial")))
        if self.seconds_left:
            rows.append(("time left", duration(self.seconds_left)))
        rows += [("record", self.path)] if self.path else []
        return f"Status: {self.state}{f' ({self.reason})' if self.reason else ''}", rows

    @property
    def n_finished(self) -> int:
        """Number of finished trials, successful or not.

        See Also
        --------
        Study.n_finished : The number in a study that is open.
        """
        return self.n_ok + self.n_stopped + self.n_failed + self.n_timeout

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types; a parameter without a JSON type, such as an estimator, becomes its repr.

        Returns
        -------
        dict
            The attributes by name.

        See Also
        --------
        Study.status : The status of a study that is open.
        """
        found: dict[str, Any] = nan_to_none(plain(asdict(self) | {"n_finished": self.n_finished}))
        return found


def read_status(path: str | Path) -> Status:
    """Return the status of the study in a record; the record is only read, and a process writing to it is not held up."""
    return status_of_ledger(read_ledger(path), Path(path))


def status_of_ledger(ledger: Ledger, path: Path) -> Status:
    """Return the status of the study in a record, given its ledger."""
    objectives = Objectives.described(ledger.about.get("direction", "minimize"), ledger.trials)
    return status_of(ledger.trials, ledger.about, ledger.findings, objectives, path)


def status_of(
    trials: Sequence[Trial],
    about: Mapping[str, Any],
    findings: Findings,
    objectives: Objectives,
    path: Path | None,
) -> Status:
    """Return the status of a study, given its trials, its description and findings, and the path of its record, if any."""
    trials = suggested(trials)
    counts = Counter(t.state for t in trials)
    writer = None if path is None else writer_of(path)
    budget = about.get("budget")
    budget = budget if isinstance(budget, int) and 0 < budget < 2**53 else None
    n_finished = sum(counts[state] for state in FINISHED)
    reason = _why_ended(trials, n_finished, budget, about, findings)
    state = _state(path, writer, budget, counts["running"], reason)
    pace, now = trials_per_minute(trials), time.time()
    last = max((at for t in trials for at in (t.asked_at, t.told_at) if at is not None and math.isfinite(at)), default=None)
    left = None if budget is None or not pace or state == "ended" else 60.0 * max(budget - n_finished, 0) / pace
    seed = about.get("seed")
    found = [t.values for t in trials if t.values is not None and holds_bounds(t)]
    return Status(
        None if path is None else str(path),
        state,
        reason if state == "ended" else "",
        writer,
        None if path is None or writer is not None else _last_writer(path),
        str(about.get("search", "")),
        seed if isinstance(seed, int) else None,
        budget,
        counts["ok"],
        counts["stopped"],
        counts["failed"],
        counts["timeout"],
        counts["running"],
        None if objectives.several else _incumbent(trials, objectives, OwnUnits.of(about, objectives).error),
        len(non_dominated(objectives.turned(found)) if found else ()) if objectives.several else None,
        tuple(_running(t, state == "running", writer, now) for t in trials if t.state == "running"),
        time_spent(trials),
        pace,
        left,
        None if last is None else max(now - last, 0.0),
        _commonest([t.reason or "no reason given" for t in trials if t.state in FAILED]),
        sum(len(t.lost) for t in trials),
        _commonest([reason for t in trials for reason in t.lost]),
    )


def _last_writer(path: Path) -> Writer | None:
    try:
        with lock_path(path).open("rb") as file:
            return left_behind(file.fileno())
    except OSError:
        return None


def _state(path: Path | None, writer: Writer | None, budget: int | None, n_running: int, why_ended: str) -> State:
    if why_ended and not n_running:
        return "ended"
    if writer is not None or (path is None and n_running):
        return "running"
    return "idle" if path is None or (budget is None and not n_running) else "broken off"


def _why_ended(
    trials: Sequence[Trial],
    n_finished: int,
    budget: int | None,
    about: Mapping[str, Any],
    findings: Findings,
) -> str:
    """Return why no further trial will be run; an empty text if one will, as far as the record shows."""
    if budget is None:
        return ""
    if n_finished >= budget:
        return "all trials of the budget are finished"
    if (stop := findings.stop) is not None and stop.stopped and stop.n_trials == n_finished:
        return "a callback ended the run" if stop.rule == CALLBACK else "the stop rule ended the run"
    if (limit := findings.timeout) is not None and limit.timed_out and limit.n_trials == n_finished:
        return "the time of the run was up"
    if n_finished and _n_evaluated(trials, about) >= _n_configurations(about):
        return "every configuration in its space has been evaluated"
    return ""


def _n_evaluated(trials: Sequence[Trial], about: Mapping[str, Any]) -> int:
    """Return how many configurations were evaluated, of a swept study without the swept parameter."""
    left_out = about.get("sweep")
    done = [t for t in trials if t.state in FINISHED]
    if left_out is None:
        return len({t.point for t in done})
    return len({repr([item for item in t.params.items() if item[0] != left_out]) for t in done})


def _n_configurations(about: Mapping[str, Any]) -> float:
    """Return the number of configurations that a search can suggest in a described space; `inf` if infinite or unknown."""
    try:
        space = Space.described(about.get("space"))
        swept = described_sweep(about, space)
        return (space if swept is None else swept.searched).domain.size
    except (SpaceError, ArgumentError):
        return math.inf


def _incumbent(trials: Sequence[Trial], objectives: Objectives, error: ScoreUnit | None) -> Incumbent | None:
    done = [(t, t.value) for t in trials if t.value is not None and may_be_best(t)]
    if not done:
        return None
    best, value = done[int(objectives.turned([value for _, value in done]).argmin())]
    return Incumbent(best.number, value, dict(best.params), "" if error is None else error.metric)


def _running(trial: Trial, runs: bool, writer: Writer | None, now: float) -> RunningTrial:
    """Return a running trial; one of an earlier process counts from the time at which the present writer opened the record."""
    since = trial.asked_at if runs else None
    if since is not None and writer is not None:
        with suppress(ValueError):
            since = max(since, datetime.fromisoformat(writer.since).replace(tzinfo=UTC).timestamp())
    return RunningTrial(trial.number, dict(trial.params), None if since is None else max(now - since, 0.0))


def _commonest(reasons: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(reasons).most_common(5))
