"""The data as each fold's machine sees them: as they are, or behind transformers that were fitted on the fold's training rows."""

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

from solvers.dual.fold_solver import State, Target
from solvers.kernels import Kernel
from solvers.kernels.group_gram import GroupGram
from solvers.kernels.multi_kernel import MultiKernel
from solvers.kernels.single_gram import SingleGram
from spotsvm.lost_digits import Digits
from spotsvm.stand_in import NotSharedError
from spotsvm.svm_machine import SvmMachine

Floats = NDArray[np.float64]
#: the rows that a fold trains on, and those that it tests on
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Solved:
    """A machine's solution on all rows."""

    machine: SvmMachine
    kernel: Kernel | MultiKernel
    target: Target
    state: State


@dataclass
class View:
    """A matrix of rows, its kernel matrices, and what was solved on them last.

    Attributes
    ----------
    gram : SingleGram
        The rows and their kernel matrices.
    shared : bool
        Whether the folds are all of these rows.
    names : list of str or None
        Names of the columns, where they have any.
    transformers : Pipeline or None
        The fitted transformers that the rows come from.
    group_bytes : int
        Memory for what groups of columns contribute to combined kernels.
    solved : dict
        For each pair of classes what was solved on all rows last, for the next to begin at.
    groups : GroupGram or None
        The matrices of combined kernels, once there was one.
    """

    gram: SingleGram
    shared: bool
    names: list[str] | None = None
    group_bytes: int = 0
    transformers: Pipeline | None = None
    solved: dict[int, Solved] = field(default_factory=dict)
    groups: GroupGram | None = None

    @cached_property
    def digits(self) -> Digits:
        """The checks of the digits of kernel values."""
        return Digits(self.gram.X, self.label)

    def label(self, column: int) -> str:
        """Return the name of a column, as the data frame or the transformers have it, or else its number."""
        names = self.names
        if names is None and self.transformers is not None and hasattr(self.transformers, "feature_names_in_"):
            with suppress(Exception):  # whatever a transformer that has no names to give raises
                names = self.transformers.get_feature_names_out().tolist()
        return f"column {column}" if names is None else f"column {names[column]!r}"

    def matrix(self, kernel: Kernel | MultiKernel) -> tuple[NDArray[np.float32], float]:
        """Return a kernel matrix less a constant, and the constant; it is overwritten by the next one."""
        if not isinstance(kernel, MultiKernel):
            self.groups = None
            return self.gram.matrix(kernel)
        if self.groups is None:
            self.gram = self.gram.without_matrices()
            self.groups = GroupGram(self.gram.X, self.group_bytes)
        return self.groups.matrix(kernel)


class FoldViews:
    """The view of each fold; as many are kept as fit into memory.

    Parameters
    ----------
    X : array-like
        The data, a numpy array or a pandas frame.
    y : array-like
        The target.
    splits : list of (train, test)
        The folds.
    max_bytes : int
        Memory for matrices.
    training_answers : bool
        Whether the machines are asked about training rows as well.
    """

    def __init__(self, X: Any, y: Any, splits: Sequence[Split], max_bytes: int, training_answers: bool):
        self._X, self._y, self._splits = X, y, splits
        self._training_answers = training_answers
        n = len(y)
        self._most = max_bytes // max(SingleGram.bytes_for(n), 1)  # views
        self._keep_distances = self._most >= 1
        if 4 * n * n > max_bytes:
            raise NotSharedError("one kernel matrix is larger than the memory allowed")
        self._views: OrderedDict[Any, View] = OrderedDict()
        self._max_bytes = max_bytes

    def of(self, transformers: Pipeline | None, key: Any, fold: int) -> View:
        """Return the view of a fold behind transformers, which `key` identifies."""
        place = None if transformers is None else (key, fold)
        view = self._views.get(place)
        if view is None:
            while self._views and len(self._views) >= max(self._most, 1):
                self._views.popitem(last=False)
            shared = transformers is None
            fitted = None if shared else clone(transformers)
            rows, names = (plain_rows(self._X), names_of(self._X)) if shared else self._transformed(fitted, fold)
            share = self._max_bytes // (1 if shared else len(self._splits)) - 4 * len(rows) ** 2
            view = View(SingleGram(rows, self._keep_distances), shared, names, max(share, 0), transformers=fitted)
            self._views[place] = view
        self._views.move_to_end(place)
        return view

    def _transformed(self, fitted: Any, fold: int) -> tuple[Floats, list[str] | None]:
        """Fit transformers; give all rows behind them, and the names of their columns."""
        train, test = self._splits[fold]
        try:
            transformed = fitted.fit_transform(take(self._X, train), take(self._y, train))
            own = plain_rows(transformed)
            others = plain_rows(fitted.transform(take(self._X, test)))
            again = plain_rows(fitted.transform(take(self._X, train))) if self._asked_about(train, test) else own
        except Exception as error:  # whatever a transformer raises: scikit-learn's own way meets it again and reports it
            raise NotSharedError(f"the transformers failed: {error}") from error
        if len(own) != len(train) or len(others) != len(test) or others.shape[1] != own.shape[1]:
            raise NotSharedError("the transformers change the number of rows")
        if again is not own and not (again.shape == own.shape and np.allclose(again, own)):
            raise NotSharedError("the transformers give training rows otherwise when they are new")
        rows = np.zeros((len(self._y), own.shape[1]))
        rows[test] = others
        rows[train] = own
        return rows, names_of(transformed)

    def _asked_about(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> bool:
        return self._training_answers or bool(np.intersect1d(train, test).size)


def take(data: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a numpy array or a pandas object."""
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


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
