"""Out-of-fold decisions of the settings of a grid: sweeps of C, each for a family of kernels and a gamma, on fast folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.compat import safe_indexing
from spotsvm.cross_validation.climb import Climb
from spotsvm.cross_validation.fast_folds import FastFolds, map_over_folds
from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import Kernel
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.encodings import LEVELS
from spotsvm.tuned.families import FAMILIES, default_gamma, kernel_of, unit_of
from spotsvm.tuned.power_target import Smearing
from spotsvm.tuned.sweeps import Scored, Setting, Sweep, Sweeps

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_DEFAULT = Sweep("rbf", 0.0, encoding=LEVELS)  # the columns of `default_svm`


class _FoldColumns:
    """The columns of all rows, fitted on the training rows of a fold."""

    def __init__(self, X: Any, relevance_target: Floats, train: Rows, columns: Columns):
        self._train = train
        self._columns = columns.fit(safe_indexing(X, train), relevance_target[train])
        self._views = self._columns.transform(X)
        self._unit = 1.0

    def of(self, sweep: Sweep) -> Any:
        """Return the columns of a sweep; their typical distance is then the unit of its gamma."""
        A = self._columns.kernel_columns(self._views, sweep)
        self._unit = unit_of(FAMILIES[sweep.family].kernel, A[self._train])
        return A

    def kernel(self, sweep: Sweep) -> Kernel:
        """Return the kernel of a sweep whose columns were the last."""
        return kernel_of(FAMILIES[sweep.family].kernel, self._unit, sweep.log_gamma)

    def default_kernel(self) -> Kernel:
        """Return the kernel of SVC() or SVR()."""
        A = self._columns.kernel_columns(self._views, _DEFAULT)
        return Kernel("rbf", default_gamma(A[self._train]))


@dataclass
class Grid:
    """Out-of-fold decisions of settings, (n_settings, n, k), nan for rows that no fold tests.

    With `two_scales` machines with squared loss decide for the target and for the target on a power scale; `smearings` are those
    of the settings on the power scale, by place.
    """

    two_scales: bool = False
    settings: list[Setting] = field(default_factory=list)
    decisions: list[NDArray[np.float32]] = field(default_factory=list)
    default: NDArray[np.float32] | None = None
    seconds: float = 0.0
    complete: bool = True
    smearings: dict[int, Smearing] = field(default_factory=dict)

    def extend(self, sweep: Sequence[Scored]) -> None:
        """Add the settings of a sweep."""
        for scored in sweep:
            for setting, decisions in self.by_scale(scored.setting, scored.decisions):
                self.settings.append(setting)
                self.decisions.append(decisions)

    def by_scale(self, setting: Setting, decisions: NDArray[np.float32]) -> list[tuple[Setting, NDArray[np.float32]]]:
        """Return the settings that differ in the scale of the target, with the decisions of each."""
        if not (self.two_scales and FAMILIES[setting.family].squared):
            return [(setting, decisions)]
        return [(replace(setting, power=power), decisions[:, [int(power)]]) for power in (False, True)]


def score_grid(
    X: Any,
    machines: Machines,
    relevance_target: Floats,
    splits: Sequence[tuple[Rows, Rows]],
    sweeps: Sweeps,
    costs: Callable[[Sweep], Sequence[float]],
    default: Callable[[Rows], tuple[float, float]],
    quality: Callable[[Setting, NDArray[np.float32]], tuple[float, float]],
    *,
    n_jobs: int = 1,
    deadline: float = np.inf,
    columns: Callable[[set[str], set[str]], Columns],
) -> Grid:
    """Compute the out-of-fold decisions of all settings, means for rows in several test folds; equal columns should be adjacent.

    `quality` maps a setting and decisions to theirs and to the distance from the best at which a sweep of ascending `costs` ends.
    The default and one setting are scored before `deadline`. `columns` makes those of some kinds and encodings.
    """
    began = time.monotonic()
    grid = Grid(machines.aims is not None and len(machines.aims) > 1)
    kinds = {"standard", *(FAMILIES[name].columns for name in sweeps.families)}
    best = -np.inf
    for known in sweeps.recorded():
        grid.extend(known)
        best = max(best, *(one.value for one in known))
    with map_over_folds(n_jobs, len(splits)) as mapped:
        of_fold = mapped(lambda split: _FoldColumns(X, relevance_target, split[0], columns(kinds, sweeps.encodings)), splits)
        folds = FastFolds(machines, splits, X.shape[0], mapped)
        # the default comes first: everything else is compared with it
        current = _DEFAULT
        folds.use_rows(lambda k: of_fold[k].of(current))
        folds.use_kernel(lambda k: of_fold[k].default_kernel())
        grid.default = folds.decisions(default)

        def is_late() -> bool:
            return bool(grid.settings) and time.monotonic() > deadline

        def begin(sweep: Sweep, on_other_columns: bool) -> None:
            if on_other_columns:
                folds.use_rows(lambda k: of_fold[k].of(sweep))
            folds.use_kernel(lambda k: of_fold[k].kernel(sweep), sweep.class_factors, squared=FAMILIES[sweep.family].squared)

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
            for C in costs(sweep):
                if is_late():
                    grid.complete = False
                    break
                try:
                    decisions = decided(sweep, C)
                except OutOfTimeError:
                    grid.complete = False
                    break
                setting = Setting(**vars(sweep), C=C)
                value, slack = max(quality(*one) for one in grid.by_scale(setting, decisions))
                scored.append(Scored(setting, decisions, value))
                grid.extend(scored[-1:])
                if climb.is_over(value, slack):
                    break
            best = climb.best
            if not grid.complete:  # a part of a sweep is not kept in a record
                break
            sweeps.tell(scored)
    grid.seconds = time.monotonic() - began
    return grid
