"""The validation part of a training set: given by the caller, or held out by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_X_y

from solvers.checked_numbers import as_float
from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class ValidationPart:
    """A training part and a validation part.

    Attributes
    ----------
    training : int ndarray
        Rows of the data that are left to train on.
    X : ndarray of shape (m, d)
        The validation part.
    code : int ndarray of shape (m,)
        Its classes, as numbers.
    """

    training: Integers
    X: Floats
    code: Integers


def given_part(
    validation: Any, classes: NDArray[Any], n_rows: int, n_features: int, names: NDArray[Any] | None = None
) -> ValidationPart:
    """Check a validation part (X, y) that was given; all rows of the data are left to train on.

    Raises
    ------
    ArgumentError
        If it is no pair of arrays with as many rows and the right columns (by `names`, where both have names), lacks a class,
        or has one that is unknown.
    """
    if not isinstance(validation, (tuple, list)) or len(validation) != 2:
        raise ArgumentError(f"validation is a {type(validation).__name__}; use a pair (X, y), or a fraction in (0, 1)")
    try:
        X, y = check_X_y(*validation, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"validation holds no training data (X, y): {error}") from error
    if X.shape[1] != n_features:
        raise ArgumentError(f"validation has X of {X.shape[1]} features; the training data have {n_features}")
    columns = getattr(validation[0], "columns", None)
    if columns is not None and names is not None and list(columns) != list(names):
        raise ArgumentError(f"validation has the columns {list(columns)}; the training data have {list(names)}, in this order")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ArgumentError(
            f"validation holds the class {unknown.tolist()[0]!r}, which is not among those of y: {classes.tolist()}"
        )
    missing = np.setdiff1d(classes, y)
    if len(missing):
        raise ArgumentError(f"validation holds no row of class {missing.tolist()[0]!r}; each class needs one or more")
    return ValidationPart(np.arange(n_rows, dtype=np.intp), X, np.searchsorted(classes, y).astype(np.intp))


def held_out_part(X: Floats, code: Integers, classes: NDArray[Any], fraction: Any, seed: int) -> ValidationPart:
    """Hold out a fraction of each class, one row at least, and leave one at least.

    Raises
    ------
    ArgumentError
        If the fraction is not in (0, 1), or a class has a single row.
    """
    share = as_float(fraction)
    if not 0 < share < 1:
        raise ArgumentError(f"validation={fraction!r}; use a fraction in (0, 1), or a pair (X, y)")
    counts = np.bincount(code)
    if counts.min() < 2:
        lone = classes.tolist()[int(counts.argmin())]
        raise ArgumentError(
            f"y holds a single row of class {lone!r} (n_samples={len(code)}); training and validation need one each: "
            "give more rows, or a validation part (X, y)"
        )
    rng = np.random.default_rng(seed)
    held_out = np.zeros(len(code), dtype=bool)
    for c, count in enumerate(counts):
        n_held_out = min(max(1, round(share * int(count))), int(count) - 1)
        held_out[rng.choice(np.flatnonzero(code == c), n_held_out, replace=False)] = True
    return ValidationPart(np.flatnonzero(~held_out), X[held_out], code[held_out])
