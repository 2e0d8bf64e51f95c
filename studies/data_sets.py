"""The data sets of the studies of support vector machines: those of the folder SPOTSVM_DATA, gzipped or not, and stand-ins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from studies.data_folder import read_binary

Floats = NDArray[np.float64]


class DataSet(NamedTuple):
    """Rows of features and their labels, -1 and 1."""

    name: str
    X: Floats
    y: Floats

    def first(self, rows: int, name: str) -> DataSet:
        """Give the first rows under another name."""
        return DataSet(name, self.X[:rows], self.y[:rows])

    def standardised(self) -> DataSet:
        """Give each feature with mean 0 and standard deviation 1."""
        return self._replace(X=StandardScaler().fit_transform(self.X))


def read_set(name: str) -> DataSet:
    """Read a set with two classes from the folder that SPOTSVM_DATA names.

    Parameters
    ----------
    name : str
        The set is `name`.csv or `name`.csv.gz there.

    Raises
    ------
    DataError
        If SPOTSVM_DATA is not set, or the folder has no such set, or it has not two classes.
    """
    return DataSet(name, *read_binary(name))


def stand_ins() -> list[DataSet]:
    """Give two small sets that come with scikit-learn, for quick forms."""
    X, y = load_breast_cancer(return_X_y=True)
    flowers, kinds = load_iris(return_X_y=True)
    return [
        DataSet("breast cancer", X[:160], np.where(y[:160] == 1, 1.0, -1.0)).standardised(),
        DataSet("iris", flowers[50:], np.where(kinds[50:] == 2, 1.0, -1.0)),
    ]
