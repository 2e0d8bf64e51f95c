"""Values of a user as plain Python types, those of JSON, with None in place of nan; and JSON text that may come from anywhere."""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError


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


def plain_number(value: Any) -> float | None:
    """Return a number of any kind as a float, infinite if it is too large; None if it is not a number.

    Times and time differences are none, as their number depends on their unit, and neither is a masked element.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("m", "M") or np.ma.is_masked(value):
        return None
    if not isinstance(value, numbers.Real):
        try:
            value = value.item() if getattr(value, "shape", None) == () else None
        except (AttributeError, TypeError, ValueError):
            return None
        if not isinstance(value, numbers.Real):
            return None
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


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


#: characters of the text of an attribute without a JSON type
_LONGEST_ATTRIBUTE = 1000
#: digits of a whole number: more are too many for a float
MOST_DIGITS = 300
#: levels of lists and mappings; what the library stores has fewer than ten
MOST_LEVELS = 50


def read_json(text: str) -> Any:
    """Return the content of JSON text, also with nan and infinite numbers as `json.dumps` writes them.

    ValueError if it is not JSON, a whole number is too long for a float, or it is nested more than 50 deep.
    """
    try:
        content = json.loads(text, parse_int=_short_whole)
        if text.count("[") + text.count("{") > MOST_LEVELS:  # fewer brackets cannot be nested too deep
            _check_levels(content, MOST_LEVELS)
    except RecursionError:
        raise ValueError("its lists and mappings are nested too deep") from None
    return content


def _short_whole(digits: str) -> int:
    if len(digits.removeprefix("-")) > MOST_DIGITS:
        raise ValueError(f"a whole number in it has more than {MOST_DIGITS} digits")
    return int(digits)


def _check_levels(content: Any, most: int) -> None:
    if isinstance(content, dict | list):
        if not most:
            raise RecursionError
        for part in content.values() if isinstance(content, dict) else content:
            _check_levels(part, most - 1)


def plain_json(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a mapping as a record returns it, with lists in place of tuples; raise ArgumentError if it is not JSON."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name}={shown_value(given)} is {type(given).__name__}; use a mapping from text to JSON values")
    try:
        plain: dict[str, Any] = read_json(json.dumps(_only_json(given, name)))
    except RecursionError:
        raise ArgumentError(f"{name}: its lists and mappings are nested too deeply; use flat ones") from None
    except ArgumentError:
        raise
    except ValueError as error:  # it could not be read back
        raise ArgumentError(f"{name}: {error}, so it cannot be stored; use text in its place") from None
    return plain


def _only_json(part: Any, where: str) -> Any:
    if isinstance(part, Mapping):
        for key in part:
            if not isinstance(key, str):
                raise ArgumentError(f"{where}: the key {shown_value(key)} is {type(key).__name__}; use text")
        return {key: _only_json(value, f"{where}: {key}") for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_only_json(value, f"{where}[{k}]") for k, value in enumerate(part)]
    if not isinstance(part, str | bool | int | float | None):
        raise ArgumentError(
            f"{where} is {type(part).__name__}, which is not JSON ({shown_value(part)}); use text, Python's own numbers, as "
            "float(x) gives them, lists and mappings"
        )
    return part


def as_attributes(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return named values as a record returns them: arrays become lists, and values that it cannot store become text."""
    found = {}
    for name, value in given.items():
        try:
            found[str(name)] = read_json(json.dumps(value, default=_json_of))
        except (TypeError, ValueError, RecursionError):
            found[str(name)] = _text_of(value)
    return found


def _json_of(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's and pandas' numbers and arrays
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else _text_of(value)


def _text_of(value: Any) -> str:
    try:
        return repr(value)[:_LONGEST_ATTRIBUTE]
    except Exception:  # lists nested too deep have no repr, and a user's object may raise any error
        return f"a value of type {type(value).__name__}"
