"""Records resumed in a wider space: their trials keep their parameters, and get the points of the wider space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spotsvm.errors import SpaceError
from spotsvm.space.description import described_parameter, same_parameter
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, Parameter
from spotsvm.space.space import Space
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import Trial

#: rounding error of the ends of a range, from quantiles, as a share of the range
_ROUNDING = 1e-9


def is_wider(recorded: Any, given: Any) -> bool:
    """Return whether a space, by its description, is wider than a recorded one.

    It has the same parameters in the same order; each that differs has all its recorded values, and more.
    """
    if not (isinstance(recorded, list) and isinstance(given, list) and len(recorded) == len(given)):
        return False
    if not all(isinstance(before, Mapping) and list(before) == list(now) for before, now in zip(recorded, given, strict=True)):
        return False
    pairs = [(name, before[name], now[name]) for before, now in zip(recorded, given, strict=True) for name in now]
    others = [pair for pair in pairs if not same_parameter(*pair[1:])]
    try:
        return bool(others) and all(_holds(described_parameter(n, old), described_parameter(n, new)) for n, old, new in others)
    except SpaceError:
        return False


def _holds(old: Parameter, new: Parameter) -> bool:
    match old, new:
        case ContinuousParameter(), ContinuousParameter():
            room = _ROUNDING * (old.high - old.low)
            further = new.low < old.low - room or old.high + room < new.high
            return further and new.low <= old.low + room and old.high - room <= new.high
        case IntegerParameter(), IntegerParameter():
            return new.low <= old.low and old.high <= new.high and (new.low, new.high) != (old.low, old.high)
        case ChoiceParameter(), ChoiceParameter():
            known = [(type(value), value) for value in new.values]
            held = all((type(value), value) in known for value in old.values)
            return held and new.levels > old.levels and not any(old.hashes)
    return False


def moved_trial(trial: Trial, recorded: Space, given: Space) -> Trial:
    """Return a recorded trial with its point in a wider space; SpaceError if its parameters are not there."""
    several = len(recorded.branches) > 1
    k = int(recorded.domain.level_of(trial.point)[0, 0]) if several else 0
    before = {axis.name: trial.point[j] for j, axis in enumerate(recorded.axes, int(several)) if k in axis.branches}
    point = [trial.point[0]] if several else []
    for axis in given.axes:
        old, place = recorded.branches[k].get(axis.name), before.get(axis.name)
        if k not in axis.branches or old is None:
            point.append(0.5)
        elif place is not None and (axis.name not in trial.params or same_parameter(old.describe(), axis.parameter.describe())):
            point.append(place)
        else:
            point.append(_place(axis.parameter, trial.params[axis.name]))
    return replace(trial, point=tuple(given.domain.snap_one(point).tolist()))


def moved_outcome(outcome: Outcome, name: str, recorded: Space, given: Space) -> Outcome:
    """Return an outcome still to be told; the positions in its sweep become those in the list of a wider space."""
    # as both are described, so that values without a JSON type are compared by their texts
    before, now = (SweptParameter(Space.described(space.describe()), name).listed for space in (recorded, given))
    if len(before) == len(now):  # a list that is wider has more values
        return outcome
    known = [(type(value), value) for value in now]
    places: dict[float, float] = {k: known.index((type(value), value)) for k, value in enumerate(before)}
    # unknown positions become -1, which is refused when the outcome is told
    return replace(outcome, sweep=tuple((places.get(place, -1), one) for place, one in outcome.sweep))


def _place(parameter: Parameter, value: Any) -> float:
    if parameter.kind == "continuous" and isinstance(value, int | float):
        value = parameter.nearest(float(value))  # a quantile may be off by rounding
    return parameter.encode(value)
