"""The rows of a search on a sample and of the refit: how many of many rows they are, and which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils import get_tags

from spotsvm.common.checks import check_count
from spotsvm.common.compat import check_method_params, num_samples, safe_indexing
from spotsvm.common.notices import Notice
from spotsvm.cross_validation.fold_data import Split
from spotsvm.errors import ArgumentError
from spotsvm.luck.draws import sample_rows

Rows = NDArray[np.intp]

#: the number of rows above which a sample is searched, the size of this sample, and the most rows of a refit
MANY_ROWS, SEARCHED_ROWS, FITTED_ROWS = 3000, 2000, 10_000
#: the most rows that are held out of many
HELD_ROWS = 5000
#: share of a time limit for the search on a sample; the refit has the rest
SEARCH_SHARE = 0.5
#: the value of `rows` that takes these numbers
AUTO: Final = "auto"
#: the code of the notice about the rows that a model has not seen
ROWS_CODE = "rows"


@dataclass(frozen=True)
class DrawnRows:
    """The positions, among `n` rows, of those of a search and of its refit; None for all."""

    n: int
    searched: Rows | None = None
    fitted: Rows | None = None

    @property
    def n_searched(self) -> int:
        """Number of rows of the search."""
        return self.n if self.searched is None else len(self.searched)

    @property
    def n_fitted(self) -> int:
        """Number of rows of the refit."""
        return self.n if self.fitted is None else len(self.fitted)

    @property
    def has_more(self) -> bool:
        """Whether the refit has more rows than the search."""
        return self.n_fitted > self.n_searched


def rows_sentence(n_tuned: int, n_fitted: int, n: int) -> str:
    """Return how many of n rows parameters were tuned on, and a model is fitted to."""
    return f"parameters were tuned on {n_tuned}, and the model is fitted to {n_fitted}, of {n} training rows"


def rows_notices(n_fitted: int, n: int, sentence: str) -> list[Notice]:
    """Return the sentence about the rows of a model as a notice, with the share that it has not seen, if there is one."""
    return [Notice(ROWS_CODE, sentence, share=1.0 - n_fitted / n)] if n_fitted < n else []


def check_rows(rows: Any) -> None:
    """Raise ArgumentError if this is no number of rows to search on, nor a pair with that of the refit."""
    after = ", a pair with the most rows of the refit, 'auto', or None for all"
    if rows is None or (isinstance(rows, str) and rows == AUTO):
        return
    if not isinstance(rows, tuple | list):
        check_count("rows", rows, 2, after=after)
        return
    if len(rows) != 2:
        raise ArgumentError(f"rows={rows!r}; use a whole number, 2 or more{after}")
    for one in rows:
        if one is not None:
            check_count("rows", one, 2, after=", or None for all")
    searched, fitted = rows
    if fitted is not None and (searched is None or fitted < searched):
        raise ArgumentError(f"rows={rows!r}: the refit has fewer rows than the search; use as many or more")


def drawn_rows(
    rows: int | Sequence[int | None] | Literal["auto"] | None, n: int, classes: Any = None, groups: Any = None, least: int = 1
) -> DrawnRows:
    """Return the rows of a search and of its refit: the same at each call, so that a search can be resumed.

    Classes keep their shares, but have `least` rows or groups; groups are whole. The rows of the search are among those of the
    refit, unless there are few huge groups.
    """
    if rows == AUTO:
        rows = (SEARCHED_ROWS, FITTED_ROWS) if n > MANY_ROWS else None
    searched, fitted = (rows, None) if rows is None or isinstance(rows, int | np.integer) else rows
    codes = None if classes is None else pd.factorize(np.asarray(classes))[0]

    def drawn(size: int | None) -> Rows | None:
        return None if size is None or size >= n else sample_rows(n, size, 0, codes, groups, least=least)

    return DrawnRows(n, drawn(searched), drawn(fitted))


def rows_to_search(estimator: Any, rows: Any, X: Any, y: Any, groups: Any, cv: Any) -> DrawnRows:
    """Return the rows of a search of an estimator, with rows of each class in each of the folds of a splitter."""
    found = DrawnRows(num_samples(X))
    pairwise = get_tags(estimator).input_tags.pairwise
    if rows is None or (pairwise and isinstance(rows, str)):
        return found
    classes = y if y is not None and is_classifier(estimator) and np.ndim(y) == 1 else None
    found = drawn_rows(rows, found.n, classes, groups, n_folds_of(cv))
    if pairwise and found.searched is not None:
        raise ArgumentError(f"rows={rows!r} is for rows of columns, and X is a precomputed kernel; leave it out")
    return found


def n_folds_of(cv: Any) -> int:
    """Return the number of folds that `cv`, as of a search, makes of the rows; 1 if it has no such number."""
    n = 5 if cv is None else getattr(cv, "n_splits", None) or getattr(cv, "cvargs", {}).get("n_splits") or cv
    return int(n) if isinstance(n, int | np.integer) else 1


def drawn_splits(
    splitter: Any, X: Any, y: Any, given: Mapping[str, Any], rows: Rows | None, every: tuple[Any, Any]
) -> list[Split]:
    """Return the folds of the drawn rows; `every` are X and y at all rows, of which a splitter may hold the folds.

    ArgumentError if the drawn rows leave no rows to train or to test on in a fold.
    """
    if rows is None or not _holds_folds(splitter):
        return list(splitter.split(X, y, **given))
    splits = splits_at(splitter.split(*every), rows, num_samples(every[0]))
    for k, (train, test) in enumerate(splits):
        if not (len(train) and len(test)):
            raise ArgumentError(
                f"rows={len(rows)} leaves no rows of fold {k} to {'test' if len(train) else 'train'} on; use more"
            )
    return splits


def splits_at(splits: Iterable[Any], rows: Rows, n: int) -> list[Split]:
    """Return splits of n rows, given by positions or masks, as splits of some of these rows."""
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    found = []
    for split in splits:
        train, test = (place[np.flatnonzero(part) if part.dtype == bool else part] for part in map(np.asarray, split))
        found.append((train[train >= 0], test[test >= 0]))
    return found


def _holds_folds(splitter: Any) -> bool:
    """Return whether a splitter has the folds of certain rows, as that of a list has, whatever rows it is given."""
    return isinstance(splitter, PredefinedSplit | type(check_cv([])))


def at_rows(X: Any, y: Any, params: Mapping[str, Any], rows: Rows | None) -> tuple[Any, Any, dict[str, Any]]:
    """Return X, y and what is passed to a fit beside them at some rows; None stands for all rows."""
    if rows is None:
        return X, y, dict(params)
    return safe_indexing(X, rows), None if y is None else safe_indexing(y, rows), dict(check_method_params(X, params, rows))
