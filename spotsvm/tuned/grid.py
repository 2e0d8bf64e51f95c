"""Out-of-fold decisions of many settings, with shared work.

A sweep is a family and a gamma: its kernel is computed once in each fold, and C rises in a series of warm starts. The solver's
state includes the decisions of the test rows, so these cost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.compat import safe_indexing
from spotsvm.cross_validation.climb import Climb
from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.dual.exact.class_pairs import ClassPairs
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, State, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.one_vs_one import pair_labels
from spotsvm.solvers.kernels import Kernel, base_matrix
from spotsvm.tuned.families import FAMILIES, Columns, kernel_of, unit_of
from spotsvm.tuned.sweeps import Scored, Setting, Sweep, Sweeps

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_TOL = 1e-2  # tolerance of fold models; that of members is ten times smaller
_MEMBER_TOL = 1e-3


@dataclass(frozen=True)
class Machines:
    """What is trained: a classifier of two classes, one for each pair of several classes, or a regression (`n_classes` 0).

    z (1, n): labels 1 and -1, or the target; for several classes `code` takes its place. `cost`: factor of C for each row;
    `limits`: range of predictions in regression.
    """

    z: Floats
    cost: Floats
    n_classes: int
    limits: tuple[float, float] = (-np.inf, np.inf)
    code: Rows | None = None

    def weighted(self, class_factors: Sequence[float]) -> Machines:
        """Return the models with a factor of C for each class."""
        if not len(class_factors) or self.code is None:
            return self
        return replace(self, cost=self.cost * np.asarray(class_factors)[self.code])

    def on(self, rows: Rows) -> Machines:
        """Return the models restricted to some rows."""
        code = None if self.code is None else self.code[rows]
        return replace(self, z=self.z[:, rows], cost=self.cost[rows], code=code)

    @property
    def pairs(self) -> bool:
        """Whether there is a classifier for each pair of classes."""
        return self.n_classes > 2

    def class_pairs(self, rows: Rows) -> ClassPairs:
        """Return the classifiers of all pairs of classes on some rows, not trained yet."""
        assert self.code is not None
        return ClassPairs.of(self.code, rows, self.n_classes)

    def target(self, C: float, epsilon: float, trained: NDArray[np.bool_]) -> Target:
        """Return the training problem with this C on the rows where `trained` is True."""
        regression = not self.n_classes
        bounds = symmetric_bounds(C * self.cost * trained, self.z, regression)
        return Target(self.z, *bounds, epsilon if regression else 0.0)

    def limited(self, decisions: Floats) -> NDArray[np.float32]:
        """Return decisions in single precision, within the limits of a regression."""
        return (decisions if self.n_classes else np.clip(decisions, *self.limits)).astype(np.float32)


def class_labels(code: Rows, n_classes: int) -> Floats:
    """Return `Machines.z` of classes: 1 for the second of two classes; nothing for several."""
    return pair_labels(code == 0, 2)[None] if n_classes == 2 else np.empty((0, len(code)))


class _Fold:
    """A fold: the columns fitted on its training rows, and the shared work of the sweeps of a family."""

    def __init__(self, X: Any, relevance_target: Floats, machines: Machines, split: tuple[Rows, Rows], columns: Columns):
        train, self.test = self.train, _ = split
        self._machines = machines
        self._trained = np.zeros(X.shape[0], dtype=bool)
        self._trained[train] = True
        self._columns = columns.fit(safe_indexing(X, train), relevance_target[train])
        self._views = self._columns.transform(X)
        self._solver = FoldSolver(X.shape[0])
        self._untrained = machines.class_pairs(train) if machines.pairs else None

    def begin_columns(self, sweep: Sweep) -> None:
        family = FAMILIES[sweep.family]
        A = self._columns.seen(self._views, family.columns, sweep.exponent, sweep.column_factors)
        D = base_matrix(family.base, A)
        self._kernel, self._D = family.kernel, D.astype(np.float32)
        self._unit = unit_of(family.kernel, D[np.ix_(self.train, self.train)])

    def begin_sweep(self, sweep: Sweep) -> None:
        self._K = kernel_of(self._kernel, self._unit, sweep.log_gamma).of(self._D.copy())
        self._state: State | None = None
        self._class_pairs = self._untrained
        self._weighted = self._machines.weighted(sweep.class_factors)

    def decide_default(self, default: Callable[[Rows], tuple[float, float]]) -> NDArray[np.float32]:
        """Return the decisions of SVC() or SVR(): 1 / gamma is the number of columns that vary, as each has variance 1."""
        A = self._views["standard"]
        varies = int((abs(A[self.train]).max(axis=0) > 0).sum())
        self._K = Kernel("rbf", 1.0 / max(varies, 1)).of(self._D.copy())
        self._state, self._class_pairs = None, self._untrained
        self._weighted = self._machines
        return self.decide(*default(self.train))

    def decide(self, C: float, epsilon: float, is_late: Callable[[], bool] = lambda: False) -> NDArray[np.float32]:
        """Return the decisions of the test rows, (n_test, k)."""
        if self._class_pairs is not None:
            self._class_pairs = self._class_pairs.trained(self._K, C * self._weighted.cost, _TOL, is_late)
            return self._class_pairs.votes(self._K[np.ix_(self.test, self._class_pairs.rows)])
        target = self._weighted.target(C, epsilon, self._trained)
        if self._state is None:
            self._state = self._solver.cold(self._K, 0.0, target, _TOL)
        else:
            self._state = self._solver.warm(self._K, 0.0, target, self._state, self._machines.z, _TOL)
        bias = self._state.biases(target)[1]
        decisions = (self._state.slope + self._machines.z)[:, self.test] + bias[:, None]
        return self._machines.limited(decisions.T)


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


@contextmanager
def _mapping(n_jobs: int, n: int) -> Iterator[Callable[..., list[Any]]]:
    """Yield a map over folds, by threads if n_jobs > 1: the compiled solver and numpy release the GIL."""
    if n_jobs == 1 or n == 1:
        yield lambda call, folds: [call(fold) for fold in folds]
    else:
        with ThreadPoolExecutor(min(n_jobs, n)) as pool:
            yield lambda call, folds: list(pool.map(call, folds))


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
    n = X.shape[0]
    kinds = ["standard", *(kind for kind in ("power", "relevance") if any(FAMILIES[f].columns == kind for f in sweeps.families))]
    tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)
    best = -np.inf
    for known in sweeps.recorded():
        grid.extend(known)
        best = max(best, *(one.value for one in known))
    with _mapping(n_jobs, len(splits)) as mapped:
        folds = mapped(lambda split: _Fold(X, relevance_target, machines, split, Columns(kinds, categorical)), splits)

        def joined(parts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
            total = np.zeros((n, parts[0].shape[1]), np.float32)
            for fold, part in zip(folds, parts, strict=True):
                np.add.at(total, fold.test, part)
            with np.errstate(invalid="ignore"):
                return np.asarray(total / tested[:, None].astype(np.float32))

        # the default comes first: everything else is compared with it
        current = Sweep("rbf", 0.0)
        mapped(lambda fold: fold.begin_columns(current), folds)
        grid.default = joined(mapped(lambda fold: fold.decide_default(default), folds))

        def is_late() -> bool:
            return bool(grid.settings) and time.monotonic() > deadline

        for sweep in sweeps:
            if is_late():
                grid.complete = False
                break
            if sweep.columns != current.columns:
                mapped(lambda fold, sweep=sweep: fold.begin_columns(sweep), folds)
            current = sweep
            mapped(lambda fold, sweep=sweep: fold.begin_sweep(sweep), folds)
            scored: list[Scored] = []
            climb = Climb(best=best)
            for C in costs:
                if is_late():
                    grid.complete = False
                    break
                try:
                    parts = mapped(lambda fold, C=C, sweep=sweep: fold.decide(C, sweep.epsilon, is_late), folds)
                except OutOfTimeError:
                    grid.complete = False
                    break
                decisions = joined(parts)
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


@dataclass
class Member:
    """Models with the same kernel on the same rows, for one or several C; `places` are those of the settings in the grid.

    `beta` (settings, m, n), `bias` (settings, m) of a model or one for each class; with `starts`, of each pair as in
    `ClassPairs`. `support`: indices of the rows, if others were left out.
    """

    sweep: Sweep
    unit: float
    places: list[int]
    beta: Floats
    bias: Floats
    rows: Any
    starts: Rows | None = None
    support: Rows | None = None

    def decisions(self, D: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the decisions of each setting for new rows, by their distances to `rows`."""
        K = self._kernel(D)
        if self.starts is None:
            return [K @ beta.T + bias for beta, bias in zip(self.beta, self.bias, strict=True)]
        rows = np.arange(K.shape[1])
        return [ClassPairs(rows, self.starts, *one).votes(K) for one in zip(self.beta, self.bias, strict=True)]

    def averaged(self, D: NDArray[Any], weights: Floats) -> Floats:
        """Return the weighted sum of the decisions."""
        if self.starts is not None:
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
    weighted = machines.weighted(settings[0].class_factors)
    state, beta, bias, order = None, [], [], np.arange(len(K))
    if machines.pairs:
        pairs = machines.class_pairs(order)
        for setting in settings:
            pairs = pairs.trained(K, setting.C * weighted.cost, _MEMBER_TOL, is_late)
            beta.append(pairs.coefficients)
            bias.append(pairs.biases)
        return Solved(np.array(beta), np.array(bias), pairs.rows, pairs.starts)
    solver, everything = FoldSolver(len(K), is_late), np.ones(len(K), dtype=bool)
    for setting in settings:
        target = weighted.target(setting.C, setting.epsilon, everything)
        if state is None:
            state = solver.cold(K, 0.0, target, _MEMBER_TOL)
        else:
            state = solver.warm(K, 0.0, target, state, machines.z, _MEMBER_TOL)
        beta.append(state.beta.copy())
        bias.append(state.biases(target)[1])
    return Solved(np.array(beta), np.array(bias), order, None)


def fit_members(
    columns: Columns, X: Any, machines: Machines, settings: Sequence[Setting], chosen: Sequence[int], deadline: float = np.inf
) -> tuple[list[Member], dict[str, Any]]:
    """Fit chosen settings on all rows; return a member for each kernel, and the columns of each kind.

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
        kernels.setdefault((one.log_gamma, one.epsilon, one.class_factors), []).append(i)
    for kernels in by_columns.values():
        first = settings[next(iter(kernels.values()))[0]]
        family = FAMILIES[first.family]
        A = columns.seen(views, family.columns, first.exponent, first.column_factors)
        D = base_matrix(family.base, A)
        unit = unit_of(family.kernel, D)
        D = D.astype(np.float32)
        if machines.pairs:
            A, D = safe_indexing(A, order), D[np.ix_(order, order)]
        for places in kernels.values():
            if members and time.monotonic() > deadline:
                return members, views
            places.sort(key=lambda i: settings[i].C)
            sweep = settings[places[0]]
            K = kernel_of(family.kernel, unit, sweep.log_gamma).of(D.copy())
            solved = solve_settings(K, machines, [settings[i] for i in places])
            members.append(Member(sweep, unit, places, solved.beta, solved.bias, A, solved.starts, order))
    return members, views
