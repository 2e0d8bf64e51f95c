"""The sets of the study `alga` as they are split: rows to choose from (T), to choose by (V), and to judge by (Psi)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler

from studies.dot_sets import DotSet

Floats = NDArray[np.float64]

N_FOLDS = 5


class Parts(NamedTuple):
    """One split of a set: T, V and Psi of the paper.

    Parameters
    ----------
    name : str
        The set's name.
    fold : int
        Which part of the set is judged by; 0 where there is one split only.
    X, y : ndarray
        T: the rows to train on or to choose the training set from.
    validation_X, validation_y : ndarray
        V: the rows whose accuracy is the fitness.
    test_X, test_y : ndarray
        Psi: the rows that no method sees.
    """

    name: str
    fold: int
    X: Floats
    y: Floats
    validation_X: Floats
    validation_y: Floats
    test_X: Floats
    test_y: Floats

    @property
    def checksum(self) -> str:
        """A checksum of all rows, by which a record tells whether it is of these."""
        crc = 0
        for values in self[2:]:
            crc = zlib.crc32(np.ascontiguousarray(values, dtype="<f8").tobytes(), crc)
        return f"{crc:08x}"

    @property
    def sizes(self) -> list[int]:
        """Vectors a class (K): d, 4 d, 16 d, ... for d columns, while 2 K is at most half of T and each class has so many.

        Examples
        --------
        >>> rows = np.zeros((70, 2)), np.repeat([-1.0, 1.0], 35)
        >>> Parts("zeros", 0, *rows, *rows, *rows).sizes
        [2, 8]
        """
        smallest = int(min(np.unique(self.y, return_counts=True)[1]))
        sizes, size = [], self.X.shape[1]
        while 4 * size <= len(self.y) and size <= smallest:
            sizes.append(size)
            size *= 4
        return sizes


def thirds(data: DotSet, seed: int = 0) -> Parts:
    """Split a set of points at random into T, V and Psi, a third of each class to each.

    Parameters
    ----------
    data : DotSet
        The points.
    seed : int, default=0
        Seed of the split.

    Examples
    --------
    >>> from studies.dot_sets import random_points
    >>> parts = thirds(random_points(300))
    >>> len(parts.y), len(parts.validation_y), len(parts.test_y)
    (100, 100, 100)
    """
    rows = np.arange(len(data.y))
    train, rest = train_test_split(rows, train_size=1 / 3, stratify=data.y, random_state=seed)
    validation, test = train_test_split(rest, train_size=0.5, stratify=data.y[rest], random_state=seed)
    return Parts(data.name, 0, *(values[part] for part in (train, validation, test) for values in (data.X, data.y)))


def scaled_folds(name: str, X: Floats, y: Floats, seed: int = 0) -> Iterator[Parts]:
    """Cut a set into five folds by class; each is Psi once, and of the other four a quarter is V and the rest T.

    So T has 60 % of the rows, V and Psi have 20 % each. Columns are scaled to [0, 1] by T; rows of V and Psi may lie beyond.

    Parameters
    ----------
    name : str
        The set's name.
    X, y : ndarray
        All rows.
    seed : int, default=0
        Seed of the folds and of the quarters.
    """
    for fold, (others, test) in enumerate(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)):
        train, validation = train_test_split(others, test_size=0.25, stratify=y[others], random_state=seed)
        scaler = MinMaxScaler().fit(X[train])
        parts = [values for part in (train, validation, test) for values in (scaler.transform(X[part]), y[part])]
        yield Parts(name, fold, *parts)
