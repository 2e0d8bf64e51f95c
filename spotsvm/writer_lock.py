"""One writer per record: a lock that the system releases when its process dies, and that says who holds it."""

from __future__ import annotations

import gc
import logging
import os
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from spotsvm.errors import StorageError
from spotsvm.file_locks import lock, lock_holder
from spotsvm.record_writer import Writer, described, left_behind, this_process, write_writer

__all__ = ["Writer", "WriterLock", "is_written_here", "lock_path", "writer_of"]

_LOG = logging.getLogger(__name__)

_SUFFIX = "-lock"
#: seconds in which a process that was just killed is given the time to be gone
_PATIENCE = 0.25
_GUARD = threading.RLock()


class WriterLock:
    """The right to write to a record, which one process has at a time, and one object in it.

    The lock is one of the operating system's on a file beside the record. It ends with the process, also when that is killed,
    and a worker process forked from it does not inherit it. The file itself, which says who has the lock, means nothing
    without it; it is removed when the lock is released, and one that was left behind is taken over. On a network drive the
    lock holds between machines only if the drive passes locks on: NFS does unless it is mounted with `nolock` or `local_lock`,
    sshfs does not. Where there are no locks at all the record cannot be opened for writing. SQLite's write-ahead log needs all
    readers and the writer on one machine in any case.

    Parameters
    ----------
    record : Path
        The record, whether it is there yet or not; symbolic links to it come to the same.

    Raises
    ------
    StorageError
        If another has the lock, whom it names, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     held = WriterLock(Path(folder) / "study.db")
    ...     print(writer_of(Path(folder) / "study.db").pid == os.getpid())
    ...     held.release()
    ...     print(writer_of(Path(folder) / "study.db"))
    True
    None
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
                gc.collect()  # a study that nobody has any more may still be in a circle of references
            if (own := _held_here(self.path)) is not None:
                raise StorageError(
                    f"{self.record} is being written to by this very process, since {own.writer.since}: "
                    "close the study that has it, or use another file"
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
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            fd = os.open(self.path, flags, 0o666)
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
        write_writer(fd, self.writer)

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
        with _GUARD:  # somebody has removed the file
            os.close(self._fd)
            self._fd = None
            self._take()

    def release(self) -> None:
        """Let others write to the record."""
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
    """Return the process that has a record open for writing, or None; the lock is not taken.

    Parameters
    ----------
    path : path-like
        The record.
    """
    place = lock_path(Path(path))
    with _GUARD:
        # opening and closing the file here would release the lock
        if (own := _held_here(place)) is not None:
            return own.writer
        try:
            fd = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
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
    return resolved.with_name(resolved.name + _SUFFIX)


def _held_here(place: Path) -> WriterLock | None:
    try:
        there = place.lstat()
    except OSError:
        return None
    for held in list(_HELD):
        if held._fd is not None and os.path.samestat(os.fstat(held._fd), there):
            return held
    return None


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
