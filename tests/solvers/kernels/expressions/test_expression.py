import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression

X_I, X_J, C1 = Expression("x_i"), Expression("x_j"), Expression("c1")
LINEAR = Expression("inner_product", (X_I, X_J))
MIXED = Expression("add", (Expression("multiply", (Expression("c3"), LINEAR)), Expression("scale", (C1,), 0.5)))


def test_what_is_known_of_a_tree_and_its_key():
    assert (MIXED.type, MIXED.depth, MIXED.size) == ("scalar", 4, 8)
    assert MIXED.constants == ("c1", "c3")
    assert MIXED.inputs == {"x_i", "x_j"}
    assert MIXED.values == (0.5,)
    assert [n.block for n in MIXED.nodes()] == ["add", "multiply", "c3", "inner_product", "x_i", "x_j", "scale", "c1"]
    assert X_I.type == "vector"
    assert Expression("gaussian", value=1).inputs == {"x_i", "x_j"}
    again = Expression("inner_product", (Expression("x_i"), Expression("x_j")))
    assert again == LINEAR
    assert len({again, LINEAR, Expression("inner_product", (X_J, X_I)), Expression("gaussian", value=1.0)}) == 3
    assert Expression("gaussian", value=1) == Expression("gaussian", value=1.0) != Expression("gaussian", value=1.5)


def test_a_pickle_finds_its_key_in_another_process(tmp_path):
    """Hashes of strings are different there."""
    path = tmp_path / "expression"
    path.write_bytes(pickle.dumps(MIXED))
    code = (
        "import pickle, pathlib, sys; e = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes());"
        "from spotsvm.solvers.kernels.expressions import Expression; print({Expression.from_dict(e.to_dict()): 'found'}[e])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "found"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cosine",), "block='cosine' is unknown; use one of c1,"),
        (("square",), r"'square' takes \(scalar\); it was given no arguments"),
        (("square", (X_I,)), r"'square' takes \(scalar\); it was given \(vector\)"),
        (("x_i", (C1,)), r"'x_i' takes no arguments; it was given \(scalar\)"),
        (("add", (C1, "c2")), "arguments=a tuple of 'add'; use a tuple of expressions"),
        (("gaussian", ()), "value=None of the block 'gaussian'; use a positive, finite number"),
        (("number", (), np.inf), "value=inf of the block 'number'; use a finite number"),
        (("number", (), 10**400), "value=a whole number of more than 40 digits"),
        (("c1", (), 1.0), "value=1.0; the block 'c1' carries no number"),
    ],
)
def test_trees_that_are_none(arguments, message):
    with pytest.raises(SolverError, match=message):
        Expression(*arguments)


def grown(block, n_arguments, levels):
    tree = C1
    for _ in range(levels):
        tree = Expression(block, (tree,) * n_arguments)
    return tree


def test_a_tree_cannot_grow_without_bounds():
    assert grown("square", 1, 63).depth == 64
    with pytest.raises(SolverError, match="65 levels and 65 nodes; use at most 64 levels and 10000 nodes"):
        grown("square", 1, 64)
    assert grown("add", 2, 12).size == 2**13 - 1
    with pytest.raises(SolverError, match="14 levels and 16383 nodes"):
        grown("add", 2, 13)


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
