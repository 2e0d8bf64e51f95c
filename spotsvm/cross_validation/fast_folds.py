"""Fast folds: decisions out of fold of machines that are solved to a tolerance of 1e-2 on kernel matrices in single precision.

The settings of a sweep share the kernel matrix of each fold, and C rises in a series of warm starts. The solver's state includes
the decisions of the test rows, so these cost nothing. Machines with squared loss are in single precision unless the ridge is
small. `SharedFolds` are the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.fast_machines import Machines, RisingC
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.squared_loss import SquaredLoss
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver
from spotsvm.solvers.kernels import GramCache, Kernel

Rows = NDArray[np.intp]
Single = NDArray[np.float32]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]

_TOL = 1e-2
_SINGLE = 0.01  # ridge from which on single precision is enough for squared loss


class FastFolds:
    """Machines on the training rows of each split of n rows.

    `mapped` maps a function over folds, as `map_over_folds` does. A row that several folds test has the mean of its decisions,
    and one that none tests has nan.
    """

    def __init__(self, machines: Machines, splits: Sequence[Split], n: int, mapped: Map):
        self._machines, self._mapped = machines, mapped
        self._folds = [_Fold(split, n) for split in splits]
        self._tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)

    def use_rows(self, rows: Callable[[int], Any]) -> None:
        """Take the rows of the next kernels: `rows` returns all n of them, as the k-th fold transforms them."""
        self._mapped(lambda k: self._folds[k].use_rows(rows(k)), range(len(self._folds)))

    def use_kernel(self, kernel: Callable[[int], Kernel], class_factors: Sequence[float] = (), *, squared: bool = False) -> None:
        """Compute the kernel matrix of each fold, for machines with hinge or `squared` loss.

        `class_factors` are factors of C for the classes, empty for none.
        """
        machines = self._machines.weighted(class_factors)
        self._mapped(lambda k: self._folds[k].use_kernel(kernel(k), machines, squared), range(len(self._folds)))

    def decisions(self, parameters: Callable[[Rows], tuple[float, float]], is_late: Callable[[], bool] = lambda: False) -> Single:
        """Return the decisions (n, k) of all rows; `parameters` maps training rows to C and epsilon.

        OutOfTimeError is raised if it is late.
        """
        parts = self._mapped(lambda fold: fold.decisions(*parameters(fold.train), is_late), self._folds)
        total = np.zeros((len(self._tested), parts[0].shape[1]), np.float32)
        for fold, part in zip(self._folds, parts, strict=True):
            np.add.at(total, fold.test, part)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / self._tested[:, None].astype(np.float32))


class _Fold:
    def __init__(self, split: Split, n: int):
        self.train, self.test = split
        self._solver = FoldSolver(n)
        self._gram: GramCache | None = None
        self._models: RisingC | SquaredLoss | None = None

    def use_rows(self, rows: Any) -> None:
        self._models, self._gram = None, GramCache(rows, np.inf, dtype=np.float32)

    def use_kernel(self, kernel: Kernel, machines: Machines, squared: bool) -> None:
        assert self._gram is not None
        K = self._gram.gram(kernel)
        self._models = (
            SquaredLoss(machines, K, self.train, _SINGLE) if squared else RisingC(machines, K, self.train, self._solver, _TOL)
        )

    def decisions(self, C: float, epsilon: float, is_late: Callable[[], bool]) -> Single:
        assert self._models is not None
        self._models.train(C, epsilon, is_late)
        return self._models.decisions(self.test)


@contextmanager
def map_over_folds(n_jobs: int, n: int) -> Iterator[Map]:
    """Yield a map over n folds, by threads if n_jobs > 1: the compiled solver and numpy release the GIL."""
    if n_jobs == 1 or n == 1:
        yield lambda call, folds: [call(fold) for fold in folds]
    else:
        with ThreadPoolExecutor(min(n_jobs, n)) as pool:
            yield lambda call, folds: list(pool.map(call, folds))
