"""Discrete distributions of a search space by name: skops cannot write those of scipy, which refer to themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAME = "distribution of scipy.stats"


def with_named_laws(space: Any) -> Any:
    """Return a space with the name and the arguments of each frozen discrete distribution in its place."""
    return _replaced(space, _named)


def with_laws(space: Any) -> Any:
    """Return a space with the distributions that `with_named_laws` has replaced."""
    return _replaced(space, _law)


def _replaced(space: Any, replace: Any) -> Any:
    if isinstance(space, list | tuple):
        return type(space)(_replaced(one, replace) for one in space)
    return {name: replace(what) for name, what in space.items()} if isinstance(space, Mapping) else space


def _named(what: Any) -> Any:
    from scipy import stats  # on use: it takes a while

    name = getattr(getattr(what, "dist", None), "name", "")
    if not (name and hasattr(what, "pmf") and isinstance(getattr(stats, name, None), type(what.dist))):
        return what
    return {_NAME: name, "args": what.args, "kwds": what.kwds}


def _law(what: Any) -> Any:
    if not (isinstance(what, Mapping) and _NAME in what):
        return what
    from scipy import stats

    return getattr(stats, what[_NAME])(*what["args"], **what["kwds"])
