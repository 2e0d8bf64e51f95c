"""Connections to records that a forked process inherits, and must not close."""

from __future__ import annotations

import os
from weakref import WeakSet

_OPEN: WeakSet[object] = WeakSet()
_INHERITED: list[object] = []


def never_close_in_forks(record: object) -> None:
    """Keep a record from being garbage-collected, which would close its connection, in processes forked from this one.

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
