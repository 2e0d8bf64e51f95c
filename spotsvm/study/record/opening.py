"""Opening the file of a record, for writing under a lock that one process holds, or for reading whoever writes to it."""

from __future__ import annotations

import gc
import json
import logging
import os
import shlex
import shutil
import socket
import sqlite3
import stat
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakSet

from spotsvm.common.text import printable_line
from spotsvm.errors import StorageError
from spotsvm.trials.outcome import MOST_ANSWERS

_LOG = logging.getLogger(__name__)

#: seconds to wait for a process that was just killed to be gone
_PATIENCE = 0.25
_GUARD = threading.RLock()
#: flags to open a file that may be a link or a pipe
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WriterLock:
    """The lock for writing to a record; one object in one process holds it at a time, else StorageError names the process.

    An operating-system lock of a file beside the record, which ends with the process, and which no forked process inherits. On a
    network drive it holds between machines only if the drive passes locks on (not NFS with `nolock`, not sshfs).
    """

    def __init__(self, record: Path):
        self.record = record
        self.path = lock_path(record)
        self.writer = this_process()
        self._pid = os.getpid()
        self._fd: int | None = None
        with _GUARD:
            self._take()
            _HELD.add(self)

    def _take(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while self._fd is None:
            if _held_here(self.path) is not None:
                gc.collect()  # an unused study may still be part of a reference cycle
            if (own := _held_here(self.path)) is not None:
                raise StorageError(
                    f"{self.record} has been open for writing in this process since {own.writer.since}; "
                    "close the other study, or use another file"
                )
            fd = self._open()
            try:
                lock(fd)
                if _same_file(fd, self.path):
                    self._say_who(fd)
                    self._fd = fd
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise self._refusal(described(fd, lock_holder(fd))) from None
                time.sleep(0.02)
            except OSError as error:
                raise StorageError(f"{self.record}: cannot lock the record: {error.strerror or error}") from error
            finally:
                if self._fd is None:
                    os.close(fd)

    def _open(self) -> int:
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | _CAREFULLY, 0o666)
        except OSError as error:
            raise StorageError(f"{self.record}: cannot open the record: {self.path.name}: {error.strerror or error}") from error
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise StorageError(f"{self.record}: cannot open the record: {self.path.name} is not a file")
        return fd

    def _say_who(self, fd: int) -> None:
        before = left_behind(fd)
        if before is not None and before.host != self.writer.host:
            # a container has another name each time, and a killed job may be resumed on another host
            _LOG.warning("%s was not closed by %s; its lock is released, so it is taken over", self.record, before)
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, json.dumps(asdict(self.writer)).encode())

    def _refusal(self, writer: Writer) -> StorageError:
        return StorageError(f"{self.record} is being written to by {writer}: wait for it or end it, or use another file")

    def check(self) -> None:
        """Raise StorageError unless the lock is still held, or can be taken again.

        Closing any descriptor of a file releases the locks that a process has on it, so a program that copies the record's
        folder loses them: then the lock is taken anew, unless another process was faster.
        """
        if self._pid != os.getpid():
            raise StorageError(f"{self.record} was opened by process {self._pid}: a process forked from it cannot write to it")
        if self._fd is None:
            return
        try:
            lock(self._fd)
            if _same_file(self._fd, self.path):
                return
        except OSError:
            if (holder := lock_holder(self._fd)) is not None:
                raise self._refusal(described(self._fd, holder)) from None
        with _GUARD:  # the file was removed
            os.close(self._fd)
            self._fd = None
            self._take()

    def has(self, file: os.stat_result) -> bool:
        """Return whether this is the lock file that is held here."""
        return self._fd is not None and os.path.samestat(os.fstat(self._fd), file)

    def forget(self) -> None:
        """Close the file in a forked process, without releasing the lock of the parent."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def release(self) -> None:
        """Release the lock, so that others can write to the record."""
        with _GUARD:
            fd, self._fd = self._fd, None
            _HELD.discard(self)
            if fd is None:
                return
            if self._pid == os.getpid() and os.name != "nt" and _same_file(fd, self.path):
                with suppress(OSError):
                    self.path.unlink()  # while the lock is held: nobody can have taken it in between
            os.close(fd)
            if os.name == "nt":
                with suppress(OSError):
                    self.path.unlink()

    def __del__(self) -> None:
        self.release()


_HELD: WeakSet[WriterLock] = WeakSet()


def writer_of(path: str | Path) -> Writer | None:
    """Return the process that has a record open for writing, or None; the lock is not taken."""
    place = lock_path(Path(path))
    with _GUARD:
        # opening and closing the file here would release the lock
        if (own := _held_here(place)) is not None:
            return own.writer
        try:
            fd = os.open(place, os.O_RDONLY | _CAREFULLY)
        except OSError:
            return None
        try:
            holder = lock_holder(fd)
            return None if holder is None else described(fd, holder)
        finally:
            os.close(fd)


def is_written_here(path: Path) -> bool:
    """Return whether this process has a record open for writing."""
    with _GUARD:
        return _held_here(lock_path(path)) is not None


def lock_path(record: Path) -> Path:
    """Return the path of the lock file, beside the record with symbolic links resolved."""
    resolved = record.resolve()
    return resolved.with_name(f"{resolved.name}-lock")


def _held_here(place: Path) -> WriterLock | None:
    try:
        there = place.lstat()
    except OSError:
        return None
    return next((held for held in list(_HELD) if held.has(there)), None)


def _same_file(fd: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), place.lstat())
    except OSError:
        return False


def _forget_locks_of_the_parent() -> None:
    global _GUARD
    _GUARD = threading.RLock()  # another thread of the parent may have had it
    for held in list(_HELD):
        held.forget()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks_of_the_parent)


#: the byte that is locked; far behind the text, which others must be able to read where locks are mandatory
_OFFSET = 1 << 30

if sys.platform == "win32":
    import msvcrt

    def lock(fd: int) -> None:
        """Take the lock of a file that is open for writing, or raise BlockingIOError; OSError where there are no locks."""
        os.lseek(fd, _OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from error

    def lock_holder(fd: int) -> int | None:
        """Return the id of the process that holds the lock of an open file, 0 where it is unknown, or None."""
        try:
            lock(fd)
        except BlockingIOError:
            return 0
        except OSError:
            return None
        os.lseek(fd, _OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        return None

else:
    import fcntl

    # the order of the fields of `struct flock`
    _BSD = sys.platform != "linux"
    _FLOCK = "qqihh" if _BSD else "hhqqi4x"

    def lock(fd: int) -> None:
        """Take the lock of a file that is open for writing, or raise BlockingIOError; OSError where there are no locks."""
        # of the kind that belongs to the process: a worker that is forked from it does not keep the lock alive
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _OFFSET, os.SEEK_SET)
        except PermissionError as error:  # POSIX lets a system say EACCES for "another process has it"
            raise BlockingIOError(error.errno, error.strerror) from error

    def lock_holder(fd: int) -> int | None:
        """Return the id of the process that holds the lock of an open file, 0 where it is unknown, or None."""
        kind, whence = fcntl.F_WRLCK, os.SEEK_SET
        asked = (_OFFSET, 1, 0, kind, whence) if _BSD else (kind, whence, _OFFSET, 1, 0)
        try:
            answer = struct.unpack(_FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
        except OSError:
            return None
        if answer[3 if _BSD else 0] == fcntl.F_UNLCK:
            return None
        return max(int(answer[2 if _BSD else 4]), 0)


@dataclass(frozen=True)
class Writer:
    """The process that writes to a record; `pid` is None and `host` empty where they are not known, `since` is in UTC."""

    pid: int | None
    host: str = ""
    command: str = ""
    since: str = ""

    def __str__(self) -> str:
        who = "a process" if self.pid is None else f"process {self.pid}"
        parts = [who, self.host and f"on {self.host}", self.command and f"({self.command})", self.since and f"since {self.since}"]
        return " ".join(part for part in parts if part)


def this_process() -> Writer:
    """Return this process as a writer."""
    command = " ".join(shlex.join(sys.orig_argv).split()).encode("utf-8", "backslashreplace").decode("utf-8")
    shown = command if len(command) <= 200 else command[:197] + "..."
    return Writer(os.getpid(), socket.gethostname(), shown, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def described(fd: int, holder: int | None) -> Writer:
    """Return the holder of a lock, as far as it is known; if the file names another process, that process was killed."""
    for _ in range(5):
        written = left_behind(fd)
        if written is not None and (not holder or holder == written.pid):
            return written
        time.sleep(0.01)  # it may hold the lock and not have written its name yet
    return Writer(holder or None)


def left_behind(fd: int) -> Writer | None:
    """Return the writer that the file names, who need not hold the lock any more; None where it names nobody."""
    os.lseek(fd, 0, os.SEEK_SET)
    try:
        read: Any = json.loads(os.read(fd, 4096))
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("pid"), int):
        return None
    texts = (" ".join(str(read.get(key, "")).split())[:200] for key in ("host", "command", "since"))
    return Writer(read["pid"], *texts)


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
    # takes effect in an empty file: two trials of forty parameters fit on a page of this size
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // _PAGE_BYTES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")


def connect_to_copy(path: Path) -> sqlite3.Connection:
    """Open a private file, or create it."""
    return _connect(path, "mode=rwc")


#: bytes of a row, and of a statement: the answers of a trial are in one
_MOST_BYTES = MOST_ANSWERS + 100_000_000
_STEPS = 50_000  # instructions of SQLite between two checks of the clock: some milliseconds


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
    """Open a file for reading; in a folder that cannot be written to, read the file alone, or a private copy of it and its log.

    Call the returned callable after closing the connection.
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
    """Return the error text for a file without the tables of a record: the cause, and what to do."""
    if (writer := writer_of(path)) is not None:
        return f"{path} is just being created by {writer}: it holds nothing yet; try again in a moment"
    if not path.stat().st_size:
        return f"{path} is an empty file, not a record"
    return why_lone(path) if lacks_log(path) else f"{path} is not a record of spotsvm; name another file"


def why_lone(path: Path) -> str:
    """Return the error text for a file without tables and without its log: the cause, and what to do."""
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
    """A connection that closes with the last reference to it: a study need not be closed, and Python 3.13 warns of open ones."""

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
