"""Growth and variation of expressions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar, breed_new, breed_variation
from spotsvm.solvers.search.genetic_programming.grammar import canonical_key

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


@pytest.mark.parametrize("tries", [0, 2.5, None])
def test_a_number_of_tries_that_is_none(tries):
    with pytest.raises(SolverError, match="breeding_tries="):
        breed_new(GRAMMAR, lambda expression: True, tries, np.random.default_rng(0))


COMMUTING = {"add", "multiply", "add_vectors", "inner_product", "squared_distance"}
C1, C2 = Expression("c1"), Expression("c2")
SCALED = Expression("multiply", (C1, LINEAR))


def grown(seed):
    rng = np.random.default_rng(seed)
    grammar = PaperGrammar(max_depth=6) if seed % 2 else PsdGrammar(max_depth=6)
    expression = grammar.grow(rng)
    while not grammar.is_valid(expression):
        expression = grammar.grow(rng)
    return expression


def shuffled(node, rng):
    arguments = [shuffled(child, rng) for child in node.arguments]
    name = node.block
    if name in COMMUTING and rng.random() < 0.5:
        arguments.reverse()
    if name in ("vector_times_scalar", "scalar_times_vector") and rng.random() < 0.5:
        arguments.reverse()
        name = "vector_times_scalar" if name == "scalar_times_vector" else "scalar_times_vector"
    return Expression(name, tuple(arguments), node.value)


def relabelled(node, names):
    return Expression(names.get(node.block, node.block), tuple(relabelled(c, names) for c in node.arguments), node.value)


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_order_of_commuting_arguments_and_of_the_two_inputs_does_not_matter(seed):
    expression = grown(seed)
    assert canonical_key(shuffled(expression, np.random.default_rng(seed))) == canonical_key(expression)
    assert canonical_key(relabelled(expression, {"x_i": "x_j", "x_j": "x_i"})) == canonical_key(expression)


def test_equal_keys_are_equal_kernels():
    rng = np.random.default_rng(0)
    grammar = PaperGrammar(max_depth=4)
    products = InnerProducts.between(rng.normal(size=(4, 2)))
    groups = {}
    for _ in range(1500):
        expression = grammar.grow(rng)
        if not expression.constants:
            groups.setdefault(canonical_key(expression), set()).add(expression)
    pairs = 0
    for first, *others in groups.values():
        K = evaluate(first, products)
        for other in others:
            L = evaluate(other, products)
            assert np.allclose(K, L, equal_nan=True) or np.allclose(K, L.T, equal_nan=True)
            pairs += 1
    assert pairs > 20


def test_constants_may_be_renamed():
    one = Expression("add", (Expression("multiply", (C1, LINEAR)), C1))
    assert canonical_key(one) == canonical_key(
        Expression("add", (Expression("c3"), Expression("multiply", (LINEAR, Expression("c3")))))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Expression("add", (SCALED, C1)), Expression("add", (SCALED, C2))),
        (Expression("subtract", (LINEAR, C1)), Expression("subtract", (C1, LINEAR))),
        (Expression("gaussian", value=1.0), Expression("gaussian", value=2.0)),
    ],
    ids=["one constant twice is not two", "what does not commute", "another number"],
)
def test_other_kernels_have_other_keys(one, other):
    assert canonical_key(one) != canonical_key(other)
