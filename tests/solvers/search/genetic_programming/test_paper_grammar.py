from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import PAPER_BLOCKS
from spotsvm.solvers.kernels.expressions.expression import parts_of
from spotsvm.solvers.search.genetic_programming import PaperGrammar
from spotsvm.solvers.search.genetic_programming.paper_grammar import cross_subtrees, grow_subtree, replace_label

GRAMMAR = PaperGrammar()
X_I, X_J, C1 = Expression("x_i"), Expression("x_j"), Expression("c1")
LINEAR = Expression("inner_product", (X_I, X_J))
SEEDS = st.integers(0, 10**6)


def grown(seed, max_depth=7):
    return grow_subtree("scalar", max_depth, np.random.default_rng([seed, 1]))


def test_table_1():
    """Four constants, two inputs, two functions, four scalar operators, and six of vectors."""
    types = Counter((b.arguments, b.result) for b in PAPER_BLOCKS.values())
    s, v = "scalar", "vector"
    assert types == {
        ((), s): 4,
        ((), v): 2,
        ((s,), s): 2,
        ((s, s), s): 4,
        ((v, v), v): 2,
        ((v, v), s): 2,
        ((s, v), v): 1,
        ((v, s), v): 1,
    }


def test_limits():
    assert GRAMMAR.is_valid(LINEAR)
    assert not GRAMMAR.is_valid(X_I)
    assert not GRAMMAR.is_valid(Expression("inner_product", (X_I, X_I)))
    assert not PaperGrammar(max_depth=2).is_valid(Expression("square", (LINEAR,)))
    two = Expression("add", (LINEAR, Expression("add", (C1, Expression("c2")))))
    twice = Expression("add", (LINEAR, Expression("add", (C1, C1))))
    assert not PaperGrammar(max_constants=1).is_valid(two)
    assert PaperGrammar(max_constants=1).is_valid(twice)
    all_four = two
    for name in ("c3", "c4"):
        all_four = Expression("add", (all_four, Expression(name)))
    assert GRAMMAR.is_valid(all_four)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_label_is_replaced_by_one_of_the_same_types(seed):
    before = grown(seed)
    after = replace_label(before, np.random.default_rng(seed))
    pairs = [(m, n) for m, n in zip(before.nodes(), after.nodes(), strict=True) if m.block != n.block]
    assert len(pairs) == (0 if all(len(n.arguments) == 0 or "_times_" in n.block for n in before.nodes()) else 1)
    for old, new in pairs:
        assert (PAPER_BLOCKS[old.block].arguments, old.type) == (PAPER_BLOCKS[new.block].arguments, new.type)
        assert old.arguments == new.arguments != ()


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_crossed_subtree_is_of_the_other_parent(seed):
    first, second = grown(seed), grown(seed + 1)
    child = cross_subtrees(first, second, np.random.default_rng(seed))
    if child == first:
        return
    path = ()
    of_first, of_child = (dict(parts_of(e)) for e in (first, child))
    while len(differing := [k for k, _ in enumerate(of_child[path].arguments) if _differ(of_first, of_child, path, k)]) == 1:
        path = (*path, differing[0])
        if of_child[path] in set(second.nodes()):
            return
    assert of_child[path] in set(second.nodes())


def _differ(of_first, of_child, path, k):
    return of_first[path].block == of_child[path].block and of_first[(*path, k)] != of_child[(*path, k)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_depth": 0}, "max_depth=0; use 1 or more, a whole number"),
        ({"max_depth": 1}, "max_depth=1; no expression of one level has both inputs"),
        ({"max_depth": 65}, "max_depth=65; use 64 or less"),
        ({"max_constants": 1.5}, "max_constants=1.5; use 1 or more, a whole number"),
    ],
)
def test_limits_out_of_range(settings, message):
    with pytest.raises(SolverError, match=message):
        PaperGrammar(**settings)
