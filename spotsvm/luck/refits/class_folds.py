"""Folds for estimates where each fold of a search tests one class alone, as in leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from spotsvm.cross_validation.fold_data import Split

_FOLDS = 10


def tests_one_class(splits: Sequence[Split], y: Any) -> bool:
    """Return whether no fold tests rows of two classes.

    A class then is rarer where its rows are tested: a model that learns nothing but the shares of classes is always wrong, or,
    with weights that balance the classes, right or wrong by their rounding errors.
    """
    target = np.asarray(y)
    return target.ndim == 1 and all(len(np.unique(target[test])) == 1 for _, test in splits)


def folds_of_all_classes(splits: Sequence[Split], y: Any, seed: int) -> Sequence[Split]:
    """Return folds that are merged, so that each tests rows of all classes; the same folds where this cannot be.

    Rows that are tested together stay together. Folds whose training rows are not all others, as those by time, are not merged.
    """
    n, classes = len(np.asarray(y)), np.unique(np.asarray(y))
    unit = np.full(n, -1)
    for k, (train, test) in enumerate(splits):
        rows = np.arange(n)
        train, test = rows[np.asarray(train)], rows[np.asarray(test)]
        if len(np.union1d(train, test)) < n or len(train) + len(test) != n or (unit[test] >= 0).any():
            return splits
        unit[test] = k
    if (unit < 0).any() or not tests_one_class(splits, y):
        return splits
    n_folds = min(_FOLDS, *(len(np.unique(unit[np.asarray(y) == c])) for c in classes))
    if n_folds < 2:
        return splits
    merged = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    return list(merged.split(np.zeros(n), np.asarray(y), unit))
