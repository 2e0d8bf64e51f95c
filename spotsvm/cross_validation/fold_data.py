"""The data and targets of each fold's support vector machine, unchanged or transformed, and its stored solutions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from spotsvm.common.compat import safe_indexing
from spotsvm.common.notices import untold
from spotsvm.cross_validation.exactness import Digits, check_scale
from spotsvm.cross_validation.machines import NotSharedError, SvmMachine
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.exact.fold_solver import State, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.one_vs_one import pair_labels, pairs
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel
from spotsvm.solvers.kernels.matrices.single_gram import GroupGram, SingleGram


@dataclass(frozen=True)
class Task:
    """A machine to train, its kernel function, and its kernel matrix less a constant, and the constant."""

    machine: SvmMachine
    kernel: Kernel | MultiKernel
    K: NDArray[np.float32]
    offset: float


@dataclass(frozen=True)
class Solved:
    """The solutions of a machine on the training rows of some folds, or on all rows; of several classes, one for each pair.

    `ends` has the least and the largest bias of each, `bias` the middle, `bounded` whether a variable is at its bound.
    """

    machine: SvmMachine
    kernel: Kernel | MultiKernel
    z: Floats
    state: State
    ends: Floats
    bias: Floats
    bounded: NDArray[np.bool_]

    def part(self, machines: slice) -> Solved:
        """Return some of the machines' solutions."""
        state = State(self.state.beta[machines], self.state.slope[machines], self.state.converged)
        z, ends, bias = (array[machines] for array in (self.z, self.ends, self.bias))
        return Solved(self.machine, self.kernel, z, state, ends, bias, self.bounded[machines])

    def is_alike(self, task: Task) -> bool:
        """Return whether another machine differs only in C, or in the tube of a regression."""
        return self.kernel == task.kernel and self.machine.along_sweep == task.machine.along_sweep

    def is_of(self, task: Task) -> bool:
        """Return whether another machine has the same solution: the same bounds, or larger ones if no variable is at a bound."""
        mine, other = self.machine, task.machine
        if other.epsilon != mine.epsilon or (other.C != mine.C and (other.C < mine.C or bool(self.bounded.any()))):
            return False
        return self.is_alike(task)

    def start(self, machine: SvmMachine) -> State:
        """Return the start for a similar machine: coefficients at a bound in proportion to C, the others unchanged."""
        ratio = machine.C / self.machine.C
        if ratio == 1.0:
            return self.state
        ratios = np.where(self.bounded | (ratio < 1.0), ratio, 1.0)[:, None]
        return State(self.state.beta * ratios, (self.state.slope + self.z) * ratios - self.z)

    def in_part(self, whole: Solved, task: Task) -> tuple[State, Floats]:
        """Return starts and their z: from the solution on all rows, or from this one if it holds for a similar machine."""
        if task.machine.C < self.machine.C or task.machine.epsilon != self.machine.epsilon or self.bounded.all():
            return whole.state, whole.z
        held = self.bounded.reshape(-1, len(whole.z), 1)

        def either(theirs: Floats, mine: Floats) -> Floats:
            return np.where(held, theirs, mine.reshape(-1, *theirs.shape)).reshape(mine.shape)

        mine, theirs = self.state, whole.state
        return State(either(theirs.beta, mine.beta), either(theirs.slope, mine.slope)), either(whole.z, self.z)


#: the rows that a fold trains on, and those that it tests on
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass
class View:
    """A matrix of rows, its kernel matrices, and the latest solutions."""

    gram: SingleGram
    #: whether all folds use these rows
    shared: bool
    names: list[str] | None
    #: memory for the terms of combined kernels
    group_bytes: int
    #: the fitted transformers of the rows
    transformers: Pipeline | None
    #: the latest solution of each fold, and at -1 that on all rows, as starts for the next
    solved: dict[int, Solved] = field(default_factory=dict)
    groups: GroupGram | None = None
    _checked: Kernel | MultiKernel | None = None

    @cached_property
    def digits(self) -> Digits:
        """The checks of the digits of kernel values."""
        return Digits(self.gram.X, self.label)

    def label(self, column: int) -> str:
        """Return the name of a column from the data frame or the transformers, or else its number."""
        names = self.names
        if names is None and self.transformers is not None and hasattr(self.transformers, "feature_names_in_"):
            with suppress(Exception):  # whatever a transformer that has no names to give raises
                names = self.transformers.get_feature_names_out().tolist()
        return f"column {column}" if names is None else f"column {names[column]!r}"

    def matrix(self, kernel: Kernel | MultiKernel) -> tuple[NDArray[np.float32], float]:
        """Return a kernel matrix less a constant, and the constant; the next call overwrites the matrix.

        NotSharedError is raised if single precision leaves it too few digits.
        """
        K, offset = self._matrix(kernel)
        if kernel != self._checked:
            check_scale(K, offset)
            self._checked = kernel
        return K, offset

    def _matrix(self, kernel: Kernel | MultiKernel) -> tuple[NDArray[np.float32], float]:
        if not isinstance(kernel, MultiKernel):
            self.groups = None
            return self.gram.matrix(kernel)
        if self.groups is None:
            self.gram = self.gram.without_matrices()
            self.groups = GroupGram(self.gram.X, self.group_bytes)
        return self.groups.matrix(kernel)


class FoldViews:
    """The view of each fold; as many are kept as fit into `max_bytes`.

    `X` is a numpy array or a pandas frame; `training_answers` is whether training rows are scored as well.
    """

    def __init__(self, X: Any, y: Any, splits: Sequence[Split], max_bytes: int, training_answers: bool):
        self._X, self._y, self._splits = X, y, splits
        self._training_answers = training_answers
        n = len(y)
        self._most = max_bytes // max(SingleGram.bytes_for(n), 1)  # views
        if 4 * n * n > max_bytes:
            raise NotSharedError("one kernel matrix is larger than the memory allowed")
        self._views: OrderedDict[Any, View] = OrderedDict()
        self._max_bytes = max_bytes

    def of(self, transformers: Pipeline | None, key: Any, fold: int) -> View:
        """Return the view of a fold after the transformers that `key` identifies."""
        place = None if transformers is None else (key, fold)
        view = self._views.get(place)
        if view is None:
            while self._views and len(self._views) >= max(self._most, 1):
                self._views.popitem(last=False)
            shared = transformers is None
            fitted = None if shared else clone(transformers)
            rows, names = (plain_rows(self._X), names_of(self._X)) if shared else self._transformed(fitted, fold)
            share = self._max_bytes // (1 if shared else len(self._splits)) - 4 * len(rows) ** 2
            view = View(SingleGram(rows, self._most >= 1), shared, names, max(share, 0), fitted)
            self._views[place] = view
        self._views.move_to_end(place)
        return view

    def _transformed(self, fitted: Any, fold: int) -> tuple[Floats, list[str] | None]:
        """Fit transformers; return all rows transformed, and the names of their columns."""
        train, test = self._splits[fold]
        asked_about = self._training_answers or bool(np.intersect1d(train, test).size)
        try:
            with untold():
                transformed = fitted.fit_transform(take(self._X, train), take(self._y, train))
                own = plain_rows(transformed)
                others = plain_rows(fitted.transform(take(self._X, test)))
                again = plain_rows(fitted.transform(take(self._X, train))) if asked_about else own
        except Exception as error:  # any error of a transformer: scikit-learn meets it again and reports it
            raise NotSharedError(f"the transformers failed: {error}") from error
        if len(own) != len(train) or len(others) != len(test) or others.shape[1] != own.shape[1]:
            raise NotSharedError("the transformers change the number of rows")
        if again is not own and not (again.shape == own.shape and np.allclose(again, own)):
            raise NotSharedError("the transformers transform training rows differently when they are new")
        rows = np.zeros((len(self._y), own.shape[1]))
        rows[test] = others
        rows[train] = own
        return rows, names_of(transformed)


def take(data: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a numpy array or a frame."""
    return data.iloc[rows] if hasattr(data, "iloc") else safe_indexing(data, rows)


def names_of(data: Any) -> list[str] | None:
    """Return the names of the columns of a data frame, if they are texts."""
    names = list(getattr(data, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def plain_rows(data: Any) -> Floats:
    """Return data as a matrix of finite numbers, or raise NotSharedError."""
    if hasattr(data, "toarray"):
        raise NotSharedError("the data are sparse")
    if np.iscomplexobj(data):
        raise NotSharedError("the data are complex")
    try:
        rows = np.ascontiguousarray(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NotSharedError("the data are not numbers") from error
    if rows.ndim != 2 or 0 in rows.shape or not np.isfinite(rows).all():
        raise NotSharedError("the data are not a matrix of finite numbers")
    return rows


#: with more classes, a pair has so few rows that training it on vectors of all rows costs more than it saves
MOST_CLASSES = 10


class FoldTargets:
    """The dual problems of each fold, and of all rows; `trained` has for each fold the mask of the rows that it trains on."""

    def __init__(self, y: NDArray[Any], trained: NDArray[np.bool_], regression: bool):
        self._y = y
        self._rows = [*trained, np.ones(len(y), dtype=bool)]  # the last is all rows, at index -1
        self._z: dict[tuple[int, ...], Floats] = {}
        self.classes: NDArray[Any] | None = None
        if regression:
            self._labels = _numbers(y)[None]
            return
        try:
            check_classification_targets(y)
            self.classes, self._code = np.unique(y, return_inverse=True)
        except (TypeError, ValueError) as error:
            raise NotSharedError("the target has no classes") from error
        n_classes = len(self.classes)
        if not 2 <= n_classes <= MOST_CLASSES:
            raise NotSharedError(f"there are {n_classes} classes")
        if any(len(np.unique(self._code[rows])) < n_classes for rows in self._rows):
            raise NotSharedError("a fold's training rows lack a class")
        code = self._code
        self._labels = np.array([  # of each pair's classifier, 0 for rows of other classes
            np.where((code == i) | (code == j), pair_labels(code == i, n_classes), 0.0) for i, j in pairs(n_classes)
        ])  # fmt: skip
        self._weights_of: dict[tuple[str, int], Floats] = {}

    def of(self, machine: SvmMachine, folds: Sequence[int]) -> Target:
        """Return the problems of some folds, one after another, with a row for each pair of classes; fold -1 has all rows."""
        z = self._targets_of(tuple(folds))
        if machine.regression:
            C = np.where(np.array([self._rows[fold] for fold in folds]), machine.C, 0.0)
            return Target(z, *symmetric_bounds(C, z, True), float(machine.epsilon))
        if machine.class_weight is None:
            return Target(z, *symmetric_bounds(machine.C, z, False))
        weights = np.array([self.weights(machine.class_weight, fold)[self._code] for fold in folds])
        return Target(z, *symmetric_bounds(machine.C * weights.repeat(len(self._labels), axis=0), z, False))

    def _targets_of(self, folds: tuple[int, ...]) -> Floats:
        """Return the labels, or the numbers, of some folds' rows, 0 for rows that are not trained on."""
        if folds not in self._z:
            self._z[folds] = np.concatenate([np.where(self._rows[fold], self._labels, 0.0) for fold in folds])
        return self._z[folds]

    def weights(self, class_weight: Any, fold: int) -> Floats:
        """Return the weight of each class; the latest weights are cached."""
        key = repr(class_weight), fold
        if key not in self._weights_of:
            try:
                weights = compute_class_weight(class_weight, classes=self.classes, y=self._y[self._rows[fold]])
            except ValueError as error:
                raise NotSharedError("the class weights do not fit the classes") from error
            if not (np.isfinite(weights) & (weights > 0)).all():
                raise NotSharedError("a class has no weight")
            if len(self._weights_of) >= len(self._rows):
                self._weights_of.clear()
            self._weights_of[key] = weights
        return self._weights_of[key]


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
