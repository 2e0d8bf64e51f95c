"""Files that are written whole or not at all: under a temporary name, which then takes the place of the old file."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: how the names of temporary folders begin
PREFIX = ".spotsvm-"
#: folders of names that stand for pipes, devices and open files
_STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path of the same name to write to; after the block, the file there takes the place of the one at `path`.

    A killed process leaves the old file, and a hidden folder beside it. A symbolic link is replaced, not followed; hard links
    keep the old content; pipes and devices are written to directly.
    """
    if _is_stream(path):
        yield path
        return
    check_replaceable(path)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=path.parent))
    try:
        yield folder / path.name
        put_in_place(folder / path.name, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_replaceable(path: Path) -> None:
    """Raise OSError if there is a folder, or a write-protected file, which replacing would not mind."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_symlink() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def put_in_place(new: Path, path: Path) -> None:
    """Let a file take the place and the permissions of another, once it is on the disk."""
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    if path.is_file() and not path.is_symlink():
        shutil.copymode(path, new)
    new.replace(path)


def _is_stream(path: Path) -> bool:
    if path.absolute().parent in _STREAMS:
        return True
    try:
        kind = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)
