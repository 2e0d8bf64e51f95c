"""Results from elsewhere: trials that were evaluated before, and starts from another study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from spotsvm.common.errors import ArgumentError, NoCompletedTrialError, SpaceError, StudyMismatchError
from spotsvm.common.text import shown_value
from spotsvm.space.space import Space
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.profile import Profile, path_of, suggested
from spotsvm.trials.recommendation import CONFIRM, holds_bounds, summarise_failures, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import GIVEN, Outcome, Trial, as_float, checked_seconds, outcome_of

#: configurations of another study to start at
N_STARTS = 5

#: a configuration and its outcome
GivenTrial = tuple[Mapping[str, Any], Outcome]


def given_trial(params: Any, value: Any, seconds: float | None, space: Space, profile: Profile | None) -> GivenTrial:
    """Return the configuration and the outcome that `Study.add_trial` is given; ArgumentError if they are none."""
    seconds = checked_seconds(seconds)
    if not isinstance(params, Mapping):
        raise ArgumentError(f"params={shown_value(params)} is not a dictionary of parameters")
    if profile is None:
        return params, _checked(outcome_of(value, seconds), value)
    name, path = profile.name, cast("Any", value)
    if name in params and (not isinstance(value, Mapping) or "value" in value):
        space.encode(params)
        path = [(params[name], _checked(outcome_of(value), value))]
    outcome = _checked(path_of(path, name, seconds, profile.listed), path)
    return {**params, name: profile.value(outcome.path[0][0])}, outcome


def missing_trials(
    rows: Sequence[GivenTrial], trials: Sequence[Trial], space: Space, profile: Profile | None
) -> list[GivenTrial]:
    """Return trials from elsewhere but for those that a study has; StudyMismatchError if a given trial of it is none of them."""
    left = list(range(len(rows)))
    for trial in (t for t in suggested(trials) if t.origin == GIVEN):
        same = (k for k in left if _same(trial, space, *rows[k], profile))
        if (known := next(same, None)) is None:
            raise StudyMismatchError(
                f"the record has other given trials: trial {trial.number}, {trial.params}, is none of the {len(rows)} passed "
                "now; pass it as well, or use another file"
            )
        left.remove(known)
    return [rows[k] for k in left]


def _checked(outcome: Outcome, value: Any) -> Outcome:
    """Return the outcome for a value; raise ArgumentError if it is none, and not nan either."""
    number = as_float(value.get("value") if isinstance(value, Mapping) else value)
    if outcome.state == "failed" and (number is None or np.isfinite(number)):
        why = outcome.reason.replace("the objective returned", "it is")
        raise ArgumentError(f"value={shown_value(value)} is not what a trial can have: {why}; nan is for one that failed")
    return outcome


def _same(trial: Trial, space: Space, params: Mapping[str, Any], outcome: Outcome, profile: Profile | None) -> bool:
    point = tuple(space.encode(params).tolist())
    if profile is not None:
        return bool(np.array_equal(profile.searched_point(point), profile.searched_point(trial.point)))
    values = outcome.values if outcome.value is None else (outcome.value,)
    return point == trial.point and values == trial.values


def is_other_study(start: Any) -> bool:
    """Return whether a start is a study, or the path of its record, rather than configurations."""
    return isinstance(start, str | PathLike | StudyResults)


def best_configurations(
    start: Any, space: Space, profiled: str | None, constraints: Constraints, most: int = N_STARTS
) -> list[dict[str, Any]]:
    """Return the best configurations of another study, or of its record, that a space can hold, the best first.

    Of several objectives they are spread over the front. What a record has as text only, such as estimators, is in no space.
    Where a parameter is profiled, only the best value on a path counts. What violates a condition, or the other study's bounds,
    is left out.

    Raises
    ------
    NoCompletedTrialError
        If no trial of it has succeeded.
    SpaceError
        If there is no such record, or the space and the conditions allow none of them.
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
        chosen = study.findings.get(CONFIRM, {}).get("chosen")
        ranked = sorted(done, key=lambda t: (t.number != chosen, sign * float(t.value or 0.0), t.number))
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
        key = repr([item for item in sorted(params.items()) if item[0] != profiled]).encode()
        found.setdefault(point.tobytes() if profiled is None else key, params)
        if len(found) == most and not several:
            break
    if not found:
        raise SpaceError(f"{who} is a study none of whose best configurations {why}")
    kept = list(found.values())
    return [kept[k] for k in np.unique(np.linspace(0, len(kept) - 1, most).round().astype(int))] if several else kept
