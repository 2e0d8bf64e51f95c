"""The data sets of the papers, from the folder SPOTSVM_DATA or the folder of a study, and types of arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from spotsvm.common.csv_files import read_csv
from spotsvm.errors import DataError

Floats = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
Params = Mapping[str, Any]

_FOLDER: ContextVar[Path | None] = ContextVar("data folder of the study that is running", default=None)


@contextmanager
def data_from(folder: Path | None) -> Iterator[None]:
    """Read data sets from this folder in place of SPOTSVM_DATA, unless it is None."""
    token = _FOLDER.set(folder or _FOLDER.get())
    try:
        yield
    finally:
        _FOLDER.reset(token)


def named_folder() -> Path | None:
    """Return the folder that replaces SPOTSVM_DATA, or None."""
    return _FOLDER.get()


def data_folder() -> Path | None:
    """Return the folder that data sets are read from, or None."""
    variable = os.environ.get("SPOTSVM_DATA", "")
    return named_folder() or (Path(variable) if variable else None)


def read_table(name: str) -> pd.DataFrame:
    """Read `name`.csv or `name`.csv.gz.

    Raises
    ------
    DataError
        If SPOTSVM_DATA is not set, or there is no such file in the folder, or it cannot be read.
    """
    file = _file(name)
    try:
        return read_csv(file)
    except DataError:
        raise
    except (OSError, ValueError) as error:  # pandas' errors, and those of text, are ValueErrors
        raise DataError(f"{file}: cannot be read as CSV: {error}") from error


def has_table(name: str) -> bool:
    """Return whether the folder of data has `name`.csv or `name`.csv.gz."""
    folder = data_folder()
    return folder is not None and any((folder / f"{name}{ending}").is_file() for ending in (".csv", ".csv.gz"))


def read_binary(name: str) -> tuple[Floats, Floats]:
    """Read a set with two classes: features as numbers, rows with missing values left out, and labels -1 and 1."""
    return _binary(read_table(name), name)


def read_split(name: str) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Read a set with two classes that its source has split: training rows and labels, then test rows and labels."""
    table = read_table(name)
    if "part" not in table:
        raise DataError(f"{_file(name)} has no column part, which marks training and test rows")
    train, test = (table[table["part"] == part] for part in ("train", "test"))
    return _binary(train, name), _binary(test, name)


def _file(name: str) -> Path:
    folder = data_folder()
    if folder is None:
        raise DataError(
            f"the study needs the data set {name!r}: set SPOTSVM_DATA to the folder with {name}.csv, or name the folder by --data"
        )
    files = [folder / f"{name}{ending}" for ending in (".csv", ".csv.gz")]
    file = next((f for f in files if f.is_file()), None)
    if file is None:
        by = "--data " if _FOLDER.get() else "SPOTSVM_DATA="
        raise DataError(f"{by}{folder}: there is no {name}.csv in it, nor {name}.csv.gz")
    return file


def _binary(table: pd.DataFrame, name: str) -> tuple[Floats, Floats]:
    if "y" not in table:
        raise DataError(f"{_file(name)} has no column y, which has the classes")
    table = table.drop(columns="part", errors="ignore").dropna()
    classes = np.unique(table["y"].astype(str))
    if len(classes) != 2:
        raise DataError(f"{_file(name)}: column y has {len(classes)} values; a set with two classes is needed")
    try:
        X = table.drop(columns="y").to_numpy(dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{_file(name)}: its features are not all numbers: {error}") from error
    return X, np.where(table["y"].astype(str) == classes[0], -1.0, 1.0)


class DataSet(NamedTuple):
    """Rows of features and their labels, -1 and 1."""

    name: str
    X: Floats
    y: Floats

    def first(self, rows: int, name: str) -> DataSet:
        """Return the first rows under another name."""
        return DataSet(name, self.X[:rows], self.y[:rows])

    def standardised(self) -> DataSet:
        """Return each feature with mean 0 and standard deviation 1."""
        return self._replace(X=StandardScaler().fit_transform(self.X))


def read_set(name: str) -> DataSet:
    """Read a set with two classes as `read_binary` does."""
    return DataSet(name, *read_binary(name))


def stand_ins() -> list[DataSet]:
    """Return two small sets that come with scikit-learn, for quick forms."""
    X, y = load_breast_cancer(return_X_y=True)
    flowers, kinds = load_iris(return_X_y=True)
    return [
        DataSet("breast cancer", X[:160], np.where(y[:160] == 1, 1.0, -1.0)).standardised(),
        DataSet("iris", flowers[50:], np.where(kinds[50:] == 2, 1.0, -1.0)),
    ]
