"""Groups of columns: from names, slices or indices to the columns of the data, each in exactly one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.errors import ArgumentError

#: the name of the one group where none are given
EVERY_COLUMN = "all"
_RULE = "every column belongs to exactly one"


def group_names(groups: Any) -> tuple[str, ...]:
    """Return the names of groups: the keys of a dict, "0", "1", ... of a sequence, or "all" of None.

    Examples
    --------
    >>> group_names({"shape": [0, 1], "colour": [2]}), group_names([[0, 1], [2]]), group_names(None)
    (('shape', 'colour'), ('0', '1'), ('all',))
    """
    if groups is None:
        return (EVERY_COLUMN,)
    if isinstance(groups, Mapping):
        names = tuple(groups)
        for name in names:
            if not isinstance(name, str) or not name:
                raise ArgumentError(f"groups has the name {name!r}; use a text that is not empty")
    elif isinstance(groups, Sequence | np.ndarray) and not isinstance(groups, str | bytes):
        names = tuple(str(k) for k in range(len(groups)))
    else:
        raise ArgumentError(f"groups={groups!r}; use a dict from name to columns, a sequence of columns, or None for one group")
    if not names:
        raise ArgumentError("groups is empty; give at least one group, or None for one of all columns")
    return names


def resolve_groups(groups: Any, n_features: int, feature_names: Sequence[str] | None = None) -> dict[str, tuple[int, ...]]:
    """Return the columns of each group, rising from 0, or raise ArgumentError.

    Parameters
    ----------
    groups : None, dict or sequence
        From the name of a group to its columns, or a sequence of columns, whose groups are called "0", "1", ...; None is one
        group of all columns. Columns are a slice, a mask, or one or several indices (from the end where negative) or names.
    n_features : int
        Number of columns of the data.
    feature_names : sequence of str, optional
        Their names, where they have any.

    Examples
    --------
    >>> resolve_groups({"shape": ["width", "height"], "colour": slice(2, None)}, 4, ["width", "height", "red", "blue"])
    {'shape': (0, 1), 'colour': (2, 3)}
    >>> resolve_groups([[0, 2], -1], 4)
    Traceback (most recent call last):
    ...
    spotsvm.common.errors.ArgumentError: groups: column 1 is in no group; every column belongs to exactly one
    """
    names = group_names(groups)
    if groups is None:
        return {EVERY_COLUMN: tuple(range(n_features))}
    members = list(groups.values()) if isinstance(groups, Mapping) else list(groups)
    known = list(feature_names) if feature_names is not None else None
    owner = np.full(n_features, -1)
    found = {}
    for k, (name, member) in enumerate(zip(names, members, strict=True)):
        columns = np.sort(_columns(name, member, n_features, known))
        taken = columns[(owner[columns] >= 0) | np.append(False, np.diff(columns) == 0)]
        if len(taken):
            first = int(taken[0])
            where = f"in the groups {names[owner[first]]!r} and" if owner[first] >= 0 else "twice in the group"
            raise ArgumentError(f"groups: column {_shown(first, known)} is {where} {name!r}; {_RULE}")
        owner[columns] = k
        found[name] = tuple(columns.tolist())
    missing = np.flatnonzero(owner < 0)
    if len(missing):
        raise ArgumentError(f"groups: column {_shown(int(missing[0]), known)} is in no group; {_RULE}")
    return found


def _columns(name: str, member: Any, n_features: int, known: list[str] | None) -> NDArray[np.intp]:
    """Return the columns of one group as indices from 0."""
    if isinstance(member, slice):
        try:
            columns = list(range(*member.indices(n_features)))
        except TypeError as error:
            raise ArgumentError(f"groups: group {name!r} is {member!r}; use whole numbers in a slice") from error
    else:
        columns = [_index(name, entry, n_features, known) for entry in _entries(name, member, n_features)]
    if not columns:
        raise ArgumentError(f"groups: group {name!r} is empty; give it at least one of the {n_features} columns")
    return np.array(columns, dtype=np.intp)


def _entries(name: str, member: Any, n_features: int) -> list[Any]:
    if isinstance(member, str | Integral):
        return [member]
    try:
        entries = list(member)
    except TypeError:
        raise ArgumentError(f"groups: group {name!r} is {member!r}; use names, indices or a slice of columns") from None
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != n_features:
            raise ArgumentError(f"groups: group {name!r} is a mask of {len(entries)} columns; there are {n_features}")
        return [int(column) for column in np.flatnonzero(entries)]
    return entries


def _index(name: str, entry: Any, n_features: int, known: list[str] | None) -> int:
    """Return one column as an index from 0."""
    if isinstance(entry, str):
        if known is None:
            raise ArgumentError(f"groups: group {name!r} has the column {entry!r}, but the data have no names; use indices")
        if entry not in known:
            raise ArgumentError(f"groups: group {name!r} has the column {entry!r}, which is not there; there are {_few(known)}")
        return known.index(entry)
    if type(entry) is not int and (not isinstance(entry, Integral) or isinstance(entry, bool)):
        raise ArgumentError(f"groups: group {name!r} has the column {entry!r}; use a name or a whole number")
    if not -n_features <= int(entry) < n_features:
        raise ArgumentError(f"groups: group {name!r} has the column {entry}, but there are {n_features} columns, from 0")
    return int(entry) % n_features


def _shown(column: int, known: list[str] | None) -> str:
    return str(column) if known is None else f"{known[column]!r} ({column})"


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
