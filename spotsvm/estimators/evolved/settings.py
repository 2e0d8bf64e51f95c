"""Checked settings of a kernel evolution, with the defaults of each grammar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import qmc

from spotsvm.common.checks import check_choice, check_count
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.search.genetic_programming.steady_state import check_sizes

Grammar = Literal["paper", "psd"]
Indefinite = Literal["evolve", "reject", "clip"]


@dataclass(frozen=True)
class KernelEvolutionSettings:
    """Checked settings of a kernel evolution; see the parameters of `EvolvedKernelSVC`."""

    grammar: Grammar
    n_trials: int
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
        "n_trials": 2500,
        "max_constants": 4,
        "n_holdouts": 1,
        "smoothness": 0.0,
        "parsimony": 0.0,
        "screened": 1,
        "n_finalists": 0,
        "n_tuning_trials": 0,
    },
    "psd": {
        "n_trials": 500,
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


def read_settings(machine: Any) -> KernelEvolutionSettings:
    """Read the settings from an estimator's parameters, or raise ArgumentError."""
    p = machine.get_params(deep=False)
    grammar = p["grammar"]
    check_choice("grammar", grammar, ("paper", "psd"))
    check_choice("indefinite", p["indefinite"], ("evolve", "reject", "clip"))
    p.update({name: value for name, value in _AUTO[grammar].items() if isinstance(p.get(name), str) and p[name] == "auto"})
    check_sizes(p["n_trials"], p["population_size"], p["tournament_size"])
    for name, least in _LEAST.items():
        check_count(name, p[name], least, before="'auto' or " if name in _AUTO[grammar] else "")
    check_count("max_depth", p["max_depth"], 3, 64)
    check_count("max_constants", p["max_constants"], before="'auto' or ")
    fraction = as_float(p["validation_fraction"])
    if not 0 < fraction < 1:
        raise ArgumentError(f"validation_fraction={p['validation_fraction']!r} is not between 0 and 1; use a part, as 1/3")
    epsilon = check_range("epsilon_range", p["epsilon_range"]) if "epsilon_range" in p else None
    ranges = Ranges(check_range("C_range", p["C_range"]), check_range("constant_range", p["constant_range"]), epsilon)
    names = ("n_trials", "population_size", "tournament_size", "max_depth", "max_constants", *_LEAST)
    return KernelEvolutionSettings(
        grammar=grammar,
        validation_fraction=fraction,
        smoothness=_check_part("smoothness", p.get("smoothness", 0.0)),
        parsimony=_check_part("parsimony", p["parsimony"]),
        indefinite=p["indefinite"],
        ranges=ranges,
        **{name: int(p[name]) for name in names},
    )


def _check_part(name: str, value: Any) -> float:
    if not 0 <= as_float(value) <= 1:
        raise ArgumentError(f"{name}={value!r}; use 'auto' or a number from 0 to 1")
    return as_float(value)


@dataclass(frozen=True)
class Ranges:
    """Ranges of the tuned numbers, all on a log scale; without epsilon in classification, where it is 0."""

    C: tuple[float, float]
    constants: tuple[float, float]
    epsilon: tuple[float, float] | None = None

    def bounds(self, n_constants: int) -> list[tuple[float, float]]:
        """Return the ranges of all coordinates: C, epsilon if there is one, the constants."""
        return [self.C, *([] if self.epsilon is None else [self.epsilon]), *[self.constants] * n_constants]

    def setting(self, point: Sequence[float] | Floats, n_constants: int) -> KernelSetting:
        """Return the numbers at a point of the unit cube."""
        values = [low * (high / low) ** float(u) for u, (low, high) in zip(point, self.bounds(n_constants), strict=True)]
        first = 1 if self.epsilon is None else 2
        return KernelSetting(values[0], tuple(values[first:]), 0.0 if self.epsilon is None else values[1])

    def design(self, n_constants: int, design_factor: int, rng: np.random.Generator) -> list[KernelSetting]:
        """Draw a Latin hypercube of design_factor (n_constants + 1) points, with epsilon (n_constants + 2); Koch 2011, 2.3.2."""
        d = len(self.bounds(n_constants))
        points = qmc.LatinHypercube(d, rng=rng).random(design_factor * d)
        return [self.setting(point, n_constants) for point in points]

    def grid(self, design_factor: int) -> list[KernelSetting]:
        """Return an even grid of 2 design_factor values of C; with epsilon twice as many points of a lattice of both.

        A lattice of one generator (Niederreiter 1992, section 5.1).
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
class KernelSetting:
    """The numbers that a kernel's machine is trained with; constants are in the order of their symbols in the expression."""

    C: float
    constants: tuple[float, ...] = ()
    epsilon: float = 0.0
