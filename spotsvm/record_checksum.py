"""The checksum of a row of a record, by which a row whose bytes have changed on disk is told from one that is whole."""

from __future__ import annotations

import sqlite3
import zlib

Cell = None | int | float | str | bytes


def checksum(*cells: Cell) -> int:
    """Return the checksum of some cells of a row: CRC-32, as an integer that takes four bytes.

    A number counts by its value, not by its type: SQLite keeps 3.0 as an integer, and 0.0 for -0.0.

    Parameters
    ----------
    *cells : None, int, float, str or bytes
        The cells, as they are written or as SQLite gives them back.

    Examples
    --------
    >>> checksum(3, "rbf") == checksum(3.0, "rbf"), checksum(3, "rbf") == checksum(3, "rbg"), checksum(0.0) == checksum(-0.0)
    (True, False, True)
    """
    plain = [float(cell) + 0.0 if isinstance(cell, int | float) else cell for cell in cells]
    # ascii, for what repr escapes depends on the version of Python
    return zlib.crc32(ascii(plain).encode("ascii")) - 2**31


def add_checksum(connection: sqlite3.Connection) -> None:
    """Make `checksum` a function of SQL."""
    connection.create_function("checksum", -1, checksum, deterministic=True)
