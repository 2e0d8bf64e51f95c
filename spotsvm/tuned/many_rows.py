"""Models of many rows: rounds of fits, each with fewer kernels on more rows, all judged on held-out rows.

Each exact model is fitted on its own random rows, so that the average uses more rows than any model (bagging of support vector
machines). Models with landmarks and squared loss use all rows. A round has the best kernels of the earlier rounds, and untried
widths next to the best. So models exist whenever the time ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse

from spotsvm.common.compat import safe_indexing
from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import base_matrix
from spotsvm.tuned.columns import Columns, Views
from spotsvm.tuned.families import FAMILIES, kernel_of, unit_of, with_support_vectors
from spotsvm.tuned.grid import Grid
from spotsvm.tuned.landmarks import fit_landmarks
from spotsvm.tuned.members import Member, solve_settings
from spotsvm.tuned.scored_sweeps import SweepScorer
from spotsvm.tuned.sweeps import Setting, Sweep, sweep_of

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_UNIT_ROWS = 1000  # rows for typical distances
_BLOCK = 4_000_000  # maximum kernel values, or numbers of a table, in memory
_STEP = 1.5  # step of the binary logarithm of gamma to the neighbouring widths
_RIDGES = tuple(10.0**k for k in range(-7, -2))


@dataclass(frozen=True)
class Rounds:
    """The plan of the rounds: for each, the number of rows of exact models, or of landmarks, and the number of kernels.

    The time of a fit grows with the size to `power`; `untimed` is the largest size without a timeout.
    """

    sizes: tuple[tuple[int, int], ...]
    power: float
    untimed: int
    landmarks: bool


EXACT = Rounds(((4000, 6), (10_000, 3), (20_000, 2)), 2.2, 10_000, landmarks=False)
LANDMARKS = Rounds(((1000, 3), (3000, 2), (6000, 1)), 1.8, 1000, landmarks=True)
#: from this number of rows on there are models with landmarks
LANDMARKS_FROM = 20_000


@dataclass(frozen=True)
class Problem:
    """The common data of all fits; `views` are the columns of each encoding and kind, in single precision if dense.

    `some` rows have the typical distance that is the unit of gamma; `held` rows judge; `sample` maps (size, seed) to others to
    fit on.
    """

    columns: Columns
    views: Views
    some: Rows
    machines: Machines
    target: Floats
    held: Rows
    sample: Callable[[int, int], Rows]

    def fit(
        self, settings: Sequence[Setting], seed: int, seconds: float
    ) -> tuple[Member, list[NDArray[np.float32]], float] | None:
        """Fit settings that differ in C; return the member, its held-out decisions and the seconds; None if the time is up."""
        began = time.monotonic()
        try:
            member = self._with_landmarks if settings[0].n_landmarks else self._exact
            fitted = member(settings, seed, lambda: time.monotonic() - began > seconds)
        except OutOfTimeError:
            return None
        base = FAMILIES[fitted.sweep.family].base
        size = max(_BLOCK // max(fitted.rows.shape[0], 1), 1)
        blocks = [self.held[start : start + size] for start in range(0, len(self.held), size)]
        parts = [fitted.decisions(base_matrix(base, self.kernel_columns(fitted.sweep, block), fitted.rows)) for block in blocks]
        decisions = [np.concatenate(part).astype(np.float32) for part in zip(*parts, strict=True)]
        if not self.machines.n_classes:
            decisions = [np.clip(d, *self.machines.limits) for d in decisions]
        return fitted, decisions, time.monotonic() - began

    def _exact(self, settings: Sequence[Setting], seed: int, is_late: Callable[[], bool]) -> Member:
        first = settings[0]
        assert first.n_rows is not None
        rows = self.sample(first.n_rows, seed)
        unit = self.unit(first)
        kernel = kernel_of(FAMILIES[first.family].kernel, unit, first.log_gamma)
        A = self.kernel_columns(first, rows)
        K = np.empty((len(rows), len(rows)), np.float32)
        size = max(_BLOCK // len(rows), 1)
        for start in range(0, len(rows), size):
            if is_late():
                raise OutOfTimeError("the kernel matrix took longer than the time left")
            block = slice(start, start + size)
            K[block] = kernel.of(base_matrix(kernel.base, A[block], A))
        beta, bias, order, starts = solve_settings(K, self.machines.on(rows), settings, is_late).support()
        return Member(sweep_of(first), unit, [], beta, bias, A[order], starts, rows[order])

    def _with_landmarks(self, settings: Sequence[Setting], seed: int, is_late: Callable[[], bool]) -> Member:
        first = settings[0]
        sweep, unit = sweep_of(first), self.unit(first)
        landmarks = self.kernel_columns(sweep, self.sample(first.n_landmarks, seed))
        weights = self.machines.weighted(sweep.class_factors).cost.copy()
        weights[self.held] = 0.0
        beta, bias = fit_landmarks(
            kernel_of(FAMILIES[sweep.family].kernel, unit, sweep.log_gamma),
            lambda block: self.kernel_columns(sweep, block),
            landmarks,
            self.target,
            weights,
            [0.5 / setting.C for setting in settings],
            is_late,
        )
        return Member(sweep, unit, [], beta, bias, landmarks)

    def kernel_columns(self, sweep: Sweep, rows: Any) -> Any:
        """Return the columns of a kernel for some rows, in double precision."""
        return self.columns.kernel_columns(self.views, sweep, rows)

    def unit(self, sweep: Sweep) -> float:
        """Return the unit of gamma."""
        A = self.kernel_columns(
            sweep, self.some[np.linspace(0, len(self.some) - 1, min(len(self.some), _UNIT_ROWS)).astype(np.intp)]
        )
        return unit_of(FAMILIES[sweep.family].kernel, A)


def views_of(columns: Columns, X: Any) -> Views:
    """Return the columns of each encoding and kind for all rows, in single precision if they are dense."""
    if issparse(X):
        return columns.transform(X)
    size = max(_BLOCK // max(X.shape[1], 1), 1)
    parts = [columns.transform(safe_indexing(X, slice(start, start + size))) for start in range(0, X.shape[0], size)]
    return {
        name: {kind: np.concatenate([part[name][kind].astype(np.float32) for part in parts]) for kind in of_kind}
        for name, of_kind in parts[0].items()
    }


class TimedFits:
    """Rounds of fits until the time is up; `quality` maps decisions on the held-out rows to a number, larger is better."""

    def __init__(self, problem: Problem, quality: Callable[[NDArray[np.float32]], float], seed: int, n_jobs: int | None):
        self._problem, self._quality, self._seed, self._n_jobs = problem, quality, seed, n_jobs
        self.settings: list[Setting] = []
        self.members: list[Member] = []
        self.decisions: list[NDArray[np.float32]] = []
        self.complete = True
        self._n_rows = len(problem.target) - len(problem.held)

    def run(self, rounds: Rounds, start: Mapping[Sweep, Sequence[float]], most: int, ends: float) -> None:
        """Fit in rounds, up to `most` rows or landmarks, until `ends` on the monotonic clock.

        `start` has the initial sweeps, the best first, with their C for exact models.
        """
        costs = {sweep: list(C)[:2] for sweep, C in start.items()}
        best: dict[Sweep, tuple[float, float]] = {}  # quality and C
        size = seconds = 0.0
        sizes = [(min(n, most), width) for n, width in rounds.sizes]
        for k, (n, width) in enumerate(sizes):
            if n == size:
                break
            chosen = sorted(best, key=lambda sweep: -best[sweep][0])[:width] or list(costs)[:width]
            if k < 2:
                for sweep in neighbours(chosen[0]):
                    if sweep not in costs:
                        costs[sweep] = costs[chosen[0]]
                        chosen.append(sweep)
            left = ends - time.monotonic()
            expected = seconds * (n / size) ** rounds.power if size else 0.0
            possible = len(chosen) if expected * len(chosen) <= left else int(max(left, 0.0) / max(expected, 1e-9))
            possible = max(possible, 0 if self.members else 1)
            if possible < len(chosen):
                chosen, self.complete = chosen[:possible], False
            jobs = [
                [Setting(**vars(sweep), C=0.5 / ridge, n_rows=self._n_rows, n_landmarks=n) for ridge in _RIDGES[::-1]]
                if rounds.landmarks
                else [Setting(**vars(sweep), C=C, n_rows=n) for C in sorted(costs[sweep])]
                for sweep in chosen
            ]
            found = self._fitted(jobs, ends)
            if not any(found) and not self.members:  # at least one model is fitted, even if the time is up
                chosen, found = chosen[:1], self._fitted(jobs[:1], np.inf)
            if not any(found):
                break
            for sweep, settings, fit in zip(chosen, jobs, found, strict=False):
                if fit is None:
                    self.complete = False
                    continue
                member, decisions, _ = fit
                qualities = [self._quality(d) for d in decisions]
                C = settings[int(np.argmax(qualities))].C
                best[sweep] = max(qualities), C
                if not rounds.landmarks:  # first C between those of the grid, then the two best
                    costs[sweep] = [C / 4.0, C, 4.0 * C] if k == 0 else [settings[i].C for i in np.argsort(qualities)[-2:]]
                member.places = list(range(len(self.settings), len(self.settings) + len(settings)))
                self.settings += settings
                self.decisions += decisions
                self.members.append(member)
            size, seconds = n, float(np.mean([fit[2] for fit in found if fit is not None]))

    def _fitted(self, jobs: list[list[Setting]], ends: float) -> list[Any]:
        first = self._seed + len(self.members)
        calls = (delayed(self._problem.fit)(job, first + k, ends - time.monotonic()) for k, job in enumerate(jobs))
        return list(Parallel(n_jobs=self._n_jobs, prefer="threads")(calls))

    @property
    def sweeps(self) -> list[Sweep]:
        """The sweeps, the best on the held-out rows first."""
        order = np.argsort([-self._quality(d) for d in self.decisions], kind="stable")
        return list(dict.fromkeys(sweep_of(self.settings[i]) for i in order))


def beginnings(grid: Grid, scorer: SweepScorer) -> list[Setting]:
    """Return the settings with which the rounds begin: those of weight in the grid, and the best of each family.

    Squared loss, which needs all rows in one matrix, is that of models with landmarks, which begin with the best exact ones.
    """
    choice = scorer.choice(grid)
    assert choice.gains is not None
    means = choice.gains @ scorer.judged_rows.weights
    best = {setting.family: i for i, setting in sorted(enumerate(grid.settings), key=lambda one: means[one[0]])}
    order = [*np.argsort(-choice.weights, kind="stable")[: np.count_nonzero(choice.weights)], *best.values()]
    chosen = [grid.settings[i] for i in dict.fromkeys(int(i) for i in order)]
    epsilon = max(setting.epsilon for setting in grid.settings)
    return [replace(one, family=with_support_vectors(one.family), epsilon=epsilon, power=False) for one in chosen]


def neighbours(sweep: Sweep) -> list[Sweep]:
    """Return the sweeps with the neighbouring widths."""
    steps = () if sweep.family == "linear" else (_STEP, -_STEP)
    return [replace(sweep, log_gamma=sweep.log_gamma + step) for step in steps]
