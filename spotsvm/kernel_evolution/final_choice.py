"""The choice among the best expressions of an evolution, on folds that the evolution has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.search.kriging_search import KrigingSearch
from spotsvm.kernel_evolution.kernel_fitness import Judged, KernelFitness
from spotsvm.kernel_evolution.numbers_space import NumbersSpace
from spotsvm.kernel_evolution.setting import Setting
from spotsvm.kernel_evolution.settings import EvolutionSettings
from spotsvm.kernel_evolution.splits import Split, folds
from surrogates.domain import Domain

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
    tuned on these, and are then compared on other folds.

    Parameters
    ----------
    finalists : sequence of Judged
        The best of the evolution, best first, each with a setting.
    fitness : KernelFitness
        Judges settings.
    strata : int ndarray of shape (n,) or None
        Classes, for folds that keep their shares.
    settings : EvolutionSettings
        How many finalists there are, and how many trials the search has; with neither the first is taken as it is.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    chosen : Judged
        The expression and its setting.
    error : float
        Its error in the cross-validation; nan if there was none.
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
