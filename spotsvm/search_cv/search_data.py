"""The data of a search: checked, drawn if a sample is searched, and split into folds once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, indexable

from spotsvm.common.checks import check_groups
from spotsvm.common.copies import both_sides, copies
from spotsvm.common.folds import check_repeatable, seeded
from spotsvm.common.notices import Notice
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.row_sample import DrawnRows, at_rows, drawn_splits, rows_to_search
from spotsvm.cross_validation.scorers import check_scorers
from spotsvm.errors import ArgumentError
from spotsvm.luck.refits.search_access import Given, check_given, given_by
from spotsvm.preprocessing.frames import as_frame
from spotsvm.search_cv.arguments import SearchArguments
from spotsvm.search_cv.estimator_space import check_class_weights, check_data, check_types
from spotsvm.space.space import Space


@dataclass(frozen=True)
class SearchData:
    """The rows that a search sees, what its fit was given beside them, and the folds; `every` has all rows for the refit."""

    X: Any
    y: Any
    given: Given
    splits: list[Split]
    #: X, y and the arguments of the estimator's fit, for all rows
    every: tuple[Any, Any, Mapping[str, Any]]
    #: the rows of the search and of the refit among all rows
    drawn: DrawnRows

    def copy_notices(self) -> list[Notice]:
        """Return what to tell of equal rows on both sides of a fold."""
        return both_sides(copies(as_frame(self.X)), self.splits, issparse(self.X))


def checked_data(
    search: SearchArguments, space: Space, X: Any, y: Any, params: Mapping[str, Any], seed: int | None
) -> SearchData:
    """Return the data of a fit; an error that names the argument, the cell or the class if they are unusable."""
    estimator, classifier = search.estimator, is_classifier(search.estimator)
    check_types(estimator, X)
    X, y = indexable(X, y)
    check_given(estimator, X, y, params)
    every = X, y, given_by(search, params).fit
    check_consistent_length(X, params.get("groups"))
    drawn = rows_to_search(estimator, search.rows, X, y, params.get("groups"), search.cv)
    X, y, params = at_rows(X, y, params, drawn.searched)
    given = given_by(search, params)
    if classifier:
        check_class_weights(estimator, space, y)
    check_data(estimator, space, *every, drawn.fitted)
    check_scorers(estimator, search.scoring, y)
    splitter = seeded(check_cv(search.cv, y, classifier=classifier), seed)
    check_groups(splitter, given.groups)
    if search.path is not None:
        check_repeatable(splitter, X, y, **given.split)
    splits = drawn_splits(splitter, X, y, given.split, drawn.searched, every[:2])
    if not splits:
        raise ArgumentError(f"No fits were performed. Was the CV iterator empty? Were there no candidates? cv={search.cv!r}")
    if (n_splits := splitter.get_n_splits(X, y, **given.split)) != len(splits):
        raise ArgumentError(
            "cv.split and cv.get_n_splits return inconsistent results. "
            f"Expected {n_splits} splits, got {len(splits)}; cv={search.cv!r}"
        )
    return SearchData(X, y, given, splits, every, drawn)
