"""Checked settings of a kernel evolution, with the defaults of each grammar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.stats import qmc

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.indefinite import Indefinite, check_indefinite
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.search.genetic_programming.steady_state import check_sizes

Grammar = Literal["paper", "psd"]


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of a kernel evolution.

    Attributes
    ----------
    grammar : {"paper", "psd"}
        Which expressions there are.
    n_evaluations, population_size, tournament_size, design_factor, breeding_tries, max_depth, max_constants : int
        As in `EvolvedKernelSVC`.
    validation_fraction : float
        Part of the rows that the fitness predicts.
    n_holdouts : int
        Random splits over which the fitness is a mean.
    smoothness : float
        Part of the loss that is the ramp loss, in classification.
    parsimony : float
        What a node of an expression costs, as a part of the error of a machine that has learnt nothing.
    screened : int
        Children of which the one whose matrix is aligned best with the target is evaluated.
    n_finalists, n_tuning_trials : int
        Best expressions that are judged again by cross-validation, and trials of the Kriging search of each of the best three;
        0 for none.
    indefinite : {"evolve", "reject", "clip"}
        How indefinite matrices are treated.
    ranges : Ranges
        Ranges of what is tuned.
    """

    grammar: Grammar
    n_evaluations: int
    population_size: int
    tournament_size: int
    design_factor: int
    breeding_tries: int
    max_depth: int
    max_constants: int
    validation_fraction: float
    n_holdouts: int
    smoothness: float
    parsimony: float
    screened: int
    n_finalists: int
    n_tuning_trials: int
    indefinite: Indefinite
    ranges: Ranges

    @property
    def of_the_paper(self) -> bool:
        """Whether the grammar is the paper's."""
        return self.grammar == "paper"


#: what "auto" stands for: the paper's settings, and those that were measured to be better
_AUTO: dict[str, dict[str, Any]] = {
    "paper": {
        "n_evaluations": 2500,
        "max_constants": 4,
        "n_holdouts": 1,
        "smoothness": 0.0,
        "parsimony": 0.0,
        "screened": 1,
        "n_finalists": 0,
        "n_tuning_trials": 0,
    },
    "psd": {
        "n_evaluations": 500,
        "max_constants": 8,
        "n_holdouts": 5,
        "smoothness": 0.5,
        "parsimony": 0.01,
        "screened": 3,
        "n_finalists": 8,
        "n_tuning_trials": 30,
    },
}


_LEAST = {"design_factor": 1, "breeding_tries": 1, "n_holdouts": 1, "screened": 1, "n_finalists": 0, "n_tuning_trials": 0}


def read_settings(machine: Any) -> EvolutionSettings:
    """Read the settings from an estimator's parameters, or raise ArgumentError."""
    p = machine.get_params(deep=False)
    grammar = p["grammar"]
    if not (isinstance(grammar, str) and grammar in _AUTO):
        raise ArgumentError(f"grammar={grammar!r}; use 'paper' or 'psd'")
    p.update({name: value for name, value in _AUTO[grammar].items() if isinstance(p.get(name), str) and p[name] == "auto"})
    check_sizes(p["n_evaluations"], p["population_size"], p["tournament_size"])
    for name, least in _LEAST.items():
        check_count(name, p[name], least, auto=name in _AUTO[grammar])
    check_count("max_depth", p["max_depth"], 3, 64)
    check_count("max_constants", p["max_constants"], 1, auto=True)
    fraction = as_float(p["validation_fraction"])
    if not 0 < fraction < 1:
        raise ArgumentError(f"validation_fraction={p['validation_fraction']!r} is not between 0 and 1; use a part, as 1/3")
    epsilon = check_range("epsilon_range", p["epsilon_range"]) if "epsilon_range" in p else None
    ranges = Ranges(check_range("C_range", p["C_range"]), check_range("constant_range", p["constant_range"]), epsilon)
    names = ("n_evaluations", "population_size", "tournament_size", "max_depth", "max_constants", *_LEAST)
    return EvolutionSettings(
        grammar=grammar,  # type: ignore[arg-type]  # one of the two, as checked
        validation_fraction=fraction,
        smoothness=_check_part("smoothness", p.get("smoothness", 0.0), 1.0),
        parsimony=_check_part("parsimony", p["parsimony"], 1.0),
        indefinite=check_indefinite(p["indefinite"]),
        ranges=ranges,
        **{name: int(p[name]) for name in names},
    )


def _check_part(name: str, value: Any, most: float) -> float:
    if not 0 <= as_float(value) <= most:
        raise ArgumentError(f"{name}={value!r}; use 'auto' or a number from 0 to {most:g}")
    return as_float(value)


def check_count(name: str, value: Any, least: int, most: int | None = None, *, auto: bool = False) -> None:
    """Raise ArgumentError unless a value is a whole number in a range."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        limits = f"{least} or more" if most is None else f"from {least} to {most}"
        named = "'auto' or " if auto else ""
        raise ArgumentError(f"{name}={value!r}; use {named}a whole number, {limits}")


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
        """Return the ranges of all coordinates: C, epsilon if there is one, the constants."""
        return [self.C, *([] if self.epsilon is None else [self.epsilon]), *[self.constants] * n_constants]

    def setting(self, point: Sequence[float] | Floats, n_constants: int) -> Setting:
        """Return the numbers at a point of the unit cube."""
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
        """Return an even grid of 2 design_factor values of C; with epsilon twice as many points of a lattice of both.

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
    """Return two positive, finite numbers in order, whose ratio is finite too, as floats, or raise ArgumentError."""
    try:
        low, high = (as_float(v) for v in value)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (0 < low <= high < math.inf):
        raise ArgumentError(f"{name}={value!r}; use two positive, finite numbers (low, high), as (0.01, 100)")
    if not math.isfinite(high / low):
        raise ArgumentError(f"{name}={value!r} is too wide for floating point numbers; use two at most a factor 1e300 apart")
    return low, high


@dataclass(frozen=True)
class Setting:
    """The numbers that a kernel's machine is trained with.

    Attributes
    ----------
    C : float
        Cost of errors, positive.
    constants : tuple of float
        Values of the constants of the kernel's expression, in the order of their symbols.
    epsilon : float
        Half the width of a regression's tube; 0 in classification.
    """

    C: float
    constants: tuple[float, ...] = ()
    epsilon: float = 0.0
