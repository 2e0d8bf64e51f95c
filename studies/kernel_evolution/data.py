"""The sets of the study of evolved kernels, and their splits into training and test rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from spotsvm.errors import DataError
from studies.common.data import Floats, data_folder, read_table, stand_ins
from studies.kernel_evolution.printed import FILES, TEST_SHARE

Rows = NDArray[np.intp]

#: those of the paper's sets that cost least
QUICK_SETS = ("Glass2", "Heart")


class LabelledSet(NamedTuple):
    """Rows of features, and their classes as the file names them."""

    name: str
    X: Floats
    y: NDArray[Any]

    @property
    def checksum(self) -> str:
        """Tells this set from another of the same name."""
        return str(joblib.hash((self.X, self.y.astype(str))))[:12]


def labelled_sets(names: Sequence[str] | None, quick: bool) -> list[LabelledSet]:
    """Return the paper's sets of these names; by default all five, of which the quick form takes two.

    Where no folder of data is named, and no set either, they are two small sets of scikit-learn.

    Parameters
    ----------
    names : sequence of str or None
        Some of Ionosphere, Glass2, Heart, Liver and Pima.
    quick : bool
        Whether two sets are enough.

    Raises
    ------
    DataError
        If a named set is not there, or has not two classes.
    """
    if names is None:
        if data_folder() is None:
            return [LabelledSet(data.name, data.X, data.y.astype(int)) for data in stand_ins()]
        names = QUICK_SETS if quick else tuple(FILES)
    return [_read(name) for name in names]


def _read(name: str) -> LabelledSet:
    table = read_table(FILES[name]).drop(columns="part", errors="ignore").dropna()
    y = table["y"].to_numpy()
    y = y if y.dtype.kind in "iu" else y.astype(str)
    if len(np.unique(y)) != 2:
        raise DataError(f"{FILES[name]}: column y holds {len(np.unique(y))} values; a set with two classes is needed")
    return LabelledSet(name, table.drop(columns="y").to_numpy(dtype=np.float64), y)


def split_seeds(seed: int, n_splits: int) -> list[int]:
    """Return the seed of each split; more splits begin with the same.

    Examples
    --------
    >>> split_seeds(0, 5)[:2] == split_seeds(0, 2)
    True
    """
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(n_splits)]


def split_rows(n_rows: int, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to train on, 80 %, and those to test on, drawn without regard to their classes.

    Examples
    --------
    >>> [len(rows) for rows in split_rows(351, seed=0)]
    [280, 71]
    """
    train, test = train_test_split(np.arange(n_rows), test_size=TEST_SHARE, random_state=seed)
    return train, test
