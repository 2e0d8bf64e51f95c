"""Make text from data safe to print: control characters, and characters that no file can hold, become escapes."""

from __future__ import annotations

import re
from typing import Any

#: control characters but for tab and line feed; marks that turn the direction of text; halves of surrogate pairs; no characters
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_LONGEST = 2000


def printable(text: str) -> str:
    r"""Return text with escapes in place of control characters, marks of text direction, and what UTF-8 cannot encode.

    Line feeds and tabs are kept.

    Parameters
    ----------
    text : str
        The text.

    Examples
    --------
    >>> printable("\x1b[2Jgone"), printable("a\nb"), printable("naïve")
    ('\\x1b[2Jgone', 'a\nb', 'naïve')
    """
    return _STEERING.sub(lambda sign: _escape(sign[0]), text)


def printable_line(text: str, longest: int = _LONGEST) -> str:
    r"""Return printable text as one line, cut at `longest` characters.

    Parameters
    ----------
    text : str
        The text.
    longest : int, default=2000
        Most characters of the line.

    Examples
    --------
    >>> printable_line("a\n b\x07"), printable_line("abcdef", 4)
    ('a b\\x07', 'abc…')
    """
    line = printable(" ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shown_value(value: Any, longest: int = 80) -> str:
    """Return the repr of a value for an error message, cut at `longest` characters.

    Examples
    --------
    >>> shown_value("a"), shown_value(10**400, 12), shown_value(10**5000)
    ("'a'", '10000000000…', 'a value of type int')
    """
    try:
        return printable_line(repr(value), longest)
    except Exception:  # integers of very many digits have no repr, and a user's object can raise anything
        return f"a value of type {type(value).__name__}"


def _escape(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
