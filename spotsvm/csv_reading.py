"""Read CSV files: only local ones, and with a limit on their unpacked size."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd

from spotsvm.errors import DataError
from spotsvm.file_paths import checked_path

#: most bytes of an unpacked table
MOST_BYTES = 2**31
_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_OTHERS = (".tar", ".zst", ".7z", ".rar")


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    r"""Read a CSV file as `pandas.read_csv` does, plain or compressed by gzip, bzip2, xz or zip; URLs are not read.

    Parameters
    ----------
    path : path-like
        The file; its suffix determines the compression: .gz, .bz2, .xz, .zip.
    **options
        Arguments of `pandas.read_csv`.

    Raises
    ------
    DataError
        If it is compressed in another way or damaged, has more than 2 GiB unpacked, or is a pipe.
    ArgumentError, StorageError
        If `path` is not a path.
    OSError, ValueError
        As `pandas.read_csv` does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "table.csv.gz"
    ...     _ = file.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    ...     read_csv(file).to_dict("list")
    {'a': [1], 'b': [2]}
    """
    file = checked_path(path, such_as="table.csv")
    if file.resolve().is_fifo():  # a named pipe; that between two commands of a shell has no name
        raise DataError(f"{file} is a named pipe, which may never deliver data; save the table as a file")
    ending = file.suffix.lower()
    if ending in _OTHERS:
        raise DataError(f"{file}: archives of this kind are not supported; use .csv, or .csv.gz, .bz2, .xz or .zip")
    try:
        with ExitStack() as stack:
            frame: pd.DataFrame = pd.read_csv(
                cast("Any", io.BufferedReader(_Bounded(_opened(file, ending, stack), file))), **options
            )
            return frame
    except (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        # a zip file may need an unknown method of compression, or a password
        why = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{file} is not a CSV file compressed as its suffix says: {why}") from error


def _opened(file: Path, ending: str, stack: ExitStack) -> IO[bytes]:
    if ending == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise DataError(f"{file}: the archive contains {len(names)} files; use one that contains only the table")
        # only its bytes are read: whatever the path of the member, nothing is written
        return stack.enter_context(archive.open(names[0]))
    return cast("IO[bytes]", stack.enter_context(_OPENERS[ending](file) if ending in _OPENERS else file.open("rb")))


class _Bounded(io.RawIOBase):
    """A stream that raises DataError after `MOST_BYTES`."""

    def __init__(self, source: IO[bytes], file: Path):
        self._source, self._file, self._left = source, file, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._source.read(len(buffer))
        self._left -= len(part)
        if self._left < 0:
            raise DataError(f"{self._file}: the unpacked table has more than {MOST_BYTES >> 30} GiB; use a part of it")
        buffer[: len(part)] = part
        return len(part)
