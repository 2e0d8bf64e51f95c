"""The data of the acid study: simulated spectra, or real ones of meat whose fat is cut into five classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from spotsvm.errors import DataError
from studies.acid_spectra import CLASS_SIZES, simulated_spectra
from studies.data_folder import read_table

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: the paper's training and test records; they leave out 2 of its 4,437
TRAIN, TEST = 3326, 1109

SOURCES = ("simulated", "tecator")


@dataclass(frozen=True)
class AcidData:
    """Spectra in five classes, split once into training and test rows.

    Attributes
    ----------
    name : str
        Where they come from.
    X : ndarray of shape (n, n_wavelengths)
        The spectra.
    y : ndarray of shape (n,)
        The classes, 1 to 5.
    copies : ndarray of shape (n,)
        A number for each different spectrum: rows that share one are never split.
    train, test : ndarray of int
        The rows.
    """

    name: str
    X: Floats
    y: Rows
    copies: Rows
    train: Rows
    test: Rows

    def split(self, seed: int) -> tuple[Rows, Rows]:
        """Split the training rows at random, 80 % to train on and 20 % to validate, by class."""
        return split_by_class(self.train, self.y, self.copies, 0.8, 0.2, seed)


def acid_data(source: str, quick: bool = False) -> AcidData:
    """Give the data.

    Parameters
    ----------
    source : {"simulated", "tecator"}
        "simulated" is of the paper's size, class sizes and split; "tecator" the absorption spectra of 240 samples of meat, their
        fat cut into five classes of the paper's shares, and split as the paper's.
    quick : bool, default=False
        Whether the simulated data are a quarter of that size.

    Raises
    ------
    DataError
        If the folder or the set is not there.
    """
    if source == "tecator":
        return _tecator()
    sizes = [max(size // 4, 8) for size in CLASS_SIZES] if quick else CLASS_SIZES
    X, _, y = simulated_spectra(0, sizes)
    n = len(y)
    share = n / sum(CLASS_SIZES)
    rows = np.arange(n)
    train, test = split_by_class(rows, y, rows, round(TRAIN * share), round(TEST * share), 0)
    return AcidData("simulated", X, y, rows, train, test)


def _tecator() -> AcidData:
    table = read_table("tecator")
    columns = [name for name in map(str, table) if name.startswith("a")]
    if len(columns) != 100 or "y" not in table:
        raise DataError("tecator.csv: the columns a1 to a100 and y are needed")
    X = table[columns].to_numpy(dtype=np.float64)
    fat = table["y"].to_numpy(dtype=np.float64)
    copies = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    y = classes_by_share(fat, CLASS_SIZES)
    train, test = split_by_class(np.arange(len(y)), y, copies, TRAIN / sum(CLASS_SIZES), TEST / sum(CLASS_SIZES), 0)
    return AcidData("tecator", X, y, copies, train, test)


def classes_by_share(values: Floats, sizes: Sequence[int]) -> Rows:
    """Cut values into classes, from 1 for the smallest, so that these have the shares of the sizes; equal values stay together.

    Examples
    --------
    >>> classes_by_share(np.array([5.0, 1.0, 2.0, 3.0]), [1, 2, 1]).tolist()
    [3, 1, 2, 2]
    """
    edges = np.cumsum(sizes)[:-1] / np.sum(sizes)
    ordered = np.sort(values)
    cuts = ordered[np.round(edges * len(values)).astype(int)]
    return np.asarray(1 + np.searchsorted(cuts, values, side="right"), dtype=np.intp)


def split_by_class(rows: Rows, y: Rows, copies: Rows, train: float, test: float, seed: int) -> tuple[Rows, Rows]:
    """Split rows at random so that both sides have each class's share, and no two rows with one spectrum are parted.

    Parameters
    ----------
    rows : ndarray of int
        What to split.
    y, copies : ndarray of int, shape (n,)
        Class and spectrum of all rows.
    train, test : int or float
        Sizes, or shares, of the two sides, counted in different spectra.
    seed : int
        Seed of the split.
    """
    first = np.unique(copies[rows], return_index=True)[1]
    units = rows[first]
    ours, theirs = train_test_split(copies[units], train_size=train, test_size=test, random_state=seed, stratify=y[units])
    return rows[np.isin(copies[rows], ours)], rows[np.isin(copies[rows], theirs)]
