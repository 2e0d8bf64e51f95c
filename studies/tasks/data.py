"""The data of the tuning tasks: small sets with fixed rows and scaled features."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.studies.common.data import Floats, read_binary, read_table


class TuningSet(NamedTuple):
    """Features with mean 0 and standard deviation 1, and the raw target."""

    X: Floats
    y: Floats


def tuning_set(name: str) -> TuningSet:
    """Return the set of a tuning task: from scikit-learn ("breast_cancer", "diabetes") or the folder SPOTSVM_DATA.

    Rows, their order and precision are those of KEEL's copies (Alcala-Fdez et al. 2011); tuning_rows.csv has the 400 rows drawn
    by class of pima and german.
    """
    X, y = _READERS[name]()
    return TuningSet((X - X.mean(axis=0)) / X.std(axis=0), y)


def _rows(name: str) -> NDArray[np.intp]:
    with (files("spotsvm.studies.tasks") / "tuning_rows.csv").open() as source:
        return pd.read_csv(source, usecols=[name])[name].dropna().to_numpy(dtype=np.intp)


def _rounded(X: Floats) -> Floats:
    """Round numbers of five decimals to three, halves to even; `np.round` alone is wrong for some, such as 0.5095."""
    return np.asarray(np.rint(np.round(1e5 * X) / 100) / 1000)


def _breast_cancer() -> tuple[Floats, Floats]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, y.astype(float)


def _diabetes() -> tuple[Floats, Floats]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    return X, y


def _ionosphere() -> tuple[Floats, Floats]:
    X, y = read_binary("ionosphere")
    rows = _rows("ionosphere")
    return _rounded(np.delete(X, 1, axis=1)[rows]), y[rows]  # the second feature is 0 in all rows


def _sonar() -> tuple[Floats, Floats]:
    X, y = read_binary("sonar")
    return _rounded(X), y


def _heart() -> tuple[Floats, Floats]:
    X, y = read_binary("heart_statlog")
    oldpeak = X[:, 9]
    # KEEL's copy lacks the decimal point of this feature: 2.4 became 24, but 3.0 became 3
    X[:, 9] = np.where(oldpeak == oldpeak.round(), oldpeak, (10 * oldpeak).round())
    return X, y


def _pima() -> tuple[Floats, Floats]:
    X, y = read_binary("pima")
    rows = _rows("pima")
    return X[rows], y[rows]


def _german() -> tuple[Floats, Floats]:
    table = read_table("german_categorical").iloc[_rows("german_categorical")]
    features = table.drop(columns="y")
    # a category becomes the index of its code in alphabetical order
    coded = features.apply(
        lambda column: column if pd.api.types.is_numeric_dtype(column) else column.astype("category").cat.codes
    )
    return coded.to_numpy(dtype=np.float64), np.where(table["y"] == 2, 1.0, -1.0)


def _satimage() -> tuple[Floats, Floats]:
    table = read_table("satimage_imbalanced")
    return table.drop(columns="y").to_numpy(dtype=np.float64), table["y"].to_numpy(dtype=np.float64)


_READERS: dict[str, Callable[[], tuple[Floats, Floats]]] = {
    "breast_cancer": _breast_cancer,
    "diabetes": _diabetes,
    "ionosphere": _ionosphere,
    "sonar": _sonar,
    "heart": _heart,
    "pima400": _pima,
    "german400": _german,
    "satimage_imbalanced": _satimage,
}
