"""Random expressions, drawn again until one is valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.search.genetic_programming.grammar import Grammar

Accepts = Callable[[Expression], bool]


class Bred(NamedTuple):
    """What breeding gave.

    Parameters
    ----------
    expression : Expression
        The result.
    accepted : bool
        Whether it was accepted.
    tries : int
        Draws that it took.
    """

    expression: Expression
    accepted: bool
    tries: int


def breed_new(grammar: Grammar, accepts: Accepts, tries: int, rng: np.random.Generator) -> Bred:
    """Grow expressions until one is accepted; after the last try, give that one although it is not.

    Parameters
    ----------
    grammar : Grammar
        What grows them. Those that break its limits are not shown to `accepts`.
    accepts : callable
        Says of an expression within the limits whether it is a kernel; asked once about each.
    tries : int
        Most draws, at least 1.
    rng : numpy.random.Generator
        Source of the draws.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
    2.3.2: "its last result is returned".

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> bred = breed_new(PaperGrammar(), lambda expression: expression.size > 5, 1000, np.random.default_rng(0))
    >>> bred.accepted, bred.expression.size > 5
    (True, True)
    """
    return _bred(grammar, lambda: grammar.grow(rng), accepts, tries)


def breed_variation(
    grammar: Grammar, parents: Sequence[Expression], accepts: Accepts, tries: int, rng: np.random.Generator
) -> Bred:
    """Vary the first parent until a child is accepted; after the last try, give the parent as it is.

    The paper says of an operator that has used up its tries both that "its last result is returned" (section 2.3.2) and that
    it returns "its unmodified input" (section 3.1). Growth has no input, so there the first is done, and here the second: it
    keeps the population valid. The operator is drawn anew for each try, since one alone may have nothing valid to give. A
    child equal to the first parent counts as a failed try.

    Parameters
    ----------
    grammar : Grammar
        What varies them. Children that break its limits are not shown to `accepts`.
    parents : sequence of Expression
        The one that is changed, and, where there is one, another that it may be crossed with.
    accepts : callable
        Says of an expression within the limits whether it is a kernel; asked once about each.
    tries : int
        Most draws, at least 1.
    rng : numpy.random.Generator
        Source of the draws.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", sections
    2.3.2 and 3.1.

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> linear = Expression("inner_product", (Expression("x_i"), Expression("x_j")))
    >>> breed_variation(PaperGrammar(), [linear], lambda expression: False, 10, np.random.default_rng(0)).expression == linear
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
