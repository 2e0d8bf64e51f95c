"""New feasible starting points for local searches: at random, from a solution, or from two solutions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.problem.problem import DualProblem

Floats = NDArray[np.float64]


class Perturbation:
    """Makes feasible points in terms of beta = alpha y, with sum(beta) = 0 if the problem has a bias.

    Parameters
    ----------
    problem : DualProblem
        The problem.
    rng : numpy.random.Generator
        Generator of all random numbers.
    """

    def __init__(self, problem: DualProblem, rng: np.random.Generator):
        self.problem = problem
        self.rng = rng
        self.balanced = problem.bias
        self.lower = np.minimum(problem.C * problem.y, 0.0)
        self.upper = np.maximum(problem.C * problem.y, 0.0)
        self.movable = np.flatnonzero(problem.C > 0)

    def scatter(self) -> Floats:
        """Draw a point uniformly from the box, and balance it."""
        return self._balance(self.lower + self.rng.random(len(self.lower)) * (self.upper - self.lower))

    def kick(self, beta: Floats, share: float) -> Floats:
        """Move some variables, from 1 to a `share` of all (fewer is more likely), as far as they can go.

        With a bias they move in pairs of opposite directions.
        """
        most = max(1.0, share * len(self.movable))
        count = int(np.exp(self.rng.uniform(0.0, np.log(most + 1.0))))
        chosen = self.rng.permutation(self.movable)
        moved = beta.copy()
        if not self.balanced:
            i = chosen[: 2 * count]
            rises = self.upper[i] - beta[i] > beta[i] - self.lower[i]
            moved[i] = np.where(rises, self.upper[i], self.lower[i])
            return moved
        count = min(count, len(chosen) // 2)
        i, j = chosen[:count], chosen[count : 2 * count]
        forth = np.minimum(self.upper[i] - beta[i], beta[j] - self.lower[j])
        back = np.minimum(beta[i] - self.lower[i], self.upper[j] - beta[j])
        step = np.where(forth > back, forth, -back)
        moved[i] = np.clip(beta[i] + step, self.lower[i], self.upper[i])
        moved[j] = np.clip(beta[j] - step, self.lower[j], self.upper[j])
        return moved

    def without_some(self, least: float, most: float) -> DualProblem:
        """Return the problem without a random share of its rows, from `least` to `most` (smaller is more likely)."""
        share = float(np.exp(self.rng.uniform(np.log(least), np.log(most))))
        kept = self.rng.random(self.problem.n) >= share
        return replace(self.problem, C=np.where(kept, self.problem.C, 0.0))

    def cross(self, one: Floats, other: Floats) -> Floats:
        """Take each variable at random from one of two points, and balance the result."""
        return self._balance(np.where(self.rng.random(len(one)) < 0.5, one, other))

    def _balance(self, beta: Floats) -> Floats:
        excess = float(beta.sum())
        if not self.balanced or excess == 0.0:
            return beta
        order = self.rng.permutation(len(beta))
        room = (beta - self.lower if excess > 0 else self.upper - beta)[order]
        before = np.cumsum(room) - room
        beta[order] -= np.sign(excess) * np.clip(abs(excess) - before, 0.0, room)
        return np.clip(beta, self.lower, self.upper)
