"""Conversion of values to and from JSON types: numbers, strings, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value in Python's own types; the repr of a value without a JSON type, such as an estimator."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    return repr(value)


def nan_to_none(value: Any) -> Any:
    """Return a plain value with None in place of nan and infinity, which JSON does not have."""
    if isinstance(value, Mapping):
        return {name: nan_to_none(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_none(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def none_to_nan(value: Any) -> Any:
    """Return a plain value with nan in place of None."""
    if isinstance(value, Mapping):
        return {name: none_to_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [none_to_nan(item) for item in value]
    return nan if value is None else value
