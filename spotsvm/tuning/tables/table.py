"""Read and check a table of training data, and decide between classification and regression."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from spotsvm.common.compat import safe_indexing
from spotsvm.common.copies import copies, joined
from spotsvm.common.notices import Notice, untold
from spotsvm.common.text import did_you_mean
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.far_targets import target_notices
from spotsvm.preprocessing.kept_digits import has_large, has_large_integers
from spotsvm.preprocessing.missing_codes import target_codes
from spotsvm.preprocessing.table_encoder import TableEncoder, as_texts, date_format, is_identifier, read_dates
from spotsvm.tuning.tables.faults import (
    Where,
    check_numbers,
    check_size,
    check_sizes,
    listed,
    mostly_numbers,
    not_numeric,
    row_of,
    short_repr,
    thousands_mark,
)
from spotsvm.tuning.tables.reading import Choices, TableFile, read_file

MANY_CLASSES = 100
FEW_INTEGERS = 20
#: name of the groups of copied rows
COPIES = "copies of a row"

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Table:
    """Features and target of a table that was read and checked.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_features)
        The features.
    y : Series of shape (n_rows,)
        The target, without missing values.
    task : {"classification", "regression"}
        The task.
    history : DataFrame or None
        For a series, the features of all its rows; else None.
    groups : Series of shape (n_rows,) or None
        Rows of one group are never divided between training and testing. Without groups of the user these are copies: rows with
        equal columns, unless such rows are to be expected.
    reading : tuple of str
        How the file was read.
    columns : DataFrame or None
        How each column is encoded, as `TableEncoder.columns_`; None for a series.
    categorical : tuple of str
        Columns that are treated as categories even if they have numbers.
    dates : dict of str to str
        The date columns, each with its date format.
    time : str or None
        The column that orders the rows; the last rows are held out.
    unlabelled : DataFrame or None
        The features of the rows without a target.
    why : str
        Why the task is this one.
    notices : tuple of Notice
        What is told about the columns and the target.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spotsvm.tables import make_table
    >>> table = make_table(*load_wine(return_X_y=True, as_frame=True))
    >>> table.task, table.X.shape
    ('classification', (178, 13))
    """

    X: pd.DataFrame
    y: pd.Series
    task: Task
    history: pd.DataFrame | None = None
    groups: pd.Series | None = None
    reading: tuple[str, ...] = ()
    columns: pd.DataFrame | None = None
    categorical: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    unlabelled: pd.DataFrame | None = None
    why: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column; empty for a series."""
        return {} if self.columns is None else dict(zip(self.columns["column"], self.columns["kind"], strict=True))

    def part(self, rows: Any) -> Table:
        """Return a table of the rows at these positions (a slice, or an array of integers or booleans).

        Returns
        -------
        Table
            The table of these rows.
        """
        groups = None if self.groups is None else self.groups.iloc[rows]
        return replace(self, X=safe_indexing(self.X, rows), y=self.y.iloc[rows], groups=groups)


def read_table(path: str | Path, target: str, task: Task | Literal["auto"] = "auto", choices: Choices | None = None) -> Table:
    """Read a CSV file and check that an SVM can be trained on it.

    The file may be compressed. Separator, decimal mark, encoding, header and a title above it are detected; a first column
    without a name that only numbers the rows, and columns and rows without any value, are left out. Rows that are equal in all
    columns form a group, and join the groups of `choices` that they are in.

    Parameters
    ----------
    path : str or Path
        The file.
    target : str
        Name of the target column. All other columns are features of any kind, with or without missing values (see
        `TableEncoder`), unless `choices` says otherwise. Rows without a target go to `Table.unlabelled`.
    task : {"auto", "classification", "regression"}
        "auto" is classification for a target of text, of booleans, or of at most 20 different integers.
    choices : Choices or None
        Options that differ from the defaults.

    Returns
    -------
    Table
        Features, target and task.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is missing or unusable.
    ArgumentError
        If choices contradict each other.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from spotsvm.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_iris(as_frame=True).frame.to_csv(
    ...         f"{folder}/iris.csv", index=False
    ...     )
    ...     table = read_table(f"{folder}/iris.csv", "target")
    >>> table.task, table.X.shape
    ('classification', (150, 4))
    """
    choices = choices or Choices()
    file = read_file(path, target, choices).without_blank_rows()
    try:
        if choices.drop_classes:
            file = _without_classes(file, target, choices.drop_classes)
        if choices.time_split is not None:
            file = _in_time(file, target, choices)
        X, y, groups = _divided(file.frame, target, choices, file.where)
        unknown = y.isna()
        if unknown.any() and not choices.require_target and not unknown.all():
            n = int(unknown.sum())
            what = "1 row has" if n == 1 else f"{n} rows have"
            note = f"{what} no target, the first in {file.where(unknown.idxmax())}; left out here, and predicted into --out"
            file = replace(file, notes=(*file.notes, note))
        else:
            unknown[:] = False
        categorical = _columns("--categorical", choices.categorical, file.frame.columns)
        spare = next((name for name in categorical if name not in X.columns), None)
        if spare is not None:
            raise ArgumentError(f"--categorical {spare!r} is no feature; name one of the features")
        has_target = ~unknown
        wanted = list(X.columns) if choices.features else ()
        table = make_table(X[has_target], y[has_target].infer_objects(), task, file.where, categorical, wanted)
        if unknown.any():
            check_numbers(X[unknown], table.kinds, file.where)
            table = replace(table, unlabelled=typed(X[unknown], table.kinds, table.dates))
        if groups is not None:
            kept, unit = groups[has_target], None if table.groups is None else table.groups.to_numpy()
            table = replace(table, groups=pd.Series(np.asarray(joined(kept, unit)), index=kept.index, name=kept.name))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    file.warn()
    why = table.why if choices.positive is None else f"1 being {choices.positive!r} and 0 all other classes"
    if choices.time_split is not None:
        table = replace(table, time=choices.time_split, groups=None)
    return replace(table, reading=(str(file.layout), *file.notes), why=why)


def _in_time(file: TableFile, target: str, choices: Choices) -> TableFile:
    """Return a table with its rows sorted by a column of times."""
    option = f"--time-split {choices.time_split!r}"
    (name,) = _columns("--time-split", [str(choices.time_split)], file.frame.columns, several=False)
    if choices.groups is not None:
        raise ArgumentError(f"{option} and --groups {choices.groups!r} are different ways to split the rows; use one of them")
    if name == target:
        raise ArgumentError(f"{option} is the target; name the column of times")
    column = file.frame[name]
    written = None if is_numeric_dtype(column) else date_format(column)
    if not is_numeric_dtype(column) and written is None:
        raise DataError(
            f"{option} has neither dates nor numbers, such as {short_repr(column.dropna().iloc[0])}; name a column of times"
        )
    times = column if written is None else read_dates(column, written)
    if times.isna().any():
        n, first = int(times.isna().sum()), file.where(times.isna().idxmax())
        raise DataError(f"{option} has {n} missing values, the first in {first}; fill them or remove the rows")
    return replace(file, frame=file.frame.loc[times.sort_values(kind="stable").index])


def _divided(
    frame: pd.DataFrame, target: str, choices: Choices, where: Where
) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Return features, target and groups."""
    names = frame.columns
    drop, features = _columns("--drop", choices.drop, names), _columns("--features", choices.features, names)
    groups = _columns("--groups", [] if choices.groups is None else [choices.groups], names)
    for option, some in (("--drop", drop), ("--features", features), ("--groups", groups)):
        if target in some:
            raise ArgumentError(f"{option} {target!r} is the target; name another column")
    both = next((name for name in features if name in drop + groups), None)
    if both is not None:
        raise ArgumentError(f"--features {both!r} is also named by --drop or --groups; leave one of them out")
    kept = features or [name for name in names if name not in [target, *drop, *groups]]
    y = frame[target]
    if choices.positive is not None:
        y = _positive(y, choices.positive)
    if not groups:
        return frame[kept], y, None
    missing = frame[groups[0]].isna()
    if missing.any():
        raise DataError(
            f"--groups {groups[0]!r} has {int(missing.sum())} missing values, the first in {where(missing.idxmax())}; name each "
            "row's group"
        )
    return frame[kept], y, frame[groups[0]]


def _columns(option: str, given: Sequence[str], names: pd.Index, several: bool = True) -> list[str]:
    """Return the columns that an option names; DataError if one is not there."""
    columns = _named(given, names) if several else list(given)
    missing = next((name for name in columns if name not in names), None)
    if missing is not None:
        raise DataError(f"{option} {missing!r} is not a column; there are {listed(names)}{did_you_mean(missing, names)}")
    return list(dict.fromkeys(columns))


def _named(given: Sequence[str], known: Container[str]) -> list[str]:
    """Return the names in an option's values; commas separate names, unless a known name contains the comma."""
    return [name for one in given for name in ([one] if one in known else map(str.strip, one.split(",")))]


def _positive(y: pd.Series, label: str) -> pd.Series:
    """Return 1 where the target has this label, 0 where it has another label, and missing values unchanged."""
    is_label = _has_label("--positive", y, label)
    return is_label[y.notna()].astype(int).reindex(y.index)


def _has_label(option: str, y: pd.Series, label: str) -> pd.Series:
    """Return a mask of the rows whose target has the label of an option; ArgumentError if no row has it."""
    labels = y[y.notna()]
    text = labels.astype(str)
    with suppress(ValueError):  # 1 and 1.0 are one label
        if is_numeric_dtype(y) and not is_bool_dtype(y):
            text, label = labels.astype(float).astype(str), str(float(label))
    if not (text == label).any():
        raise DataError(f"{option} {label!r} does not occur in the target {y.name!r}; use {' or '.join(sorted(set(text))[:5])}")
    return (text == label).reindex(y.index, fill_value=False)


def _without_classes(file: TableFile, target: str, given: Sequence[str]) -> TableFile:
    """Return a table without the rows of some classes; their labels may be separated by commas."""
    y = file.frame[target]
    parts = _named(given, set(y[y.notna()].astype(str)))
    out = np.logical_or.reduce([_has_label("--drop-classes", y, part) for part in parts])
    which = "the class" if len(parts) == 1 else "the classes"
    note = f"rows of {which} {', '.join(map(repr, parts))} are left out: {int(out.sum())}"
    return replace(file, frame=file.frame[~out], notes=(*file.notes, note))


def make_table(
    X: pd.DataFrame,
    y: pd.Series,
    task: Task | Literal["auto"] = "auto",
    where: Where = row_of,
    categorical: Sequence[str] = (),
    wanted: Sequence[str] = (),
) -> Table:
    """Make a table of features and a target in memory: check both, and determine the task and the kinds of the columns.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_features)
        The features, of any kind that `TableEncoder` takes.
    y : Series of shape (n_rows,)
        The target, with the same index.
    task : {"auto", "classification", "regression"}
        As in `read_table`.
    where : callable
        Function of an index label that returns the name of its row for error messages.
    categorical : sequence of str
        Columns to treat as categories even if they have numbers.
    wanted : sequence of str
        Columns that are never left out as identifiers.

    Returns
    -------
    Table
        Features, target and task.

    Raises
    ------
    DataError
        If features or target cannot be used; the message names the column and the row.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm.tables import make_table
    >>> make_table(*load_diabetes(return_X_y=True, as_frame=True)).task
    'regression'
    """
    if X.shape[1] == 0:
        raise DataError(f"there are no features: the target {y.name!r} is the only column")
    if len(X) == 0:
        raise DataError("the table has no rows below its header; name a file with rows")
    if len(X) == 1:
        raise DataError("the table has 1 row, too few to learn from; give more rows")
    y, decided, why = checked_target(y, task, where)
    table = _with_kinds(X, y, tuple(categorical), wanted, where)
    numbers, place = y.to_numpy(), lambda k: where(y.index[k])
    told = target_notices(numbers.astype(float), place) if decided == "regression" else target_codes(numbers, place)
    unit = copies(table.X)
    groups = None if unit is None else pd.Series(unit, index=X.index, name=COPIES)
    return replace(table, task=decided, groups=groups, why=why, notices=(*table.notices, *told))


def checked_target(y: pd.Series, task: Task | Literal["auto"] = "auto", where: Where = row_of) -> tuple[pd.Series, Task, str]:
    """Return the target, its task and the reason for the task; DataError if the target cannot be learnt."""
    if y.isna().any():
        raise DataError(
            f"the target {y.name!r} has {int(y.isna().sum())} missing values (empty, or a word such as NA or None), the first "
            f"in {where(y.index[int(np.argmax(y.isna()))])}; remove those rows"
        )
    what = f"the target {y.name!r}"
    if not is_numeric_dtype(y) and _huge_integers(y):
        y = y.astype(float)
        check_size(what, y, where)
    # many distinct cells, mostly numbers: probably a quantity with a fault, and not classes
    if task == "auto" and not is_numeric_dtype(y) and y.nunique() > FEW_INTEGERS and (mostly_numbers(y) or thousands_mark(y)):
        raise DataError(not_numeric(what, y, where, f"{_repaired(y)}, or use --task classification if these are classes"))
    decided, why = _decided(y) if task == "auto" else (task, "as said")
    if decided == "regression":
        if not is_numeric_dtype(y) or is_bool_dtype(y):
            raise DataError(not_numeric(what, y, where, f", as regression requires{_repaired(y)}, or name another --target"))
        check_size(what, y, where)
        if len(y) > 1 and y.nunique() == 1:
            raise DataError(
                f"{what} is {short_repr(y.iloc[0])} in all rows, so there is nothing to predict: name another --target"
            )
    else:
        _check_classes(y)
    return y, decided, why


def _with_kinds(X: pd.DataFrame, y: pd.Series, categorical: tuple[str, ...], wanted: Sequence[str], where: Where) -> Table:
    """Return a table with its columns in the types of their kinds; DataError if most cells of a text column are numbers."""
    dates = {}
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if name in categorical or (is_numeric_dtype(dtype) and not is_bool_dtype(dtype)):
            continue
        column = X[name].dropna()
        written = date_format(column)
        if written is not None:
            dates[name] = written
        elif not (is_bool_dtype(dtype) or column.isin([True, False]).all() or _huge_integers(column)):
            mark = thousands_mark(column)
            if mark or (mostly_numbers(column) and not pd.to_numeric(column, errors="coerce").notna().all()):
                thousands = f"use --thousands {mark!r}, " if mark else ""
                remedy = f"; correct the cell, {thousands}or use --categorical or --drop {name!r}"
                raise DataError(not_numeric(f"column {name!r}", X[name], where, remedy))
            if name in wanted and is_identifier(as_texts(column)):
                categorical = (*categorical, name)
    check_sizes(X.select_dtypes("number"), where)
    table = Table(X, y, "regression", categorical=categorical, dates=dates)
    with untold():  # the notices of the table tell it
        encoder = TableEncoder(categorical).fit(X)
    table = replace(table, columns=encoder.columns_, notices=encoder.notices_)
    X = typed(X, table.kinds, dates)
    check_sizes(X.select_dtypes("number"), where)  # includes columns of text that were parsed as numbers
    return replace(table, X=X)


def typed(X: pd.DataFrame, kinds: Mapping[str, str], dates: Mapping[str, str]) -> pd.DataFrame:
    """Return columns in the types that they have in a table: floats, time stamps, or texts, in which a gap is NaN.

    Whole numbers that may be no floats stay whole.
    """
    if set(kinds.values()) == {"number"} and all(map(is_numeric_dtype, X.dtypes)):
        # one block of memory, as pandas would otherwise process thousands of columns one by one in every fold
        values = X.to_numpy(dtype=float, na_value=np.nan)
        if not has_large(values).any():
            return pd.DataFrame(values, index=X.index, columns=X.columns)
    columns: dict[str, pd.Series] = {}
    for name in X.columns:
        if name in dates:
            columns[name] = read_dates(X[name], dates[name])
        elif kinds[name] == "number" or (kinds[name] == "constant" and is_numeric_dtype(X[name])):
            numbers = pd.to_numeric(X[name].astype(object), errors="coerce")
            columns[name] = numbers if has_large_integers(numbers.to_numpy()) else numbers.astype(float)
        else:
            columns[name] = as_texts(X[name])
    return pd.DataFrame(columns, index=X.index)


def _repaired(y: pd.Series) -> str:
    """Return the remedy for a target of which nearly all cells are numbers."""
    mark = thousands_mark(y)
    return "; correct the cell" + (f", use --thousands {mark!r}" if mark else "")


_INTEGER = re.compile(r"[-+]?\d{1,400}")


def _huge_integers(column: pd.Series) -> bool:
    """Return whether all cells are integers that fit into a float, but not into 64 bits.

    Before version 3, pandas reads such a column as text.
    """
    is_text = any(isinstance(cell, str) for cell in column)
    try:
        numbers = [int(cell) if isinstance(cell, str) and _INTEGER.fullmatch(cell) else cell for cell in column]
        whole = len(numbers) > 0 and all(type(number) is int and np.isfinite(float(number)) for number in numbers)
        return whole and (not is_text or max(map(abs, numbers)) >= 2**63)
    except OverflowError:
        return False


def _decided(y: pd.Series) -> tuple[Task, str]:
    """Return the task of a target, and the reason."""
    task: Task = "classification"
    if not is_numeric_dtype(y) or is_bool_dtype(y):
        what = "no numbers"
    elif not bool((y == np.rint(y)).all()):
        task, what = "regression", "numbers with fractions"
    elif y.nunique() <= FEW_INTEGERS:
        what = f"at most {FEW_INTEGERS} different whole numbers"
    else:
        task, what = "regression", f"more than {FEW_INTEGERS} different whole numbers"
    return task, f"as the target has {what} (--task overrides this)"


def _check_classes(y: pd.Series) -> None:
    n = int(y.nunique())
    if n < 2:
        raise DataError(
            f"the target {y.name!r} has only one class ({short_repr(y.iloc[0])}); classification needs two or more: name another "
            "--target"
        )
    if n > MANY_CLASSES:
        raise DataError(
            f"the target {y.name!r} has {n} classes, such as {short_repr(y.iloc[0])}, but at most {MANY_CLASSES} are supported; "
            + (
                "use --task regression if it is a quantity"
                if is_numeric_dtype(y)
                else "name another --target, or write a quantity without its unit"
            )
        )
