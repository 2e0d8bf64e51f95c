"""Dictionaries that cannot be changed, so that what a trial says and what its record says stay the same."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any, NoReturn


class ReadOnlyDict(dict[str, Any]):
    """A dict that cannot be changed; `dict(...)`, `copy` and `|` give plain ones, which can.

    Examples
    --------
    >>> numbers = ReadOnlyDict({"time": 3.0})
    >>> numbers["time"] = 2.0
    Traceback (most recent call last):
    TypeError: the params and extra of a trial cannot be changed, as its record would not know; change a copy: dict(trial.params)
    >>> numbers | {"time": 2.0}
    {'time': 2.0}
    """

    def _refuse(self, *arguments: object, **named: object) -> NoReturn:
        raise TypeError(
            "the params and extra of a trial cannot be changed, as its record would not know; change a copy: dict(trial.params)"
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

    Examples
    --------
    >>> params = ReadOnlyParams({"layers": [10, 5]})
    >>> params["layers"].append(2)
    >>> params
    {'layers': [10, 5]}
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
