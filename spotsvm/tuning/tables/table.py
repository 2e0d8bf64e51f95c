"""Read and check a table of training data, and decide between classification and regression."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.base import clone

from spotsvm.common.compat import safe_indexing
from spotsvm.common.copies import copies, joined
from spotsvm.common.notices import Notice, untold
from spotsvm.common.text import did_you_mean
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.cells.column_reading import Given
from spotsvm.preprocessing.cells.deciding import decided
from spotsvm.preprocessing.cells.findings import Voice, notices, speaking
from spotsvm.preprocessing.cells.table_reading import TableReading
from spotsvm.preprocessing.cells.words import form, without_words_of_files
from spotsvm.preprocessing.far_targets import target_notices
from spotsvm.preprocessing.missing_codes import target_codes
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.preprocessing.typed_table import typed_table
from spotsvm.tuning.tables.faults import Where, check_sizes, listed, row_of, short_repr
from spotsvm.tuning.tables.reading import Choices, TableFile, read_file
from spotsvm.tuning.tables.target import AnyTask, Task, checked_target, read_target, whole

#: name of the groups of copied rows
COPIES = "copies of a row"
#: words for a missing target that a note names
_WORDS = 4

#: how the command names remedies
COMMAND = Voice(
    category="--categorical makes it a category",
    missing="if they mean missing values, name them by --missing",
    decimal="if the comma is the decimal mark, use --decimal ,",
    code="use --missing {value} if it stands for missing values",
    code_of_target="use --missing {value} if it stands for missing values",
)


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
    cells : TableReading or None
        How the cells of each column are read; None for a series.
    time : str or None
        The column that orders the rows; the last rows are held out.
    unlabelled : DataFrame or None
        The features of the rows without a target.
    why : str
        Why the task is this one.
    notices : tuple of Notice
        What is reported about the columns and the target.

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
    cells: TableReading | None = None
    time: str | None = None
    unlabelled: pd.DataFrame | None = None
    why: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column; empty for a series."""
        return {} if self.columns is None else dict(zip(self.columns["column"], self.columns["kind"], strict=True))

    @property
    def dates(self) -> list[str]:
        """The date columns."""
        return [name for name, kind in self.kinds.items() if kind == "date"]

    def part(self, rows: Any) -> Table:
        """Return a table of the rows at these positions (a slice, or an array of integers or booleans).

        Returns
        -------
        Table
            The table of these rows.
        """
        groups = None if self.groups is None else self.groups.iloc[rows]
        return replace(self, X=safe_indexing(self.X, rows), y=self.y.iloc[rows], groups=groups)


def read_table(path: str | Path, target: str, task: AnyTask = "auto", choices: Choices | None = None) -> Table:
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
    given = _given(choices, file)
    try:
        is_text = not is_numeric_dtype(file.frame[target])
        raw, (y, found) = file.frame[target], read_target(file.frame[target], task, given)
        frame = file.frame.copy(deep=False)
        frame[target] = y
        file = replace(file, frame=frame)
        if choices.drop_classes:
            file = _without_classes(file, target, choices.drop_classes)
        if choices.time_split is not None:
            file = _in_time(file, target, choices)
        X, y, groups = _divided(file.frame, target, choices, file.where)
        unknown = y.isna()
        if unknown.any() and not choices.require_target and not unknown.all():
            n = int(unknown.sum())
            what = "1 row has" if n == 1 else f"{n} rows have"
            words = [short_repr(cell) for cell in raw[unknown].dropna().unique()[:_WORDS]]
            instead = f" ({', '.join(words)})" if words else ""
            first = file.where(unknown.idxmax())
            note = f"{what} no target{instead}, the first in {first}; left out here, and predicted into --out"
            file = replace(file, notes=(*file.notes, note))
        else:
            unknown[:] = False
        categorical = _columns("--categorical", choices.categorical, file.frame.columns)
        spare = next((name for name in categorical if name not in X.columns), None)
        if spare is not None:
            raise ArgumentError(f"--categorical {spare!r} is no feature; name one of the features")
        has_target = ~unknown
        wanted = list(X.columns) if choices.features else ()
        y = y[has_target].infer_objects()
        y = whole(y) if is_text else y
        table = make_table(X[has_target], y, task, file.where, categorical, wanted, given.missing, given.decimal)
        with speaking(COMMAND):
            table = replace(table, notices=(*notices(found), *table.notices))
        if unknown.any() and table.cells is not None:
            unlabelled, found = typed_table(table.cells, X[unknown])
            check_sizes(unlabelled.select_dtypes("number"), file.where)
            with speaking(replace(COMMAND, row=lambda k: file.where(X.index[unknown][k]))):
                told = (replace(one, sentence=f"rows without a target: {one.sentence}") for one in notices(found))
                table = replace(table, unlabelled=unlabelled, notices=(*table.notices, *told))
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


def _given(choices: Choices, file: TableFile) -> Given:
    """Return what the choices and the layout of the file say about the cells."""
    words = _named(choices.missing, ())
    decimal = choices.decimal or ("," if file.layout.decimal == "," else None)
    return Given(tuple(sorted({form(word) for word in words})), decimal)


def _in_time(file: TableFile, target: str, choices: Choices) -> TableFile:
    """Return a table with its rows sorted by a column of times."""
    option = f"--time-split {choices.time_split!r}"
    (name,) = _columns("--time-split", [str(choices.time_split)], file.frame.columns, several=False)
    if choices.groups is not None:
        raise ArgumentError(f"{option} and --groups {choices.groups!r} are different ways to split the rows; use one of them")
    if name == target:
        raise ArgumentError(f"{option} is the target; name the column of times")
    column = file.frame[name]
    reading, read, _ = decided(column, name, _given(choices, file))
    if reading.holds == "texts":
        raise DataError(
            f"{option} has neither dates nor numbers, such as {short_repr(column.dropna().iloc[0])}; name a column of times"
        )
    times = pd.Series(np.asarray(read), column.index)
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
    by = without_words_of_files(frame[groups[0]])
    missing = by.isna()
    if missing.any():
        raise DataError(
            f"--groups {groups[0]!r} has {int(missing.sum())} missing values, the first in {where(missing.idxmax())}; name each "
            "row's group"
        )
    return frame[kept], y, by


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
    is_label = has_label("--positive", y, label)
    return is_label[y.notna()].astype(int).reindex(y.index)


def has_label(option: str, y: pd.Series, label: str) -> pd.Series:
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
    out = np.logical_or.reduce([has_label("--drop-classes", y, part) for part in parts])
    which = "the class" if len(parts) == 1 else "the classes"
    note = f"rows of {which} {', '.join(map(repr, parts))} are left out: {int(out.sum())}"
    return replace(file, frame=file.frame[~out], notes=(*file.notes, note))


def make_table(
    X: pd.DataFrame,
    y: pd.Series,
    task: AnyTask = "auto",
    where: Where = row_of,
    categorical: Sequence[str] = (),
    wanted: Sequence[str] = (),
    missing: Sequence[str] = (),
    decimal: str | None = None,
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
    missing : sequence of str
        Further words that mean a missing value.
    decimal : {".", ","} or None
        Decimal mark of numbers written as text, where the column alone does not show it.

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
    y, its_task, why = checked_target(y, task, where)
    given = Given(tuple(sorted({form(word) for word in missing})), decimal)
    table = _with_kinds(X, y, tuple(categorical), wanted, where, given)
    numbers, place = y.to_numpy(), lambda k: where(y.index[k])
    with speaking(COMMAND):
        told = target_notices(numbers.astype(float), place) if its_task == "regression" else target_codes(numbers, place)
    unit = copies(table.X)
    groups = None if unit is None else pd.Series(unit, index=X.index, name=COPIES)
    return replace(table, task=its_task, groups=groups, why=why, notices=(*table.notices, *told))


def _with_kinds(
    X: pd.DataFrame, y: pd.Series, categorical: tuple[str, ...], wanted: Sequence[str], where: Where, given: Given
) -> Table:
    """Return a table with its columns in the types of their kinds."""
    check_sizes(X.select_dtypes("number"), where)
    with untold(), speaking(replace(COMMAND, row=lambda k: where(X.index[k]))):  # the notices of the table tell it
        encoder = TableEncoder(categorical, missing=given.missing, decimal=given.decimal).fit(X)
        kinds = dict(zip(encoder.columns_["column"], encoder.columns_["kind"], strict=True))
        if spared := [name for name in wanted if kinds[name] == "identifier"]:
            categorical = (*categorical, *spared)
            encoder = clone(encoder).set_params(categorical=categorical).fit(X)
    typed, _ = typed_table(encoder.reading_, X)
    check_sizes(typed.select_dtypes("number"), where)  # includes columns of text that have numbers
    return Table(
        typed,
        y,
        "regression",
        columns=encoder.columns_,
        categorical=categorical,
        cells=encoder.reading_,
        notices=encoder.notices_,
    )
