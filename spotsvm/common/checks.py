"""Checks of the parameters of estimators and transformers; error messages give the allowed values."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError
from spotsvm.solvers.checked_numbers import as_float


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ArgumentError unless a value is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        *others, last = map(repr, choices)
        raise ArgumentError(f"{name}={value!r}; use {', '.join(others)} or {last}")


def check_flag(name: str, value: Any) -> bool:
    """Return a truth value, or raise ArgumentError."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}={value!r}; use True or False")
    return bool(value)


def check_count(name: str, value: Any, least: int = 1, most: int | None = None, *, before: str = "", after: str = "") -> int:
    """Return a whole number in a range, or raise ArgumentError; `before` and `after` describe further allowed values."""
    whole = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if whole is None or whole < least or (most is not None and whole > most):
        limits = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ArgumentError(f"{name}={value!r}; use {before}a whole number, {limits}{after}")
    return whole


def check_positive(name: str, value: Any, hint: str = "") -> float:
    """Return a positive, finite number as a float, or raise ArgumentError."""
    number = as_float(value)
    if not (np.isfinite(number) and number > 0):
        raise ArgumentError(f"{name}={value!r}; use a positive, finite number{hint}")
    return number


def check_groups(splitter: Any, groups: Any, call: str = "fit(X, y, groups=groups)") -> None:
    """Raise ArgumentError if a splitter draws whole groups, and no groups are given."""
    if groups is None and draws_groups(splitter):
        raise ArgumentError(
            f"The 'groups' parameter should not be None: cv={type(splitter).__name__} draws whole groups; "
            f"call {call} with a label for each row"
        )


def draws_groups(splitter: Any) -> bool:
    """Return whether a splitter keeps each group of rows on one side."""
    request = getattr(splitter, "get_metadata_routing", None)
    return request is not None and bool(request().consumes("split", ["groups"]))
