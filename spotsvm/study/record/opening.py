"""Opening the file of a record: for writing, or for reading wherever it lies and whoever writes to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NoReturn
from weakref import WeakSet

from spotsvm.common.text import printable_line
from spotsvm.errors import StorageError
from spotsvm.study.record.lock import writer_of

#: the first bytes of every SQLite file
MAGIC = b"SQLite format 3\x00"
#: seconds to wait for another program that has locked the file; no reader and no writer of this library does for long
_BUSY_SECONDS = 5.0
#: bytes that the write-ahead log keeps on disk once its content is in the file itself
_LOG_BYTES = 4 << 20
_PAGE_BYTES = 8192
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_CANNOT_OPEN = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def check_kind(path: Path) -> bool:
    """Return whether there is a file, without opening it; raise StorageError if it is a directory, a pipe or a device."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{path}: cannot open the record: it is {_KINDS.get(stat.S_IFMT(found.st_mode), 'not a file')}")
    return True


def check_single(path: Path) -> None:
    """Raise StorageError if a file has several names: SQLite keeps what is not yet in it beside one of them."""
    if (names := path.stat().st_nlink) > 1:
        raise StorageError(f"{path}: cannot write the record: it has {names} names (hard links); copy it to a file of its own")


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a file for writing; create it if it does not exist."""
    return _connect(path, "mode=rwc")


def prepare_to_write(connection: sqlite3.Connection) -> None:
    """Set the pragmas by which a commit survives a crash of the process or machine, and others can read meanwhile."""
    # of an empty file: two trials of forty parameters share a page, which is where a smaller one would be half empty
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // _PAGE_BYTES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")


def connect_to_copy(path: Path) -> sqlite3.Connection:
    """Open a private file, or create it."""
    return _connect(path, "mode=rwc")


#: bytes of a single text, and of a statement
_MOST_BYTES = 100_000_000
_STEPS = 50_000  # of SQLite's machine between two looks at the clock, some milliseconds


def limit(connection: sqlite3.Connection, is_late: Callable[[], bool]) -> None:
    """Let no code of a file's schema run, and end a query once it is late."""
    connection.set_progress_handler(lambda: int(is_late()), _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    # functions in views and triggers of the file are not to be trusted; a page that lies about its cells is refused
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    if hasattr(connection, "setconfig"):  # since Python 3.12
        connection.setconfig(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)  # noqa: B009


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, Callable[[], None]]:
    """Open a file for reading; where nothing can be written beside it, it alone is read, or a private copy with its log.

    The callable is to be called after the connection is closed.
    """
    try:
        return _checked(_connect(path, "mode=ro")), lambda: _tidy(path)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _CANNOT_OPEN:
            raise
    if not _has_log(path):
        return _checked(_connect(path, "mode=ro&immutable=1")), lambda: None
    folder = tempfile.TemporaryDirectory(prefix="spotsvm-", ignore_cleanup_errors=True)
    try:
        return _checked(_connect(copy_of(path, Path(folder.name)), "mode=rw")), folder.cleanup
    except BaseException:
        folder.cleanup()
        raise


def is_cut(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the end of a file is missing, which SQLite reads as zeros: its last page is incomplete, and not in a log."""
    size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    return not _has_log(path) and path.stat().st_size % size != 0


def lacks_log(path: Path) -> bool:
    """Return whether an SQLite file in write-ahead mode has no log beside it, as each closed record."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:16] == MAGIC and header[18:] == b"\x02\x02" and not _has_log(path)


def why_empty(path: Path) -> str:
    """Return what a file without the tables of a record is, and what to do."""
    if (writer := writer_of(path)) is not None:
        return f"{path} is just being created by {writer}: it holds nothing yet; try again in a moment"
    if not path.stat().st_size:
        return f"{path} is an empty file, not a record"
    return why_lone(path) if lacks_log(path) else f"{path} is not a record of spotsvm; name another file"


def why_lone(path: Path) -> str:
    """Return what a file without tables and without its log is, and what to do."""
    return (
        f"{path} holds nothing without {log_of(path).name}, in which SQLite keeps what was written last: it is a copy of one of "
        "the two files of a record in use, or its study was ended as it began. Copy both files, or copy it again once its study "
        "is closed"
    )


def log_of(path: Path) -> Path:
    """Return the path of SQLite's write-ahead log."""
    resolved = path.resolve()
    return resolved.with_name(resolved.name + "-wal")


def _has_log(path: Path) -> bool:
    log = log_of(path)
    return log.is_file() and log.stat().st_size > 0


def copy_of(path: Path, folder: Path) -> Path:
    """Copy a file and its write-ahead log as they are at one moment; return the path of the copy."""
    copy = folder / "copy.db"
    for _ in range(10):
        before = path.stat()
        shutil.copyfile(path, copy)
        if log_of(path).is_file():
            shutil.copyfile(log_of(path), log_of(copy))
        after = path.stat()
        # the log alone may grow meanwhile: SQLite leaves out what is not whole at its end
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            return copy
    raise StorageError(f"{path}: cannot read the record: it changes faster than it can be copied; try again")


class _Connection(sqlite3.Connection):
    """A connection that is closed with the last reference to it, as a study need not be closed: Python 3.13 warns otherwise."""

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{how}"
    # SQLite itself lets threads take turns, unless it was compiled without
    alone = sqlite3.threadsafety < 3
    return sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=alone, factory=_Connection
    )


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Run a query, for SQLite opens its files only then."""
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _tidy(path: Path) -> None:
    """Remove the empty log that reading has created, if nobody writes; SQLite does so only where the last to close may write."""
    log = log_of(path)
    with suppress(OSError, sqlite3.Error, UnicodeDecodeError):  # it is only untidy; also a text of SQLite's may be garbage
        if log.is_file() and not log.stat().st_size and writer_of(path) is None:
            with closing(_connect(path, "mode=rw")) as connection:
                _checked(connection)


_OPEN: WeakSet[object] = WeakSet()
_INHERITED: list[object] = []


def never_close_in_forks(record: object) -> None:
    """Keep a record from being garbage-collected, which would close its connection, in processes forked from this one.

    See "How To Corrupt An SQLite Database File", section 2.6, sqlite.org/howtocorrupt.html.
    """
    _OPEN.add(record)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _INHERITED.extend(_OPEN))


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
        raise StorageError(f"{path}: cannot {doing} the record: {_line_of(error)}{left}") from error
    except sqlite3.IntegrityError as error:
        raise StorageError(
            f"{path}: another process has written to the record meanwhile ({_line_of(error)}); open the study again"
        ) from error
    except UnicodeEncodeError as error:
        raise StorageError(f"{path}: cannot {doing} the record: a name in it cannot be encoded as UTF-8: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also the text of a sqlite3 error may be garbage
        raise StorageError(f"{path} is damaged, or not a record of spotsvm: {_line_of(error)}{rest(path)}") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot {doing} the record: {error.strerror or error}") from error


def _line_of(error: BaseException) -> str:
    return printable_line(str(error), 200)


def record_files(path: Path) -> list[Path]:
    """Return the SQLite files in a folder and its subfolders, sorted; links are not followed. Return any other path as it is."""
    if not path.is_dir():
        return [path]
    files = (Path(folder, name) for folder, _, names in os.walk(path, onerror=_refuse) for name in names)
    return sorted(file for file in files if not file.is_symlink() and file.is_file() and _is_sqlite(file))


def _refuse(error: OSError) -> NoReturn:
    raise StorageError(f"{error.filename}: cannot read the folder: {error.strerror}") from error


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
