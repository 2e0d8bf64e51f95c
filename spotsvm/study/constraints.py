"""Constraints of a study: conditions on the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotsvm.common.errors import ArgumentError, SpaceError
from spotsvm.common.text import shown_value

Condition = Callable[[dict[str, Any]], bool]
#: what `Study` takes: a condition, or a list of them
ConstraintsLike = Condition | Sequence[Condition]


@dataclass(frozen=True)
class Constraints:
    """What a configuration must satisfy before it is evaluated.

    Attributes
    ----------
    conditions : tuple of callable
        Each takes the parameters as a dict and returns whether they are allowed.
    """

    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, given: ConstraintsLike | None) -> Constraints:
        """Create them from what `Study` takes; ArgumentError if it is nothing of the kind.

        Examples
        --------
        >>> Constraints.of(lambda p: p["x"] < 1).violated({"x": 2})
        'constraints[0] (<lambda>)'
        """
        parts: Any = () if given is None else [given] if callable(given) else given
        if not isinstance(parts, Sequence) or isinstance(parts, str) or not all(map(callable, parts)):
            raise ArgumentError(
                f"constraints={shown_value(given)} are no constraints; use a function of the parameters, or a list of such"
            )
        return cls(tuple(parts))

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def describe(self) -> list[str]:
        """Return the name of each condition, for a function cannot be stored."""
        return [_name(one) for one in self.conditions]

    def violated(self, params: Mapping[str, Any]) -> str:
        """Return the name of the first condition that a configuration violates, empty if it satisfies all.

        ArgumentError is raised if a condition raises an error.
        """
        for k, condition in enumerate(self.conditions):
            name = f"constraints[{k}] ({_name(condition)})"
            try:
                allowed = bool(condition(dict(params)))
            except Exception as error:
                raise ArgumentError(f"{name} raised {error!r} for {dict(params)!r}; return True or False") from error
            if not allowed:
                return name
        return ""

    def check_start(self, starts: Sequence[Mapping[str, Any]]) -> None:
        """Raise SpaceError, which names the first start that violates a condition."""
        for k, params in enumerate(starts):
            if name := self.violated(params):
                raise SpaceError(f"start[{k}]={dict(params)!r} violates {name}; leave it out, or change the constraint")


def _name(condition: Condition) -> str:
    return str(getattr(condition, "__name__", type(condition).__name__))
