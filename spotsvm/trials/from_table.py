"""Trials from a table: their parameters as values of a space, and their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.errors import ArgumentError, SpaceError
from spotsvm.common.text import shown_value
from spotsvm.space.parameter import ChoiceParameter, IntegerParameter, Parameter, is_number
from spotsvm.space.space import Space
from spotsvm.trials.attributes import as_attributes
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.profile import Profile
from spotsvm.trials.recommendation import BOUNDS_HELD
from spotsvm.trials.trial import FINISHED, Outcome, as_float, checked_seconds, one_line

Row = tuple[dict[str, Any], Outcome]


def trials_of_table(frame: pd.DataFrame, space: Space, objectives: Objectives, profile: Profile | None = None) -> list[Row]:
    """Return the configuration and the outcome of each finished row of a table; see `Study.from_frame`.

    Where a parameter is profiled, rows with the same other parameters are one path.

    Raises
    ------
    ArgumentError
        If it is not a table, or lacks columns, or a row has a value, a time or a state that is none.
    SpaceError
        If a row is not in the space.

    Examples
    --------
    >>> table = pd.DataFrame({"param_x": [1, 2], "value": [0.5, np.nan]})
    >>> [(params, outcome.state) for params, outcome in trials_of_table(table, Space({"x": [1, 2]}), Objectives.of("minimize"))]
    [({'x': 1}, 'ok'), ({'x': 2}, 'failed')]
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
    rows: list[Row] = []
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
    return rows if profile is None else _paths(rows, space, profile)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _params(given: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Return the values of a row as those of the dictionary of the space that can hold them."""
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
    """Return a cell as a value of a parameter: whole numbers that a column made floats, values of lists by their texts."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(parameter, IntegerParameter) and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(parameter, ChoiceParameter):
        return float(value) if is_number(value) else value
    if parameter.levels == 1 and value is None:
        return parameter.values[0]
    for mine, text in zip(parameter.values, parameter.describe()["values"], strict=True):
        if mine is value or (type(mine) is type(value) and isinstance(mine, bool | int | float | str) and mine == value):
            return mine
        if (is_number(mine) and is_number(value) and mine == value) or (isinstance(value, str) and text == value):
            return mine
    return value


def _outcome(cells: Mapping[str, Any], objectives: Objectives) -> Outcome:
    values = [None if _is_missing(cells[name]) else as_float(cells[name]) for name in objectives.columns]
    for name, value in zip(objectives.columns, values, strict=True):
        if value is None and not _is_missing(cells[name]):
            raise ArgumentError(f"{name}={shown_value(cells[name])} is not a number; leave it empty for a trial that failed")
    extra = {str(name).removeprefix("extra_"): as_float(v) for name, v in cells.items() if str(name).startswith("extra_")}
    known = {name: number for name, number in extra.items() if number is not None and not np.isnan(number)}
    known.pop(BOUNDS_HELD, None)  # by the bounds of another study
    prefix = "attribute_"
    attributes = as_attributes(
        {str(c).removeprefix(prefix): v for c, v in cells.items() if str(c).startswith(prefix) and not _is_missing(v)}
    )
    seconds = None if _is_missing(cells.get("seconds")) else checked_seconds(cells["seconds"])
    numbers = tuple(number for number in values if number is not None and np.isfinite(number))
    state = cells.get("state", "ok")
    if state not in FINISHED:
        raise ArgumentError(f"state={shown_value(state)} is unknown; use ok, failed, timeout or running")
    if state != "ok" or len(numbers) < len(values):
        reason = cells.get("reason")
        told = one_line(reason) if isinstance(reason, str) and reason else "it has no value"
        return Outcome(
            "timeout" if state == "timeout" else "failed", extra=known, reason=told, seconds=seconds, attributes=attributes
        )
    if objectives.several:
        return Outcome("ok", None, known, seconds=seconds, values=numbers, attributes=attributes)
    return Outcome("ok", numbers[0], known, seconds=seconds, attributes=attributes)


def _paths(rows: list[Row], space: Space, profile: Profile) -> list[Row]:
    """Return rows with the same other parameters as one row with a path."""
    found: dict[bytes, Row] = {}
    for params, outcome in rows:
        key = profile.searched_point(space.encode(params)).tobytes()
        first, path = found.get(key, (params, Outcome("ok", seconds=outcome.seconds)))
        pair = (profile.key(params[profile.name]), outcome)
        found[key] = (first, replace(path, path=(*path.path, pair)))
    return list(found.values())
