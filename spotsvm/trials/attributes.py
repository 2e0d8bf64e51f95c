"""Attributes of trials: named values, in what JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def as_attributes(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return named values as JSON has them: arrays as lists, and what it lacks as text.

    Examples
    --------
    >>> import numpy as np
    >>> as_attributes({"solver": "smo", "path": (1, np.float32(0.5)), "rows": np.arange(2), 7: {1j}})
    {'solver': 'smo', 'path': [1, 0.5], 'rows': [0, 1], '7': '{1j}'}
    """
    found = {}
    for name, value in given.items():
        try:
            found[str(name)] = json.loads(json.dumps(value, default=_plain))
        except (TypeError, ValueError, RecursionError):
            found[str(name)] = repr(value)[:_LONGEST]
    return found


_LONGEST = 1000


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's and pandas' numbers and arrays
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else repr(value)[:_LONGEST]
