"""The sets of the study of evolved kernels and their splits, and Tables 9 and 10 of Koch et al. 2011 as printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from spotsvm.common.errors import DataError
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.studies.common.data import Floats, data_folder, read_table, stand_ins

#: the paper's names of the sets, and their files
FILES = {"Ionosphere": "ionosphere", "Glass2": "glass2", "Heart": "heart_statlog", "Liver": "liver", "Pima": "pima"}
#: the paper's names of its methods
GP, TUNED_RBF = "GP", "tRBF"
#: Table 3
N_EVALUATIONS, N_SPLITS, BREEDING_TRIES = 2500, 20, 5000
#: share of rows tested on, section 3.3
TEST_SHARE = 0.2
#: section 3.3: the grid's binary logarithms, for C and for gamma
GRID = tuple(range(-8, 9))

_TABLE_9 = {
    GP: """
        0.0282  0.0845  0.1831  0.04293839
        0.1212  0.2545  0.3939  0.07513299
        0.0556  0.1516  0.2593  0.04939896
        0.1884  0.2929  0.3623  0.04495063
        0.1883  0.2300  0.2727  0.02374211
    """,
    TUNED_RBF: """
        0.0282  0.0599  0.1127  0.02279090
        0.0606  0.2015  0.3333  0.07375339
        0.0926  0.1593  0.2593  0.05076841
        0.2029  0.3043  0.4493  0.05340525
        0.1688  0.2403  0.3117  0.03304342
    """,
}


class Errors(NamedTuple):
    """A row of Table 9: misclassified shares of the test rows over 20 runs."""

    best: float
    mean: float
    worst: float
    sd: float


#: (set, method) to Table 9's row
TABLE_9: dict[tuple[str, str], Errors] = {
    (name, method): Errors(*(float(cell) for cell in row.split()))
    for method, text in _TABLE_9.items()
    for name, row in zip(FILES, text.strip().splitlines(), strict=True)
}

_X, _Z = Expression("x_i"), Expression("x_j")


def _of(block: str, *arguments: Expression) -> Expression:
    return Expression(block, arguments)


def _scaled_by_norm(constant: str) -> Expression:
    """Return (c <x_i, x_i>) x_j, which two of the printed kernels have in them."""
    return _of("scalar_times_vector", _of("multiply", Expression(constant), _of("inner_product", _X, _X)), _Z)


_PRODUCT = _of("inner_product", _X, _Z)

#: Table 10: the kernel with the lowest validation error of 20 runs
TABLE_10: dict[str, Expression] = {
    "Ionosphere": _of(
        "add",
        Expression("c1"),
        _of("divide", _of("square", _PRODUCT), _of("square", _of("inner_product", _scaled_by_norm("c2"), _Z))),
    ),
    "Glass2": _of("add", _of("square", _of("inner_product", _Z, _scaled_by_norm("c1"))), _of("square", _PRODUCT)),
    "Heart": _PRODUCT,
    "Liver": _of("add", Expression("c1"), _of("square", _of("multiply", Expression("c2"), _PRODUCT))),
    "Pima": _of("multiply", Expression("c1"), _PRODUCT),
}


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
