"""Fitness of a kernel expression: the held-out error of the best machine of a small design of experiments."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.matrix_task import MatrixTask, Scores, Split
from spotsvm.estimators.evolved.settings import KernelSetting, Ranges
from spotsvm.solvers.dual.problem.spectrum import MatrixState, matrix_state
from spotsvm.solvers.kernels.expressions import Expression, InnerProducts, evaluate_settings
from spotsvm.solvers.search.genetic_programming.steady_state import Fitness


@dataclass(frozen=True)
class Judged:
    """An expression, with the best setting of those tried (C in units of the fitness) and its error and loss.

    If no machine could be trained the setting is None and both are inf. `n_machines` is the number of settings tried; the state
    is that of the best matrix, or of the last one where none could be used.
    """

    expression: Expression
    setting: KernelSetting | None
    error: float
    loss: float
    n_machines: int
    state: str

    @property
    def bound(self) -> Expression:
        """The expression with numbers for all of its constants."""
        if self.setting is None or not self.expression.constants:
            return self.expression
        return self.expression.bind(dict(zip(self.expression.constants, self.setting.constants, strict=True)))


class KernelFitness:
    """The fitness of kernel expressions on some data, a function of the expression and the seed alone (Koch et al. 2011, 2.3.2).

    It is the smallest loss over a Latin hypercube of C, epsilon and constants, plus `parsimony` times `scale` a node. A relative
    fitness divides each kernel by its variance (mean diagonal less mean), and uses one even grid.
    """

    def __init__(
        self,
        task: MatrixTask,
        products: InnerProducts,
        splits: Sequence[Split],
        ranges: Ranges,
        *,
        design_factor: int,
        parsimony: float,
        scale: float,
        seed: int,
        relative: bool = False,
    ):
        self.task, self.products, self.splits, self.ranges = task, products, splits, ranges
        self.design_factor, self.parsimony, self.scale, self.seed = design_factor, parsimony, scale, seed
        self.relative = relative
        self.judged: list[Judged] = []

    def __call__(self, expression: Expression) -> Fitness:
        """Evaluate an expression's fitness, and record the result."""
        found = self.judge(expression)
        self.judged.append(found)
        if not self.parsimony:
            return (found.loss,)
        return found.loss + self.penalty(expression), float(expression.size)

    def penalty(self, expression: Expression) -> float:
        """Return the penalty for the size of an expression."""
        return self.parsimony * self.scale * expression.size

    def judge(self, expression: Expression) -> Judged:
        """Try the settings of the expression's design."""
        n_constants = len(expression.constants)
        if self.relative:
            settings = self.ranges.grid(self.design_factor)
        else:
            rng = np.random.default_rng([self.seed, fingerprint(expression)])
            settings = self.ranges.design(n_constants, self.design_factor, rng)
        scores, states = self.try_settings(expression, settings)
        best = int(np.argmin(scores.loss))
        alive = bool(np.isfinite(scores.loss[best]))
        setting, state = (settings[best], states[best]) if alive else (None, states[-1])
        return Judged(expression, setting, float(scores.error[best]), float(scores.loss[best]), len(settings), state)

    def absolute(self, found: Judged) -> KernelSetting:
        """Convert a setting to the expression's kernel without normalisation."""
        assert found.setting is not None
        if not self.relative:
            return found.setting
        (K,) = evaluate_settings(found.expression, self.products, [{}])
        return replace(found.setting, C=found.setting.C / variance(K))

    def try_settings(
        self, expression: Expression, settings: Sequence[KernelSetting], splits: Sequence[Split] | None = None
    ) -> tuple[Scores, list[MatrixState]]:
        """Return the scores of each setting and the state of its matrix; inf for a matrix that cannot be used."""
        scores = np.full((2, len(settings)), np.inf)
        states: list[MatrixState] = ["not finite"] * len(settings)
        groups: dict[tuple[float, ...], list[int]] = {}
        for k, setting in enumerate(settings):
            groups.setdefault(setting.constants, []).append(k)
        named = [dict(zip(expression.constants, constants, strict=True)) for constants in groups]
        for K, members in zip(evaluate_settings(expression, self.products, named), groups.values(), strict=True):
            state = matrix_state(K)
            if self.relative and state == "semidefinite":
                K = K / variance(K)
            usable = state == "semidefinite" or (state == "indefinite" and self.task.indefinite != "reject")
            if usable:
                some = [settings[k] for k in members]
                scores[:, members] = self.task.scores(
                    K, some, splits or self.splits, semidefinite=state == "semidefinite", seed=self.seed
                )
            for k in members:
                states[k] = state
        return Scores(scores[0], scores[1]), states


def fingerprint(expression: Expression) -> int:
    """Return a seed derived from an expression, the same in every process."""
    return zlib.crc32(json.dumps(expression.to_dict()).encode())


def variance(K: Floats) -> float:
    """Return the variance of the rows in feature space; 1 where it is negligible beside the kernel's values."""
    spread = float(K.diagonal().mean() - K.mean())
    return spread if spread > 1e-12 * float(np.abs(K).max()) else 1.0
