"""Trials, and the outcomes of their evaluations."""

from __future__ import annotations

import json
import math
import numbers
import operator
import pickle
import time
import traceback
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

from spotsvm.common.facts import Facts, ShowsFacts
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError

State = Literal["running", "ok", "stopped", "failed", "timeout"]
FINISHED: tuple[State, ...] = ("ok", "stopped", "failed", "timeout")
FAILED: tuple[State, ...] = ("failed", "timeout")
#: the origin of a trial at a start that the user gave
START = "start"
#: the origin of a trial that was evaluated elsewhere and added
GIVEN = "given"
#: key in `extra` of a trial that was stopped early: its predicted value at the last step, which the search is told
EXTRAPOLATED = "extrapolated"
#: key in `extra`: 1 if the trial's outcome satisfies the bounds of its study, else 0
BOUNDS_HELD = "bounds_held"


@dataclass(frozen=True, repr=False)
class Trial(ShowsFacts):
    """One trial of a study. It never changes: telling makes a new object.

    Attributes
    ----------
    number : int
        From 0, in the order of asking.
    params : dict
        The configuration to evaluate, in the parameters' own types. Like `extra` it is read-only; `dict(trial.params)` is a copy
        that can be changed. Objects such as estimators are those of the space: clone one before changing it.
    point : tuple of float
        The configuration as a point of the unit cube.
    state : {"running", "ok", "stopped", "failed", "timeout"}
        "stopped" is a trial that ended early because `CurrentTrial.should_stop` returned True.
    value : float or None
        The value that the objective returned, in the study's own direction; None unless the state is "ok", and in a study of
        several objectives.
    extra : dict of str to float
        Further named numbers that the objective returned; "penalty" is 1 if the value was so far beyond the earlier values that
        it stands for a failure, and "extrapolated" is the value predicted for a stopped trial, had it continued.
    reason : str
        Why the trial failed or was stopped, in one line; else empty.
    origin : str
        How the search chose the point: "design", "improvement", "replicate", "random" and so on.
    note : str
        A remark of the search on this choice; usually empty.
    seed : int
        The trial's own random seed, from the study's seed and the trial's number.
    ask_seconds, seconds : float or None
        Time that the search took to suggest the trial, and the objective to evaluate it.
    values : tuple of float or None
        The value of each objective, in the study's own directions; for one objective a tuple with `value` alone. None unless the
        state is "ok".
    fit_seconds, acquisition_seconds : float or None
        The parts of `ask_seconds` to fit the search's model, and to find the point; None for a search without a model.
    lost : tuple of str
        The reason of each attempt whose worker died, in one line each; the trial was then evaluated again, or failed.
    asked_at, told_at : float or None
        When the trial was asked for, and told, in seconds since 1970 (UTC); ignored when trials are compared.
    sweep : int or None
        If a parameter is swept, the number of the suggested trial to whose sweep this trial belongs: its own number for the best
        value in the sweep. None if nothing is swept.
    traceback : str
        The traceback of a failed trial whose objective raised an error, at most 4000 characters; else empty.
    attributes : dict of str to object
        Further JSON values that the objective returned by name, such as texts, or set on its `CurrentTrial`.
    steps : tuple of (float, float)
        The steps that the objective reported, each with its value, in the study's own direction (see `CurrentTrial.report`).
    error_type : str
        The name of the type of the error that the objective raised, such as "ValueError"; empty if it raised none.

    See Also
    --------
    Study.trials : The trials of a study.
    Recommendation : The trial to use.

    Examples
    --------
    >>> from spotsvm import Study
    >>> study = Study({"x": [1, 2, 3]}, "random", 0)
    >>> trial = study.ask()
    >>> trial.number, trial.state, trial.value
    (0, 'running', None)
    >>> trial = study.tell(trial, 4.0)
    >>> trial.state, trial.value
    ('ok', 4.0)
    """

    number: int
    params: Mapping[str, Any]
    point: tuple[float, ...]
    state: State = "running"
    value: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    origin: str = ""
    note: str = ""
    seed: int = 0
    ask_seconds: float | None = None
    seconds: float | None = None
    values: tuple[float, ...] | None = None
    fit_seconds: float | None = None
    acquisition_seconds: float | None = None
    lost: tuple[str, ...] = ()
    asked_at: float | None = field(default=None, compare=False)
    told_at: float | None = field(default=None, compare=False)
    sweep: int | None = None
    traceback: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[tuple[float, float], ...] = ()
    error_type: str = ""

    def _facts(self) -> Facts:
        values = self.values if self.values is not None and len(self.values) > 1 else () if self.value is None else (self.value,)
        told = ", ".join(f"{value:.6g}" for value in values)
        state = f"{self.state}, {told}" if told else self.state
        return f"Trial {self.number} ({state})", [*self.params.items(), *([("reason", self.reason)] if self.reason else [])]

    def __post_init__(self) -> None:
        for name, kind in (("params", ReadOnlyParams), ("extra", ReadOnlyDict), ("attributes", ReadOnlyParams)):
            if type(given := getattr(self, name)) is not kind:
                object.__setattr__(self, name, kind(given))
        if self.values is None and self.value is not None:
            object.__setattr__(self, "values", (self.value,))

    def __getstate__(self) -> dict[str, Any]:
        """Return plain dictionaries: skops fills a dictionary that it loads entry by entry."""
        return self.__dict__ | {name: dict(getattr(self, name)) for name in ("params", "extra", "attributes")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def is_given(trial: Trial) -> bool:
    """Return whether a trial does not come from the search: a start, or a trial evaluated elsewhere."""
    return trial.origin in (START, GIVEN)


def holds_bounds(trial: Trial) -> bool:
    """Return whether a trial's outcome satisfies the bounds of its study, if it has any."""
    return trial.extra.get(BOUNDS_HELD, 1.0) != 0.0


class ReadOnlyDict(dict[str, Any]):
    """A read-only dict; `dict(...)`, `copy` and `|` return plain dicts, which can be changed."""

    def _refuse(self, *arguments: object, **named: object) -> NoReturn:
        raise TypeError(
            "params, extra and attributes of a trial cannot be changed, as its record would not follow; change a copy: "
            "dict(trial.params)"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[str, Any]:
        """Return a plain dict."""
        return dict(self)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return dict(self) | dict(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class ReadOnlyParams(ReadOnlyDict):
    """A read-only configuration; the lists, dicts and sets in it cannot be changed either: each access returns a copy.

    Other objects, such as estimators, are the space's own.
    """

    def __getitem__(self, name: str) -> Any:
        return _own(super().__getitem__(name))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a parameter, or `default` if there is none."""
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # without it, dict(...) and ** would read past __getitem__

    def values(self) -> Any:
        """Return a view of the values."""
        return ValuesView(self)

    def items(self) -> Any:
        """Return a view of names and values."""
        return ItemsView(self)


def _own(value: Any) -> Any:
    """Return a value with lists, dicts and sets in it copied."""
    kind = type(value)
    if kind is list:
        return [_own(one) for one in value]
    if kind is tuple:
        copied = tuple(map(_own, value))
        return value if all(map(operator.is_, copied, value)) else copied
    if kind is dict:
        return {key: _own(one) for key, one in value.items()}
    return set(value) if kind is set else value


Values = Sequence[float] | Mapping[str, float]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one evaluation; the fields are those of a Trial.

    `values` is set if several were returned, as a tuple or by name, else `value`. `lost` means that the worker died rather than
    the objective failed, so that another worker may succeed. `sweep` has values of a swept parameter, or their indices if it is a
    list, each with its outcome. `nothing` means that the objective returned None: an error of the program rather than of the
    trial. `steps` are the steps that the objective reported.
    """

    state: State
    value: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    seconds: float | None = None
    error: BaseException | None = None
    values: tuple[float, ...] | Mapping[str, float] | None = None
    lost: bool = False
    sweep: tuple[tuple[float, Outcome], ...] = ()
    traceback: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    nothing: bool = False
    steps: tuple[tuple[float, float], ...] = ()
    error_type: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle; an error that cannot be unpickled, and so would break the pool, is replaced by its text."""
        error = self.error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # a user's error can raise anything when it is pickled
            error = RuntimeError(self.reason)
        extra = dict(self.extra)
        cells = (self.state, self.value, extra, self.reason, self.seconds, error, self.values, self.lost, self.sweep)
        return Outcome, (*cells, self.traceback, dict(self.attributes), self.nothing, self.steps, self.error_type)


Objective = Callable[[dict[str, Any]], float | Sequence[float] | Mapping[str, float | Values] | Outcome]


def outcome_of(returned: Any, seconds: float | None = None) -> Outcome:
    """Return the outcome for the result of an objective.

    A finite number is a success. So are a sequence of two or more numbers, and a mapping with a number under "value" or several
    under "values" (a sequence, or a mapping by the objectives' names) and further named numbers; other named values, such as
    texts, are attributes. An Outcome is returned unchanged. Anything else is a failure.

    Examples
    --------
    >>> outcome_of({"values": [0.1, 12], "time": 3}).values
    (0.1, 12.0)
    >>> outcome_of(float("nan")).reason
    'the objective returned nan'
    >>> outcome_of({"value": 0.1, "solver": "smo"}).attributes
    {'solver': 'smo'}
    """
    if isinstance(returned, Outcome):
        return replace(returned, seconds=seconds) if returned.seconds is None else returned
    if returned is None:
        reason = "the objective returned None; return a number, or a mapping with 'value' and further named numbers"
        return Outcome("failed", reason=reason, seconds=seconds, nothing=True)
    extra: dict[str, float] = {}
    attributes: dict[str, Any] = {}
    value, several = returned, _is_several(returned)
    if isinstance(returned, Mapping):
        key = "value" if "value" in returned else "values"
        if key not in returned:
            keys = ", ".join(sorted(map(repr, returned)))
            reason = f"the objective returned a mapping without 'value', or 'values' of several objectives (it has {keys})"
            return Outcome("failed", reason=reason, seconds=seconds)
        value, several = returned[key], key == "values"
        beside = {name: one for name, one in returned.items() if name != key}
        attributes = as_attributes({n: one for n, one in beside.items() if isinstance(n, str) and as_float(one) is None})
        extra, wrong = _named_numbers((name, number) for name, number in beside.items() if name not in attributes)
        if wrong:
            return Outcome("failed", reason=f"the objective returned {wrong}, which is not a named number", seconds=seconds)
    if several:
        return replace(_outcome_of_values(value, extra, seconds), attributes=attributes)
    number = as_float(value)
    if number is None:
        reason = f"the objective returned {shown_value(value)}, which is not a number"
        return Outcome("failed", extra=extra, reason=reason, seconds=seconds, attributes=attributes)
    if not math.isfinite(number):
        too_large = isinstance(value, numbers.Rational)
        said = f"{shown_value(value)}, which is too large for a float" if too_large else str(number)
        reason = f"the objective returned {said}"
        return Outcome("failed", extra=extra, reason=reason, seconds=seconds, attributes=attributes)
    return Outcome("ok", number, extra, seconds=seconds, attributes=attributes)


def _outcome_of_values(given: Any, extra: Mapping[str, float], seconds: float | None) -> Outcome:
    named = isinstance(given, Mapping)
    found = [as_float(one) for one in (given.values() if named else given if _is_row(given) else ())]
    values = tuple(number for number in found if number is not None)
    if not found or len(values) < len(found):
        reason = f"the objective returned 'values': {shown_value(given)}, which are not numbers"
        return Outcome("failed", extra=extra, reason=reason, seconds=seconds)
    if not all(map(math.isfinite, values)):
        return Outcome("failed", extra=extra, reason=f"the objective returned {shown_value(list(values))}", seconds=seconds)
    return Outcome("ok", None, extra, seconds=seconds, values=dict(zip(given, values, strict=True)) if named else values)


def _is_several(returned: Any) -> bool:
    return _is_row(returned) and len(returned) > 1 and None not in map(as_float, returned)


def _is_row(value: Any) -> bool:
    """Return whether a value is a list, a tuple or an array of one dimension."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def call(objective: Objective, params: dict[str, Any], limits: AbstractContextManager[None] | None = None) -> Outcome:
    """Evaluate the objective once within `limits`; an exception becomes a failed outcome."""
    began = time.perf_counter()
    try:
        with limits or nullcontext():
            returned = objective(params)
        return outcome_of(returned, time.perf_counter() - began)
    except Exception as error:
        return failed_by(error, time.perf_counter() - began)


def failed_by(error: BaseException, seconds: float | None = None) -> Outcome:
    """Return the outcome of an evaluation that raised an error."""
    return Outcome(
        "failed", reason=reason_of(error), seconds=seconds, error=error, traceback=traceback_of(error),
        error_type=type(error).__name__,
    )  # fmt: skip


def timed_out(timeout: float | None) -> Outcome:
    """Return the outcome of a trial that exceeded its time."""
    return Outcome("timeout", reason=f"it took longer than trial_timeout={timeout:g} s", seconds=timeout)


def reason_of(error: BaseException) -> str:
    """Return in one line what was raised and where."""
    try:
        text = one_line(str(error))
    except Exception:  # an error whose text cannot be computed
        text = ""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text[:500]}{where}"


#: number of first and last characters of a traceback that are kept
_FIRST, _LAST = 1000, 2990


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an error from the objective on, as text valid in UTF-8; a long text is cut in the middle."""
    began = error.__traceback__
    try:
        text = "".join(traceback.format_exception(type(error), error, began.tb_next if began and began.tb_next else began))
    except Exception:  # a source file or an error that cannot be read
        return ""
    text = text.strip().encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _FIRST + _LAST else f"{text[:_FIRST]}\n...\n{text[-_LAST:]}"


def one_line(text: str) -> str:
    """Return text as one line that can be written as UTF-8, unlike some file names in error messages."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def as_float(value: Any) -> float | None:
    """Return a number of any kind as a float, infinite if it is too large; None if it is not a number.

    Examples
    --------
    >>> as_float(np.float32(0.5)), as_float(-(10**400)), as_float("1")
    (0.5, -inf, None)
    """
    if not isinstance(value, numbers.Real):
        try:
            value = value.item() if getattr(value, "shape", None) == () else None
        except (AttributeError, TypeError, ValueError):
            return None
        if not isinstance(value, numbers.Real):
            return None
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def checked_seconds(seconds: Any) -> float | None:
    """Return the seconds that an evaluation took as a float or None; ArgumentError if they are not a time."""
    if seconds is None:
        return None
    number = None if isinstance(seconds, bool | np.bool_) else as_float(seconds)
    if number is None or not 0.0 <= number < math.inf:
        raise ArgumentError(f"seconds={shown_value(seconds)} is not a time; use a finite number of at least 0, or None")
    return number


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


def _named_numbers(items: Iterable[tuple[Any, Any]]) -> tuple[dict[str, float], str]:
    """Return named numbers as floats, and the first value that is not a number as text."""
    found: dict[str, float] = {}
    for name, given in items:
        if not isinstance(name, str) or (number := as_float(given)) is None:
            return {}, f"{shown_value(name)}: {shown_value(given)}"
        found[name] = number
    return found, ""


def as_attributes(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return named values as JSON types: arrays become lists, and values without a JSON type become text.

    Examples
    --------
    >>> import numpy as np
    >>> as_attributes(
    ...     {
    ...         "solver": "smo",
    ...         "path": (1, np.float32(0.5)),
    ...         "rows": np.arange(2),
    ...         7: {1j},
    ...     }
    ... )
    {'solver': 'smo', 'path': [1, 0.5], 'rows': [0, 1], '7': '{1j}'}
    """
    found = {}
    for name, value in given.items():
        try:
            found[str(name)] = json.loads(json.dumps(value, default=_json_of))
        except (TypeError, ValueError, RecursionError):
            found[str(name)] = repr(value)[:_LONGEST_ATTRIBUTE]
    return found


_LONGEST_ATTRIBUTE = 1000


def _json_of(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's and pandas' numbers and arrays
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else repr(value)[:_LONGEST_ATTRIBUTE]
