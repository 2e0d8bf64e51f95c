"""Machines on indefinite kernel matrices: the best of several local solutions of the dual."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings
from spotsvm.solvers.dual.exact.exact import solve_pairs
from spotsvm.solvers.dual.exact.fold_solver import Target
from spotsvm.solvers.dual.solve import solve_dual

Indefinite = Literal["evolve", "reject", "clip"]

#: local searches of a machine that is only judged, and of the one that is kept
SEARCHES_JUDGED, SEARCHES_KEPT = 12, 400


def check_indefinite(value: Any) -> Indefinite:
    """Return the checked option `indefinite`, or raise ArgumentError."""
    if isinstance(value, str) and value in ("evolve", "reject", "clip"):
        kind: Indefinite = value  # type: ignore[assignment]  # one of the three, as checked
        return kind
    raise ArgumentError(f"indefinite={value!r}; use 'evolve', 'reject' or 'clip'")


def solve_indefinite(K: Floats, target: Target, tol: float, max_iter: int, seed: int, searches: int = SEARCHES_JUDGED) -> Floats:
    """Train on an indefinite matrix by local searches from several points, and return the best signed dual variables.

    Labels with epsilon 0 are a classifier, which the memetic solver trains; all else is a regression.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", section 4.
    """
    if target.epsilon == 0.0 and set(np.unique(target.z).tolist()) == {-1.0, 1.0}:
        bounds = np.maximum(target.upper, -target.lower)
        settings = MemeticSettings(searches=searches, rivals=False)
        found = solve_dual(
            K,
            target.z,
            bounds,
            "memetic",
            bias=True,
            random_state=seed,
            tol=tol,
            max_iter=max_iter,
            definite=False,
            settings=settings,
        )
        signed: Floats = found.alpha * target.z
        return signed
    return best_regression(K, target, tol, max_iter, np.random.default_rng(seed), searches)


def best_regression(K: Floats, target: Target, tol: float, max_iter: int, rng: np.random.Generator, searches: int) -> Floats:
    """Return the best of several local solutions of a regression's dual, each from the last best one with some rows changed."""
    best, highest = np.zeros(len(K)), -np.inf
    start = np.zeros(len(K))
    for _ in range(searches):
        beta, _, _ = solve_pairs(K, target.z, target.lower, target.upper, target.epsilon, start, tol, max_iter)
        objective = float(target.z @ beta - target.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)
        if objective > highest:
            best, highest = beta, objective
        start = _kicked(best, target, rng)
    return best


def _kicked(beta: Floats, target: Target, rng: np.random.Generator) -> Floats:
    """Exchange the values of random pairs of rows, which keeps their sum and, with equal bounds, the box."""
    moved = beta.copy()
    chosen = rng.permutation(len(beta))[: 2 * max(1, len(beta) // 8)]
    size = rng.random(len(chosen) // 2) * np.minimum(target.upper[chosen[::2]], target.upper[chosen[1::2]])
    moved[chosen[::2]], moved[chosen[1::2]] = size, -size
    excess = moved.sum()
    heavy = moved > 0 if excess > 0 else moved < 0
    total = abs(moved[heavy].sum())
    if total > 0:
        moved[heavy] *= 1.0 - abs(excess) / total
    return moved
