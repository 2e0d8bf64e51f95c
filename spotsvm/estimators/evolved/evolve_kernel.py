"""The evolution of a kernel for given data: the population's evolution, and the choice among its best."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.breeders import PaperBreeder, PsdBreeder, standard_kernels
from spotsvm.estimators.evolved.expression_kernel import ExpressionKernel
from spotsvm.estimators.evolved.final_choice import choose_kernel
from spotsvm.estimators.evolved.fitness import Judged, KernelFitness
from spotsvm.estimators.evolved.matrix_task import MatrixTask, holdouts
from spotsvm.estimators.evolved.settings import EvolutionSettings, Setting
from spotsvm.solvers.kernels.expressions import Expression, InnerProducts
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar
from spotsvm.solvers.search.genetic_programming.steady_state import Evolution, evolve

_SQUARED_NORMS = (1e-140, 1e140)  # beyond, squares of kernel values overflow or vanish


@dataclass(frozen=True)
class EvolvedKernel:
    """What came of an evolution.

    Attributes
    ----------
    kernel : ExpressionKernel
        The kernel.
    setting : Setting
        C and epsilon to train with.
    fitness : float
        Its error on the rows held out in the evolution.
    cv_error : float
        Its error in the cross-validation that chose it; nan where there was none.
    history : DataFrame
        A row for each evaluation.
    """

    kernel: ExpressionKernel
    setting: Setting
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
    X: Floats, task: MatrixTask, strata: NDArray[np.intp] | None, settings: EvolutionSettings, seed: int
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
            f"none of {len(evolution.evaluated)} kernels was valid on the data; standardise them, raise n_evaluations or "
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
    settings: EvolutionSettings,
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
        n_evaluations=settings.n_evaluations,
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
