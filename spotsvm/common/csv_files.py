"""CSV files: exact numbers, text that no spreadsheet executes as a formula, and compressed tables of limited size."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from numbers import Number
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd

from spotsvm.common.new_files import new_file
from spotsvm.common.text import checked_path, printable
from spotsvm.errors import DataError, StorageError

#: characters with which a formula begins; some spreadsheets also accept full-width characters
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")

#: fillers of Hangul and the empty pattern of Braille, which are invisible but not white space
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"


def write_csv(frame: pd.DataFrame, target: str | Path | IO[str], what: str) -> None:
    """Write a frame as CSV (UTF-8, a header row, no index), with digits that restore each number; `what` names it in errors.

    Text that a spreadsheet would take for a formula, but no number such as "-1", gets a leading apostrophe (OWASP, "CSV
    Injection"); control characters except tabs and line feeds are escaped.
    """
    if not hasattr(target, "write"):
        target = checked_path(target, such_as="table.csv")
    try:
        with new_file(target) if isinstance(target, Path) else nullcontext(target) as file:
            safe_frame(frame).to_csv(file, index=False, lineterminator="\n", encoding="utf-8")
    except BrokenPipeError:  # the reader of standard output has closed it
        raise
    except OSError as error:
        place = target if isinstance(target, Path) else "standard output"
        raise StorageError(f"{place}: cannot write the {what}: {error.strerror or error}") from error
    except UnicodeEncodeError:  # a terminal with another encoding
        raise StorageError(
            f"the {what} cannot be written in {getattr(target, 'encoding', 'this encoding')}; write it to a file"
        ) from None


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame as `write_csv` writes it: no spreadsheet executes its text and column names as formulas."""
    columns = [frame.iloc[:, k].reset_index(drop=True) for k in range(frame.shape[1])]
    safe = [c if pd.api.types.is_numeric_dtype(c.dtype) else c.astype(object).map(_safe) for c in columns]
    out = pd.DataFrame(dict(enumerate(safe)), index=range(len(frame)))
    out.columns = pd.Index([_safe(name) for name in frame.columns])
    return out


def _safe(cell: Any) -> Any:
    if cell is None or isinstance(cell, Number):
        return cell
    # a lone carriage return would not be quoted, and end the row; control characters would act on a terminal
    text = printable((cell if isinstance(cell, str) else str(cell)).replace("\r\n", "\n").replace("\r", "\n"))
    # spreadsheets ignore leading white space, and may ignore invisible characters
    if (text[:1] in ("\t", "\n") or _from_visible(text).startswith(_FORMULA)) and not _is_number(text):
        text = f"'{text}"
    return text


def _from_visible(text: str) -> str:
    """Return a text from its first visible character on."""
    first = next((k for k, sign in enumerate(text) if not _invisible(sign)), len(text))
    return text[first:]


def _invisible(sign: str) -> bool:
    return sign.isspace() or sign in _BLANK_LETTERS or unicodedata.category(sign) in ("Cc", "Cf", "Cn", "Co", "Mn", "Me")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


#: maximum bytes of an unpacked table
MOST_BYTES = 2**31
_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_OTHERS = (".tar", ".zst", ".7z", ".rar")


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    """Read a CSV file as `pandas.read_csv` does, plain or compressed by gzip, bzip2, xz or zip; see `opened_csv`."""
    with opened_csv(path) as stream:
        frame: pd.DataFrame = pd.read_csv(cast("Any", stream), **options)
    return frame


@contextmanager
def opened_csv(path: str | Path) -> Iterator[io.BufferedReader]:
    """Open a file that is plain or compressed by gzip, bzip2, xz or zip, to read its bytes; URLs are not read.

    The suffix (.gz, .bz2, .xz, .zip) determines the compression. DataError is raised if the file is compressed in another way or
    damaged, has more than 2 GiB unpacked, or is a pipe.
    """
    file = checked_path(path, such_as="table.csv")
    if file.resolve().is_fifo():  # a named pipe; a pipe between two shell commands has no name
        raise DataError(f"{file} is a named pipe, which may never deliver data; save the table as a file")
    ending = file.suffix.lower()
    if ending in _OTHERS:
        raise DataError(f"{file}: archives of this kind are not supported; use .csv, or .csv.gz, .bz2, .xz or .zip")
    piped = _piped(file)
    try:
        with ExitStack() as stack:
            if piped is not None:
                yield io.BufferedReader(_Bounded(io.BytesIO(piped), file))
                return
            yield io.BufferedReader(_Bounded(_opened(file, ending, stack), file))
    except (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        # a zip file may need an unknown compression method, or a password
        why = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{file} is not a CSV file compressed as its suffix says: {why}") from error


def _opened(file: Path, ending: str, stack: ExitStack) -> IO[bytes]:
    if ending == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(file))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise DataError(f"{file}: the archive contains {len(names)} files; use one that contains only the table")
        # only the member's bytes are read, and its path is not used, so nothing is written
        return stack.enter_context(archive.open(names[0]))
    return cast("IO[bytes]", stack.enter_context(_OPENERS[ending](file) if ending in _OPENERS else file.open("rb")))


#: bytes read from pipes without a name, which can be read only once
_READ: dict[tuple[int, int], bytes] = {}


def _piped(file: Path) -> bytes | None:
    """Return all bytes of a pipe without a name, such as /dev/stdin; None for any other file."""
    try:
        found = file.stat()
    except OSError:  # opening the file raises it again
        return None
    if not stat.S_ISFIFO(found.st_mode):
        return None
    key = found.st_dev, found.st_ino
    if key not in _READ:
        _READ.clear()
        with file.open("rb") as stream:
            _READ[key] = stream.read(MOST_BYTES + 1)
    return _READ[key]


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
