"""What is known of the columns of data before a kernel model has seen any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from spotsvm.common.errors import ArgumentError
from spotsvm.multi_kernel.models.column_groups import EVERY_COLUMN, group_names, resolve_groups


@dataclass(frozen=True)
class UnknownColumns:
    """The columns of a group where it takes the data to say which they are.

    Attributes
    ----------
    what : str
        How they are given; "all" for every column.
    """

    what: str = EVERY_COLUMN

    @property
    def every(self) -> bool:
        """Whether they are all columns of the data."""
        return self.what == EVERY_COLUMN


#: the columns of a group, by their indices, or by names where indices are not known
Columns = tuple[Any, ...] | UnknownColumns


@dataclass(frozen=True)
class KnownColumns:
    """The number of columns and their names, as far as they are known.

    Attributes
    ----------
    n_features : int or None
        Their number.
    feature_names : tuple of str or None
        Their names.
    """

    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, groups: Any, n_features: Any, feature_names: Any) -> KnownColumns:
        """Return what is known from a model's arguments, or raise ArgumentError."""
        if n_features is not None and (not isinstance(n_features, Integral) or isinstance(n_features, bool) or n_features < 1):
            raise ArgumentError(f"n_features={n_features!r}; use the number of columns, 1 or more")
        names = None if feature_names is None else tuple(map(str, feature_names))
        counted = _counted(groups) if names is None else len(names)
        by_index = names is None and not _by_name(groups)  # then `resolve_groups` says which column is missing
        if not by_index and n_features is not None and counted is not None and counted != n_features:
            raise ArgumentError(f"n_features={n_features}, but {counted} columns are named; make them agree")
        return cls(counted if n_features is None else int(n_features), names)

    def joined(self, other: KnownColumns) -> KnownColumns:
        """Return what is known from either, or raise ArgumentError where they contradict each other."""
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


def _members(groups: Any) -> list[Any]:
    return list(groups.values()) if isinstance(groups, Mapping) else list(groups)


def _explicit(member: Any) -> list[Any] | None:
    """List the columns of a group, None where that takes the number of columns."""
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
    members = [] if groups is None else [_explicit(member) for member in _members(groups)]
    return any(isinstance(entry, str) for member in members for entry in member or ())


def _counted(groups: Any) -> int | None:
    """Count the columns of groups, up to the last where they are indices; None where that takes the data."""
    if groups is None:
        return None
    group_names(groups)
    members = [_explicit(member) for member in _members(groups)]
    if any(member is None for member in members):
        return None
    entries = [entry for member in members for entry in member or ()]
    return max(len(entries), *(int(entry) + 1 for entry in entries if not isinstance(entry, str)), 0)
