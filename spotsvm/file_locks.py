"""Locks on an open file, which the system releases when the process that took one ends, however it ends."""

from __future__ import annotations

import os
import struct
import sys

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
