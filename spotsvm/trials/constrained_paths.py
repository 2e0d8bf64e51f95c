"""Constraints of a study with a profiled parameter: its paths have only the values that are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spotsvm.trials.constraints import Constraints
from spotsvm.trials.profile import Profile
from spotsvm.trials.recommendation import BOUNDS_HELD
from spotsvm.trials.trial import Outcome

#: values from end to end of the range of a profiled parameter, of which one must be allowed for a suggestion to be made
N_VALUES = 11


def allowed_keys(profile: Profile, constraints: Constraints, params: Mapping[str, Any]) -> list[float]:
    """Return what a path has its values under, of a grid over the range or of a whole list, where the conditions allow them.

    Examples
    --------
    >>> from spotsvm.space.space import Space
    >>> profile = Profile(Space({"C": (0.0, 1.0), "gamma": (0.0, 1.0)}), "C")
    >>> allowed_keys(profile, Constraints.of(lambda p: p["C"] < p["gamma"]), {"gamma": 0.15})
    [0.0, 0.1]
    """
    keys: list[float] = [*range(len(profile.listed))] or profile.values(N_VALUES)
    return [key for key in keys if is_allowed(profile, constraints, params, key)]


def is_allowed(profile: Profile, constraints: Constraints, params: Mapping[str, Any], key: float) -> bool:
    """Return whether the conditions allow one value on a path."""
    return not constraints.violated({**params, profile.name: profile.value(key)})


def allowed_path(outcome: Outcome, profile: Profile, constraints: Constraints, params: Mapping[str, Any]) -> Outcome:
    """Return an outcome whose path has only the values that are allowed, each with a note whether it holds the bounds.

    It is a failure if none is left.
    """
    path = [(key, one) for key, one in outcome.path if is_allowed(profile, constraints, params, key)]
    if outcome.path and not path:
        reason = f"no value of {profile.name} on the path satisfies the constraints"
        return replace(outcome, state="failed", path=(), reason=reason)
    return replace(outcome, path=tuple((key, noted(one, constraints)) for key, one in path))


def noted(outcome: Outcome, constraints: Constraints) -> Outcome:
    """Return an outcome with a note whether it holds the bounds, if there are any and it has a value."""
    if not constraints.bounds or outcome.state != "ok":
        return outcome
    return replace(outcome, extra={**outcome.extra, BOUNDS_HELD: float(constraints.held(outcome.extra))})
