"""JSON text from a file that anyone may have written."""

from __future__ import annotations

import json
from typing import Any

from spotsvm.parameter import MOST_DIGITS

#: levels of lists and mappings; what the library stores has fewer than ten
MOST_LEVELS = 50


def read_json(text: str) -> Any:
    """Return the content of JSON text, also with nan and infinite numbers as `json.dumps` writes them.

    Raises
    ------
    ValueError
        If it is not JSON; if a whole number in it is too long for a float, or lists and mappings are nested more than 50 deep:
        the code that uses the content is not made for either.

    Examples
    --------
    >>> read_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: its lists and mappings are nested too deep
    """
    try:
        content = json.loads(text, parse_int=_whole)
        if text.count("[") + text.count("{") > MOST_LEVELS:  # fewer brackets cannot be nested too deep
            _check_levels(content, MOST_LEVELS)
    except RecursionError:
        raise ValueError("its lists and mappings are nested too deep") from None
    return content


def _whole(digits: str) -> int:
    if len(digits.removeprefix("-")) > MOST_DIGITS:
        raise ValueError(f"a whole number in it has more than {MOST_DIGITS} digits")
    return int(digits)


def _check_levels(content: Any, most: int) -> None:
    if isinstance(content, dict | list):
        if not most:
            raise RecursionError
        for part in content.values() if isinstance(content, dict) else content:
            _check_levels(part, most - 1)
