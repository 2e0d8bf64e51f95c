"""Out-of-fold decisions of the settings of a grid: sweeps of C, each for a family of kernels and a gamma, on fast folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.compat import safe_indexing
from spotsvm.cross_validation.climb import Climb
from spotsvm.cross_validation.fast_folds import FastFolds, map_over_folds
from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import Kernel
from spotsvm.tuned.families import DEFAULT, FAMILIES, Columns, default_gamma, kernel_of, unit_of
from spotsvm.tuned.sweeps import Scored, Setting, Sweep, Sweeps

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class _FoldColumns:
    """The columns of all rows, fitted on the training rows of a fold."""

    def __init__(self, X: Any, relevance_target: Floats, train: Rows, columns: Columns):
        self._train = train
        self._columns = columns.fit(safe_indexing(X, train), relevance_target[train])
        self._views = self._columns.transform(X)
        self._unit = 1.0

    def of(self, sweep: Sweep) -> Any:
        """Return the columns of a sweep; their typical distance is then the unit of its gamma."""
        family = FAMILIES[sweep.family]
        A = self._columns.kernel_columns(self._views, family.columns, sweep.exponent, sweep.column_factors)
        self._unit = unit_of(family.kernel, A[self._train])
        return A

    def kernel(self, sweep: Sweep) -> Kernel:
        """Return the kernel of a sweep whose columns were the last."""
        return kernel_of(FAMILIES[sweep.family].kernel, self._unit, sweep.log_gamma)

    def default_kernel(self) -> Kernel:
        """Return the kernel of SVC() or SVR()."""
        A = self._columns.kernel_columns(self._views, FAMILIES[DEFAULT].columns, 1.0, ())
        return Kernel("rbf", default_gamma(A[self._train]))


@dataclass
class Grid:
    """Out-of-fold decisions of settings, (n_settings, n, k), nan for rows that no fold tests."""

    settings: list[Setting] = field(default_factory=list)
    decisions: list[NDArray[np.float32]] = field(default_factory=list)
    default: NDArray[np.float32] | None = None
    seconds: float = 0.0
    complete: bool = True

    def extend(self, sweep: Sequence[Scored]) -> None:
        """Add the settings of a sweep."""
        self.settings += [scored.setting for scored in sweep]
        self.decisions += [scored.decisions for scored in sweep]


def score_grid(
    X: Any,
    machines: Machines,
    relevance_target: Floats,
    splits: Sequence[tuple[Rows, Rows]],
    sweeps: Sweeps,
    costs: Sequence[float],
    default: Callable[[Rows], tuple[float, float]],
    quality: Callable[[NDArray[np.float32]], tuple[float, float]],
    *,
    n_jobs: int = 1,
    deadline: float = np.inf,
    categorical: Any = (),
) -> Grid:
    """Compute the out-of-fold decisions of all settings; a row tested by several folds gets the mean of its decisions.

    `costs` ascend; sweeps on the same columns should be adjacent. `quality` maps decisions to theirs and to the distance from the
    best at which a C ends its sweep. The default and one setting are scored before `deadline`.
    """
    began = time.monotonic()
    grid = Grid()
    needed = {FAMILIES[name].columns for name in sweeps.families}
    kinds = ["standard", "encoded", *(kind for kind in ("power", "relevance") if kind in needed)]
    best = -np.inf
    for known in sweeps.recorded():
        grid.extend(known)
        best = max(best, *(one.value for one in known))
    with map_over_folds(n_jobs, len(splits)) as mapped:
        columns = mapped(lambda split: _FoldColumns(X, relevance_target, split[0], Columns(kinds, categorical)), splits)
        folds = FastFolds(machines, splits, X.shape[0], mapped)
        # the default comes first: everything else is compared with it
        current = Sweep(DEFAULT, 0.0)
        folds.use_rows(lambda k: columns[k].of(current))
        folds.use_kernel(lambda k: columns[k].default_kernel())
        grid.default = folds.decisions(default)

        def is_late() -> bool:
            return bool(grid.settings) and time.monotonic() > deadline

        def begin(sweep: Sweep, on_other_columns: bool) -> None:
            if on_other_columns:
                folds.use_rows(lambda k: columns[k].of(sweep))
            folds.use_kernel(lambda k: columns[k].kernel(sweep), sweep.class_factors)

        def decided(sweep: Sweep, C: float) -> NDArray[np.float32]:
            return folds.decisions(lambda _: (C, sweep.epsilon), is_late)

        for sweep in sweeps:
            if is_late():
                grid.complete = False
                break
            begin(sweep, sweep.columns != current.columns)
            current = sweep
            scored: list[Scored] = []
            climb = Climb(best=best)
            for C in costs:
                if is_late():
                    grid.complete = False
                    break
                try:
                    decisions = decided(sweep, C)
                except OutOfTimeError:
                    grid.complete = False
                    break
                value, slack = quality(decisions)
                scored.append(Scored(Setting(**vars(sweep), C=C), decisions, value))
                grid.extend(scored[-1:])
                if climb.is_over(value, slack):
                    break
            best = climb.best
            if not grid.complete:  # a part of a sweep is not kept in a record
                break
            sweeps.tell(scored)
    grid.seconds = time.monotonic() - began
    return grid
