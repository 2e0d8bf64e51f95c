"""Hold out a part of the rows of a table, and check that there are enough rows for the folds."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, train_test_split

from spotsvm.common.copies import distinct_rows, with_copies
from spotsvm.common.folds import too_few_groups
from spotsvm.errors import DataError
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.table import COPIES, Table

TEST_SHARE = 0.25
#: a class with this many rows has no held-out row, as folds need two rows
_PAIR = 2


def held_out(table: Table, cv: int, seed: int, in_time: bool | None = None, share: float = TEST_SHARE) -> tuple[Table, Table]:
    """Split a table into training rows and held-out rows.

    Classes keep their shares, but both rows of a class of two are training rows. Groups are not divided.

    Parameters
    ----------
    table : Table
        The table.
    cv : int
        Number of folds that the training rows must allow.
    seed : int
        Seed of the random split.
    in_time : bool or None
        Whether to hold out the last rows. None does so for a table with a `time` column.
    share : float
        Share of the rows to hold out, between 0 and 1.

    Returns
    -------
    train, test : Table
        The training rows and the held-out rows.

    Raises
    ------
    DataError
        If there are too few rows, rows of a class, or groups for `cv` folds.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm.tables import held_out, make_table
    >>> train, test = held_out(
    ...     make_table(*load_diabetes(return_X_y=True, as_frame=True)),
    ...     cv=5,
    ...     seed=0,
    ... )
    >>> len(train.y), len(test.y)
    (331, 111)
    """
    in_time = table.time is not None if in_time is None else in_time
    _check_rows(table, max(cv, 2), in_time=in_time)
    if not in_time:
        _check_lone(table)
    rows = np.arange(len(table.y))
    try:
        if _users_groups(table) is not None and not in_time:
            chosen, tested = _by_group(table, seed, share)
        else:
            distinct = rows if in_time else _distinct(table, share * len(rows))
            pairs, stratify = np.zeros(len(distinct), dtype=bool), None
            if table.task == "classification" and not in_time:
                y = table.y.iloc[distinct]
                pairs = y.map(y.value_counts()).to_numpy() <= _PAIR
                stratify = y[~pairs]
            how = {"shuffle": False} if in_time else {"random_state": seed, "stratify": stratify}
            chosen, tested = train_test_split(distinct[~pairs], test_size=share, **how)
            chosen = np.concatenate([chosen, distinct[pairs]])
            if table.groups is not None and len(distinct) < len(rows):
                tested = with_copies(table.groups.to_numpy(), tested)
                chosen = np.setdiff1d(rows, tested)
    except ValueError as error:
        raise DataError(f"{len(rows)} rows are too few to hold out a share of {share:.2g}: {error}") from error
    train, test = table.part(chosen), table.part(tested)
    check_folds(train, cv, "training rows", in_time=in_time)
    groups = _users_groups(train)
    if groups is not None and not in_time and (n := groups.nunique()) < cv:
        raise DataError(
            f"--groups {groups.name!r} has {n} different values in the training rows, fewer than --cv {cv}; use "
            f"{f'--cv {n}, or ' if n > 1 else ''}another column"
        )
    return train, test


def _distinct(table: Table, n_held: float) -> np.ndarray:
    """Return the rows that may be held out, one of each group of copies."""
    if table.groups is None or _users_groups(table) is not None:
        return np.arange(len(table.y))
    return distinct_rows(table.groups.to_numpy(), n_held)


def _class_sizes(table: Table, n_held: float) -> pd.Series:
    """Return the number of different rows of each class that may be held out, in descending order."""
    counts = table.y.iloc[_distinct(table, n_held)].value_counts()
    never = [label for label in table.y.unique() if label not in counts.index]
    return pd.concat([counts, pd.Series(0, index=never)]) if never else counts


def _users_groups(table: Table) -> pd.Series | None:
    """Return the groups that the user named; None if there are none, or the groups are those of copies."""
    return None if table.groups is None or table.groups.name == COPIES else table.groups


def _by_group(table: Table, seed: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    if table.task == "classification":
        splitter = StratifiedGroupKFold(round(1 / share), shuffle=True, random_state=seed)
    else:
        splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
    train, test = next(iter(splitter.split(table.X, table.y, table.groups)))
    return train, test


def possible_folds(table: Table, cv: int, seed: int) -> tuple[int, str]:
    """Return `cv`, or the largest number of folds (at least two) that the classes and groups allow, with the reason."""
    train, _ = held_out(table, _PAIR, seed)
    limits = [(cv, "")]
    if table.task == "classification":
        rare = _class_sizes(train, len(train.y) / cv)
        why = f"class {short_repr(rare.index[-1])} has only {int(rare.iloc[-1])} of the training rows"
        limits.append((int(rare.iloc[-1]), f"{why} ({_without(rare.index[rare < cv].tolist())} leaves out rare classes)"))
    if (groups := _users_groups(train)) is not None:
        n = int(groups.nunique())
        limits.append((n, too_few_groups(n)))
    elif train.groups is not None:
        n = len(_distinct(train, len(train.y) / cv))
        limits.append((n, f"only {n} different training rows can be held out"))
    return min(limits, key=lambda limit: limit[0])


def check_folds(table: Table, cv: int, rows: str = "rows", in_time: bool = False) -> None:
    """Raise DataError if the table is too small for `cv` folds; folds in order of time need one more row."""
    _check_rows(table, cv, rows, in_time)
    if table.task == "classification":
        counts = _class_sizes(table, len(table.y) / cv)
        fewest = int(counts.iloc[-1])
        if fewest < cv:
            fewer = f"use --cv {fewest}" if fewest >= _PAIR else ""
            remedies = [fewer, _remedy(counts, cv), _no_classes(table)]
            raise DataError(
                f"class {short_repr(counts.index[-1])} has only {fewest} of the {rows}, fewer than --cv {cv}; "
                f"{', or '.join(filter(None, remedies))}"
            )


def _check_rows(table: Table, cv: int, rows: str = "rows", in_time: bool = False) -> None:
    n, least = len(table.y), cv + in_time
    if n < least:
        # before rows are held out, the possible number of folds is unknown
        folds = "a smaller --cv" if rows == "rows" else f"--cv {n - in_time}"
        remedy = f"use fewer folds ({folds}), or give more rows" if n - in_time >= _PAIR else "too few; give more rows"
        raise DataError(f"--cv {cv} needs at least {least} {rows}, but there are {n}; {remedy}")


def _check_lone(table: Table) -> None:
    """Raise DataError if a class has a single row, which cannot be used for both training and testing."""
    if table.task != "classification":
        return
    counts = _class_sizes(table, TEST_SHARE * len(table.y))
    lone = counts.index[counts < _PAIR].tolist()
    if lone:
        which = (
            f"class {short_repr(lone[0])} has"
            if len(lone) == 1
            else f"{len(lone)} classes, such as {short_repr(lone[0])}, each have"
        )
        remedies = [_remedy(counts, _PAIR), _no_classes(table)]
        alike = len(_distinct(table, np.inf)) < len(table.y)
        fewer = "fewer than 2 different rows that may be held out" if alike else "only 1 row, too few for folds, which need 2"
        raise DataError(f"{which} {fewer}; {', or '.join(filter(None, remedies))}")


def _remedy(counts: pd.Series, least: int) -> str:
    """Return the remedy: leave out the classes with fewer rows if two classes remain, else give more rows."""
    rare = counts.index[counts < least].tolist()
    if len(counts) - len(rare) < _PAIR:
        return "give more rows of it" if len(rare) == 1 else "give more rows"
    return f"leave {'its' if len(rare) == 1 else 'their'} rows out by {_without(rare)}"


def _without(labels: list[object]) -> str:
    """Return the option that leaves classes out, quoted for a shell."""
    names = [str(label) for label in labels]
    several = names if any("," in name for name in names) else [",".join(names)]
    return " ".join(f"--drop-classes {shlex.quote(name)}" for name in several)


def _no_classes(table: Table) -> str:
    return "use --task regression" if is_numeric_dtype(table.y) and not is_bool_dtype(table.y) else ""
