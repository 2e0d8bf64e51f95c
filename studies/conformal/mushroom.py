"""The Mushroom experiment of Williams et al. 2005: its table as printed, and encodings of the data's letters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from spotsvm.conformal_svc import ConformalSVC
from studies.common.data import Floats

N_TRAIN, N_TEST = 100, 1000
ORDINAL, SCALED, COMPLETE = "ordinal", "ordinal, -1 to 1", "ordinal, -1 to 1, complete rows"
ONE_HOT, COUNTED = "one-hot", "one-hot, 0 or 1/sqrt(2)"
#: all encodings; with COUNTED the squared distance of two rows is the number of columns in which they differ
ENCODINGS = (ORDINAL, SCALED, COMPLETE, ONE_HOT, COUNTED)


class Printed(NamedTuple):
    """A row of the printed table: C, sigma, and the error in percent before and after modification."""

    C: float
    sigma: float
    before: float
    after: float


TABLE = (
    Printed(10.0, 0.6, 11.20, 7.05),
    Printed(10.0, 1.0, 4.02, 2.95),
    Printed(50.0, 0.6, 10.86, 7.46),
    Printed(100.0, 0.6, 11.97, 7.75),
)


def encoded(table: pd.DataFrame, encoding: str) -> tuple[Floats, Floats]:
    """Return rows as numbers, and labels -1 and 1, of a table of letters with the classes in its column y.

    A missing value is a letter of its own, but for COMPLETE, which leaves its row out. Ordinal codes are 0, 1, ... in the
    letters' alphabetical order.

    Parameters
    ----------
    table : DataFrame
        Letters, and the column y.
    encoding : str
        One of ENCODINGS.
    """
    table = table.dropna() if encoding == COMPLETE else table.fillna("?")
    y = np.where(table["y"] == table["y"].min(), -1.0, 1.0)
    letters = table.drop(columns="y")
    if encoding in (ONE_HOT, COUNTED):
        X = pd.get_dummies(letters).to_numpy(dtype=np.float64)
        return (X / np.sqrt(2.0) if encoding == COUNTED else X), y
    X = np.column_stack([pd.factorize(letters[name], sort=True)[0] for name in letters]).astype(np.float64)
    if encoding == ORDINAL:
        return X, y
    top = X.max(axis=0)
    return 2.0 * X / np.where(top > 0, top, 1.0) - 1.0, y


def run_mushroom(X: Floats, y: Floats, C: float, sigma: float, bias: bool, seed: int, draw: int) -> dict[str, Any]:
    """Run one draw: 100 rows to train on and 1000 others to test on; return the errors of both passes as shares.

    Parameters
    ----------
    X, y : ndarray
        All rows and their labels, -1 and 1.
    C, sigma : float
        Of the machine.
    bias : bool
        Whether it has a threshold.
    seed, draw : int
        Of the rows: the same for all encodings and machines.
    """
    order = np.random.default_rng([seed, draw]).permutation(len(y))
    train, test = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_TEST]
    machine = ConformalSVC(C=C, sigma=sigma, kappa="auto", bias=bias).fit(X[train], y[train])
    before, after = ((machine.discriminant_path(X[test]) >= 0) != (y[test] > 0)).mean(axis=1).tolist()
    return {"draw": draw, "before": before, "after": after, "max_f": 1.0 / float(machine.kappa_[0, 0])}
