"""From what an objective returned to the outcome of its trial: read in one place, and judged once by what the study asks for."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.json_values import as_attributes, plain_number
from spotsvm.common.text import did_you_mean, shown_value
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.space.parameter import ChoiceParameter, is_number
from spotsvm.surrogates.responses import are_penalties
from spotsvm.trials.constraints import Constraints, is_allowed
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.outcome import MOST_ANSWERS, OF_THE_PROGRAM, Fault, Outcome
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import BOUNDS_HELD, GIVEN, PENALTY, Trial

Values = Sequence[float] | Mapping[str, float]
_RETURNED = "the objective returned"
#: the names under which an objective returns answers, and scores of folds
ANSWERS, FOLDS = "answers", "folds"


def outcome_of(returned: Any, seconds: float | None = None, subject: str = _RETURNED) -> Outcome:
    """Return the outcome for the result of an objective; `subject` begins the reason of a failure.

    A success is a finite number, several, or a mapping with "value", "values" or "folds" (scores, whose mean is the value by
    default), named numbers, "answers" (an array) and attributes. An Outcome is returned unchanged; all else has failed.
    """
    if isinstance(returned, Outcome):
        return replace(returned, seconds=seconds) if returned.seconds is None else returned
    if returned is None:
        said = f"{subject} None; return a number, or a mapping with 'value' and further named numbers"
        return _failed("nothing", said, seconds)
    if not isinstance(returned, Mapping):
        several = _is_row(returned) and len(returned) > 1 and None not in map(plain_number, returned)
        return replace(_outcome_of_values(returned, several, subject), seconds=seconds)
    folds = _fold_scores(returned.get(FOLDS))
    if folds:
        scores = {f"split{k}_test_value": score for k, score in enumerate(folds)}
        mean = {} if "values" in returned else {"value": math.fsum(folds) / len(folds)}
        returned = {**mean, **{name: one for name, one in returned.items() if name != FOLDS}, **scores}
    key = "value" if "value" in returned else "values"
    if key not in returned:
        keys = ", ".join(sorted(map(repr, returned)))
        said = f"{subject} a mapping without 'value', or 'values' of several objectives (it has {keys})"
        return _failed("no number", said, seconds)
    beside = {name: one for name, one in returned.items() if name != key}
    if (answers := _answers(beside.get(ANSWERS))) is not None:
        del beside[ANSWERS]
    attributes = as_attributes({name: one for name, one in beside.items() if isinstance(name, str) and plain_number(one) is None})
    extra, wrong = _named_numbers((name, number) for name, number in beside.items() if name not in attributes)
    if wrong:
        return _failed("no number", f"{subject} {wrong}, which is not a named number", seconds)
    outcome = _outcome_of_values(returned[key], key == "values", subject)
    return replace(outcome, seconds=seconds, extra=extra, attributes=attributes, answers=answers)


def _fold_scores(given: Any) -> list[float]:
    """Return the numbers of a list, tuple or array; none for anything else."""
    numbers = [plain_number(one) for one in given] if _is_row(given) else []
    return [] if None in numbers else [number for number in numbers if number is not None]


def _answers(given: Any) -> NDArray[np.floating[Any]] | None:
    """Return a read-only copy of an array of numbers for rows, (n_rows, n_outputs); None for anything else."""
    if not isinstance(given, np.ndarray) or given.ndim not in (1, 2) or given.dtype.kind not in "fiub":
        return None
    kind = np.float32 if given.dtype in (np.float16, np.float32) else np.float64
    answers: NDArray[np.floating[Any]] = np.array(given[:, np.newaxis] if given.ndim == 1 else given, dtype=kind, order="C")
    answers.flags.writeable = False
    return answers


def _outcome_of_values(given: Any, several: bool, subject: str) -> Outcome:
    """Return the outcome of one value, or of several in a sequence or by name."""
    if not several:
        number = plain_number(given)
        if number is None:
            return _failed("no number", f"{subject} {shown_value(given)}, which is not a number")
        if math.isfinite(number):
            return Outcome("ok", number)
        too_large = isinstance(given, numbers.Rational)
        said = f"{shown_value(given)}, which is too large for a float" if too_large else str(number)
        return _failed("not finite", f"{subject} {said}")
    named = isinstance(given, Mapping)
    found = [plain_number(one) for one in (given.values() if named else given if _is_row(given) else ())]
    values = tuple(number for number in found if number is not None)
    if not found or len(values) < len(found):
        return _failed("no number", f"{subject} 'values': {shown_value(given)}, which are not numbers")
    if not all(map(math.isfinite, values)):
        return _failed("not finite", f"{subject} {shown_value(list(values))}")
    return Outcome("ok", named=dict(zip(map(_name, given), values, strict=True))) if named else Outcome("ok", values=values)


def _failed(fault: Fault, reason: str, seconds: float | None = None) -> Outcome:
    return Outcome("failed", reason=reason, seconds=seconds, fault=fault)


def _is_row(value: Any) -> bool:
    """Return whether a value is a list, a tuple or an array of one dimension."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _named_numbers(items: Iterable[tuple[Any, Any]]) -> tuple[dict[str, float], str]:
    """Return named numbers as floats, and the first value that is not a number as text."""
    found: dict[str, float] = {}
    for name, given in items:
        if not isinstance(name, str) or (number := plain_number(given)) is None:
            return {}, f"{shown_value(name)}: {shown_value(given)}"
        found[_name(name)] = number
    return found, ""


def _name(given: Any) -> str:
    """Return a name as plain text: a name of another type may fail to be unpickled elsewhere."""
    return str.__str__(given) if isinstance(given, str) else repr(given)


def checked_extra(extra: Any) -> dict[str, float]:
    """Return further named numbers as floats; ArgumentError if they are not named numbers."""
    if extra is None:
        return {}
    if not isinstance(extra, Mapping):
        raise ArgumentError(f"extra={shown_value(extra)} is not a mapping; use names and numbers, as {{'time': 3.0}}")
    found, wrong = _named_numbers(extra.items())
    if wrong:
        raise ArgumentError(f"extra has {wrong}, which is not a named number; use text and a number, as {{'time': 3.0}}")
    return found


def sweep_outcome(
    returned: Any, name: str, seconds: float | None = None, listed: Sequence[Any] = (), subject: str = _RETURNED
) -> Outcome:
    """Return the outcome for a sweep of the parameter `name`: a mapping from its values to results, or a sequence of pairs.

    Values of a list, `listed`, need be neither numbers nor hashable: the outcome has their indices. An Outcome is returned
    unchanged; all else has failed.
    """
    if isinstance(returned, Outcome):
        return replace(returned, seconds=seconds) if returned.seconds is None else returned
    pairs = list(returned.items()) if isinstance(returned, Mapping) else returned
    wanted = f"with sweep={name!r} it returns a mapping from values of {name} to outcomes"
    if not isinstance(pairs, list | tuple) or not pairs or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        fault: Fault = "nothing" if returned is None else "no sweep"
        return _failed(fault, f"{subject} {shown_value(returned)}; {wanted}", seconds)
    sweep: dict[float, Outcome] = {}
    choice = ChoiceParameter(name, tuple(listed))
    for value, outcome in pairs:
        if listed:
            try:
                sweep[int(choice.encode(value) * len(listed))] = outcome_of(outcome)
            except SpaceError as error:
                return _failed("no sweep", f"{subject} a sweep with {error}", seconds)
            continue
        whole = isinstance(value, numbers.Integral) and is_number(value)
        number = int(value) if whole else plain_number(value)
        if number is None:
            return _failed("no sweep", f"{subject} the key {shown_value(value)}; {wanted}", seconds)
        sweep[number] = outcome_of(outcome)
    return Outcome("ok", sweep=tuple(sweep.items()), seconds=seconds)


def judge(
    outcome: Outcome,
    trial: Trial,
    told: Sequence[Trial],
    objectives: Objectives,
    constraints: Constraints,
    swept: SweptParameter | None = None,
) -> Outcome:
    """Return the outcome of a trial as the study keeps it; `told` are the trials told before.

    It has one value for each objective, and `extra` notes whether bounds hold and whether the value stands for a failure. A sweep
    has allowed values only. An outcome that does not fit the study has failed, by a `fault` of the program.
    """
    subject = "the trial has" if trial.origin == GIVEN else _RETURNED
    if outcome.fault == "nothing":
        return outcome
    judged = _fitting(outcome, objectives, subject) if swept is None else _fitting_sweep(outcome, objectives, swept, subject)
    if judged.fault not in OF_THE_PROGRAM and trial.origin != GIVEN and not any(t.state == "ok" for t in told):
        judged = with_bounded_numbers(judged, constraints)
    size = sum(one.answers.nbytes for one in (judged, *(one for _, one in judged.sweep)) if one.answers is not None)
    if size > MOST_ANSWERS:
        most = f"a trial keeps at most {MOST_ANSWERS:,}; return them as float32, or leave them out"
        judged = _unfit(judged, "too many answers", f"{subject} answers of {size:,} bytes, and {most}")
    if swept is not None:
        return _allowed_sweep(judged, constraints, swept, trial.params)
    judged = _noted(judged, constraints)
    sign = float(objectives.signs[0])
    values = [t.value for t in told] + [judged.value]
    if judged.value is not None and are_penalties([np.nan if value is None else sign * value for value in values])[-1]:
        return replace(judged, extra={PENALTY: 1.0, **judged.extra})
    return judged


def _fitting(outcome: Outcome, objectives: Objectives, subject: str) -> Outcome:
    """Return the outcome with one value for each objective, in their order, or a failed one."""
    if outcome.state != "ok" or not (objectives.several or outcome.values or outcome.named):
        return outcome
    values = outcome.values or (() if outcome.value is None else (outcome.value,))
    if outcome.named:
        if set(outcome.named) != set(objectives.names):
            return _of_other_values(outcome, f"values named {', '.join(map(repr, outcome.named))}", objectives, subject)
        values = tuple(outcome.named[name] for name in objectives.names)
    if len(values) != len(objectives):
        shown = ", ".join(f"{value:g}" for value in values[:8]) + ", ..." * (len(values) > 8)
        count = "one value" if len(values) == 1 else f"{len(values)} values"
        return _of_other_values(outcome, f"{count} ({shown})", objectives, subject)
    if objectives.several:
        return replace(outcome, value=None, values=values, named={})
    return replace(outcome, value=values[0], values=None)


def _of_other_values(outcome: Outcome, given: str, objectives: Objectives, subject: str) -> Outcome:
    if objectives.several:
        named = ", ".join(f"{name}: {one}" for name, one in zip(objectives.names, objectives.directions, strict=True))
        wanted = f"the study has {len(objectives)} objectives ({named}); return {{'values': [...]}} with one each"
    else:
        wanted = (
            "the study has one objective; for several use a Study with direction=('minimize', 'maximize'), one direction "
            "each, and search='nsga2' or 'parego'"
        )
    return _unfit(outcome, "other values", f"{subject} {given}, and {wanted}")


def _unfit(outcome: Outcome, fault: Fault, reason: str) -> Outcome:
    """Return an outcome as failed, without its values and answers."""
    nothing: dict[str, Any] = {"value": None, "values": None, "named": {}, "sweep": (), "answers": None}
    return replace(outcome, state="failed", reason=reason, fault=fault, **nothing)


def _fitting_sweep(outcome: Outcome, objectives: Objectives, swept: SweptParameter, subject: str) -> Outcome:
    """Return an outcome whose sweep fits the space and the objective, or a failed one."""
    sweep = []
    for key, one in outcome.sweep:
        fitting = _fitting(one, objectives, subject)
        if fitting.fault == "other values":
            return _unfit(outcome, fitting.fault, fitting.reason)
        try:
            swept.coordinate(key)
        except SpaceError as error:
            return _unfit(outcome, "other sweep", f"{subject} a sweep with {error}")
        sweep.append((key, fitting))
    if outcome.state == "ok" and not sweep:
        return _unfit(outcome, "other sweep", sweep_outcome(outcome.value, swept.name, subject=subject).reason)
    return replace(outcome, sweep=tuple(sweep))


def with_bounded_numbers(outcome: Outcome, constraints: Constraints) -> Outcome:
    """Return the first outcome of a study, or a failed one if it lacks a bounded number, by a misspelt name, for example."""
    done = [one for _, one in outcome.sweep if one.state == "ok"] if outcome.sweep else [outcome] * (outcome.state == "ok")
    returned = list(dict.fromkeys(name for one in done for name in one.extra))
    missing = [name for name in constraints.bounds if done and name not in returned]
    if not missing:
        return outcome
    hint = did_you_mean(missing[0], returned)
    said = f"constraints has a bound of {missing[0]!r}, which the objective does not return{hint}"
    return _unfit(outcome, "no bounded number", said)


def _allowed_sweep(outcome: Outcome, constraints: Constraints, swept: SweptParameter, params: Mapping[str, Any]) -> Outcome:
    """Return an outcome whose sweep has only the values that the conditions allow; a failed one if there are none."""
    if not constraints:
        return outcome
    sweep = [(key, _noted(one, constraints)) for key, one in outcome.sweep if is_allowed(swept, constraints, params, key)]
    if outcome.sweep and not sweep:
        said = f"no value of {swept.name} in the sweep satisfies the constraints"
        return replace(outcome, state="failed", sweep=(), reason=said)
    return replace(outcome, sweep=tuple(sweep))


def _noted(outcome: Outcome, constraints: Constraints) -> Outcome:
    """Return an outcome with a note whether it satisfies the bounds, if there are bounds and it has a value."""
    if not constraints.bounds or outcome.state != "ok":
        return outcome
    return replace(outcome, extra={**outcome.extra, BOUNDS_HELD: float(constraints.held(outcome.extra))})
