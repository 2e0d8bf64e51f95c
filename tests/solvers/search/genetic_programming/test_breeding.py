import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar, breed_new, breed_variation

GRAMMAR = PaperGrammar()
LINEAR = Expression("inner_product", (Expression("x_i"), Expression("x_j")))


class Asked:
    """Accepts what is of a size, and keeps what it was asked about."""

    def __init__(self, size):
        self.size, self.seen = size, []

    def __call__(self, expression):
        self.seen.append(expression)
        return expression.size == self.size


def test_growth_and_variation_are_tried_until_they_are_accepted():
    asked = Asked(7)
    bred = breed_new(GRAMMAR, asked, 5000, np.random.default_rng(0))
    assert (bred.accepted, bred.expression.size) == (True, 7)
    assert bred.tries >= len(asked.seen) == len(set(asked.seen))
    assert all(GRAMMAR.is_valid(e) for e in asked.seen)
    asked = Asked(5)
    assert breed_variation(GRAMMAR, [LINEAR, LINEAR], asked, 5000, np.random.default_rng(0)).expression.size == 5
    assert len(asked.seen) == len(set(asked.seen))


def test_growth_that_fails_gives_its_last_result_and_variation_its_input():
    rng = np.random.default_rng(0)
    grown = [GRAMMAR.grow(rng) for _ in range(40)]
    assert breed_new(GRAMMAR, lambda expression: False, 40, np.random.default_rng(0)) == (grown[-1], False, 40)
    varied = breed_variation(GRAMMAR, [LINEAR], lambda expression: False, 40, np.random.default_rng(0))
    assert varied == (LINEAR, False, 40)


def test_an_unchanged_child_is_no_success():
    grammar = PaperGrammar(max_depth=2)
    for seed in range(20):
        bred = breed_variation(grammar, [LINEAR, LINEAR], lambda expression: True, 200, np.random.default_rng(seed))
        assert bred.accepted
        assert bred.expression != LINEAR


def test_semidefinite_kernels_take_few_tries():
    grammar, rng = PsdGrammar(squared_norm=3.0), np.random.default_rng(0)
    tries = [breed_new(grammar, lambda expression: True, 100, rng).tries for _ in range(200)]
    assert np.mean(tries) < 1.5


@pytest.mark.parametrize("tries", [0, 2.5, None])
def test_a_number_of_tries_that_is_none(tries):
    with pytest.raises(SolverError, match="breeding_tries="):
        breed_new(GRAMMAR, lambda expression: True, tries, np.random.default_rng(0))
