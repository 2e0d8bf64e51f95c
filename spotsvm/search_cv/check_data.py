"""What an estimator cannot take is found before a search: a missing target, text, nan and infinite numbers, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from spotsvm.common.text import printable_line, shown_value
from spotsvm.cross_validation.fold_scorer import ignoring
from spotsvm.errors import DataError
from spotsvm.search_cv.estimator_space import samples, with_params
from spotsvm.space.space import Space


def check_data(estimator: Any, space: Space, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    """Raise DataError, which names the first cell that an estimator cannot take, instead of failing all candidates.

    Tags are only a hint: those of a user's estimator may be defaults, and a pipeline may mend its data. So the estimator is
    fitted where they are against the data, and these are refused only if no configuration of `samples` can be fitted.
    """
    try:
        fault = _fault(estimator, X, y)
    except Exception:  # data or an estimator of the user's own kind: the candidates will tell
        return
    if not fault:
        return
    failure: Exception | None = None
    for params in samples(space):
        try:
            with ignoring():
                fitted = with_params(estimator, params)
                _ = fitted.fit(X, **fit_params) if y is None else fitted.fit(X, y, **fit_params)
        except Exception as error:
            failure = error
        else:
            return
    raise DataError(f"{fault} ({printable_line(str(failure), 200)})") from failure


def _fault(estimator: Any, X: Any, y: Any) -> str:
    """Return what is in X or y that an estimator or a step of it has no tag for, and where; empty if there is nothing."""
    steps = [step for _, step in estimator.steps if hasattr(step, "fit")] if isinstance(estimator, Pipeline) else [estimator]
    tags = [get_tags(step) for step in steps]
    name = type(estimator).__name__ if len(steps) < 2 else f"{type(estimator).__name__} with {type(steps[-1]).__name__}"
    if y is None and tags[-1].target_tags.required:
        return f"y is missing; {name} needs a target, as in fit(X, y)"
    takes_nan = all(one.input_tags.allow_nan for one in tags)
    takes_text = all(one.input_tags.string or one.input_tags.categorical for one in tags)
    remedy = "leave the row out, or put an imputer such as SimpleImputer before it in a pipeline"
    for column, row, value in _odd_cells(X, takes_nan, takes_text):
        place = f"X has {shown_value(value)} in column {column!r}, row {row} (counted from 0)"
        return f"{place}, which {name} cannot take; {_text_remedy(column) if isinstance(value, str) else remedy}"
    if y is None:
        return ""
    for column, row, value in _odd_cells(_as_table(y), False, not is_regressor(estimator)):
        output = f" of column {column!r}" if np.ndim(y) > 1 else ""
        return f"y has {shown_value(value)} in row {row}{output} (counted from 0), which {name} cannot take as a target"
    return ""


def _text_remedy(column: Any) -> str:
    return f"leave column {column!r} out, or encode it, with OneHotEncoder for instance"


def _as_table(y: Any) -> Any:
    return y if np.ndim(y) != 1 else pd.DataFrame({"y": np.asarray(y)})


def _odd_cells(X: Any, takes_nan: bool, takes_text: bool) -> Iterator[tuple[Any, int, Any]]:
    """Yield column, row and value of cells that are neither finite numbers nor what is taken, the first of each column."""
    if issparse(X):
        found = X.tocoo()
        odd = np.flatnonzero(_odd(found.data, takes_nan))
        yield from ((int(found.col[k]), int(found.row[k]), found.data[k].item()) for k in odd[:1])
        return
    if not isinstance(X, pd.DataFrame):
        values = np.asarray(X, dtype=object) if isinstance(X, list) else np.asarray(X)
        if values.ndim != 2 or (values.dtype.kind in "biuf" and np.isfinite(values).all()):
            return
        X = pd.DataFrame(values)
    for k, name in enumerate(X.columns):
        column = X.iloc[:, k]
        found = column if is_numeric_dtype(column) else pd.to_numeric(column.astype(object), errors="coerce")
        numbers = found.to_numpy(dtype=float, na_value=np.nan)
        missing = column.isna().to_numpy()
        text = np.array([isinstance(cell, str) for cell in column], dtype=bool) & np.isnan(numbers)
        other = np.isnan(numbers) & ~missing & ~text  # such as dictionaries, which only the estimator knows
        odd = np.where(text, not takes_text, _odd(numbers, takes_nan) & ~other)
        if odd.any():
            row = int(np.flatnonzero(odd)[0])
            value = column.iloc[row]
            yield name, row, value.item() if isinstance(value, np.generic) else value


def _odd(numbers: Any, takes_nan: bool) -> Any:
    return np.isinf(numbers) if takes_nan else ~np.isfinite(numbers)
