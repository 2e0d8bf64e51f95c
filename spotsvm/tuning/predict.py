"""Predict the rows of a later table with a saved model, by the rules that its training table was read by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from spotsvm.common.errors import DataError
from spotsvm.tuning.saved import SavedModel
from spotsvm.tuning.tables.cells import not_numeric
from spotsvm.tuning.tables.kinds import typed
from spotsvm.tuning.tables.reading import TableFile, listed, read_rows
from spotsvm.tuning.tables.table import Choices, check_features


def predictions(
    model: SavedModel,
    path: str | Path,
    how: Choices | None = None,
    say: Callable[[str], Any] = lambda line: None,
) -> pd.DataFrame:
    """Return a frame with the number of each row below the header, its prediction, and of two classes the decision value.

    `how` says how the file is written, where that cannot be found out. Columns are found by their names, in any order; further
    ones are ignored, which `say` is told. Rows without any value are left out. DataError is raised if a column is missing or has
    a value that the model cannot use.
    """
    how = how or Choices()
    file = read_rows(path, model.columns[0], how.sep, how.encoding, how.header, how.thousands)
    X = _features(model, file, say)
    if not len(X):
        raise DataError(f"{path}: the table has no rows below its header; name a file with rows")
    rows = X.index.to_numpy() + 1
    given = X if hasattr(model.pipeline, "feature_names_in_") else X.to_numpy()
    found = pd.DataFrame({"row": rows, "prediction": model.pipeline.predict(given)})
    if len(getattr(model.pipeline, "classes_", ())) == 2 and hasattr(model.pipeline, "decision_function"):
        found["decision"] = model.pipeline.decision_function(given)
    return found


def _features(model: SavedModel, file: TableFile, say: Callable[[str], Any]) -> pd.DataFrame:
    """Return the columns of the model as it knows them."""
    frame = file.frame
    missing = [name for name in model.columns if name not in frame.columns]
    if missing:
        what = "column" if len(missing) == 1 else f"{len(missing)} columns"
        raise DataError(
            f"{file.path} lacks the {what} {listed(pd.Index(missing))} of the training table; it has {listed(frame.columns)}"
        )
    spare = [name for name in frame.columns if name not in model.columns and name != model.target]
    if spare:
        say(f"notice: {'1 column is' if len(spare) == 1 else f'{len(spare)} columns are'} ignored: {listed(pd.Index(spare))}")
    X = frame[list(model.columns)]
    try:
        if model.kinds.plain:
            check_features(X, file.where)
        for name in model.kinds.numeric:
            column = X[name]
            if not is_numeric_dtype(column) and not column.dropna().isin([True, False]).all():
                raise DataError(
                    not_numeric(f"column {name!r}", column, file.where, ", as in the training table; correct the cell")
                )
    except DataError as error:
        raise DataError(f"{file.path}: {error}") from error
    found = typed(X, replace(model.kinds, left_out={}))
    # a column whose cells all look like numbers, or are missing, was not read as text
    return found.assign(
        **{
            name: found[name].map(_text, na_action="ignore").astype(object)
            for name in model.texts
            if is_numeric_dtype(found[name])
        }
    )


def _text(value: Any) -> str:
    """Return a number as text, as a column of text has it."""
    whole = not isinstance(value, bool | np.bool_) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
