"""A CSV file of a study's runs, from which an interrupted study resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from spotsvm.errors import DataError, StorageError


class RunFile:
    """A CSV file of runs; the rows of a run are added when it ends.

    Parameters
    ----------
    path : path-like or None
        The file; None stores nothing.
    columns : dict of str to callable
        The columns in order, each with the type that converts a cell's text: str, int or float. Python converts the cells, so
        numbers are exact with any version of pandas. An empty cell of a float is nan.

    Examples
    --------
    >>> file = RunFile(None, {"repeat": int, "error": float})
    >>> file.append(pd.DataFrame({"repeat": [0], "error": [0.1]}))
    >>> len(file.read())
    0
    """

    def __init__(self, path: str | Path | None, columns: Mapping[str, Callable[[str], Any]]):
        self.path = None if path is None else Path(path)
        self._columns = dict(columns)

    def read(self) -> pd.DataFrame:
        """Return all rows of the file; an empty frame if there is no file.

        Raises
        ------
        DataError
            If the file has other columns, or is damaged.
        """
        if self.path is None or not self.path.is_file():
            return pd.DataFrame()
        readers = {name: _number if kind is float else kind for name, kind in self._columns.items()}
        try:
            text = self.path.read_text(encoding="utf-8")
            cut = bool(text) and not text.endswith("\n")
            frame = pd.DataFrame() if cut else pd.read_csv(StringIO(text), converters=readers, na_filter=False)
        except (OSError, ValueError, OverflowError) as error:  # pandas' own errors are ValueErrors
            raise DataError(f"{self.path} cannot be read as a file of runs: {error}; name another file") from error
        if cut:
            raise DataError(f"{self.path} ends in the middle of a line; delete that line")
        if list(frame.columns) != list(self._columns):
            raise DataError(f"{self.path} has other columns than this study writes; name another file")
        return frame

    def append(self, rows: pd.DataFrame) -> None:
        """Add the rows of a run.

        Parameters
        ----------
        rows : DataFrame
            With the file's columns.

        Raises
        ------
        StorageError
            If the file cannot be written.
        """
        if self.path is None:
            return
        text = rows[list(self._columns)].to_csv(index=False, header=not self.path.is_file(), lineterminator="\n")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot write there: {error.strerror or error}") from error


def _number(cell: str) -> float:
    return float(cell) if cell else float("nan")


class EndedRun(NamedTuple):
    """A run that has ended, for the progress bar."""

    search: str
    seed: int
