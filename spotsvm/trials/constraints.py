"""Constraints of a study: conditions on the configuration, and bounds on further numbers that the objective returns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spotsvm.common.json_values import plain_number
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.trials.sweep import SweptParameter

Condition = Callable[[dict[str, Any]], bool]
#: what `Study` takes: a condition, bounds by name, or a list of these
ConstraintsLike = Condition | Mapping[str, tuple[str, float]] | Sequence[Condition | Mapping[str, tuple[str, float]]]

#: values from end to end of the range of a swept parameter, at least one of which must be allowed for a suggestion
N_VALUES = 11
_WIDEST = 700.0
_USE = 'use a function of the parameters, a mapping such as {"memory": ("<=", 2e9)}, or a list of these'


@dataclass(frozen=True)
class Constraints:
    """Conditions that a configuration must satisfy before its evaluation, and bounds for its outcome.

    `bounds` has "<=" or ">=" and the bound for the name of a further number of the outcome.
    """

    conditions: tuple[Condition, ...]
    bounds: Mapping[str, tuple[str, float]]

    @classmethod
    def of(cls, given: ConstraintsLike | None) -> Constraints:
        """Create the constraints from the argument of `Study`; ArgumentError if it is invalid."""
        conditions: list[Condition] = []
        bounds: dict[str, tuple[str, float]] = {}
        one = callable(given) or isinstance(given, Mapping)
        if not one and given is not None and (isinstance(given, str) or not isinstance(given, Sequence)):
            raise ArgumentError(f"constraints={shown_value(given)} are not valid constraints; {_USE}")
        for part in [given] if one else given or []:  # type: ignore[union-attr]
            if callable(part):
                conditions.append(part)
            elif isinstance(part, Mapping):
                if reserved := part.keys() & {"value", "values"}:
                    raise ArgumentError(f"constraints has a bound of {min(reserved)!r}, which is optimised; bound another number")
                bounds |= {name: _bound(name, bound) for name, bound in part.items()}
            else:
                raise ArgumentError(f"constraints has {shown_value(part)}, which is not a constraint; {_USE}")
        return cls(tuple(conditions), bounds)

    def __bool__(self) -> bool:
        return bool(self.conditions or self.bounds)

    def describe(self) -> list[str]:
        """Return a text for each constraint: a condition's name, as a function cannot be stored, and a bound in full."""
        names = [_name(one) for one in self.conditions]
        return names + [f"{name} {sign} {bound!r}" for name, (sign, bound) in self.bounds.items()]

    def violated(self, params: Mapping[str, Any]) -> str:
        """Return the name of the first condition that a configuration violates, empty if it satisfies all.

        ArgumentError is raised if a condition raises an error, or returns anything but True or False.
        """
        for k, condition in enumerate(self.conditions):
            name = f"constraints[{k}] ({_name(condition)})"
            try:
                allowed: object = condition(dict(params))
            except Exception as error:
                raise ArgumentError(f"{name} raised {error!r} for {dict(params)!r}; return True or False") from error
            if not isinstance(allowed, bool | np.bool_):
                raise ArgumentError(f"{name} returned {shown_value(allowed)} for {dict(params)!r}; return True or False")
            if not allowed:
                return name
        return ""

    def check_start(self, starts: Sequence[Mapping[str, Any]]) -> None:
        """Raise SpaceError, which names the first start that violates a condition."""
        for k, params in enumerate(starts):
            if name := self.violated(params):
                raise SpaceError(f"start[{k}]={dict(params)!r} violates {name}; leave it out, or change the constraint")

    def margins(self, extra: Mapping[str, float]) -> tuple[float, ...]:
        """Return the margin of an outcome to each bound: positive if it satisfies the bound, nan if the number is missing.

        Margins are differences of asinh(number / bound), so that numbers of any magnitude can be modelled.
        """
        found = []
        for name, (sign, bound) in self.bounds.items():
            number, unit = extra.get(name, math.nan), abs(bound) or 1.0
            gap = math.asinh(bound / unit) - math.asinh(number / unit)
            gap = max(min(gap, _WIDEST), -_WIDEST) if gap == gap else gap
            found.append(gap if sign == "<=" else -gap)
        return tuple(found)

    def held(self, extra: Mapping[str, float]) -> bool:
        """Return whether an outcome has a number for each bound, and satisfies all bounds."""
        return all(
            extra.get(name, math.nan) <= bound if sign == "<=" else extra.get(name, math.nan) >= bound
            for name, (sign, bound) in self.bounds.items()
        )


def allowed_keys(
    swept: SweptParameter, constraints: Constraints, params: Mapping[str, Any], n_values: int = N_VALUES
) -> list[float]:
    """Return the keys of the values that the conditions allow, from a grid over the range or from the whole list."""
    keys: list[float] = [*range(len(swept.listed))] or swept.values(n_values)
    return [key for key in keys if is_allowed(swept, constraints, params, key)]


def is_allowed(swept: SweptParameter, constraints: Constraints, params: Mapping[str, Any], key: float) -> bool:
    """Return whether the conditions allow one value in a sweep."""
    return not constraints.violated({**params, swept.name: swept.value(key)})


def from_texts(texts: Any) -> tuple[list[str], dict[str, tuple[str, float]]]:
    """Return the names of the conditions, and the bounds, from the texts that `Constraints.describe` returned."""
    names: list[str] = []
    bounds: dict[str, tuple[str, float]] = {}
    for text in map(str, texts if isinstance(texts, list) else []):
        if bound := re.fullmatch(r"(.+) (<=|>=) (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)", text, re.DOTALL):
            bounds[bound[1]] = _bound(bound[1], (bound[2], float(bound[3])))
        else:
            names.append(text)
    return names, bounds


def _name(condition: Condition) -> str:
    return str(getattr(condition, "__name__", type(condition).__name__))


def _bound(name: Any, given: Any) -> tuple[str, float]:
    pair = given if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2 else ("", None)
    number = plain_number(pair[1])
    if not isinstance(name, str) or not name or pair[0] not in ("<=", ">=") or number is None or not math.isfinite(number):
        raise ArgumentError(
            f'constraints has {shown_value(name)}: {shown_value(given)}; use a name and a bound, such as ("<=", 2e9)'
        )
    return str(pair[0]), number
