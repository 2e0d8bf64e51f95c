"""Values as JSON types: plain Python types, with None in place of nan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value in plain Python types; a value without a JSON type, such as an estimator, becomes its repr."""
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
    """Return a plain value with None in place of nan and infinity, which JSON cannot represent."""
    return _replaced(value, lambda item: None if isinstance(item, float) and not isfinite(item) else item)


def none_to_nan(value: Any) -> Any:
    """Return a plain value with nan in place of None."""
    return _replaced(value, lambda item: nan if item is None else item)


def _replaced(value: Any, by: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {name: _replaced(item, by) for name, item in value.items()}
    return [_replaced(item, by) for item in value] if isinstance(value, list | tuple) else by(value)
