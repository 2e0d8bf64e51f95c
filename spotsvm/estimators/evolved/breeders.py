"""Generation of individuals in a kernel evolution: the paper's grammar (bred until valid) and ours (screened by alignment)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from spotsvm.estimators import Floats
from spotsvm.estimators.evolved.settings import Ranges
from spotsvm.solvers.dual.problem.spectrum import matrix_state
from spotsvm.solvers.kernels.expressions import Expression, InnerProducts, evaluate, evaluate_settings
from spotsvm.solvers.search.genetic_programming import Grammar, PaperGrammar, PsdGrammar, breed_new, breed_variation
from spotsvm.solvers.search.genetic_programming.grammar import canonical_key

_PROBE_ROWS = 32
_PROBE_SETTINGS = 3


class PaperBreeder:
    """Breeder of valid expressions of the paper's grammar (Koch et al. 2011, section 2.3.2).

    Valid: its matrix on a random part of the rows is positive semidefinite (with `indefinite_too` also indefinite) for at least
    one of a few settings of its constants.
    """

    def __init__(
        self,
        grammar: PaperGrammar,
        products: InnerProducts,
        ranges: Ranges,
        tries: int,
        indefinite_too: bool,
        rng: np.random.Generator,
    ):
        self.grammar, self.tries, self.indefinite_too = grammar, tries, indefinite_too
        n = products.shape[0]
        rows = np.sort(rng.permutation(n)[:_PROBE_ROWS])
        self._probe = products.block(rows, rows)
        low, high = np.log(ranges.constants)
        self._constants = np.exp(rng.uniform(low, high, size=(_PROBE_SETTINGS, 4)))
        self._known: dict[Expression, bool] = {}
        self._keys: dict[Expression, Hashable] = {}

    def grow(self, rng: np.random.Generator) -> Expression:
        """Grow a random kernel."""
        return breed_new(self.grammar, self.is_kernel, self.tries, rng).expression

    def vary(self, parent: Expression, mate: Expression, rng: np.random.Generator) -> tuple[Expression, str]:
        """Vary a kernel."""
        return breed_variation(self.grammar, [parent, mate], self.is_kernel, self.tries, rng).expression, "variation"

    def key(self, genome: Expression) -> Hashable:
        """Return the expression's canonical form."""
        if genome not in self._keys:
            self._keys[genome] = canonical_key(genome)
        return self._keys[genome]

    def is_kernel(self, expression: Expression) -> bool:
        """Return whether its matrix is positive semidefinite for some constants."""
        if expression not in self._known:
            self._known[expression] = self._probed(expression)
        return self._known[expression]

    def _probed(self, expression: Expression) -> bool:
        count = _PROBE_SETTINGS if expression.constants else 1
        settings: list[dict[str, Any]] = [
            {name: row[int(name[1]) - 1] for name in expression.constants} for row in self._constants[:count]
        ]
        for K in evaluate_settings(expression, self._probe, settings):
            state = matrix_state(K)
            if state == "asymmetric":
                return False
            if state == "semidefinite" or (state == "indefinite" and self.indefinite_too):
                return True
        return False


class PsdBreeder:
    """Breeder of kernels that are positive semidefinite by construction.

    Of `screened` children it takes the one with the highest `alignment`, a function of the kernel matrix of the training rows.
    """

    def __init__(
        self, grammar: PsdGrammar, products: InnerProducts, alignment: Callable[[Floats], float], tries: int, screened: int
    ):
        self.grammar, self.tries, self.screened = grammar, tries, screened
        self._products, self._alignment = products, alignment
        self._keys: dict[Expression, Hashable] = {}

    def grow(self, rng: np.random.Generator) -> Expression:
        """Grow a random kernel."""
        return self._screen([breed_new(self.grammar, _always, self.tries, rng).expression for _ in range(self.screened)])

    def vary(self, parent: Expression, mate: Expression, rng: np.random.Generator) -> tuple[Expression, str]:
        """Vary a kernel."""
        pair = [parent, mate]
        children = [breed_variation(self.grammar, pair, _always, self.tries, rng).expression for _ in range(self.screened)]
        return self._screen(children), "variation"

    def key(self, genome: Expression) -> Hashable:
        """Return the canonical form of the expression without the factor before it."""
        if genome not in self._keys:
            self._keys[genome] = canonical_key(without_factor(genome))
        return self._keys[genome]

    def _screen(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        values = [self._alignment(evaluate(child, self._products)) for child in children]
        return children[int(np.argmax(np.nan_to_num(values, nan=-np.inf)))]


def _always(expression: Expression) -> bool:
    return True


def without_factor(expression: Expression) -> Expression:
    """Return the kernel without its constant factor, which acts only like a change of C."""
    if expression.block == "scale":
        return without_factor(expression.arguments[0])
    if expression.block in ("linear", "norms", "number"):
        return Expression(expression.block, value=1.0)
    if expression.block in ("multiply", "square", "cube"):
        return Expression(expression.block, tuple(without_factor(child) for child in expression.arguments))
    return expression


def standard_kernels(grammar: Grammar, squared_norm: float) -> list[Expression]:
    """Return common kernels to start from: linear, Gaussian of several widths, and polynomial."""
    linear = Expression("linear", value=1.0 / squared_norm)
    shifted = Expression("add", (Expression("number", value=1.0), linear))
    gaussians = [Expression("gaussian", value=width / squared_norm) for width in (0.1, 0.3, 1.0, 3.0)]
    powers = [Expression("square", (shifted,)), Expression("cube", (shifted,))]
    return [kernel for kernel in [linear, *gaussians, *powers] if grammar.is_valid(kernel)]
