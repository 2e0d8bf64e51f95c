"""JSON text from a file that anyone may have written."""

from __future__ import annotations

import json
from typing import Any

from spotsvm.parameter import MOST_DIGITS

#: levels of lists and mappings; what the library stores has fewer than ten
MOST_LEVELS = 50


def read_json(text: Any) -> Any:
    """Read JSON text that may be hostile.

    Parameters
    ----------
    text : str
        JSON, with nan and infinite numbers as `json.dumps` writes them.

    Raises
    ------
    ValueError
        If it is no text, or not JSON, or lists and mappings in it are nested more than 50 deep, or a whole number has more than
        300 digits.

    Examples
    --------
    >>> read_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: its lists and mappings are nested too deep
    """
    if not isinstance(text, str):
        raise ValueError(f"it is {type(text).__name__}, not text")
    try:
        content = json.loads(text, parse_int=_whole)
    except RecursionError:
        raise ValueError("its lists and mappings are nested too deep") from None
    # fewer brackets than levels are quickly counted, and the rule
    if text.count("[") + text.count("{") > MOST_LEVELS and _is_deep(content):
        raise ValueError("its lists and mappings are nested too deep")
    return content


def _whole(digits: str) -> int:
    if len(digits.removeprefix("-")) > MOST_DIGITS:
        raise ValueError(f"a whole number in it has more than {MOST_DIGITS} digits")
    return int(digits)


def _is_deep(content: Any) -> bool:
    """Tell whether lists and mappings are nested too deep, level by level: recursion would be what is to be avoided."""
    level = [content]
    for _ in range(MOST_LEVELS):
        level = [
            one for part in level if isinstance(part, dict | list) for one in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)
