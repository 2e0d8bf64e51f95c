"""Conversion of studies from Optuna, and to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial
from scipy.stats import loguniform, randint, uniform

from spotsvm.common.json_values import plain_number
from spotsvm.errors import ArgumentError
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, Parameter
from spotsvm.study.given import given_trial
from spotsvm.study.optuna.coding import integers_on_log_scale, value_of
from spotsvm.study.optuna.sampler import ENDED
from spotsvm.study.study import Study
from spotsvm.surrogates.domain import LARGEST
from spotsvm.trials.results import StudyResults


def from_optuna(study: optuna.Study, space: Any = None, **options: Any) -> Study:
    """Return a study with the finished trials of an Optuna study, each added as by `Study.add_trial`.

    Pruned trials become stopped trials with their reported values, or failed trials if they reported none. User attributes become
    extra numbers, or attributes if they are not numbers; their names "value" and "values" become "user_value" and "user_values".
    Integers on a log scale stay on it.

    Parameters
    ----------
    study : optuna.Study
        The Optuna study.
    space : dict or list of dict, optional
        The space, as `Study` takes it. None builds it from the distributions of the trials, with one dictionary for each set of
        parameters that occurs in a trial.
    **options
        The other arguments of `Study`, except `direction`. For several objectives the default search is "parego". If the record
        at `path` has some of these trials, the others are added.

    Returns
    -------
    Study

    Raises
    ------
    ArgumentError
        If the study has no finished trial and there is no `space`; if a parameter has distributions of two kinds.
    SpaceError
        If a trial is not in the space.
    StudyMismatchError
        If the record at `path` has given trials that the study does not have.

    See Also
    --------
    to_optuna : The opposite direction.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> theirs = optuna.create_study(direction="maximize")
    >>> theirs.optimize(lambda trial: trial.suggest_int("n", 1, 9), n_trials=3)
    >>> ours = from_optuna(theirs, seed=0)
    >>> ours.n_finished, ours.best_trial.value == theirs.best_value
    (3, True)
    """
    trials = [t for t in study.get_trials(deepcopy=False) if t.state in ENDED and t.params]
    directions = [one.name.lower() for one in study.directions]
    direction: Any = directions[0] if len(directions) == 1 else directions
    if len(directions) > 1:
        options.setdefault("search", "parego")
    made = Study(_space_of(trials) if space is None else space, direction=direction, **options)
    try:
        rows = []
        for t in trials:
            beside = {f"user_{name}" if name in ("value", "values") else name: _beside(one) for name, one in t.user_attrs.items()}
            seconds = None if t.duration is None else max(t.duration.total_seconds(), 0.0)  # a clock may have been set back
            values: Any = np.nan if t.state != TrialState.COMPLETE else list(t.values) if len(directions) > 1 else t.value
            key = "values" if len(directions) > 1 and t.state == TrialState.COMPLETE else "value"
            params, outcome = given_trial(t.params, {**beside, key: values}, seconds, made.space, made.swept)
            steps = tuple((float(step), one) for step, one in sorted(t.intermediate_values.items()) if np.isfinite(one))
            outcome = replace(outcome, steps=steps)
            if t.state == TrialState.PRUNED and steps and len(directions) == 1:
                outcome = replace(outcome, state="stopped", reason="it was pruned")
            rows.append((params, outcome))
        made.add_missing(rows)
    except BaseException:
        made.close()
        raise
    return made


def _beside(value: Any) -> Any:
    """Return a user attribute; a number that is not finite as text, so that it becomes an attribute."""
    number = plain_number(value)
    return str(value) if number is not None and not np.isfinite(number) else value


def _space_of(trials: Sequence[FrozenTrial]) -> list[dict[str, Any]]:
    if not trials:
        raise ArgumentError("study has no finished trial with parameters to make a space of; give the space")
    found: dict[str, list[BaseDistribution]] = {}
    for t in trials:
        for name, one in t.distributions.items():
            if one not in found.setdefault(name, []):
                found[name].append(one)
    definitions = {name: _widest(name, several) for name, several in found.items()}
    groups = dict.fromkeys(frozenset(t.params) for t in trials)
    return [{name: what for name, what in definitions.items() if name in group} for group in groups]


def _widest(name: str, several: Sequence[Any]) -> Any:
    first = several[0]
    if any(type(one) is not type(first) or isinstance(one, CategoricalDistribution) for one in several[1:]):
        raise ArgumentError(f"{name} has other distributions in other trials, {several[0]!r} and {several[1]!r}; give the space")
    if isinstance(first, CategoricalDistribution):
        return list(first.choices)
    low, high = min(one.low for one in several), max(one.high for one in several)
    if first.single() and len(several) == 1:
        return [low]
    if isinstance(first, IntDistribution):
        if first.log and high <= LARGEST:
            return integers_on_log_scale(low, high)
        return randint(low, high + 1) if first.step == 1 else list(range(low, high + 1, first.step))
    if first.step is not None:
        return [value_of(first, k) for k in range(round((first.high - first.low) / first.step) + 1)]
    return loguniform(low, high) if first.log else uniform(low, high - low)


_STATES = {"ok": TrialState.COMPLETE, "stopped": TrialState.PRUNED}


def to_optuna(study: StudyResults, **options: Any) -> optuna.Study:
    """Return an Optuna study with the finished trials of a spotsvm study, to continue or plot it there.

    Timeouts become failed trials, and stopped trials pruned ones. Origin, reason, extra numbers and attributes of a trial become
    user attributes; an extra number or attribute named "origin" or "reason" replaces it. Values of a list that Optuna cannot
    store, such as estimators, become texts.

    Parameters
    ----------
    study : Study
        A study, or the result of `load_study`.
    **options
        For optuna.create_study, such as `storage`, `study_name` and `sampler`.

    Returns
    -------
    optuna.Study

    See Also
    --------
    from_optuna : The opposite direction.

    Examples
    --------
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> ours = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
    >>> to_optuna(ours).best_params
    {'x': 1}
    """
    made = optuna.create_study(directions=list(study.objectives.directions), **options)
    for t in study.trials:
        if t.state == "running":
            continue
        branch = int(study.space.domain.level_of(t.point)[0, 0]) if len(study.space.branches) > 1 else 0
        parameters = study.space.branches[branch]
        reason = {"reason": t.reason} if t.reason else {}
        made.add_trial(
            create_trial(
                state=_STATES.get(t.state, TrialState.FAIL),
                intermediate_values={int(step): value for step, value in t.steps},
                values=None if t.values is None else list(t.values),
                params={name: _stored(value) for name, value in t.params.items()},
                distributions={name: _distribution(parameters[name]) for name in t.params},
                user_attrs={"origin": t.origin, **reason, **t.extra, **t.attributes},
            )
        )
    return made


def _distribution(parameter: Parameter) -> BaseDistribution:
    match parameter:
        case ContinuousParameter(low=low, high=high):
            return FloatDistribution(low, high, log=scale_of(parameter) == "log")
        case IntegerParameter(low=low, high=high):
            return IntDistribution(low, high, log=scale_of(parameter) == "log")
        case ChoiceParameter(values=values):
            return CategoricalDistribution([_stored(value) for value in values])
    raise ArgumentError(f"{parameter!r} has no equivalent in Optuna")


def _stored(value: Any) -> Any:
    """Return a value as Optuna can store it."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
