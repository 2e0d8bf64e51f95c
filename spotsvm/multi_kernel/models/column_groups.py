"""Groups of columns: from names, slices or indices to the columns of the data, each in exactly one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError

#: the name of the one group where none are given
EVERY_COLUMN = "all"
_RULE = "every column belongs to exactly one"


def group_names(groups: Any) -> tuple[str, ...]:
    """Return the names of groups: the keys of a dict, "0", "1", ... of a sequence, or "all" of None."""
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
    """Return the columns of each group of data with `n_features` columns, rising from 0, or raise ArgumentError.

    Columns are given by a slice, a mask, or one or several indices (from the end where negative) or names.
    """
    names = group_names(groups)
    if groups is None:
        return {EVERY_COLUMN: tuple(range(n_features))}
    members = _members(groups)
    known = list(feature_names) if feature_names is not None else None
    owner = np.full(n_features, -1)
    found = {}
    for k, (name, member) in enumerate(zip(names, members, strict=True)):
        columns = np.sort(_columns(name, member, n_features, known))
        taken = columns[(owner[columns] >= 0) | np.append(False, np.diff(columns) == 0)]
        if len(taken):
            first = int(taken[0])
            where = f"in the groups {names[owner[first]]!r} and" if owner[first] >= 0 else "twice in the group"
            raise ArgumentError(f"groups: column {_column_text(first, known)} is {where} {name!r}; {_RULE}")
        owner[columns] = k
        found[name] = tuple(columns.tolist())
    missing = np.flatnonzero(owner < 0)
    if len(missing):
        raise ArgumentError(f"groups: column {_column_text(int(missing[0]), known)} is in no group; {_RULE}")
    return found


def _members(groups: Any) -> list[Any]:
    return list(groups.values()) if isinstance(groups, Mapping) else list(groups)


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
            raise ArgumentError(f"groups: group {name!r} has the column {entry!r}, which is not there; there are {few(known)}")
        return known.index(entry)
    if type(entry) is not int and (not isinstance(entry, Integral) or isinstance(entry, bool)):
        raise ArgumentError(f"groups: group {name!r} has the column {entry!r}; use a name or a whole number")
    if not -n_features <= int(entry) < n_features:
        raise ArgumentError(f"groups: group {name!r} has the column {entry}, but there are {n_features} columns, from 0")
    return int(entry) % n_features


def _column_text(column: int, known: list[str] | None) -> str:
    return str(column) if known is None else f"{known[column]!r} ({column})"


def few(names: Sequence[str]) -> str:
    """Return the first names, for an error message."""
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


@dataclass(frozen=True)
class UnknownColumns:
    """The columns of a group, as given, if only the data determine them; "all" for every column."""

    what: str = EVERY_COLUMN


#: the columns of a group, by their indices, or by names where indices are not known
Columns = tuple[Any, ...] | UnknownColumns


@dataclass(frozen=True)
class KnownColumns:
    """The number of columns and their names, as far as they are known before a kernel model has seen data."""

    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, groups: Any, n_features: Any, feature_names: Any) -> KnownColumns:
        """Return the columns known from a model's arguments, or raise ArgumentError."""
        group_names(groups)
        if n_features is not None and (not isinstance(n_features, Integral) or isinstance(n_features, bool) or n_features < 1):
            raise ArgumentError(f"n_features={n_features!r}; use the number of columns, 1 or more")
        names = None if feature_names is None else tuple(map(str, feature_names))
        counted = _counted(groups) if names is None else len(names)
        by_index = names is None and not _by_name(groups)  # then `resolve_groups` says which column is missing
        if not by_index and n_features is not None and counted is not None and counted != n_features:
            raise ArgumentError(f"n_features={n_features}, but {counted} columns are named; make them agree")
        return cls(counted if n_features is None else int(n_features), names)

    def joined(self, other: KnownColumns) -> KnownColumns:
        """Return the columns known from either, or raise ArgumentError if they contradict each other."""
        for name in ("n_features", "feature_names"):
            own, others = getattr(self, name), getattr(other, name)
            if own is not None and others is not None and own != others:
                raise ArgumentError(f"{name} is {own!r} here and {others!r} there")
        return KnownColumns(self.n_features or other.n_features, self.feature_names or other.feature_names)

    def groups(self, groups: Any) -> dict[str, Columns]:
        """Return the columns of each group."""
        names = group_names(groups)
        if groups is None:
            return {names[0]: UnknownColumns() if self.n_features is None else tuple(range(self.n_features))}
        if self.n_features is not None and not (_by_name(groups) and self.feature_names is None):
            return dict(resolve_groups(groups, self.n_features, self.feature_names))
        given = _members(groups)
        members = [_explicit(member) for member in given]
        listed = [entry for member in members if member is not None for entry in member]
        twice = next((entry for entry in listed if listed.count(entry) > 1), None)
        if twice is not None:
            raise ArgumentError(f"groups: column {twice!r} is named twice; every column belongs to exactly one")
        return {
            name: UnknownColumns(f"{whole!r} of {name}") if member is None else tuple(sorted(member, key=str))
            for name, member, whole in zip(names, members, given, strict=True)
        }


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None of an array."""
    return [str(name) for name in getattr(X, "columns", ())] or None


def _explicit(member: Any) -> list[Any] | None:
    """Return the columns of a group as a list, or None if it depends on the number of columns."""
    if isinstance(member, slice):
        ends = (member.start or 0, member.stop, member.step or 1)
        return list(range(*map(int, ends))) if all(map(_is_count, ends)) else None
    try:
        entries = [member] if isinstance(member, str | Integral) else list(member)
    except TypeError:
        raise ArgumentError(f"groups has {member!r}; use names, indices or a slice of columns") from None
    if all(isinstance(entry, str) for entry in entries):
        return entries
    return [int(entry) for entry in entries] if all(map(_is_count, entries)) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _by_name(groups: Any) -> bool:
    """Check whether columns are given by names."""
    members = [] if groups is None else map(_explicit, _members(groups))
    return any(isinstance(entry, str) for member in members for entry in member or ())


def _counted(groups: Any) -> int | None:
    """Count the columns of groups, up to the last index for indices; None if the number depends on the data."""
    if groups is None:
        return None
    members = [_explicit(member) for member in _members(groups)]
    if any(member is None for member in members):
        return None
    entries = [entry for member in members for entry in member or ()]
    return max(len(entries), *(int(entry) + 1 for entry in entries if not isinstance(entry, str)), 0)
