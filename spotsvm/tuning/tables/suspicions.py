"""What is suspicious about a table, in sentences for its user."""

from __future__ import annotations

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

from spotsvm.tuning.tables.table import Table

#: rows from which on an identifier or a leak can be told from chance, and the score of a single column that is too good
_ENOUGH, _TOO_GOOD = 20, 0.99
#: rows and columns by which leaks are sought: of many columns those with the largest F
_ROWS, _COLUMNS = 2000, 20
#: different whole numbers that may be classes, though they are taken as a quantity
_FEW = 50


def suspicions(table: Table) -> Iterator[str]:
    """Yield a sentence for each thing about a table that is rather a mistake than meant.

    They are constant columns, columns that look like identifiers, a column that alone predicts the target nearly perfectly in
    3 folds (by a decision tree or a straight line), and whole numbers as target that could be classes or a quantity.
    """
    X, y = table.X, table.y
    kinds = table.kinds
    values = X[list(kinds.numeric)].to_numpy(dtype=float) if kinds.numeric else np.empty((len(X), 0))
    known = ~np.isnan(values)
    low, high = (np.where(known, values, fill) for fill in (np.inf, -np.inf))
    spread = np.max(high, axis=0, initial=-np.inf) - np.min(low, axis=0, initial=np.inf)
    constant = [name for name, width in zip(kinds.numeric, spread, strict=True) if width <= 0]
    constant += [name for name in kinds.categorical if X[name].nunique(dropna=False) == 1]
    if constant:
        yield f"{_columns(constant)} the same value in all rows, so nothing can be learnt from it; leave it out by --drop"
    numbered = np.array(kinds.numeric, dtype=object)[_identifiers(values)].tolist() if len(X) >= _ENOUGH else []
    if numbered:
        yield f"{_columns(numbered)} another whole number in each row, like an identifier; leave it out by --drop if it is one"
    for name, score, what in _leaks(table, values):
        yield (
            f"column {name!r} alone predicts the target nearly perfectly ({what} {score:.3f} in 3 folds); if it is known only "
            "together with the target, leave it out by --drop"
        )
    yield from _target(table, y)


def _columns(names: list[str]) -> str:
    first = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"column {first} has" if len(names) == 1 else f"columns {first} have"


def _identifiers(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns have whole numbers that only rise or fall, or are all from one to another."""
    with np.errstate(invalid="ignore"):
        whole = (values == np.rint(values)).all(axis=0)  # and without gaps
    steps = np.diff(values, axis=0)
    in_order = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
    ordered = np.diff(np.sort(values, axis=0), axis=0)
    return np.asarray(whole & (in_order | (ordered == 1).all(axis=0)))


def _leaks(table: Table, values: NDArray[np.float64]) -> Iterator[tuple[str, float, str]]:
    """Yield the columns from which a tree alone predicts the target nearly perfectly, with its score and the score's name."""
    n = len(table.y)
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_ROWS])
    y = table.y.iloc[rows].to_numpy()
    classify = table.task == "classification"
    if len(rows) < _ENOUGH or (classify and np.unique(y, return_counts=True)[1].min() < 3):
        return
    numeric = list(table.kinds.numeric)
    filled = values[rows]
    gaps = np.isnan(filled)
    least, most = (np.where(gaps, fill, filled) for fill in (np.inf, -np.inf))
    below = 2 * least.min(axis=0, initial=np.inf) - most.max(axis=0, initial=-np.inf) - 1.0
    filled = np.where(gaps, np.where(np.isfinite(below), below, 0.0), filled)  # apart from all values
    if len(numeric) > _COLUMNS:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of constant columns
            F = (f_classif if classify else f_regression)(filled, y)[0]
        numeric = [numeric[k] for k in np.argsort(-np.nan_to_num(F, nan=-1.0, posinf=np.inf), kind="stable")[:_COLUMNS]]
    place = {name: k for k, name in enumerate(table.kinds.numeric)}
    codes = {name: filled[:, place[name]] for name in numeric}
    texts = [*table.kinds.categorical, *table.kinds.yes_no][:_COLUMNS]
    codes |= {name: pd.factorize(table.X[name].iloc[rows])[0].astype(float) for name in texts}
    models: list[Any] = (
        [DecisionTreeClassifier(random_state=0)] if classify else [DecisionTreeRegressor(random_state=0), LinearRegression()]
    )
    folds = (StratifiedKFold if classify else KFold)(3, shuffle=True, random_state=0)
    scoring, what = ("balanced_accuracy", "balanced accuracy") if classify else ("r2", "R2")
    for name, column in codes.items():
        scaled = StandardScaler().fit_transform(column[:, None])  # trees see single precision
        score = max(float(cross_val_score(model, scaled, y, cv=folds, scoring=scoring).mean()) for model in models)
        if score >= _TOO_GOOD:
            yield name, score, what


def _target(table: Table, y: pd.Series) -> Iterator[str]:
    if not is_numeric_dtype(y) or is_bool_dtype(y):
        return
    n = int(y.nunique())
    whole = is_integer_dtype(y) or bool((y == np.rint(y)).all())
    if table.task == "classification" and n > 2 and whole:
        yield f"the target {y.name!r} has {n} different whole numbers, taken as classes; use --task regression for a quantity"
    elif table.task == "regression" and whole and n <= min(_FEW, len(y) // 5):
        yield (
            f"the target {y.name!r} has only {n} different whole numbers, taken as a quantity; use --task classification if they "
            "are classes"
        )
