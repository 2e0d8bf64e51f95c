"""The members of an average: models on all rows, with the same kernel for one or several C."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.compat import safe_indexing
from spotsvm.cross_validation.fast_machines import Machines, RisingC
from spotsvm.cross_validation.squared_loss import SquaredLoss
from spotsvm.solvers.dual.exact.class_pairs import ClassPairs
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver
from spotsvm.solvers.kernels import GramCache
from spotsvm.tuned.columns import Columns, Views
from spotsvm.tuned.families import FAMILIES, kernel_of, unit_of
from spotsvm.tuned.power_target import Smearing
from spotsvm.tuned.sweeps import Setting, Sweep

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_TOL = 1e-3


@dataclass
class Member:
    """Models with a kernel on the same rows, for settings at `places` of the grid: `beta` (settings, m, n), `bias` (settings, m).

    m is 1, or one for each class; with `starts` one for each pair as in `ClassPairs`. `support`: indices of the rows, if others
    were left out; `smearings`: by place here, of settings with a target on a power scale.
    """

    sweep: Sweep
    unit: float
    places: list[int]
    beta: Floats
    bias: Floats
    rows: Any
    starts: Rows | None = None
    support: Rows | None = None
    smearings: dict[int, Smearing] = field(default_factory=dict)

    def decisions(self, D: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the decisions of each setting for new rows, by their distances to `rows`."""
        K = self._kernel(D)
        if self.starts is None:
            found = [K @ beta.T + bias for beta, bias in zip(self.beta, self.bias, strict=True)]
            return [self.smearings[j](one) if j in self.smearings else one for j, one in enumerate(found)]
        rows = np.arange(K.shape[1])
        return [ClassPairs(rows, self.starts, *one).votes(K) for one in zip(self.beta, self.bias, strict=True)]

    def averaged(self, D: NDArray[Any], weights: Floats) -> Floats:
        """Return the weighted sum of the decisions."""
        if self.starts is not None or self.smearings:
            return np.asarray(np.tensordot(weights, self.decisions(D), 1))
        # decisions are linear in the coefficients: all settings of a kernel are a single expansion
        return np.asarray(self._kernel(D) @ np.tensordot(weights, self.beta, 1).T + weights @ self.bias)

    def _kernel(self, D: NDArray[Any]) -> NDArray[Any]:
        return kernel_of(FAMILIES[self.sweep.family].kernel, self.unit, self.sweep.log_gamma).of(D.copy())


class Solved(NamedTuple):
    """The solutions of settings, as `Member` has them; `order` has the order of the rows, class by class for pairs of classes."""

    beta: Floats
    bias: Floats
    order: Rows
    starts: Rows | None

    def support(self) -> Solved:
        """Return the solutions on the rows that any of them uses."""
        used = np.flatnonzero(self.beta.any(axis=(0, 1)))
        starts = None if self.starts is None else np.searchsorted(used, self.starts)
        return Solved(self.beta[..., used], self.bias, self.order[used], starts)


def solve_settings(
    K: NDArray[np.float32], machines: Machines, settings: Sequence[Setting], is_late: Callable[[], bool] = lambda: False
) -> Solved:
    """Return the solutions of the settings of a sweep, by ascending C, on all rows; OutOfTimeError is raised if it is late."""
    weighted, rows = machines.weighted(settings[0].class_factors), np.arange(len(K))
    models: RisingC | SquaredLoss
    if FAMILIES[settings[0].family].squared:
        models = SquaredLoss(weighted, K, rows)
    else:
        models = RisingC(weighted, K, rows, FoldSolver(len(K), is_late), _TOL)
    beta, bias = [], []
    for setting in settings:
        models.train(setting.C, setting.epsilon, is_late)
        of_one, bias_of_one, order, starts = models.solution()
        outputs = [int(setting.power)] if not machines.n_classes else slice(None)
        beta.append(of_one[outputs].copy())
        bias.append(bias_of_one[outputs])
    return Solved(np.array(beta), np.array(bias), order, starts)


def fit_members(
    columns: Columns, X: Any, machines: Machines, settings: Sequence[Setting], chosen: Sequence[int], deadline: float = np.inf
) -> tuple[list[Member], Views]:
    """Fit chosen settings on all rows; return a member for each kernel, and the columns of each encoding and kind.

    In their order except for shared work; after the deadline no further kernel begins.
    """
    views = columns.transform(X)
    order = np.arange(X.shape[0])
    if machines.pairs:  # members whose rows are in the order of the classes share the distances of new rows
        order = machines.class_pairs(order).rows
        machines = machines.on(order)
    members: list[Member] = []
    by_columns: dict[Any, dict[Any, list[int]]] = {}
    for i in chosen:
        one = settings[i]
        kernels = by_columns.setdefault(one.columns, {})
        kernels.setdefault((one.family, one.log_gamma, one.epsilon, one.class_factors), []).append(i)
    for kernels in by_columns.values():
        first = settings[next(iter(kernels.values()))[0]]
        family = FAMILIES[first.family]
        A = columns.kernel_columns(views, first)
        unit = unit_of(family.kernel, A)
        if machines.pairs:
            A = safe_indexing(A, order)
        gram = GramCache(A, np.inf, dtype=np.float32)
        for places in kernels.values():
            if members and time.monotonic() > deadline:
                return members, views
            places.sort(key=lambda i: settings[i].C)
            sweep = settings[places[0]]
            K = gram.gram(kernel_of(family.kernel, unit, sweep.log_gamma))
            solved = solve_settings(K, machines, [settings[i] for i in places])
            members.append(Member(sweep, unit, places, solved.beta, solved.bias, A, solved.starts, order))
    return members, views
