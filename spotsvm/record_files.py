"""The records in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from spotsvm.errors import StorageError
from spotsvm.record_opening import MAGIC


def record_files(path: str | Path) -> list[Path]:
    """Give the SQLite files in a folder and all within it, by name; links are not followed. A file is its only one.

    Parameters
    ----------
    path : path-like
        A folder, or a file.

    Raises
    ------
    StorageError
        If there is no such file or folder, or it cannot be read.
    """
    place = Path(path)
    if not place.exists():
        raise StorageError(f"{place}: there is no such record or folder")
    return sorted(_below(place)) if place.is_dir() else [place]


def _below(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(Path(entry.path))
                elif entry.is_file(follow_symlinks=False) and _is_sqlite(Path(entry.path)):
                    yield Path(entry.path)
    except OSError as error:
        raise StorageError(f"{folder}: cannot look into the folder: {error.strerror or error}") from error


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
