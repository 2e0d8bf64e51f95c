"""What a process inherits that is forked from one with open records: connections that it must leave alone."""

from __future__ import annotations

import os
from weakref import WeakSet

_OPEN: WeakSet[object] = WeakSet()
_INHERITED: list[object] = []


def never_close_in_forks(record: object) -> None:
    """Keep a record from being collected, which closes its connection, in any process that is forked from this one.

    Parameters
    ----------
    record : object
        What holds a connection to SQLite.

    References
    ----------
    "How To Corrupt An SQLite Database File", section 2.6, sqlite.org/howtocorrupt.html.
    """
    _OPEN.add(record)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _INHERITED.extend(_OPEN))
