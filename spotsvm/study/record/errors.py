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
    """Raise errors of the file system and of SQLite in the block as a StorageError of one line.

    Parameters
    ----------
    path : Path
        The record.
    doing : str
        What is being done to it: "open", "read" or "write".
    rest : callable, optional
        Return what to append to the message if the record is damaged: how much of it can be read.

    Raises
    ------
    StorageError
        In place of errors of sqlite3, OSError, and errors of text that is not valid UTF-8.
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
        raise StorageError(f"{path}: cannot {doing} the record: a name in it is no text that UTF-8 has: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also the text of a sqlite3 error may be garbage
        raise StorageError(f"{path} is damaged, or not a record of spotsvm: {one_line_of(error)}{rest(path)}") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot {doing} the record: {error.strerror or error}") from error


def one_line_of(error: BaseException) -> str:
    """Return the text of an error as one line of at most 200 characters."""
    return printable_line(str(error), 200)
