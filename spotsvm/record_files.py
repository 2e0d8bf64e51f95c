"""Find the records in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from spotsvm.errors import StorageError
from spotsvm.record_opening import MAGIC


def record_files(path: Path) -> list[Path]:
    """Return the SQLite files in a folder and its subfolders, sorted; links are not followed. Return any other path as it is.

    Raises
    ------
    StorageError
        If a folder cannot be read.
    """
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
