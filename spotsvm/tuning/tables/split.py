"""Hold out a part of the rows of a table, and check that the others are enough for the folds."""

from __future__ import annotations

import numpy as np
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, train_test_split

from spotsvm.common.errors import DataError
from spotsvm.tuning.tables.cells import shown
from spotsvm.tuning.tables.table import Table

TEST_SHARE = 0.25


def held_out(table: Table, cv: int, seed: int, in_time: bool = False) -> tuple[Table, Table]:
    """Return the training rows, and the quarter of the rows that is held out: of a series the last one.

    Classes keep their shares, and groups are not divided. DataError is raised if there are too few rows for `cv` folds.
    """
    check_folds(table, max(cv, 2), in_time=in_time)
    rows = np.arange(len(table.y))
    stratify = table.y if table.task == "classification" else None
    try:
        if table.groups is None:
            how = {"shuffle": False} if in_time else {"random_state": seed, "stratify": stratify}
            chosen = train_test_split(rows, test_size=TEST_SHARE, **how)
        else:
            chosen = _by_group(table, seed)
    except ValueError as error:
        raise DataError(f"{len(rows)} rows are too few for a quarter of them to be held out: {error}") from error
    train, test = (table.part(part) for part in chosen)
    check_folds(train, cv, "training rows", in_time=in_time)
    if train.groups is not None and train.groups.nunique() < cv:
        raise DataError(
            f"--groups {train.groups.name!r} has {train.groups.nunique()} different values in the training rows, fewer than "
            f"--cv {cv}; use {'--cv 2' if train.groups.nunique() > 1 else 'another column'}, or fewer folds"
        )
    return train, test


def _by_group(table: Table, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if table.task == "classification":
        splitter = StratifiedGroupKFold(round(1 / TEST_SHARE), shuffle=True, random_state=seed)
    else:
        splitter = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=seed)
    train, test = next(iter(splitter.split(table.X, table.y, table.groups)))
    return train, test


def check_folds(table: Table, cv: int, rows: str = "rows", in_time: bool = False) -> None:
    """Raise DataError if the table is too small for so many folds; folds in order of time need one row more."""
    if len(table.y) < cv + in_time:
        raise DataError(f"--cv {cv} needs at least {cv + in_time} {rows}, but there are {len(table.y)}; use fewer folds")
    if table.task == "classification":
        counts = table.y.value_counts()
        fewest = int(counts.iloc[-1])
        if fewest < cv:
            instead = ", or use --task regression" if is_numeric_dtype(table.y) and not is_bool_dtype(table.y) else ""
            fewer = "use fewer folds, or merge rare classes" if fewest > 1 else "merge it with another class, or remove its rows"
            raise DataError(
                f"class {shown(counts.index[-1])} has only {fewest} of the {rows}, fewer than --cv {cv}; {fewer}{instead}"
            )
