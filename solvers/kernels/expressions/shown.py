"""Show a piece of unknown data in an error message."""

from __future__ import annotations

from typing import Any

_LENGTH = 40


def shown(content: Any) -> str:
    """Show a number or a short string as it is, and only the type of other data: traversing hostile data may not end."""
    if isinstance(content, int) and not isinstance(content, bool) and abs(content) >= 10**_LENGTH:
        return "a whole number of more than 40 digits"
    if content is None or isinstance(content, (bool, int, float)):
        return repr(content)
    if isinstance(content, str):
        text = repr(content[:_LENGTH])
        return text if len(content) <= _LENGTH else text + "..."
    return f"a {type(content).__name__}"
