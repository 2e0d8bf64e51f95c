"""Trials: the fields that are known when a trial is asked for, and those that its evaluation gives."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.facts import Facts, ShowsFacts

State = Literal["running", "ok", "stopped", "failed", "timeout"]
FINISHED: tuple[State, ...] = ("ok", "stopped", "failed", "timeout")
FAILED: tuple[State, ...] = ("failed", "timeout")
#: the origin of a trial at a start that the user gave
START = "start"
#: the origin of a trial that was evaluated elsewhere and added
GIVEN = "given"
#: key in `extra` of a trial that was stopped early: its predicted value at the last step, which the search is told
EXTRAPOLATED = "extrapolated"
#: key in `extra` that marks a value that stands for a failure
PENALTY = "penalty"
#: key in `extra`: 1 if the trial's outcome satisfies the bounds of its study, else 0
BOUNDS_HELD = "bounds_held"


#: metadata of a field that has no column of its own in a table of trials
NO_COLUMN = {"column": False}


@dataclass(frozen=True)
class Suggested:
    """The fields of a trial that are known when it is asked for; see `Trial`."""

    number: int = field(metadata=NO_COLUMN)
    params: Mapping[str, Any]
    point: tuple[float, ...]
    origin: str = field(default="", kw_only=True)
    note: str = field(default="", kw_only=True)
    seed: int = field(default=0, kw_only=True)
    ask_seconds: float | None = field(default=None, kw_only=True)
    fit_seconds: float | None = field(default=None, kw_only=True)
    acquisition_seconds: float | None = field(default=None, kw_only=True)
    asked_at: float | None = field(default=None, kw_only=True, compare=False, metadata=NO_COLUMN)


@dataclass(frozen=True)
class Evaluated:
    """The fields of a trial that its evaluation gives; see `Trial`.

    A new field is written here alone: outcomes, trials, tables, records and reports take their fields from this class.
    """

    state: State = field(default="running", metadata=NO_COLUMN)
    value: float | None = field(default=None, metadata=NO_COLUMN)
    extra: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    seconds: float | None = None
    values: tuple[float, ...] | None = None
    traceback: str = field(default="", metadata=NO_COLUMN)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[tuple[float, float], ...] = ()
    error_type: str = ""
    answers: NDArray[np.floating[Any]] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, repr=False)
class Trial(ShowsFacts, Evaluated, Suggested):
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
    answers : ndarray of shape (n_rows, n_outputs) or None
        Numbers for rows of data that the objective returned under this name, such as out-of-fold predictions; read-only. They are
        in the record, and in no table; ignored when trials are compared.

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

    lost: tuple[str, ...] = field(default=(), kw_only=True)
    told_at: float | None = field(default=None, kw_only=True, compare=False, metadata=NO_COLUMN)
    sweep: int | None = field(default=None, kw_only=True, metadata=NO_COLUMN)

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


def evaluated_fields(outcome: Evaluated) -> dict[str, Any]:
    """Return the fields that an evaluation gives, by name."""
    return {name: getattr(outcome, name) for name in _EVALUATED}


_EVALUATED = tuple(one.name for one in fields(Evaluated))


def is_given(trial: Trial) -> bool:
    """Return whether a trial does not come from the search: a start, or a trial evaluated elsewhere."""
    return trial.origin in (START, GIVEN)


def holds_bounds(trial: Evaluated) -> bool:
    """Return whether a trial or its outcome satisfies the bounds of its study, if it has any."""
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
