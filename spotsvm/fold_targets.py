"""The problems that each fold's machines solve: labels and bounds of every pair of classes, or the target of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from solvers.dual.fold_solver import Target, symmetric_bounds
from spotsvm.one_vs_one import pair_labels, pairs
from spotsvm.stand_in import NotSharedError
from spotsvm.svm_machine import SvmMachine

Floats = NDArray[np.float64]

#: Of more classes each pair has so few of the rows that training it on vectors of all rows costs more than it saves
MOST_CLASSES = 10


class FoldTargets:
    """The problems of each fold, and of all rows.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The target.
    trained : bool ndarray of shape (n_folds, n)
        Which rows each fold trains on.
    regression : bool
        Whether y is a number to predict, and not a class.
    """

    def __init__(self, y: NDArray[Any], trained: NDArray[np.bool_], regression: bool):
        self._y = y
        self._rows = [*trained, np.ones(len(y), dtype=bool)]  # the last is all rows, at index -1
        self.classes: NDArray[Any] | None = None
        if regression:
            self._labels = [_numbers(y)]
            return
        try:
            check_classification_targets(y)
            self.classes, self._code = np.unique(y, return_inverse=True)
        except (TypeError, ValueError) as error:
            raise NotSharedError("the target holds no classes") from error
        n_classes = len(self.classes)
        if not 2 <= n_classes <= MOST_CLASSES:
            raise NotSharedError(f"there are {n_classes} classes")
        if any(len(np.unique(self._code[rows])) < n_classes for rows in self._rows):
            raise NotSharedError("a fold's training rows lack a class")
        self._labels = self._pair_labels(n_classes)

    def _pair_labels(self, n_classes: int) -> list[Floats]:
        """Return the labels of each pair's classifier, 0 for rows of other classes."""
        code = self._code
        return [np.where((code == i) | (code == j), pair_labels(code == i, n_classes), 0.0) for i, j in pairs(n_classes)]

    def of(self, machine: SvmMachine, fold: int) -> list[Target]:
        """Return the problems of a fold; of all rows for fold -1."""
        rows = self._rows[fold]
        labels = self._labels if fold == -1 else [np.where(rows, z, 0.0) for z in self._labels]
        if machine.regression:
            lower, upper = symmetric_bounds(np.where(rows, float(machine.C), 0.0), labels[0], True)
            return [Target(labels[0], lower, upper, float(machine.epsilon))]
        C = machine.C if machine.class_weight is None else machine.C * self._weights(machine.class_weight, rows)
        return [Target(z, *symmetric_bounds(C, z, False)) for z in labels]

    def _weights(self, class_weight: Any, rows: NDArray[np.bool_]) -> Floats:
        try:
            weights = compute_class_weight(class_weight, classes=self.classes, y=self._y[rows])
        except ValueError as error:
            raise NotSharedError("the class weights do not fit the classes") from error
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise NotSharedError("a class has no weight")
        each: Floats = weights[self._code]
        return each


def _numbers(y: NDArray[Any]) -> Floats:
    if y.dtype.kind == "c":
        raise NotSharedError("the target is complex")
    try:
        target = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise NotSharedError("the target is not a number") from error
    if not np.isfinite(target).all():
        raise NotSharedError("the target is not finite")
    return target
