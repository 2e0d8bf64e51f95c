"""The target of a table: its numbers or classes, and the task that follows from it."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from spotsvm.errors import DataError
from spotsvm.preprocessing.cells.column_reading import NOTHING_GIVEN, Given
from spotsvm.preprocessing.cells.deciding import decided, numbers_in
from spotsvm.preprocessing.cells.findings import Finding
from spotsvm.preprocessing.cells.values import values_of
from spotsvm.preprocessing.cells.words import is_missing, without_words_of_files
from spotsvm.tuning.tables.faults import Where, check_size, not_numeric, row_of, short_repr

MANY_CLASSES = 100
FEW_INTEGERS = 20

Task = Literal["classification", "regression"]
AnyTask = Task | Literal["auto"]


def read_target(y: pd.Series, task: AnyTask = "auto", given: Given = NOTHING_GIVEN) -> tuple[pd.Series, list[Finding]]:
    """Return a target with NaN for words that mean a missing value, and what was found in its cells.

    Texts become numbers if at least 95 % are numbers in one notation; other texts then are missing values. If the numbers are few
    whole ones, they may be classes: then all but words for a missing value have to be numbers as Python writes them.
    """
    values = values_of(y, str(y.name))
    y = y.mask(given.means_missing(values))
    if values.kind != "texts":
        huge = values.kind == "numbers" and y.dtype == object and not any(isinstance(cell, bool) for cell in y)
        return (pd.Series(values.numbers, y.index, name=y.name) if huge else y), []
    labels = without_words_of_files(y)
    reading, read, findings = decided(y, str(y.name), given)
    if task == "classification" or reading.holds != "numbers":
        return labels, []
    numbers = pd.Series(read, y.index, name=y.name)
    if task == "auto" and numbers.nunique() <= FEW_INTEGERS:
        others = [cell for cell in y[numbers.isna() & y.notna()] if not is_missing(str(cell))]
        if others or not reading.notation.is_plain:
            return labels, []
    return numbers, [finding for finding in findings if finding.code != "unread"]


def whole(y: pd.Series) -> pd.Series:
    """Return a target of floats as integers, if all are: classes that were read from texts are 0 and 1, and not 0.0 and 1.0."""
    is_whole = is_float_dtype(y) and bool((y == np.rint(y)).all()) and float(y.abs().max()) < 2**53
    return y.astype(np.int64) if is_whole else y


def checked_target(y: pd.Series, task: AnyTask = "auto", where: Where = row_of) -> tuple[pd.Series, Task, str]:
    """Return the target, its task and the reason for the task; DataError if the target cannot be learnt."""
    what = f"the target {y.name!r}"
    given = y
    y = read_target(y, task)[0]
    if y.isna().any():
        raise DataError(
            f"{what} has {int(y.isna().sum())} missing values (empty, or a word such as NA or None), the first in "
            f"{where(y.index[int(np.argmax(y.isna()))])}; remove those rows"
        )
    if is_numeric_dtype(y) and not is_bool_dtype(y):
        check_size(what, y, where)
        y = y if is_numeric_dtype(given) else whole(y)
    # many distinct cells, mostly numbers: probably a quantity with faults, and not classes
    elif task == "auto" and y.nunique() > FEW_INTEGERS and 2 * np.isfinite(numbers_in(y)).sum() >= len(y):
        classes = ", or use --task classification if these are classes" if y.nunique() <= MANY_CLASSES else ""
        raise DataError(not_numeric(what, y, where, f"; correct the cell{classes}"))
    decided_task, why = _decided(y) if task == "auto" else (task, "as said")
    if decided_task == "regression":
        if not is_numeric_dtype(y) or is_bool_dtype(y):
            raise DataError(not_numeric(what, y, where, ", as regression requires; correct the cell, or name another --target"))
        if len(y) > 1 and y.nunique() == 1:
            raise DataError(
                f"{what} is {short_repr(y.iloc[0])} in all rows, so there is nothing to predict: name another --target"
            )
    else:
        _check_classes(y)
    return y, decided_task, why


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
