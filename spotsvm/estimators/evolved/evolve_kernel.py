"""The evolution of a kernel for given data: the population's evolution, and the choice among its best."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.breeders import PaperBreeder, PsdBreeder, standard_kernels
from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel
from spotsvm.estimators.evolved.fitness import Judged, KernelFitness
from spotsvm.estimators.evolved.matrix_task import MatrixTask, Split, folds, holdouts
from spotsvm.estimators.evolved.settings import KernelEvolutionSettings, KernelSetting
from spotsvm.solvers.kernels.expressions import Expression, InnerProducts
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar
from spotsvm.solvers.search.genetic_programming.steady_state import Evolution, evolve
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.surrogates.domain import Domain

_SQUARED_NORMS = (1e-140, 1e140)  # beyond, squares of kernel values overflow or vanish
_FOLDS, _REPEATS = 5, 2
_C_VALUES = 9
_TUNED = 3
_REACH = 8.0


@dataclass(frozen=True)
class EvolvedKernel:
    """The result of an evolution: a kernel, C and epsilon to train with, and the history, a row for each evaluation.

    The fitness is its error on the rows held out in the evolution, `cv_error` that in the cross-validation that chose it, or nan.
    """

    kernel: ExpressionKernel
    setting: KernelSetting
    fitness: float
    cv_error: float
    history: pd.DataFrame

    @property
    def expression(self) -> Expression:
        """The expression."""
        return self.kernel.expression

    @property
    def constants(self) -> dict[str, float]:
        """Its symbolic constants, or, where there are none, the numbers that it carries, by their order."""
        if self.kernel.constants:
            return dict(self.kernel.constants)
        return {f"v{k + 1}": value for k, value in enumerate(self.expression.values)}


def evolve_kernel(
    X: Floats, task: MatrixTask, strata: NDArray[np.intp] | None, settings: KernelEvolutionSettings, seed: int
) -> EvolvedKernel:
    """Evolve a kernel for the rows X; splits keep the shares of the classes in `strata`.

    Raise ArgumentError if squares of the data overflow or vanish, or no valid kernel was found.
    """
    rng = np.random.default_rng(seed)
    products = InnerProducts.between(X)
    typical = _typical_squared_norm(products)
    splits = holdouts(strata, len(X), settings.validation_fraction, settings.n_holdouts, rng)
    fitness = KernelFitness(
        task,
        products,
        splits,
        settings.ranges,
        design_factor=settings.design_factor,
        parsimony=settings.parsimony,
        scale=task.idle_error(splits),
        seed=seed,
        relative=not settings.of_the_paper,
    )
    evolution = _evolution(task, products, typical, splits[0][0], fitness, settings, rng)
    finalists = _finalists(evolution, fitness.judged, max(settings.n_finalists, 1))
    if not finalists:
        raise ArgumentError(
            f"none of {len(evolution.evaluated)} kernels was valid on the data; standardise them, raise n_trials or "
            "breeding_tries, or use grammar='psd'"
        )
    chosen, cv_error = choose_kernel(finalists, fitness, strata, settings, rng)
    setting = fitness.absolute(chosen)
    kernel = ExpressionKernel(chosen.expression, dict(zip(chosen.expression.constants, setting.constants, strict=True)))
    return EvolvedKernel(kernel, setting, chosen.error, cv_error, _history(evolution, fitness.judged))


def _typical_squared_norm(products: InnerProducts) -> float:
    with np.errstate(over="ignore"):
        typical = float(products.left.mean())
    # of rows that are all 0 every kernel is constant, whatever its numbers
    if typical == 0.0:
        return 1.0
    if not _SQUARED_NORMS[0] <= typical <= _SQUARED_NORMS[1]:
        raise ArgumentError(
            f"the rows of X have a mean squared norm of {typical:.3g}, too far from 1 for kernels of them; "
            "scale the features, as with StandardScaler"
        )
    return typical


def _finalists(evolution: Evolution[Expression], judged: list[Judged], count: int) -> list[Judged]:
    """Return the best expression of each form (its structure without numbers), and all expressions of the start."""
    chosen: dict[Hashable, Judged] = {}
    for one in evolution.ranked(len(evolution.evaluated)):
        found = judged[one.number]
        if found.setting is None:
            break
        form = one.genome.with_values([1.0] * len(one.genome.values))
        if form not in chosen and (len(chosen) < count or one.origin == "start"):
            chosen[form] = found
    return list(chosen.values())


def _evolution(
    task: MatrixTask,
    products: InnerProducts,
    typical: float,
    train: NDArray[np.intp],
    fitness: KernelFitness,
    settings: KernelEvolutionSettings,
    rng: np.random.Generator,
) -> Evolution[Expression]:
    start: list[Expression] = []
    breeder: PaperBreeder | PsdBreeder
    if settings.of_the_paper:
        grammar = PaperGrammar(settings.max_depth, settings.max_constants)
        too = settings.indefinite != "reject"
        breeder = PaperBreeder(grammar, products, settings.ranges, settings.breeding_tries, too, rng)
    else:
        ours = PsdGrammar(settings.max_depth, settings.max_constants, typical)
        part, alignment = products.block(train, train), task.alignment_on(train)
        breeder = PsdBreeder(ours, part, alignment, settings.breeding_tries, settings.screened)
        start = standard_kernels(ours, typical)
    return evolve(
        breeder,
        fitness,
        rng,
        n_trials=settings.n_trials,
        population_size=settings.population_size,
        tournament_size=settings.tournament_size,
        start=start,
    )


def _history(evolution: Evolution[Expression], judged: list[Judged]) -> pd.DataFrame:
    rows = []
    for one, found in zip(evolution.evaluated, judged, strict=True):
        s = found.setting
        rows.append(
            {
                "evaluation": one.number,
                "error": found.error,
                "loss": found.loss,
                "fitness": one.fitness[0],
                "formula": found.bound.text(),
                "size": found.expression.size,
                "depth": found.expression.depth,
                "n_constants": len(found.expression.constants) + len(found.expression.values),
                "C": np.nan if s is None else s.C,
                "epsilon": np.nan if s is None else s.epsilon,
                "matrix": found.state,
                "origin": one.origin,
            }
        )
    frame = pd.DataFrame(rows)
    frame["best_error"] = frame["error"].cummin()
    return frame


def choose_kernel(
    finalists: Sequence[Judged],
    fitness: KernelFitness,
    strata: NDArray[Any] | None,
    settings: KernelEvolutionSettings,
    rng: np.random.Generator,
) -> tuple[Judged, float]:
    """Choose one of the best expressions by repeated cross-validation, and search its numbers by Kriging.

    Finalists are judged at several C on the same folds; the best three are tuned on these and compared on others. Return the
    choice and its error; without finalists and trials the first expression, and nan.
    """
    if not settings.n_finalists and not settings.n_tuning_trials:
        return finalists[0], np.nan
    parts, fresh = ([part for _ in range(_REPEATS) for part in folds(strata, fitness.task.n, _FOLDS, rng)] for _ in range(2))
    found = [_at_best_C(one, fitness, parts) for one in finalists]
    found.sort(key=lambda one: one.loss + fitness.penalty(one.judged.expression))
    if not settings.n_tuning_trials:
        return found[0].judged, found[0].error
    tuned = [_tuned(one, fitness, parts, settings.n_tuning_trials, int(rng.integers(2**31))) for one in found[:_TUNED]]
    again = [_compared(one.judged, fitness, fresh) for one in tuned]
    best = min(again, key=lambda one: one.loss + fitness.penalty(one.judged.expression))
    return best.judged, best.error


class _Compared(NamedTuple):
    """An expression with its setting, and its scores in the cross-validation."""

    judged: Judged
    error: float
    loss: float


def _at_best_C(finalist: Judged, fitness: KernelFitness, parts: Sequence[Split]) -> _Compared:
    assert finalist.setting is not None
    grid = np.geomspace(*fitness.ranges.C, _C_VALUES).tolist()
    tried: list[KernelSetting] = [finalist.setting, *(replace(finalist.setting, C=C) for C in grid)]
    scores, _ = fitness.try_settings(finalist.expression, tried, parts)
    best = int(np.argmin(scores.loss))
    return _Compared(replace(finalist, setting=tried[best]), float(scores.error[best]), float(scores.loss[best]))


def _compared(judged: Judged, fitness: KernelFitness, parts: Sequence[Split]) -> _Compared:
    assert judged.setting is not None
    scores, _ = fitness.try_settings(judged.expression, [judged.setting], parts)
    return _Compared(judged, float(scores.error[0]), float(scores.loss[0]))


def _tuned(first: _Compared, fitness: KernelFitness, parts: Sequence[Split], n_trials: int, seed: int) -> _Compared:
    """Search the numbers of an expression, from those that it has; return the best and their scores."""
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


class NumbersSpace:
    """C, epsilon if any, and the positive constants and numbers of a kernel, each up to 8 times more or less than in `judged`."""

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

    def at(self, point: Floats) -> tuple[Expression, KernelSetting]:
        """Return the expression and the setting at a point."""
        values = np.exp(self._centre + (2 * point - 1) * np.log(_REACH)).tolist()
        first = 2 if self.with_epsilon else 1
        k = first + len(self.setting.constants)
        setting = KernelSetting(values[0], tuple(values[first:k]), values[1] if self.with_epsilon else 0.0)
        return self.expression.with_values(values[k:]), setting
