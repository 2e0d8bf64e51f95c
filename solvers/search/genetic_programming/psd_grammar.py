"""A space of kernels that are positive semidefinite by construction, with small mutations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.kernels.expressions.simplification import simplified
from spotsvm.solvers.search.genetic_programming import psd_mutations as change
from spotsvm.solvers.search.genetic_programming.grammar import Grammar
from spotsvm.solvers.search.genetic_programming.paper_grammar import cross_subtrees
from spotsvm.solvers.search.genetic_programming.psd_growth import PSD_BLOCKS, grow_kernel, value_bounds

Floats = NDArray[np.float64]

_GROWN_DEPTH = 4
_MAX_DEGREE = 8
_MUTATIONS = {
    "step": 0.5,
    "add term": 0.1,
    "add factor": 0.05,
    "remove": 0.15,
    "swap": 0.1,
    "wrap": 0.05,
    "replace leaf": 0.05,
}


class PsdGrammar(Grammar):
    """Kernels composed so that all their matrices are positive semidefinite.

    Leaves are the linear, Gaussian and rational kernel, a positive number, and f(x_i) f(x_j) with f = v |x|^2 or exp(-v |x|^2).
    They are joined by sums, products, positive factors, squares, cubes, normalisation, and the exponential of a normalised
    kernel, which cannot overflow. There are no symbolic constants: each expression carries its own positive numbers, which are
    varied by small steps of their logarithms. Changes of the tree are small too: an additional term or factor with a small
    weight, an operator more or less, or a block exchanged for a similar block. The results of `grow` and `vary` are simplified,
    with numbers within `value_bounds`.

    Parameters
    ----------
    max_depth : int, default=10
        Maximum number of levels of an expression, from 1 to 64.
    max_constants : int, default=8
        Maximum number of numbers in an expression.
    squared_norm : float, default=1.0
        Typical |x|^2 of the rows, for the initial numbers: about the number of features for standardised data.

    Raises
    ------
    SolverError
        If a parameter is out of its range.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
    2.3.2 for the closure properties, section 4 for causality. Shawe-Taylor, Cristianini 2004, "Kernel Methods for Pattern
    Analysis", proposition 3.22.

    Examples
    --------
    >>> grammar, rng = PsdGrammar(squared_norm=4.0), np.random.default_rng(0)
    >>> kernel = Expression("gaussian", value=0.25)
    >>> child = grammar.vary([kernel], rng)
    >>> grammar.is_valid(child), child != kernel
    (True, True)
    """

    crossover_share = 0.25

    def __init__(self, max_depth: int = 10, max_constants: int = 8, squared_norm: float = 1.0):
        super().__init__(max_depth, max_constants)
        if not 0 < as_float(squared_norm) < np.inf:
            raise SolverError(f"squared_norm={squared_norm!r}; use a positive, finite number")
        self.squared_norm = float(squared_norm)

    def grow(self, rng: np.random.Generator) -> Expression:
        """Return a small random kernel, of about four levels at most; see `Grammar.grow`."""
        deepest = int(rng.integers(1, min(self.max_depth, _GROWN_DEPTH) + 1))
        return self._settled(grow_kernel(deepest, self.squared_norm, rng))

    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Change numbers or one part a little; see `Grammar.mutate`."""
        names = list(_MUTATIONS)
        name = names[rng.choice(len(names), p=list(_MUTATIONS.values()))]
        if name == "step":
            return self._settled(change.step_values(expression, rng))
        if name == "remove":
            return self._settled(change.remove_operator(expression, rng))
        if name == "swap":
            return self._settled(change.swap_alike(expression, rng))
        enlarge = {
            "add term": change.add_term,
            "add factor": change.add_factor,
            "wrap": change.wrap,
            "replace leaf": change.replace_leaf,
        }
        return self._settled(enlarge[name](expression, self.squared_norm, rng))

    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Mix in a part of the second with a small weight, or exchange a part (probability 1/4); see `Grammar.cross`."""
        if rng.random() < 0.25:
            return self._settled(cross_subtrees(first, second, rng))
        return self._settled(change.blend(first, second, rng))

    def is_valid(self, expression: Expression) -> bool:
        """Return whether an expression is a kernel of both inputs within the limits, with a degree in x_i of at most 8.

        Parameters
        ----------
        expression : Expression
            Any.
        """
        return (
            super().is_valid(expression)
            and all(node.block in PSD_BLOCKS and (node.value is None or node.value > 0) for node in expression.nodes())
            and degree(expression) <= _MAX_DEGREE
        )

    def value_bounds(self, expression: Expression) -> Floats:
        """Return the range of each number of an expression, for a search on a log scale.

        Parameters
        ----------
        expression : Expression
            An expression with k numbers.

        Returns
        -------
        ndarray of shape (k, 2)
            Lowest and highest value, in the order of `Expression.values`.
        """
        carriers = (node.block for node in expression.nodes() if node.value is not None)
        return np.array([value_bounds(block, self.squared_norm) for block in carriers]).reshape(-1, 2)

    def _settled(self, expression: Expression) -> Expression:
        """Simplify, and clip the numbers to their bounds."""
        simple = simplified(expression)
        bounds = self.value_bounds(simple)
        return simple.with_values(np.clip(simple.values, bounds[:, 0], bounds[:, 1]).tolist())


def degree(expression: Expression) -> int:
    """Return the degree of a kernel as a polynomial of x_i; bounded blocks have degree 0."""
    if expression.block in ("linear", "norms"):
        return 1 if expression.block == "linear" else 2
    if expression.block in ("normalise", "exponential") or not expression.arguments:
        return 0
    degrees = [degree(child) for child in expression.arguments]
    if expression.block == "multiply":
        return sum(degrees)
    return max(degrees) * {"square": 2, "cube": 3}.get(expression.block, 1)
