"""Opening the file of a record: for writing, or for reading wherever it lies and whoever writes to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from weakref import WeakSet

from spotsvm.common.errors import StorageError
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


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, Callable[[], None]]:
    """Open a file for reading, also where nothing can be written beside it, as SQLite's write-ahead log needs.

    Without a log the file alone is read; else a private copy of both. The callable is called after the connection is closed.
    """
    try:
        return _checked(_connect(path, "mode=ro")), lambda: _tidy(path)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _CANNOT_OPEN:
            raise
    log = log_of(path)
    if not log.is_file() or not log.stat().st_size:
        return _checked(_connect(path, "mode=ro&immutable=1")), lambda: None
    folder = tempfile.TemporaryDirectory(prefix="spotsvm-", ignore_cleanup_errors=True)
    try:
        return _checked(_connect(copy_of(path, Path(folder.name)), "mode=rw")), folder.cleanup
    except BaseException:
        folder.cleanup()
        raise


def is_cut(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the end of a file is missing, which SQLite reads as zeros: its last page is incomplete, and not in a log."""
    log = log_of(path)
    if log.is_file() and log.stat().st_size:
        return False
    return bool(path.stat().st_size % int(connection.execute("PRAGMA page_size").fetchone()[0]))


def lacks_log(path: Path) -> bool:
    """Return whether an SQLite file in write-ahead mode has no log beside it, as each closed record."""
    with path.open("rb") as file:
        header = file.read(20)
    log = log_of(path)
    return header[:16] == MAGIC and header[18:] == b"\x02\x02" and not (log.is_file() and log.stat().st_size)


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


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{how}"
    # SQLite itself lets threads take turns, unless it was compiled without
    alone = sqlite3.threadsafety < 3
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=alone)


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
    try:
        if not log.is_file() or log.stat().st_size or writer_of(path) is not None:
            return
        connection = _connect(path, "mode=rw")
        try:
            _checked(connection)
        finally:
            connection.close()
    except (OSError, sqlite3.Error, UnicodeDecodeError):  # also the text of a sqlite3 error may be garbage
        pass  # it is only untidy


_OPEN: WeakSet[object] = WeakSet()

_INHERITED: list[object] = []


def never_close_in_forks(record: object) -> None:
    """Keep a record from being garbage-collected, which would close its connection, in processes forked from this one.

    References
    ----------
    "How To Corrupt An SQLite Database File", section 2.6, sqlite.org/howtocorrupt.html.
    """
    _OPEN.add(record)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _INHERITED.extend(_OPEN))
