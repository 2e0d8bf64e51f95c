"""The choice among the best expressions of an evolution, on folds that the evolution has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.fitness import Judged, KernelFitness
from spotsvm.estimators.evolved.matrix_task import Split, folds
from spotsvm.estimators.evolved.settings import EvolutionSettings, Setting
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.surrogates.domain import Domain

_FOLDS, _REPEATS = 5, 2


_C_VALUES = 9


_TUNED = 3


def choose_kernel(
    finalists: Sequence[Judged],
    fitness: KernelFitness,
    strata: NDArray[Any] | None,
    settings: EvolutionSettings,
    rng: np.random.Generator,
) -> tuple[Judged, float]:
    """Choose one of the best expressions by repeated cross-validation, and search its numbers by Kriging.

    Each finalist is judged at its own C and at a few over the range of C, on the same folds. The best three have their numbers
    tuned on these, and are then compared on other folds. Return the chosen expression with its setting, and its error in the
    cross-validation; without finalists and trials the first expression, and nan.
    """
    if not settings.n_finalists and not settings.n_tuning_trials:
        return finalists[0], np.nan
    parts, fresh = (_repeated_folds(strata, fitness.task.n, rng) for _ in range(2))
    found = [_at_best_C(one, fitness, parts) for one in finalists]
    found.sort(key=lambda one: one.loss + fitness.penalty(one.judged.expression))
    if not settings.n_tuning_trials:
        return found[0].judged, found[0].error
    tuned = [_tuned(one, fitness, parts, settings.n_tuning_trials, int(rng.integers(2**31))) for one in found[:_TUNED]]
    again = [_compared(one.judged, fitness, fresh) for one in tuned]
    best = min(again, key=lambda one: one.loss + fitness.penalty(one.judged.expression))
    return best.judged, best.error


def _repeated_folds(strata: NDArray[Any] | None, n: int, rng: np.random.Generator) -> list[Split]:
    return [part for _ in range(_REPEATS) for part in folds(strata, n, _FOLDS, rng)]


class _Compared(NamedTuple):
    """An expression with its setting, and its scores in the cross-validation."""

    judged: Judged
    error: float
    loss: float


def _at_best_C(finalist: Judged, fitness: KernelFitness, parts: Sequence[Split]) -> _Compared:
    assert finalist.setting is not None
    grid = np.geomspace(*fitness.ranges.C, _C_VALUES).tolist()
    tried: list[Setting] = [finalist.setting, *(replace(finalist.setting, C=C) for C in grid)]
    scores, _ = fitness.try_settings(finalist.expression, tried, parts)
    best = int(np.argmin(scores.loss))
    return _Compared(replace(finalist, setting=tried[best]), float(scores.error[best]), float(scores.loss[best]))


def _compared(judged: Judged, fitness: KernelFitness, parts: Sequence[Split]) -> _Compared:
    assert judged.setting is not None
    scores, _ = fitness.try_settings(judged.expression, [judged.setting], parts)
    return _Compared(judged, float(scores.error[0]), float(scores.loss[0]))


def _tuned(first: _Compared, fitness: KernelFitness, parts: Sequence[Split], n_trials: int, seed: int) -> _Compared:
    """Search the numbers of an expression, from those that it has; give the best and their scores."""
    space = NumbersSpace(first.judged, with_epsilon=fitness.ranges.epsilon is not None)
    search = KrigingSearch(Domain.continuous(space.dimension), seed, noise=False, centre=False)
    search.assume(space.start, given=True)
    search.tell(space.start, first.loss)
    best = first
    for _ in range(n_trials):
        point = search.ask().point
        expression, setting = space.at(point)
        scores, _ = fitness.try_settings(expression, [setting], parts)
        error, loss = float(scores.error[0]), float(scores.loss[0])
        search.tell(point, loss)
        if loss < best.loss:
            best = _Compared(replace(first.judged, expression=expression, setting=setting), error, loss)
    return best


_REACH = 8.0


class NumbersSpace:
    """C, epsilon where there is one, and the positive constants and numbers of a kernel, each up to 8 times more or less.

    Parameters
    ----------
    judged : Judged
        An expression and the setting in the middle.
    with_epsilon : bool
        Whether epsilon is a coordinate.

    Examples
    --------
    >>> judged = Judged(Expression("gaussian", value=0.5), Setting(C=2.0), 0.1, 0.1, 1, "semidefinite")
    >>> expression, setting = NumbersSpace(judged, with_epsilon=False).at(np.array([0.5, 1.0]))
    >>> round(setting.C, 6), round(expression.values[0], 6)
    (2.0, 4.0)
    """

    def __init__(self, judged: Judged, *, with_epsilon: bool):
        assert judged.setting is not None
        self.expression, self.setting, self.with_epsilon = judged.expression, judged.setting, with_epsilon
        first = [self.setting.C, *([self.setting.epsilon] if with_epsilon else [])]
        self._centre = np.log(np.array([*first, *self.setting.constants, *self.expression.values]))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self._centre)

    @property
    def start(self) -> Floats:
        """The point of the numbers that it has."""
        return np.full(self.dimension, 0.5)

    def at(self, point: Floats) -> tuple[Expression, Setting]:
        """Return the expression and the setting at a point."""
        values = np.exp(self._centre + (2 * point - 1) * np.log(_REACH)).tolist()
        first = 2 if self.with_epsilon else 1
        k = first + len(self.setting.constants)
        setting = Setting(values[0], tuple(values[first:k]), values[1] if self.with_epsilon else 0.0)
        return self.expression.with_values(values[k:]), setting
