"""Errors of the file system and of SQLite as errors of one line about a record."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spotsvm.common.errors import StorageError
from spotsvm.common.text import printable_line


@contextmanager
def storage_failures(path: Path, doing: str, rest: Callable[[Path], str] = lambda path: "") -> Iterator[None]:
    """Raise errors of the file system, of SQLite and of UTF-8 in the block as a StorageError of one line.

    `doing` is "open", "read" or "write"; `rest` returns what to append if the record is damaged: how much of it can be read.
    """
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
        # not a full disk or a locked file: a column is missing, or a TEXT value is not valid UTF-8
        inside = doing == "read" and getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR
        left = rest(path) if inside else ""
        raise StorageError(f"{path}: cannot {doing} the record: {one_line_of(error)}{left}") from error
    except sqlite3.IntegrityError as error:
        raise StorageError(
            f"{path}: another process has written to the record meanwhile ({one_line_of(error)}); open the study again"
        ) from error
    except UnicodeEncodeError as error:
        raise StorageError(f"{path}: cannot {doing} the record: a name in it cannot be encoded as UTF-8: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also the text of a sqlite3 error may be garbage
        raise StorageError(f"{path} is damaged, or not a record of spotsvm: {one_line_of(error)}{rest(path)}") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot {doing} the record: {error.strerror or error}") from error


def one_line_of(error: BaseException) -> str:
    """Return the text of an error as one line of at most 200 characters."""
    return printable_line(str(error), 200)
