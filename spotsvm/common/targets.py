"""Checks of targets and of weights of rows; an error names the argument, the row and the value."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, DataError

Floats = NDArray[np.float64]

#: a weight over this many times the sum of all others leaves nothing of them, in single precision
_LARGEST_SHARE = 1e8


def as_classes(y: Any, owner: str) -> Any:
    """Return the classes of rows as a vector; None for no target, which others refuse.

    DataError for a missing class or labels of which some are texts, ArgumentError for several columns; `owner` is the estimator.
    """
    labels = _column(y, owner, "class")
    if labels is None or not len(labels):
        return labels
    missing = _missing(labels) | (np.isinf(labels) if labels.dtype.kind == "f" else False)
    if missing.any():
        raise _at(labels, missing, "which is no class; leave the row out, or name its class")
    if labels.dtype.kind == "O":
        texts = np.array([isinstance(label, str) for label in labels], dtype=bool)
        if texts.any() and not texts.all():
            some, other = (shown_value(labels[int(where.argmax())]) for where in (texts, ~texts))
            raise DataError(
                f"y has {some} in row {int(texts.argmax())} and {other} in row {int((~texts).argmax())} (counted from 0): "
                "texts and other labels have no common order; use one type, as [str(label) for label in y]"
            )
        if all(isinstance(label, bool | int | float | np.number | np.bool_) for label in labels):
            raise DataError("y is an array of objects, which are numbers; use numbers, as np.array(list(y)) (Unknown label type)")
    if labels.dtype.kind in "OSVc" and not isinstance(labels[0], str):
        kind = "Complex data not supported" if labels.dtype.kind == "c" else "Unknown label type"  # scikit-learn's words
        why = f"which is no label for a classifier; use texts or whole numbers, as [str(label) for label in y] ({kind})"
        raise _at(labels, np.ones(len(labels), dtype=bool), why)
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"y: {error}") from error
    return labels


def as_numbers(y: Any, owner: str) -> Any:
    """Return the numbers of a target as a vector; None for no target, which others refuse.

    DataError for a value that is missing, infinite or no number, ArgumentError for several columns.
    """
    numbers = _column(y, owner, "number")
    if numbers is None or numbers.dtype.kind in "biu":
        return numbers
    if numbers.dtype.kind == "c":
        raise DataError(f"Complex data not supported: y has {shown_value(numbers[0].item())} in row 0")
    missing = _missing(numbers)
    if missing.any():
        raise _at(numbers, missing, "which is no target; leave the row out")
    if numbers.dtype.kind != "f":
        read = np.array([_number(value) for value in numbers])
        if np.isnan(read).any():
            raise _at(numbers, np.isnan(read), f"and {owner} needs numbers; a classifier such as TunedSVC takes classes")
        numbers = read
    if not np.isfinite(numbers).all():
        raise _at(numbers, ~np.isfinite(numbers), "and a target is finite")
    return numbers


def check_no_dates(y: Any, owner: str) -> None:
    """Raise DataError for a target of dates or durations, which numpy makes numbers of, missing ones included."""
    frame = y if isinstance(y, pd.DataFrame) else pd.DataFrame({"y": y}) if isinstance(y, pd.Series) else None
    kinds = [np.asarray(y).dtype.kind] if frame is None else [dtype.kind for dtype in frame.dtypes]
    if found := {"M": "dates", "m": "durations"}.get(next((kind for kind in kinds if kind in "mM"), "")):
        raise DataError(f"y has {found}, and {owner} needs numbers; pass them in a unit, such as days since a date")


def _column(y: Any, owner: str, each: str) -> NDArray[Any] | None:
    """Return a target as a vector of the objects that were given."""
    if y is None:
        return None
    if issparse(y):
        raise ArgumentError(f"y is sparse; {owner} takes one {each} for each row, as y.toarray().ravel()")
    if isinstance(y, np.ma.MaskedArray):
        y = np.array(y.tolist(), dtype=object) if np.ma.is_masked(y) else y.data
    # numpy would make texts of a list with gaps
    listed = isinstance(y, list | tuple)
    column = np.asarray(y, dtype=object if listed else None)
    if listed and not _missing(column).any() and len({isinstance(value, str) for value in column.flat}) < 2:
        with suppress(ValueError):  # values that are sequences stay objects
            column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        what = f"A column-vector y was passed when a 1d array was expected: y has shape {column.shape}; use y.ravel()"
        warnings.warn(what, DataConversionWarning, stacklevel=4)
        return column[:, 0]
    if column.ndim == 0:
        raise ArgumentError(f"y={shown_value(y)}; {owner} takes one {each} for each row, as a list or an array")
    if column.ndim != 1:
        raise ArgumentError(
            f"y has shape {column.shape}, and should be a 1d array: {owner} takes one {each} for each row. Fit a model for each "
            f"column, as sklearn.multioutput does"
        )
    return column


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values), dtype=bool)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _at(values: NDArray[Any], wrong: NDArray[np.bool_], why: str) -> DataError:
    """Return the error for the first value that is wrong."""
    row = int(wrong.argmax())
    value = values[row]
    shown = shown_value(value.item() if isinstance(value, np.generic) else value)
    return DataError(f"y has {shown} in row {row} (counted from 0), {why}")


def check_sample_weight(sample_weight: Any, n: int, name: str = "sample_weight") -> Floats:
    """Return a weight for each of n rows, or raise ArgumentError."""
    if sample_weight is None:
        return np.ones(n)
    try:
        if np.iscomplexobj(np.asarray(sample_weight)):
            raise TypeError("it has complex numbers")
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{name} is not an array of numbers; {error}") from error
    if weights.shape != (n,):
        raise ArgumentError(f"{name} has shape {weights.shape}; X has {n} rows, so it must be ({n},)")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise ArgumentError(f"{name}[{i}] is {weights[i]}; weights are finite, and 0 or more")
    if not (weights > 0).any():
        raise ArgumentError(f"{name} is zero for every row; at least one weight must be positive")
    i = int(weights.argmax())
    others = float((np.delete(weights, i) / weights[i]).sum())
    if 0.0 < others < 1.0 / _LARGEST_SHARE:
        raise ArgumentError(
            f"{name}[{i}] is {weights[i]:g}, and all others together are {others:.2g} of it: they would not count; use weights "
            "of a similar size"
        )
    return weights


def with_mean_1(weights: Floats) -> Floats:
    """Return weights over their mean, which is taken over the rows that have weight.

    In single precision, so that the rounding of a common factor cannot be seen.
    """
    relative = weights / weights.max()  # the sum of large weights may overflow
    return np.asarray(relative / relative[relative > 0].mean(), dtype=np.float32).astype(np.float64)
