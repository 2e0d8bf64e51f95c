"""Values as JSON has them: numbers, texts, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Give a value in Python's own types; what JSON has no type for, such as an estimator, as its text."""
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
    """Give a plain value with None for what is not a finite number, since JSON has no word for it."""
    if isinstance(value, Mapping):
        return {name: nan_to_none(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_none(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def none_to_nan(value: Any) -> Any:
    """Give a plain value with nan for None."""
    if isinstance(value, Mapping):
        return {name: none_to_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [none_to_nan(item) for item in value]
    return nan if value is None else value
