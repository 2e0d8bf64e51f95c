"""CSV files from anywhere: read from the disk alone, and never more of them than fits into the memory."""

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

#: bytes of a table once it is unpacked
MOST_BYTES = 2**31
_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_OTHERS = (".tar", ".zst", ".7z", ".rar")


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    r"""Read a CSV file as `pandas.read_csv` does, plain or packed by gzip, bzip2, xz or zip; never from an address on a network.

    Parameters
    ----------
    path : path-like
        The file; how it is packed is told by the end of its name: .gz, .bz2, .xz, .zip.
    **options
        Arguments of `pandas.read_csv`.

    Raises
    ------
    DataError
        If it is packed in another way, or damaged, or unpacked has more than 2 GiB; or if it is a pipe.
    ArgumentError, StorageError
        If `path` is no path.
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
    if file.resolve().is_fifo():  # a shell's pipe between two commands has no place in a folder
        raise DataError(f"{file} is a pipe, which brings nothing unless another program writes to it; save the table as a file")
    ending = file.suffix.lower()
    if ending in _OTHERS:
        raise DataError(f"{file}: an archive of this kind is not read; use .csv, or .csv.gz, .bz2, .xz or .zip")
    try:
        with ExitStack() as stack:
            frame: pd.DataFrame = pd.read_csv(
                cast("Any", io.BufferedReader(_Bounded(_opened(file, ending, stack), file))), **options
            )
            return frame
    except (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        # a zip file may be packed in ways that are not known here, or ask for a password
        why = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{file} is not a CSV file packed as its name says: {why}") from error


def _opened(file: Path, ending: str, stack: ExitStack) -> IO[bytes]:
    if ending == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise DataError(f"{file}: the archive holds {len(names)} files; put the table alone into it")
        # only its bytes are read: whatever path the member has, nothing is written
        return stack.enter_context(archive.open(names[0]))
    return cast("IO[bytes]", stack.enter_context(_OPENERS[ending](file) if ending in _OPENERS else file.open("rb")))


class _Bounded(io.RawIOBase):
    """A stream that ends in an error where there is more in it than a table may have."""

    def __init__(self, source: IO[bytes], file: Path):
        self._source, self._file, self._left = source, file, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._source.read(len(buffer))
        self._left -= len(part)
        if self._left < 0:
            raise DataError(f"{self._file}: unpacked it has more than {MOST_BYTES >> 30} GiB; use a part of it")
        buffer[: len(part)] = part
        return len(part)
