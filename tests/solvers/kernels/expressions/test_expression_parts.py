"""The parts of an expression, and its blocks in files."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import BLOCKS, InnerProducts, evaluate
from spotsvm.solvers.kernels.expressions.expression import parts_of, with_part

X_I, X_J, C1 = Expression("x_i"), Expression("x_j"), Expression("c1")
LINEAR = Expression("inner_product", (X_I, X_J))
MIXED = Expression("add", (Expression("multiply", (Expression("c3"), LINEAR)), Expression("scale", (C1,), 0.5)))


def test_other_numbers_and_constants_in_the_same_tree():
    kernel = Expression(
        "multiply", (Expression("gaussian", value=0.5), Expression("scale", (Expression("linear", value=2.0),), 3.0))
    )
    assert kernel.values == (0.5, 3.0, 2.0)
    assert kernel.with_values([1.0, 2.0, 4.0]).values == (1.0, 2.0, 4.0)
    with pytest.raises(SolverError, match="values has 2 entries; the expression carries 3 numbers"):
        kernel.with_values([1.0, 2.0])
    with pytest.raises(SolverError, match="value=-1.0 of the block 'gaussian'; use a positive, finite number"):
        kernel.with_values([-1.0, 2.0, 4.0])
    products = InnerProducts.between(np.random.default_rng(0).normal(size=(5, 2)))
    bound = MIXED.bind({"c1": -0.3, "c3": 2.0})
    assert bound.constants == ()
    np.testing.assert_array_equal(evaluate(bound, products), evaluate(MIXED, products, {"c1": -0.3, "c3": 2.0}))
    assert MIXED.bind({"c3": 2.0}).constants == ("c1",)


def test_parts_and_their_places():
    parts = parts_of(MIXED)
    assert [part.node for part in parts] == list(MIXED.nodes())
    for part in parts:
        assert with_part(MIXED, part.position, part.node) == MIXED
    at = next(part.position for part in parts if part.node == LINEAR)
    assert with_part(MIXED, at, C1).text() == "c3 * c1 + 0.5 * c1"
    with pytest.raises(SolverError, match="'multiply' takes"):
        with_part(MIXED, at, X_I)


def test_every_block_survives_a_file():
    for name, block in BLOCKS.items():
        children = tuple(C1 if kind == "scalar" else X_I for kind in block.arguments)
        expression = Expression(name, children, 0.1 + 0.2 if block.values != "none" else None)
        again = Expression.from_json(json.dumps(expression.to_dict()))
        assert again == expression
        assert again.value == expression.value
        assert expression.text()
        assert expression.latex()


CONTENT = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.sampled_from(sorted(BLOCKS)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {"block": st.sampled_from(sorted(BLOCKS)) | inner},
            optional={"arguments": st.lists(inner, max_size=2), "value": inner},
        )
    ),
    max_leaves=20,
)


@settings(max_examples=50, deadline=None)
@given(CONTENT)
def test_whatever_is_read_is_an_expression_or_an_error_of_ours(content):
    try:
        expression = Expression.from_dict(content)
    except SolverError:
        return
    assert Expression.from_dict(expression.to_dict()) == expression
