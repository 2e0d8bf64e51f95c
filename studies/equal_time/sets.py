"""The data sets of the study `equal_time`: 80 to 2,000 rows each, of the data folder and of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from spotsvm.studies.common.data import Floats, read_table

#: rows that are drawn, once and for all, from sets that have more of them than the study takes
_DRAWN = 800
MOST_ROWS = 2000


class Rows(NamedTuple):
    """A data set: features as numbers, and classes or targets."""

    name: str
    X: Floats
    y: NDArray[Any]

    def split(self, split: int, regression: bool) -> tuple[Floats, NDArray[Any], Floats, NDArray[Any]]:
        """Return two thirds of the rows and their targets, drawn at random, by class if there are classes; then the new rows.

        All columns, and in regression the targets, have mean 0 and variance 1 on the rows tuned on.
        """
        old, new = train_test_split(
            np.arange(len(self.y)), test_size=1 / 3, stratify=None if regression else self.y, random_state=split
        )
        scaler = StandardScaler().fit(self.X[old])
        y = (self.y - self.y[old].mean()) / self.y[old].std() if regression else self.y
        return scaler.transform(self.X[old]), y[old], scaler.transform(self.X[new]), y[new]


def _features(table: pd.DataFrame) -> Floats:
    """Return columns of numbers as they are, and of each category of the others a column of 0 and 1."""
    X = pd.get_dummies(table, dtype=float).to_numpy(dtype=np.float64)
    return X[:, np.ptp(X, axis=0) > 0]


def _drawn(X: Floats, y: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    if len(y) <= MOST_ROWS:
        return X, y
    rows, _ = train_test_split(np.arange(len(y)), train_size=_DRAWN, stratify=y, random_state=0)
    return X[np.sort(rows)], y[np.sort(rows)]


def _classes_of(file: str) -> tuple[Floats, NDArray[Any]]:
    """Read a set of the data folder and its classes, as whole numbers."""
    table = _table(file)
    y = np.unique(table["y"].astype(str), return_inverse=True)[1]
    return _drawn(_features(table.drop(columns="y")), y)


def _target_of(file: str, target: str, *left_out: str) -> tuple[Floats, NDArray[Any]]:
    """Read a set of the data folder, of which one column of numbers is the target and some are no features."""
    table = _table(file)
    return _features(table.drop(columns=[target, *left_out])), table[target].to_numpy(dtype=np.float64)


def _table(file: str) -> pd.DataFrame:
    return read_table(file).drop(columns="part", errors="ignore").dropna()


def _of_sklearn(load: Callable[..., Any]) -> tuple[Floats, NDArray[Any]]:
    X, y = load(return_X_y=True)
    return X[:, np.ptp(X, axis=0) > 0], y


def _column_of_sklearn(load: Callable[..., Any], column: int) -> tuple[Floats, NDArray[Any]]:
    """Return a set in which one feature is told from the other ones."""
    X, _ = _of_sklearn(load)
    return np.delete(X, column, axis=1), X[:, column]


def _simulated(make: Callable[..., Any], noise: float) -> tuple[Floats, NDArray[Any]]:
    X, y = make(n_samples=300, noise=noise, random_state=0)
    return X, y


Reader = Callable[[], tuple[Floats, NDArray[Any]]]
_FOLDER = {
    "liver": "liver", "ionosphere": "ionosphere", "sonar": "sonar", "lawsuit": "lawsuit", "lupus": "lupus", "crabs": "crabs",
    "glass": "glass", "glass2": "glass2", "heart": "heart_statlog", "pima": "pima", "german": "german_categorical",
    "wisconsin": "wisconsin", "breast cancer (IDA)": "ida_breast_cancer", "thyroid": "ida_thyroid",
    "flare solar": "ida_flare_solar", "titanic": "ida_titanic", "banana": "ida_banana", "image": "ida_image",
    "splice": "ida_splice", "twonorm": "ida_twonorm", "ringnorm": "ida_ringnorm", "waveform": "ida_waveform",
    "mfeat mor": "mfeat_mor", "mfeat zer": "mfeat_zer",
}  # fmt: skip
#: sets with classes; those of scikit-learn come first
CLASSES: dict[str, Reader] = {
    "iris": partial(_of_sklearn, datasets.load_iris),
    "wine": partial(_of_sklearn, datasets.load_wine),
    "breast cancer": partial(_of_sklearn, datasets.load_breast_cancer),
    "digits": partial(_of_sklearn, datasets.load_digits),
    **{name: partial(_classes_of, file) for name, file in _FOLDER.items()},
}
#: sets with a target; of some with classes, a column of numbers is told from the other features
TARGETS: dict[str, Reader] = {
    "diabetes": partial(_of_sklearn, datasets.load_diabetes),
    "wine, alcohol": partial(_column_of_sklearn, datasets.load_wine, 0),
    "iris, petal width": partial(_column_of_sklearn, datasets.load_iris, 3),
    "breast cancer, texture": partial(_column_of_sklearn, datasets.load_breast_cancer, 1),
    "friedman 1": partial(_simulated, datasets.make_friedman1, 1.0),
    "friedman 2": partial(_simulated, datasets.make_friedman2, 125.0),
    "friedman 3": partial(_simulated, datasets.make_friedman3, 0.1),
    "tecator, fat": partial(_target_of, "tecator", "y", "moisture", "protein"),
    "liver, drinks": partial(_target_of, "liver", "drinks", "y"),
    "pima, glucose": partial(_target_of, "pima", "glucose", "y"),
    "glass, refraction": partial(_target_of, "glass", "RI", "y"),
    "german, amount": partial(_target_of, "german_categorical", "amount", "y"),
    "heart, heart rate": partial(_target_of, "heart_statlog", "maximum_heart_rate_achieved", "y"),
}


def read_rows(name: str) -> Rows:
    """Read a set by its name, one of `CLASSES` or `TARGETS`.

    Raises
    ------
    DataError
        If its data are not there.
    KeyError
        If there is no such set.
    """
    X, y = (CLASSES | TARGETS)[name]()
    return Rows(name, np.asarray(X, dtype=np.float64), y)
