import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate
from spotsvm.solvers.kernels.expressions.simplification import simplified
from spotsvm.solvers.search.genetic_programming.psd_grammar import grow_kernel


def node(block, *arguments, value=None):
    return Expression(block, arguments, value)


LINEAR, WIDE, NARROW = (Expression(b, value=v) for b, v in (("linear", 2.0), ("gaussian", 0.5), ("gaussian", 2.0)))
DAMPING, TWO, THREE = Expression("damping", value=0.1), Expression("number", value=2.0), Expression("number", value=3.0)
CASES = [
    (node("scale", node("scale", DAMPING, value=2.0), value=3.0), node("scale", DAMPING, value=6.0)),
    (node("scale", LINEAR, value=3.0), Expression("linear", value=6.0)),
    (node("scale", DAMPING, value=1.0), DAMPING),
    (node("multiply", TWO, DAMPING), node("scale", DAMPING, value=2.0)),
    (node("multiply", DAMPING, TWO), node("scale", DAMPING, value=2.0)),
    (node("multiply", TWO, THREE), Expression("number", value=6.0)),
    (node("multiply", node("scale", WIDE, value=3.0), NARROW), node("scale", Expression("gaussian", value=2.5), value=3.0)),
    (node("add", TWO, THREE), Expression("number", value=5.0)),
    (node("add", LINEAR, LINEAR), Expression("linear", value=4.0)),
    (node("square", NARROW), Expression("gaussian", value=4.0)),
    (node("cube", WIDE), Expression("gaussian", value=1.5)),
    (node("cube", TWO), Expression("number", value=8.0)),
    (node("square", node("scale", LINEAR, value=3.0)), node("square", Expression("linear", value=6.0))),
    (node("square", node("scale", DAMPING, value=3.0)), node("scale", node("square", DAMPING), value=9.0)),
    (node("normalise", node("scale", WIDE, value=3.0)), WIDE),
    (node("normalise", node("normalise", DAMPING)), node("normalise", DAMPING)),
    (
        node("exponential", node("scale", node("normalise", DAMPING), value=3.0), value=2.0),
        node("exponential", DAMPING, value=2.0),
    ),
    (node("add", LINEAR, WIDE), node("add", LINEAR, WIDE)),
    (node("multiply", LINEAR, WIDE), node("multiply", LINEAR, WIDE)),
]


@pytest.mark.parametrize(("expression", "expected"), CASES, ids=lambda e: e.text())
def test_what_is_shorter(expression, expected):
    assert simplified(expression) == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_kernel_stays_the_same(seed):
    rng = np.random.default_rng(seed)
    kernel = grow_kernel(6, 2.0, rng)
    products = InnerProducts.between(np.vstack([rng.normal(size=(6, 2)), np.zeros((1, 2))]))
    shorter = simplified(kernel)
    assert shorter.size <= kernel.size
    assert simplified(shorter) == shorter
    expected = evaluate(kernel, products)
    np.testing.assert_allclose(evaluate(shorter, products), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


def test_numbers_are_held_where_they_would_overflow():
    huge = node("cube", node("cube", Expression("number", value=1e50)))
    assert simplified(huge) == Expression("number", value=1e100)
    assert simplified(node("scale", Expression("linear", value=1e-90), value=1e-90)).value == 1e-100
