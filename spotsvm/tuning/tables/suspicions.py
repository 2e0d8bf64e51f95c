"""Notices about a table that a user should read before trusting a score."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spotsvm.common.copies import copies, equal_rows, with_target
from spotsvm.common.notices import Notice
from spotsvm.common.text import per_cent
from spotsvm.tuning.tables.faults import listed
from spotsvm.tuning.tables.split import TEST_SHARE
from spotsvm.tuning.tables.table import COPIES, Table

#: minimum rows to tell an identifier or a leak from chance, and the score of a single column that suggests a leak
_ENOUGH, _TOO_GOOD = 20, 0.99
#: maximum rows and columns searched for leaks; with more columns, those with the largest F statistic
_ROWS, _COLUMNS = 2000, 20
#: maximum share of steps against the order of a date; a table of several series has such steps between its parts
_BREAKS = 0.05
#: minimum number of values of a column that identifies groups, and of rows per value on average
_GROUPS, _ROWS_EACH = 5, 3
#: maximum number of distinct integers that may be classes although the task is regression
_FEW = 50


def suspicions(table: Table) -> Iterator[Notice]:
    """Yield a notice for each property of a table that may be a mistake or that random splits ignore.

    Copies, rows in the order of a date, identifiers, groups, a column that alone predicts the target nearly perfectly in 3 folds
    (tree or line), a target of whole numbers that could be classes, and what is left out.
    """
    assert table.columns is not None
    yield from (Notice("reading", note) for note in table.reading[1:])
    yield from table.notices
    X, y = table.X, table.y
    names = {kind: part["column"].tolist() for kind, part in table.columns.groupby("kind")}
    yield from _copies(table)
    yield from _order(table)
    numeric = names.get("number", [])
    values = X[numeric].to_numpy(dtype=float)
    numbered = np.array(numeric, dtype=object)[_identifiers(values)].tolist() if len(X) >= _ENOUGH else []
    if numbered:
        what = f"{_columns(numbered)} a different whole number in each row; leave it out by --drop if it is an identifier"
        yield Notice("identifier", what)
    texts = [name for kind in ("category", "yes/no", "text") for name in names.get(kind, [])]
    grouped = table.groups is not None and table.groups.name != COPIES
    once = ~pd.Series(with_target(equal_rows(X), y), index=X.index).duplicated()  # in copies all columns repeat
    grouping = [] if grouped else [name for name in [*numeric, *texts] if _groups(X[name][once], y[once], table.task)]
    for name in grouping:
        yield Notice(
            "groups",
            f"all rows with the same {name!r} have the same target, like rows of one person or object: if new rows will have "
            f"other values, keep the rows of a value together in all splits by --groups {shlex.quote(name)}; if {name!r} is "
            f"another form of the target, leave it out by --drop {shlex.quote(name)}",
        )
    columns = {name: X[name] for name in [*numeric, *texts] if name not in grouping}
    for name, score, what in _leaks(*_different(y, columns, copies(X)), table.task):
        yield Notice(
            "leak",
            f"column {name!r} alone predicts the target nearly perfectly ({what} {score:.3f} in 3 folds); if it is known only "
            "together with the target, leave it out by --drop",
        )
    yield from _target(table, y)


def _copies(table: Table) -> Iterator[Notice]:
    """Yield a notice with the number of copies, and the share of held-out rows that a random split would also train on."""
    unit = equal_rows(table.X)
    spare = len(unit) - len(np.unique(unit))
    if not spare:
        return
    sizes = np.bincount(unit)[unit]
    shared = f"{per_cent(float((1.0 - TEST_SHARE ** (sizes - 1)).mean()))} of the held-out rows"
    what = "1 row is equal to another in all columns" if spare == 1 else f"{spare} rows are equal to others in all columns"
    other = len(np.unique(with_target(unit, table.y))) - len(np.unique(unit))
    what += f", {other} of them with another target" if other else ""
    if table.time is not None:
        if copies(table.X, unit) is not None:
            yield Notice("copies", f"{what}: later rows that are judged may be equal to earlier rows, which are trained on")
    elif table.groups is None:
        yield Notice(
            "copies",
            f"{what}: about {shared} are training rows too, so the scores hold for rows like these, not for other combinations "
            "of values",
        )
    elif table.groups.name == COPIES:
        yield Notice(
            "copies",
            f"{what}: they stay on one side of each split; in a random split about {shared} would be training rows too",
        )
    elif (copied := copies(table.X, unit)) is not None:
        divided = table.groups.groupby(copied).transform("nunique") > 1
        if divided.any():
            yield Notice(
                "copies",
                f"{int(divided.sum())} rows are equal in all columns to rows of other groups of --groups {table.groups.name!r}, "
                "and may stand on both sides of a split",
            )


def _different(y: pd.Series, columns: dict[str, pd.Series], unit: Any) -> tuple[pd.Series, dict[str, pd.Series]]:
    """Return one of each group of copies, which no check may count as further evidence."""
    if unit is None:
        return y, columns
    once = np.unique(unit, return_index=True)[1]
    return y.iloc[once], {name: column.iloc[once] for name, column in columns.items()}


def _order(table: Table) -> Iterator[Notice]:
    """Yield a notice if the rows are in the order of a date, as a random split then says nothing about the future."""
    if table.time is not None:
        return
    for name in table.dates:
        times = table.X[name].dropna()
        steps = np.sign(np.diff(times.to_numpy().astype("int64")))
        back = int(min((steps > 0).sum(), (steps < 0).sum()))
        if len(times) >= _ENOUGH and times.nunique() > 2 and back <= _BREAKS * len(steps):
            where = f" but for {back} steps" if back else ""
            yield Notice(
                "time",
                f"the rows are in the order of {name!r}{where}: a random split holds out rows between training rows, so its "
                f"scores may not hold for later rows; --time-split {shlex.quote(name)} holds out the latest rows",
            )
            return


def _groups(column: pd.Series, y: pd.Series, task: str) -> bool:
    """Return whether the values of a column repeat, always with the same target, like the names of persons.

    This needs at least 5 values, 3 rows per value on average, and twice as many values as classes.
    """
    present = column.notna()
    column, y = column[present], y[present]
    sizes = column.value_counts()
    if len(sizes) < _GROUPS or len(column) < _ROWS_EACH * len(sizes) or (sizes > 1).mean() < 0.9:
        return False
    targets = y.groupby(column)
    if targets.nunique().max() > 1:
        return False
    different = targets.first().nunique()
    return different > 1 and (task == "regression" or len(sizes) >= 2 * different)


def _columns(names: list[str]) -> str:
    return f"column {listed(names)} has" if len(names) == 1 else f"columns {listed(names, 5)} have"


def _identifiers(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns have whole numbers that only rise or fall, or are a range without gaps in any order."""
    with np.errstate(invalid="ignore"):
        whole = (values == np.rint(values)).all(axis=0)  # and without gaps
    steps = np.diff(values, axis=0)
    in_order = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
    ordered = np.diff(np.sort(values, axis=0), axis=0)
    return np.asarray(whole & (in_order | (ordered == 1).all(axis=0)))


def _leaks(y: pd.Series, columns: dict[str, pd.Series], task: str) -> Iterator[tuple[str, float, str]]:
    """Yield the columns that alone predict the target nearly perfectly, with the score and its name."""
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_ROWS])
    target = y.iloc[rows].to_numpy()
    classify = task == "classification"
    if len(rows) < _ENOUGH or (classify and np.unique(target, return_counts=True)[1].min() < 3):
        return
    some = {name: column.iloc[rows] for name, column in columns.items()}
    codes = {name: _apart(column) if is_numeric_dtype(column) else pd.factorize(column)[0] for name, column in some.items()}
    if len(codes) > _COLUMNS:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of constant columns
            F = (f_classif if classify else f_regression)(np.column_stack(list(codes.values())), target)[0]
        names = list(codes)
        codes = {
            names[k]: codes[names[k]] for k in np.argsort(-np.nan_to_num(F, nan=-1.0, posinf=np.inf), kind="stable")[:_COLUMNS]
        }
    models: list[Any] = (
        [DecisionTreeClassifier(random_state=0)] if classify else [DecisionTreeRegressor(random_state=0), LinearRegression()]
    )
    folds = (StratifiedKFold if classify else KFold)(3, shuffle=True, random_state=0)
    scoring, what = ("balanced_accuracy", "balanced accuracy") if classify else ("r2", "R2")
    for name, column in codes.items():
        scaled = StandardScaler().fit_transform(column[:, None].astype(float))  # trees see single precision
        score = max(float(cross_val_score(model, scaled, target, cv=folds, scoring=scoring).mean()) for model in models)
        if score >= _TOO_GOOD:
            yield name, score, what


def _apart(column: pd.Series) -> NDArray[np.float64]:
    """Return the numbers of a column, with gaps replaced by a number below all others."""
    low, high = column.min(), column.max()
    return np.asarray(column.fillna(2 * low - high - 1.0 if np.isfinite(high - low) else 0.0), dtype=float)


def _target(table: Table, y: pd.Series) -> Iterator[Notice]:
    if not is_numeric_dtype(y) or is_bool_dtype(y):
        return
    n = int(y.nunique())
    whole = is_integer_dtype(y) or bool((y == np.rint(y)).all())
    if table.task == "classification" and n > 2 and whole:
        yield Notice(
            "task",
            f"the target {y.name!r} has {n} different whole numbers, taken as classes; use --task regression for a quantity",
        )
    elif table.task == "regression" and whole and n <= min(_FEW, len(y) // 5):
        yield Notice(
            "task",
            f"the target {y.name!r} has only {n} different whole numbers, taken as a quantity; use --task classification if they "
            "are classes",
        )
