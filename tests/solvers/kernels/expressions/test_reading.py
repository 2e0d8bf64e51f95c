import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.expressions import BLOCKS, Expression

LEAF = {"block": "c1"}


def nested(levels):
    content = LEAF
    for _ in range(levels):
        content = {"block": "square", "arguments": [content]}
    return content


def endless():
    content = {"block": "add"}
    content["arguments"] = [content, content]
    return content


def shared():
    """A few mappings that stand for 2^60 nodes."""
    content = LEAF
    for _ in range(60):
        content = {"block": "add", "arguments": [content, content]}
    return content


DAMAGED = {
    "no mapping": ([1, 2], "expression is a list; use a mapping with a 'block'"),
    "a string": ("__import__('os')", r"expression is \"__import__\('os'\)\"; use a mapping"),
    "empty": ({}, "expression has no 'block'"),
    "another key": ({"block": "c1", "code": "1"}, "expression has the key 'code'; its keys are"),
    "a key that is none": ({"block": "c1", 3: 4}, "expression has the key 3"),
    "unknown": ({"block": "os.system"}, "expression has the unknown block 'os.system'; use one of c1, c2"),
    "a block that is none": ({"block": ["c1"]}, "has the unknown block a list"),
    "a long name": ({"block": "x" * 10**6}, "has the unknown block 'x{40}'\\.\\.\\.; use"),
    "too few": ({"block": "add", "arguments": [LEAF]}, "expression has 1 arguments; the block 'add' takes 2"),
    "too many": ({"block": "c1", "arguments": [LEAF]}, "expression has 1 arguments; the block 'c1' takes 0"),
    "arguments that are none": ({"block": "square", "arguments": "c1"}, "the arguments of expression are 'c1'; use a list"),
    "wrong type": (
        {"block": "add", "arguments": [LEAF, {"block": "exp", "arguments": [{"block": "x_i"}]}]},
        r"expression.arguments\[1\]: 'exp' takes \(scalar\); it was given \(vector\)",
    ),
    "deep inside": ({"block": "add", "arguments": [LEAF, None]}, r"expression.arguments\[1\] is None; use a mapping"),
    "nan": ({"block": "number", "value": np.nan}, "expression: value=nan of the block 'number'; use a finite number"),
    "no number": ({"block": "gaussian"}, "value=None of the block 'gaussian'"),
    "a string for a number": ({"block": "gaussian", "value": "1"}, "value='1' of the block 'gaussian'"),
    "true": ({"block": "gaussian", "value": True}, "value=True of the block 'gaussian'"),
    "a number too many": ({"block": "c1", "value": 1.0}, "the block 'c1' carries no number"),
    "a mapping for a number": ({"block": "number", "value": nested(10**5)}, "value=a dict of the block 'number'"),
    "a huge number": ({"block": "number", "value": 10**5000}, "value=a whole number of more than 40 digits"),
    "too deep": (nested(64), "more than 64 levels"),
    "far too deep": (nested(10**5), "more than 64 levels"),
    "endless": (endless(), "more than 64 levels"),
    "too large": (shared(), "more than 10000 nodes"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_content_is_named(name):
    content, message = DAMAGED[name]
    with pytest.raises(SolverError, match=message) as caught:
        Expression.from_dict(content)
    assert len(str(caught.value)) < 900


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the text is not JSON: Expecting property name"),
        (None, "the text is not JSON"),
        ('{"block": "number", "value": NaN}', "value=nan"),
        ('{"block": "number", "value": 1e999}', "value=inf"),
        ('{"block": "square", "arguments": [' * 10**5, "the JSON text is nested too deep"),
        ("[]", "expression is a list"),
    ],
)
def test_damaged_text_is_named(text, message):
    with pytest.raises(SolverError, match=message):
        Expression.from_json(text)


def test_the_deepest_that_there_is_is_read():
    assert Expression.from_dict(nested(63)).depth == 64
    assert Expression.from_json(json.dumps(nested(63))) == Expression.from_dict(nested(63))


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


@settings(max_examples=100, deadline=None)
@given(CONTENT)
def test_whatever_is_read_is_an_expression_or_an_error_of_ours(content):
    try:
        expression = Expression.from_dict(content)
    except SolverError:
        return
    assert Expression.from_dict(expression.to_dict()) == expression
