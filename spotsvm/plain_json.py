"""What a user gives to be kept in a record as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.printable import shown_value
from spotsvm.stored_json import read_json


def plain_json(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a mapping as it is read back from a record: tuples as lists, all else as it is.

    Parameters
    ----------
    given : mapping of str to object
        What JSON can hold: text, truth values, None, Python's own numbers (nan and infinite ones too), lists and mappings.
    name : str
        What it is, for the error's text.

    Raises
    ------
    ArgumentError
        If it is no mapping, or a part of it is not JSON, which it names, or could not be read back.

    Examples
    --------
    >>> plain_json({"split": (3, "shuffled")}, "context")
    {'split': [3, 'shuffled']}
    """
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name}={shown_value(given)} is {type(given).__name__}; use a mapping of text to what JSON can hold")
    try:
        plain: dict[str, Any] = read_json(json.dumps(_plain(given, name)))
    except RecursionError:
        raise ArgumentError(f"{name}: its lists and mappings are nested too deep to be kept; use flat ones") from None
    except ArgumentError:
        raise
    except ValueError as error:  # what could not be read back
        raise ArgumentError(f"{name}: {error}, so that it cannot be kept; use text in its place") from None
    return plain


def _plain(part: Any, where: str) -> Any:
    if isinstance(part, Mapping):
        for key in part:
            if not isinstance(key, str):
                raise ArgumentError(f"{where}: the key {shown_value(key)} is {type(key).__name__}; use text")
        return {key: _plain(value, f"{where}: {key}") for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(value, f"{where}[{k}]") for k, value in enumerate(part)]
    if not isinstance(part, str | bool | int | float | None):
        raise ArgumentError(
            f"{where} is {type(part).__name__}, which is not JSON ({shown_value(part)}); use text, Python's own numbers, as "
            "float(x) gives them, lists and mappings"
        )
    return part
