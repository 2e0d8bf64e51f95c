"""Input of a study: configurations to start at, and trials that were evaluated elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.json_values import as_attributes, plain_number
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, NoCompletedTrialError, SpaceError, StudyMismatchError
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.judging import outcome_of, sweep_outcome
from spotsvm.trials.ledger import suggested
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.outcome import Outcome, checked_seconds, one_line
from spotsvm.trials.recommendation import summarise_failures, why_none
from spotsvm.trials.results import FIELDS, StudyResults
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import BOUNDS_HELD, FINISHED, GIVEN, START, Evaluated, Trial, holds_bounds, is_given

Floats = NDArray[np.float64]
#: rounding error of a point that a distribution's `cdf` has computed
ROUNDING = 1e-12
#: configurations of another study to start at
N_STARTS = 5
#: configurations to start at, as `Study` takes them
Start = Mapping[str, Any] | Sequence[Mapping[str, Any]]
#: what `Study` takes as `start`
StartLike = Start | StudyResults | str | Path | Sequence[StudyResults | str | Path] | None
#: a configuration and its outcome
GivenTrial = tuple[Mapping[str, Any], Outcome]


def is_records(start: Any) -> bool:
    """Return whether `start` is a list of studies or of their records."""
    others = isinstance(start, Sequence) and not isinstance(start, str | bytes) and len(start) > 0
    return others and all(isinstance(one, str | PathLike | StudyResults) for one in start)


def learned_from(
    records: Sequence[Any], space: Space, swept: SweptParameter | None, constraints: Constraints
) -> tuple[list[dict[str, Any]], OptimumPrior]:
    """Return the best configuration of each study, and the prior of the optimum learned from the best five of each."""
    name = None if swept is None else swept.name
    best = [best_configurations(one, space, name, constraints) for one in records]
    points = [space.encode(params) for some in best for params in some]
    if swept is not None:
        points = [swept.searched_point(point) for point in points]
    searched = space if swept is None else swept.searched
    return [some[0] for some in best][:N_STARTS], OptimumPrior.learned(searched.domain.snap(points), searched)


class StartingPoints:
    """The points that a study begins at, from configurations, another study or the path of its record; see `Study`.

    `params` maps the points to the parameters given, without the rounding of the points. Raises SpaceError for a configuration
    that is outside the space or violates a condition, and NoCompletedTrialError for a study without a trial that has succeeded.
    """

    def __init__(self, start: Any, space: Space, swept: SweptParameter | None, constraints: Constraints):
        self._space, self._swept = space, swept
        self._of_other = isinstance(start, str | PathLike | StudyResults) or is_records(start)
        #: the prior of the optimum, learned from several studies
        self.prior: OptimumPrior | None = None
        if is_records(start):
            start, self.prior = learned_from(start, space, swept, constraints)
        elif self._of_other:
            start = best_configurations(start, space, None if swept is None else swept.name, constraints)
        given = [] if start is None else starts(start, space)
        constraints.check_start([params for _, params in given])
        self._points = [point for point, _ in given]
        self.params = {tuple(point.tolist()): params for point, params in given}

    def left(self, trials: Sequence[Trial], path: Path | None) -> list[Floats]:
        """Return the points that no trial of a record has evaluated.

        Starts may be added, but each that a trial has evaluated must be among them (StudyMismatchError). Those taken from another
        study, which may have grown, can differ; none is left after a suggestion of the search.
        """
        if not self._points:
            return []
        given = {self._place(point) for point in self._points}
        been = [self._place(point) for point in _settled([trial.point for trial in trials], self._space)]
        left = [point for point in self._points if self._place(point) not in been]
        if self._of_other:
            n_started = sum(trial.origin == START for trial in trials)
            return left[: len(self._points) - n_started] if all(map(is_given, trials)) else []
        for trial, at in zip(trials, been, strict=True):
            if trial.origin == START and at not in given:
                raise StudyMismatchError(
                    f"{path} holds a study with another start: it began with {dict(trial.params)!r}, which is not among the "
                    "start given. Add it, leave start out, or use another file"
                )
        return left

    def _place(self, point: Floats) -> bytes:
        return (point if self._swept is None else self._swept.searched_point(point)).tobytes()


def starts(start: Start, space: Space) -> list[tuple[Floats, dict[str, Any]]]:
    """Return the points of the cube and the parameters to start with, in their order and without repetitions.

    A point within rounding of the centre is set to it, so that the search recognises it; parameters are not rounded. SpaceError
    outside the space.
    """
    given = [start] if isinstance(start, Mapping) else start
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpaceError(f"start={start!r} is not a configuration; use a dictionary of parameters, or a list of such")
    found: dict[bytes, tuple[Floats, dict[str, Any]]] = {}
    for k, params in enumerate(given):
        name = "start" if isinstance(start, Mapping) else f"start[{k}]"
        if not isinstance(params, Mapping):
            raise SpaceError(f"{name}={params!r} is not a dictionary of parameters")
        try:
            point = space.encode(params)
        except SpaceError as error:
            raise SpaceError(f"{name} is not in the space: {error}") from error
        point = _settled([point], space)[0]
        settled = space.decode(point, params)
        _, first = found.setdefault(point.tobytes(), (point, settled))
        for key, value in settled.items():
            if type(value) is int and value != first[key]:
                raise SpaceError(
                    f"{name} has {key}={value}, which a search cannot tell from the {first[key]} of an earlier start; use one of "
                    "the two, or a narrower range"
                )
    return list(found.values())


def _settled(points: ArrayLike, space: Space) -> Floats:
    """Return points, with those within rounding of a centre moved to it; shape (n, d)."""
    settled = np.array(points, dtype=float).reshape(-1, space.domain.dimension)
    for centre in space.centres():
        off = np.abs(settled - centre)
        settled[(off <= np.where(space.domain.discrete, 0.0, ROUNDING)).all(axis=1)] = centre
    return settled


def equal_start(space: Space | Start, first: Start | None = None) -> list[dict[str, Any]]:
    """Return the configurations that all searches of a comparison evaluate first: `first`, then the centre of the space.

    The centre is the median of each distribution, and the middle of integers and lists; one for each dictionary of the space.
    """
    space = space if isinstance(space, Space) else Space(space)
    first = [] if first is None else first
    starts(first, space)
    given = [first] if isinstance(first, Mapping) else first
    return [*map(dict, given), *map(space.decode, space.centres())]


def best_configurations(start: Any, space: Space, swept: str | None, constraints: Constraints) -> list[dict[str, Any]]:
    """Return the best configurations of another study, or of its record, that lie in a space, the best first.

    Those of several objectives are spread over the front, and a sweep gives its best value only. None violates conditions or the
    other study's bounds. NoCompletedTrialError or SpaceError is raised if there is none.
    """
    if not isinstance(start, StudyResults) and not Path(start).exists():
        raise SpaceError(
            f"start={shown_value(start)} is not a configuration; use a dictionary of parameters, or a list of such, or a study, "
            "or the path of its record: there is no such file"
        )
    study = start if isinstance(start, StudyResults) else RecordedStudy(start)
    done = [t for t in study.trials if t.values is not None]
    who = f"start={shown_value(start)}"
    if not done:
        raise NoCompletedTrialError(f"{who} is a study without a trial that has succeeded: {summarise_failures(study.trials)}")
    if not (done := [t for t in done if holds_bounds(t)]):
        raise NoCompletedTrialError(f"{who} is a study of which {why_none(study.trials)}")
    several = study.objectives.several
    ranked: Sequence[Trial]
    if several:
        ranked = study.pareto()
    else:
        sign = float(study.objectives.signs[0])
        ranked = sorted(done, key=lambda t: (sign * float(t.value or 0.0), t.number))
    found: dict[bytes, dict[str, Any]] = {}
    why = ""
    for t in ranked:
        try:
            point = space.encode(t.params)
        except SpaceError as error:
            why = why or f"is in the space: {error}"
            continue
        if name := constraints.violated(space.decode(point)):
            why = why or f"is allowed: {dict(t.params)!r} violates {name}"
            continue
        params = dict(t.params)
        key = repr([item for item in sorted(params.items()) if item[0] != swept]).encode()
        found.setdefault(point.tobytes() if swept is None else key, params)
        if len(found) == N_STARTS and not several:
            break
    if not found:
        raise SpaceError(f"none of the best configurations of {who} {why}")
    kept = list(found.values())
    return [kept[k] for k in np.unique(np.linspace(0, len(kept) - 1, N_STARTS).round().astype(int))] if several else kept


def given_trial(params: Any, value: Any, seconds: float | None, space: Space, swept: SweptParameter | None) -> GivenTrial:
    """Return configuration and outcome from the arguments of `Study.add_trial`; ArgumentError if one is invalid."""
    seconds = checked_seconds(seconds)
    if not isinstance(params, Mapping):
        raise ArgumentError(f"params={shown_value(params)} is not a dictionary of parameters")
    if swept is None:
        return params, _checked(outcome_of(value, seconds, "it is"), value)
    name, sweep = swept.name, cast("Any", value)
    if name in params and (not isinstance(value, Mapping) or "value" in value):
        space.encode(params)
        sweep = [(params[name], _checked(outcome_of(value, None, "it is"), value))]
    outcome = _checked(sweep_outcome(sweep, name, seconds, swept.listed, "it is"), sweep)
    return {**params, name: swept.value(outcome.sweep[0][0])}, outcome


def missing_trials(
    rows: Sequence[GivenTrial], trials: Sequence[Trial], space: Space, swept: SweptParameter | None
) -> list[GivenTrial]:
    """Return the trials from elsewhere that a study lacks; StudyMismatchError if one of its given trials is not among them."""
    left = list(range(len(rows)))
    for trial in (t for t in suggested(trials) if t.origin == GIVEN):
        same = (k for k in left if _same(trial, space, *rows[k], swept))
        if (known := next(same, None)) is None:
            raise StudyMismatchError(
                f"the record has other given trials: trial {trial.number}, {trial.params}, is not among the {len(rows)} passed "
                "now; pass it as well, or use another file"
            )
        left.remove(known)
    return [rows[k] for k in left]


def _checked(outcome: Outcome, value: Any) -> Outcome:
    """Return the outcome for a value; raise ArgumentError if the value is neither valid nor nan."""
    if outcome.fault not in ("", "not finite"):
        raise ArgumentError(
            f"value={shown_value(value)} is not a valid value of a trial: {outcome.reason}; use nan for a failed trial"
        )
    return outcome


def _same(trial: Trial, space: Space, params: Mapping[str, Any], outcome: Outcome, swept: SweptParameter | None) -> bool:
    point = tuple(space.encode(params).tolist())
    if swept is not None:
        return bool(np.array_equal(swept.searched_point(point), swept.searched_point(trial.point)))
    values = outcome.values if outcome.value is None else (outcome.value,)
    decoded = space.decode(point, params)
    whole = {name: value for name, value in decoded.items() if type(value) is int}
    return point == trial.point and values == trial.values and all(trial.params[name] == value for name, value in whole.items())


def trials_of_table(
    frame: pd.DataFrame, space: Space, objectives: Objectives, swept: SweptParameter | None = None
) -> list[GivenTrial]:
    """Return the configuration and the outcome of each finished row of a table; see `Study.from_frame`.

    Where a parameter is swept, rows with the same other parameters are one sweep.
    """
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(f"frame={shown_value(frame)} is not a pandas.DataFrame")
    columns = {name: next((c for c in (f"param_{name}", name) if c in frame.columns), None) for name in space.names}
    fixed = {name for branch in space.branches for name, parameter in branch.items() if parameter.levels == 1}
    everywhere = {name for name in space.names if all(name in branch for branch in space.branches)}
    lacking = [name for name in everywhere - fixed if columns[name] is None]
    lacking += [name for name in objectives.columns if name not in frame.columns]
    if lacking:
        raise ArgumentError(f"frame has no column for {', '.join(sorted(lacking))}; it has {', '.join(map(str, frame.columns))}")
    rows: list[GivenTrial] = []
    every: Any = frame.to_dict("records")
    for k, cells in enumerate(every):
        if cells.get("state") == "running":
            continue
        given = {name: cells[column] for name, column in columns.items() if column is not None and not _is_missing(cells[column])}
        try:
            rows.append((_params(given, space), _outcome(cells, objectives)))
        except SpaceError as error:
            raise SpaceError(f"row {k} of the frame is not in the space: {error}") from error
        except ArgumentError as error:
            raise ArgumentError(f"row {k} of the frame: {error}") from error
    return rows if swept is None else _sweeps(rows, space, swept)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _params(given: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Return the values of a row as parameters of the first dictionary of the space that they fit."""
    problem = None
    for branch in space.branches:
        if not set(given) <= set(branch):
            continue
        params = {name: _fitting(parameter, given.get(name)) for name, parameter in branch.items()}
        try:
            space.encode(params)
            return params
        except SpaceError as error:
            problem = problem or error
    raise problem or SpaceError(f"no dictionary of the space has exactly {', '.join(given)}")


def _fitting(parameter: Parameter, value: Any) -> Any:
    """Return a cell as a value of a parameter: whole floats become integers, and texts the values of a list."""
    return parameter.read(value.item() if isinstance(value, np.generic) else value)


def _outcome(cells: Mapping[str, Any], objectives: Objectives) -> Outcome:
    values = [None if _is_missing(cells[name]) else plain_number(cells[name]) for name in objectives.columns]
    for name, value in zip(objectives.columns, values, strict=True):
        if value is None and not _is_missing(cells[name]):
            raise ArgumentError(f"{name}={shown_value(cells[name])} is not a number; leave it empty for a trial that failed")
    extra = {str(name).removeprefix("extra_"): plain_number(v) for name, v in cells.items() if str(name).startswith("extra_")}
    known = {name: number for name, number in extra.items() if number is not None and not np.isnan(number)}
    known.pop(BOUNDS_HELD, None)  # by the bounds of another study
    prefix = "attribute_"
    attributes = as_attributes(
        {str(c).removeprefix(prefix): v for c, v in cells.items() if str(c).startswith(prefix) and not _is_missing(v)}
    )
    numbers = tuple(number for number in values if number is not None and np.isfinite(number))
    state = cells.get("state", "ok")
    if state not in FINISHED:
        raise ArgumentError(f"state={shown_value(state)} is unknown; use ok, stopped, failed, timeout or running")
    seconds = None if _is_missing(cells.get("seconds")) else checked_seconds(cells["seconds"])
    texts: dict[str, Any] = {name: one_line(cells[name]) for name in _TEXTS if isinstance(cells.get(name), str)}
    outcome = Outcome(extra=known, seconds=seconds, attributes=attributes, **texts)
    step, last = (plain_number(cells.get(name)) for name in ("last_step", "last_value"))
    if state == "stopped" and step is not None and last is not None and np.isfinite([step, last]).all():
        return replace(outcome, state="stopped", reason=outcome.reason or _NO_VALUE, steps=((step, last),))
    if state != "ok" or len(numbers) < len(values):
        return replace(outcome, state="timeout" if state == "timeout" else "failed", reason=outcome.reason or _NO_VALUE)
    if objectives.several:
        return replace(outcome, state="ok", values=numbers)
    return replace(outcome, state="ok", value=numbers[0])


_NO_VALUE = "it has no value"
#: the texts of an outcome, each of which has a column
_TEXTS = tuple(one.name for one in fields(Evaluated) if one.name in FIELDS and isinstance(one.default, str))


def _sweeps(rows: list[GivenTrial], space: Space, swept: SweptParameter) -> list[GivenTrial]:
    """Return rows with the same other parameters as one row with a sweep."""
    found: dict[bytes, GivenTrial] = {}
    for params, outcome in rows:
        key = swept.searched_point(space.encode(params)).tobytes()
        first, sweep = found.get(key, (params, Outcome("ok", seconds=outcome.seconds)))
        pair = (swept.key(params[swept.name]), outcome)
        found[key] = (first, replace(sweep, sweep=(*sweep.sweep, pair)))
    return list(found.values())
