"""The lock of a record, which one process holds and the system releases when that dies; it names its holder."""

from __future__ import annotations

import gc
import json
import logging
import os
import shlex
import socket
import stat
import struct
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakSet

from spotsvm.errors import StorageError

_LOG = logging.getLogger(__name__)

#: seconds in which a process that was just killed is given the time to be gone
_PATIENCE = 0.25
_GUARD = threading.RLock()
#: how a file is opened that may be a link or a pipe
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WriterLock:
    """The lock for writing to a record; one object in one process holds it at a time.

    The lock is one of the operating system's on a file beside the record. It ends with the process, also when that is killed,
    and a worker process forked from it does not inherit it. The file itself, which says who has the lock, means nothing
    without it; it is removed when the lock is released, and one that was left behind is taken over. On a network drive the
    lock holds between machines only if the drive passes locks on: NFS does unless it is mounted with `nolock` or `local_lock`,
    sshfs does not. Where there are no locks at all the record cannot be opened for writing. SQLite's write-ahead log needs all
    readers and the writer on one machine in any case.

    Raises StorageError if another process, which it names, holds the lock, or if the file cannot be written.
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
            # a container has a name of its own each time, and a killed job may go on elsewhere
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
    held = (held for held in list(_HELD) if held._fd is not None and os.path.samestat(os.fstat(held._fd), there))
    return next(held, None)


def _same_file(fd: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), place.lstat())
    except OSError:
        return False


def _forget_locks_of_the_parent() -> None:
    global _GUARD
    _GUARD = threading.RLock()  # another thread of the parent may have had it
    for held in list(_HELD):
        if held._fd is not None:
            os.close(held._fd)
            held._fd = None
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
    """The process that writes to a record.

    Attributes
    ----------
    pid : int or None
        Its process id; None where it is not known.
    host : str
        The name of its machine, as text of one line; empty where it is not known.
    command : str
        The command that started it, shortened, as text of one line.
    since : str
        When it opened the record: date and time in UTC, as ISO 8601 has it.
    """

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
    """Return the holder of a lock; another one that the file names is a process that was killed."""
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
