"""One evaluation of the objective: the configuration, its outcome and its times."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

State = Literal["running", "ok", "failed", "timeout"]
FINISHED: tuple[State, ...] = ("ok", "failed", "timeout")


@dataclass(frozen=True)
class Trial:
    """One trial of a study; it never changes, telling makes a new one.

    Attributes
    ----------
    number : int
        From 0, in the order of asking.
    params : dict
        The configuration to evaluate, in the parameters' own types. It cannot be changed, nor can `extra`: `dict(trial.params)`
        is a copy that can. Choices that are objects, such as estimators, are those of the space: clone one before changing it.
    point : tuple of float
        The same as a point of the unit cube.
    state : {"running", "ok", "failed", "timeout"}
        Its state.
    value : float or None
        What the objective returned, in the study's own direction; None unless the state is "ok", and where a study has
        several objectives.
    extra : dict of str to float
        Further named numbers that the objective returned.
    reason : str
        Why it failed, in one line; empty if it did not.
    origin : str
        How the search found it: "design", "improvement", "replicate", "random" and so on.
    note : str
        A remark of the search on how it was found; usually empty.
    seed : int
        A random seed of the trial's own, from the study's seed and the trial's number.
    ask_seconds, seconds : float or None
        Time that the search took to suggest it, and the objective to evaluate it.
    values : tuple of float or None
        What was returned of each objective, in the study's own directions; of one objective the tuple of `value` alone. None
        unless the state is "ok".
    fit_seconds, acquisition_seconds : float or None
        Of `ask_seconds`, the time to fit the search's model and that to find the point; None of a search without a model.
    lost : tuple of str
        The reason of each attempt whose worker died, in one line each; the trial was then evaluated again, or failed.
    asked_at, told_at : float or None
        When it was asked for, and told, in seconds since 1970 (UTC); two trials that differ in nothing else are equal.
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

    def __post_init__(self) -> None:
        for name, kind in (("params", ReadOnlyParams), ("extra", ReadOnlyDict)):
            if type(given := getattr(self, name)) is not kind:
                object.__setattr__(self, name, kind(given))
        if self.values is None and self.value is not None:
            object.__setattr__(self, "values", (self.value,))


class ReadOnlyDict(dict[str, Any]):
    """A dict that cannot be changed; `dict(...)`, `copy` and `|` return plain ones, which can."""

    def _refuse(self, *arguments: object, **named: object) -> NoReturn:
        raise TypeError(
            "the params and extra of a trial cannot be changed, as its record would not follow; change a copy: dict(trial.params)"
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
    """A configuration that cannot be changed, nor can the lists, dicts and sets in it: each reading returns a copy of these.

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
