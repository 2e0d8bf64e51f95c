"""Safe printing of text from data; numbers, durations and tables as text; hints at misspelt names; checks of paths."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from spotsvm.errors import ArgumentError, StorageError

#: control characters except tab and line feed; marks of text direction; halves of surrogate pairs; non-characters
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_LONGEST = 2000
#: text for a missing number
MISSING = "–"
Function = TypeVar("Function", bound=Callable[..., Any])


def printable(text: str) -> str:
    r"""Return text with escapes for control characters, marks of text direction, and characters that UTF-8 cannot encode."""
    return _STEERING.sub(lambda sign: _escape(sign[0]), text)


def printable_line(text: str, longest: int = _LONGEST) -> str:
    """Return printable text as one line, cut at `longest` characters."""
    line = printable(" ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shown_value(value: Any, longest: int = 80) -> str:
    """Return the repr of a value for an error message, cut at `longest` characters."""
    try:
        return printable_line(repr(value), longest)
    except Exception:  # integers with very many digits have no repr, and a user's object may raise any error
        return f"a value of type {type(value).__name__}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for the end of a message: known names that are similar to a misspelt name; empty if there are none.

    Parameters of a pipeline, `step__parameter`, are also matched by the parameter alone.
    """
    names = list(dict.fromkeys(known))
    last = name.rpartition("__")[2].lower()
    near = [one for one in names if one.rpartition("__")[2].lower() == last] or get_close_matches(name, names)
    return f"; did you mean {' or '.join(map(repr, near[:3]))}?" if near else ""


def names_arguments(**elsewhere: str) -> Callable[[Function], Function]:
    """Make a function suggest the right argument if it is called with an unknown argument.

    `elsewhere` maps names of arguments in other libraries to arguments of the function.
    """

    def decorated(function: Function) -> Function:
        names = signature(function).parameters

        @wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            for name in named:
                if name not in names:
                    called = type(args[0]).__name__ if function.__name__ == "__init__" else function.__qualname__
                    hint = f"; did you mean {elsewhere[name]!r}?" if name in elsewhere else did_you_mean(name, names)
                    raise TypeError(f"{called}() has no argument {name!r}{hint}")
            return function(*args, **named)

        return checked  # type: ignore[return-value]

    return decorated


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a line for each row of a table, with aligned columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _escape(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def per_cent(share: float) -> str:
    """Return a share in per cent, with two digits."""
    return f"{round(100 * share)} %" if share >= 0.1 else f"{100 * share:.2g} %"


def short(value: float, digits: int = 4) -> str:
    """Return a number as short text, without an exponent unless it is tiny or huge."""
    if math.isnan(value):
        return MISSING
    if value.is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.0f}" if 10**digits - 0.5 <= abs(value) < 1e7 else f"{value:.{digits}g}"


def different_texts(values: Iterable[float], digits: int = 6) -> list[str]:
    """Return numbers as texts, with so many digits that different numbers have different texts."""
    numbers = list(values)
    for n in range(digits, 17):
        texts = [f"{value:.{n}g}" for value in numbers]
        if len(set(texts)) == len(set(numbers)):
            return texts
    return [repr(value) for value in numbers]


def value_text(value: Any, digits: int = 4) -> str:
    """Return the value of a parameter as text, floats shortened."""
    return short(float(value), digits) if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """Return a duration in seconds as text."""
    if not 0 <= seconds < 1e12:  # a damaged record may have such values
        return "an unknown time"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    for size, unit, small, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // small} {smaller}"
    return f"{whole // 60} min {whole % 60} s"


def checked_path(path: Any, name: str = "path", such_as: str = "study.db") -> Path:
    """Return the argument called `name` as a path.

    ArgumentError if it is not a path, StorageError if it is relative to a working directory that has been removed.
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not _can_be_a_name(text):
        raise ArgumentError(
            f'{name}={shown_value(path)} is not the path of a file; use text, such as "{such_as}", or a pathlib.Path'
        )
    checked = Path(text)
    if not checked.is_absolute() and not has_working_directory():
        raise StorageError(
            f"{name}={shown_value(text)} is relative, and the working directory has been removed; use an absolute path, or "
            "change to an existing directory"
        )
    return checked


def has_working_directory() -> bool:
    """Return whether the working directory still exists."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _can_be_a_name(text: str) -> bool:
    try:
        return bool(text) and "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:  # halves of surrogate pairs
        return False


def headings_apart(names: Iterable[str], taken: Iterable[str], prefix: str) -> dict[str, str]:
    """Return a heading for each name: the name, or the name with a prefix where another column has this heading."""
    taken = list(taken)
    return {name: f"{prefix}{name}" if name in taken else name for name in names}


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the shortest unique ending of each parameter name; a class label keeps the parameter it belongs to."""
    names, short = list(names), {}
    for name in names:
        parts = name.split("__")
        for first in range(len(parts) - 1, -1, -1):
            tail = "__".join(parts[first:])
            of_a_class = first > 0 and parts[first - 1] in ("class_weight", "cutoff")
            if not of_a_class and sum(f"__{other}".endswith(f"__{tail}") for other in names) == 1:
                break
        short[name] = tail
    return short
