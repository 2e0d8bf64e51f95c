"""The data sets of the study `equal_time`, for other studies as well: of the data folder and of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from spotsvm.studies.common.data import Floats, read_table

#: rows at most, and how many are drawn, once and for all, from sets that have more
MOST_ROWS, DRAWN = 2000, 800
Table = tuple[Floats, NDArray[Any]]


class Source(NamedTuple):
    """Where a data set comes from: `read` returns its features and its classes or targets.

    Sets of one family share rows, or are views of the same objects.
    """

    family: str
    read: Callable[[], Table]


class Rows(NamedTuple):
    """A data set: features as numbers, and classes or targets."""

    name: str
    family: str
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


def _classes_of(file: str) -> Table:
    """Read a set of the data folder and its classes, as whole numbers."""
    table = _table(file)
    y = np.unique(table["y"].astype(str), return_inverse=True)[1]
    return _features(table.drop(columns="y")), y


def _target_of(file: str, target: str, *left_out: str) -> Table:
    """Read a set of the data folder, of which one column of numbers is the target and some are no features."""
    table = _table(file)
    return _features(table.drop(columns=[target, *left_out])), table[target].to_numpy(dtype=np.float64)


def _table(file: str) -> pd.DataFrame:
    return read_table(file).drop(columns="part", errors="ignore").dropna()


def _of_sklearn(load: Callable[..., Any]) -> Table:
    X, y = load(return_X_y=True)
    return X[:, np.ptp(X, axis=0) > 0], y


def _column_of_sklearn(load: Callable[..., Any], column: int) -> Table:
    """Return a set in which one feature is told from the other ones."""
    X, _ = _of_sklearn(load)
    return np.delete(X, column, axis=1), X[:, column]


def _simulated(make: Callable[..., Any], noise: float) -> Table:
    X, y = make(n_samples=300, noise=noise, random_state=0)
    return X, y


#: files of the data folder with classes in the column y, and their families, where those have other names
_FOLDER = {
    "liver": "liver", "ionosphere": "ionosphere", "sonar": "sonar", "lawsuit": "lawsuit", "lupus": "lupus", "crabs": "crabs",
    "glass": "glass", "glass2": "glass2", "heart": "heart_statlog", "pima": "pima", "german": "german_categorical",
    "german, numbers": "german_numeric", "wisconsin": "wisconsin", "breast cancer (IDA)": "ida_breast_cancer",
    "thyroid": "ida_thyroid", "flare solar": "ida_flare_solar", "titanic": "ida_titanic", "banana": "ida_banana",
    "image": "ida_image", "splice": "ida_splice", "twonorm": "ida_twonorm", "ringnorm": "ida_ringnorm",
    "waveform": "ida_waveform", "diabetes (IDA)": "ida_diabetis", "german (IDA)": "ida_german", "heart (IDA)": "ida_heart",
    "mfeat mor": "mfeat_mor", "mfeat zer": "mfeat_zer", "mfeat fou": "mfeat_fou", "pendigits": "pendigits",
    "internet ads": "internet_ads_sample",
}  # fmt: skip
_FAMILIES = {
    "glass2": "glass", "german, numbers": "german", "diabetes (IDA)": "pima", "german (IDA)": "german", "heart (IDA)": "heart",
    "mfeat mor": "mfeat", "mfeat zer": "mfeat", "mfeat fou": "mfeat",
}  # fmt: skip
#: columns of numbers of the data folder that are told from the others: the file, the column, and what is left out
_COLUMNS = {
    "tecator, fat": ("tecator", "y", "moisture", "protein"),
    "liver, drinks": ("liver", "drinks", "y"),
    "pima, glucose": ("pima", "glucose", "y"),
    "glass, refraction": ("glass", "RI", "y"),
    "german, amount": ("german_categorical", "amount", "y"),
    "heart, heart rate": ("heart_statlog", "maximum_heart_rate_achieved", "y"),
    "crabs, depth": ("crabs", "BD", "y"),
    "ionosphere, x3": ("ionosphere", "x3", "y"),
    "sonar, x21": ("sonar", "x21", "y"),
    "wisconsin, cell size": ("wisconsin", "cell_size", "y"),
    "thyroid, x1": ("ida_thyroid", "x1", "y"),
    "image, x11": ("ida_image", "x11", "y"),
    "waveform, x11": ("ida_waveform", "x11", "y"),
    "mfeat, zer 1": ("mfeat_zer", "zer_1", "y"),
    "pendigits, x1": ("pendigits", "x1", "y"),
}
#: sets with classes; those of scikit-learn come first
CLASSES: dict[str, Source] = {
    "iris": Source("iris", partial(_of_sklearn, datasets.load_iris)),
    "wine": Source("wine", partial(_of_sklearn, datasets.load_wine)),
    "breast cancer": Source("breast cancer", partial(_of_sklearn, datasets.load_breast_cancer)),
    "digits": Source("digits", partial(_of_sklearn, datasets.load_digits)),
    **{name: Source(_FAMILIES.get(name, name), partial(_classes_of, file)) for name, file in _FOLDER.items()},
}
#: sets with a target; of some with classes, a column of numbers is told from the other features
TARGETS: dict[str, Source] = {
    "diabetes": Source("diabetes", partial(_of_sklearn, datasets.load_diabetes)),
    "wine, alcohol": Source("wine", partial(_column_of_sklearn, datasets.load_wine, 0)),
    "iris, petal width": Source("iris", partial(_column_of_sklearn, datasets.load_iris, 3)),
    "breast cancer, texture": Source("breast cancer", partial(_column_of_sklearn, datasets.load_breast_cancer, 1)),
    "friedman 1": Source("friedman 1", partial(_simulated, datasets.make_friedman1, 1.0)),
    "friedman 2": Source("friedman 2", partial(_simulated, datasets.make_friedman2, 125.0)),
    "friedman 3": Source("friedman 3", partial(_simulated, datasets.make_friedman3, 0.1)),
    **{name: Source(name.partition(",")[0], partial(_target_of, *where)) for name, where in _COLUMNS.items()},
}


def one_a_family(sources: Mapping[str, Source]) -> tuple[str, ...]:
    """Return the name of the first set of each family."""
    first: dict[str, str] = {}
    for name, source in sources.items():
        first.setdefault(source.family, name)
    return tuple(first.values())


def read_rows(name: str, most: int = MOST_ROWS, drawn: int = DRAWN) -> Rows:
    """Read a set by its name, one of `CLASSES` or `TARGETS`.

    Parameters
    ----------
    name : str
        The name.
    most : int, default=2000
        Rows at most.
    drawn : int, default=800
        How many rows are drawn from sets that have more, by class if there are classes.

    Raises
    ------
    DataError
        If its data are not there.
    KeyError
        If there is no such set.
    """
    source = (CLASSES | TARGETS)[name]
    X, y = source.read()
    if len(y) > most:
        rows, _ = train_test_split(np.arange(len(y)), train_size=drawn, stratify=y if name in CLASSES else None, random_state=0)
        X, y = X[np.sort(rows)], y[np.sort(rows)]
    return Rows(name, source.family, np.ascontiguousarray(X, dtype=np.float64), y)
