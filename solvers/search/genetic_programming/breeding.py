"""Random expressions, redrawn until an expression is valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.search.genetic_programming.grammar import Grammar

Accepts = Callable[[Expression], bool]


class Bred(NamedTuple):
    """The result of breeding.

    Parameters
    ----------
    expression : Expression
        The new expression.
    accepted : bool
        Whether the expression was accepted.
    tries : int
        Number of draws.
    """

    expression: Expression
    accepted: bool
    tries: int


def breed_new(grammar: Grammar, accepts: Accepts, tries: int, rng: np.random.Generator) -> Bred:
    """Grow expressions until an expression is accepted; after the last try, return the last expression unaccepted.

    Parameters
    ----------
    grammar : Grammar
        The grammar that grows expressions. `accepts` is not called for expressions beyond its limits.
    accepts : callable
        Returns whether an expression within the limits is a kernel; called once for each.
    tries : int
        Maximum number of draws, at least 1.
    rng : numpy.random.Generator
        Generator of the random numbers.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
    2.3.2: "its last result is returned".

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> bred = breed_new(
    ...     PaperGrammar(),
    ...     lambda expression: expression.size > 5,
    ...     1000,
    ...     np.random.default_rng(0),
    ... )
    >>> bred.accepted, bred.expression.size > 5
    (True, True)
    """
    return _bred(grammar, lambda: grammar.grow(rng), accepts, tries)


def breed_variation(
    grammar: Grammar, parents: Sequence[Expression], accepts: Accepts, tries: int, rng: np.random.Generator
) -> Bred:
    """Vary the first parent until a child is accepted; after the last try, return the parent unchanged.

    When an operator has used up its tries, "its last result is returned" according to section 2.3.2 of the paper, but "its
    unmodified input" according to section 3.1. Growth has no input and follows the first rule. Variation follows the second,
    which keeps the population valid. The operator is redrawn for each try, since a single operator may have no valid result. A
    child equal to the first parent counts as a failed try.

    Parameters
    ----------
    grammar : Grammar
        The grammar that varies expressions. `accepts` is not called for children beyond its limits.
    parents : sequence of Expression
        The expression to change, and optionally a second expression for a crossover.
    accepts : callable
        Returns whether an expression within the limits is a kernel; called once for each.
    tries : int
        Maximum number of draws, at least 1.
    rng : numpy.random.Generator
        Generator of the random numbers.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", sections
    2.3.2 and 3.1.

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> linear = Expression(
    ...     "inner_product", (Expression("x_i"), Expression("x_j"))
    ... )
    >>> breed_variation(
    ...     PaperGrammar(),
    ...     [linear],
    ...     lambda expression: False,
    ...     10,
    ...     np.random.default_rng(0),
    ... ).expression == linear
    True
    """
    bred = _bred(grammar, lambda: grammar.vary(parents, rng), accepts, tries, refused={parents[0]})
    return bred if bred.accepted else Bred(parents[0], False, bred.tries)


def _bred(
    grammar: Grammar, draw: Callable[[], Expression], accepts: Accepts, tries: int, refused: set[Expression] | None = None
) -> Bred:
    check_counts(breeding_tries=tries)
    refused = set() if refused is None else refused
    for k in range(1, tries + 1):
        expression = draw()
        if expression in refused:
            continue
        if grammar.is_valid(expression) and accepts(expression):
            return Bred(expression, True, k)
        refused.add(expression)
    return Bred(expression, False, tries)
