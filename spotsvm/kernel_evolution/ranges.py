"""The ranges of C, of a kernel's constants and of epsilon, and Latin hypercubes in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from solvers.checked_numbers import as_float
from spotsvm.errors import ArgumentError
from spotsvm.kernel_evolution.setting import Setting

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranges:
    """Ranges of what is tuned, all on a log scale.

    Attributes
    ----------
    C : (float, float)
        Range of the cost of errors.
    constants : (float, float)
        Range of each constant.
    epsilon : (float, float) or None
        Range of half the tube's width; None in classification, where it is 0.
    """

    C: tuple[float, float]
    constants: tuple[float, float]
    epsilon: tuple[float, float] | None = None

    def bounds(self, n_constants: int) -> list[tuple[float, float]]:
        """Give the ranges of all coordinates: C, epsilon if there is one, the constants."""
        return [self.C, *([] if self.epsilon is None else [self.epsilon]), *[self.constants] * n_constants]

    def setting(self, point: Sequence[float] | Floats, n_constants: int) -> Setting:
        """Give the numbers at a point of the unit cube."""
        values = [low * (high / low) ** float(u) for u, (low, high) in zip(point, self.bounds(n_constants), strict=True)]
        first = 1 if self.epsilon is None else 2
        return Setting(values[0], tuple(values[first:]), 0.0 if self.epsilon is None else values[1])

    def design(self, n_constants: int, design_factor: int, rng: np.random.Generator) -> list[Setting]:
        """Draw a Latin hypercube of design_factor (n_constants + 1) points; with epsilon design_factor (n_constants + 2).

        References
        ----------
        Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
        2.3.2.

        Examples
        --------
        >>> ranges = Ranges(C=(1.0, 16.0), constants=(0.5, 2.0))
        >>> sorted(int(np.log2(s.C)) for s in ranges.design(1, 2, np.random.default_rng(0)))
        [0, 1, 2, 3]
        """
        d = len(self.bounds(n_constants))
        points = qmc.LatinHypercube(d, rng=rng).random(design_factor * d)
        return [self.setting(point, n_constants) for point in points]

    def grid(self, design_factor: int) -> list[Setting]:
        """Give an even grid of 2 design_factor values of C; with epsilon twice as many points of a lattice of both.

        References
        ----------
        Niederreiter 1992, "Random Number Generation and Quasi-Monte Carlo Methods", section 5.1, for lattices of one generator.

        Examples
        --------
        >>> [round(s.C) for s in Ranges(C=(1.0, 16.0), constants=(1.0, 1.0)).grid(1)]
        [2, 8]
        """
        d = len(self.bounds(0))
        m = 2 * design_factor * d
        # the generator nearest to the golden section of m: no two points are close to each other
        step = min((g for g in range(1, m) if math.gcd(g, m) == 1), key=lambda g: abs(g / m - 0.618))
        columns = [[(k * step**c % m + 0.5) / m for c in range(d)] for k in range(m)]
        return [self.setting(point, 0) for point in columns]


def check_range(name: str, value: Any) -> tuple[float, float]:
    """Give two positive, finite numbers in order, whose ratio is finite too, as floats, or raise ArgumentError."""
    try:
        low, high = (as_float(v) for v in value)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (0 < low <= high < math.inf):
        raise ArgumentError(f"{name}={value!r}; use two positive, finite numbers (low, high), as (0.01, 100)")
    if not math.isfinite(high / low):
        raise ArgumentError(f"{name}={value!r} is too wide for floating point numbers; use two at most a factor 1e300 apart")
    return low, high
