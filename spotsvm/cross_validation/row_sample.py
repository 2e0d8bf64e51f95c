"""The rows that a search on a sample sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from spotsvm.common.compat import check_method_params, num_samples, safe_indexing
from spotsvm.errors import ArgumentError
from spotsvm.luck.draws import sample_rows


def rows_to_search(estimator: Any, rows: int | None, X: Any, y: Any, groups: Any) -> NDArray[np.intp] | None:
    """Return the indices of the rows to search on, None for all; the same in each fit, so that a search can be resumed."""
    n = num_samples(X)
    if rows is None or rows >= n:
        return None
    if get_tags(estimator).input_tags.pairwise:
        raise ArgumentError(f"rows={rows!r} is for rows of columns, and X is a precomputed kernel; leave it out")
    classes = y if y is not None and is_classifier(estimator) and np.ndim(y) == 1 else None
    return sample_rows(n, rows, 0, classes, groups)


def at_rows(X: Any, y: Any, params: Mapping[str, Any], rows: NDArray[np.intp] | None) -> tuple[Any, Any, dict[str, Any]]:
    """Return X, y and what is passed to a fit beside them at some rows; None stands for all rows."""
    if rows is None:
        return X, y, dict(params)
    return safe_indexing(X, rows), None if y is None else safe_indexing(y, rows), dict(check_method_params(X, params, rows))
