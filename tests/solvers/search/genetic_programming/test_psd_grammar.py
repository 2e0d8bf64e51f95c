import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming import PsdGrammar
from spotsvm.solvers.search.genetic_programming import psd_grammar as change
from spotsvm.solvers.search.genetic_programming.psd_grammar import PSD_BLOCKS, degree, grow_kernel

SEEDS = st.integers(0, 10**6)
WIDE = Expression("gaussian", value=0.5)


def rows(rng):
    """Some of them equal, one of them 0, of any size."""
    n, d = rng.integers(2, 25), int(rng.choice([1, 2, 5, 60]))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3) + rng.choice([0.0, 3.0])
    return np.vstack([X, X[:2], np.zeros((1, d))])


def assert_semidefinite(kernel, X):
    K = evaluate(kernel, InnerProducts.between(X))
    assert np.isfinite(K).all(), kernel.text()
    np.testing.assert_allclose(K, K.T, rtol=1e-9, atol=1e-12 * np.abs(K).max())
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-8 * eigenvalues[-1], kernel.text()


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_random_kernels_are_positive_semidefinite(seed):
    rng = np.random.default_rng(seed)
    X = rows(rng)
    grammar = PsdGrammar(squared_norm=10.0 ** rng.uniform(-2, 2) * float((X**2).sum(axis=1).mean()))
    kernel = grow_kernel(int(rng.integers(1, 7)), grammar.squared_norm, rng)
    if grammar.is_valid(kernel):
        assert_semidefinite(kernel, X)


def test_every_block_is_semidefinite_at_the_ends_of_its_range():
    rng = np.random.default_rng(0)
    grammar = PsdGrammar(squared_norm=5.0)
    X = np.vstack([rng.normal(size=(20, 5)), np.zeros((1, 5))])
    for block in sorted(PSD_BLOCKS):
        n_arguments = {"add": 2, "multiply": 2, "square": 1, "cube": 1, "scale": 1, "normalise": 1, "exponential": 1}
        arguments = (Expression("linear", value=0.2),) * n_arguments.get(block, 0)
        typed = (
            [Expression(block, arguments)]
            if block in ("add", "multiply", "square", "cube", "normalise")
            else [Expression(block, arguments, value) for value in grammar.value_bounds(Expression(block, arguments, 1.0))[0]]
        )
        for kernel in typed:
            assert_semidefinite(kernel, X)


def test_growth_gives_small_valid_kernels_of_every_kind():
    rng = np.random.default_rng(0)
    grammar = PsdGrammar(squared_norm=4.0)
    kernels = [grammar.grow(rng) for _ in range(1500)]
    assert np.mean([grammar.is_valid(k) for k in kernels]) > 0.7
    assert {n.block for k in kernels for n in k.nodes()} == PSD_BLOCKS
    assert max(k.depth for k in kernels) <= 6  # a factor collected at the top is a level more


def test_changes_of_the_tree():
    rng = np.random.default_rng(0)
    both = Expression("add", (WIDE, Expression("linear", value=2.0)))
    assert change.remove_operator(both, rng) in both.arguments
    assert change.remove_operator(WIDE, rng) == WIDE
    assert change.swap_alike(both, rng).text() == "1 / (1 + 0.5 * |x_i - x_j|^2) + 2 * <x_i, x_j>"
    assert change.swap_alike(both.arguments[1], rng) == both.arguments[1]
    assert change.replace_leaf(both, 1.0, rng).block == "add"
    assert change.wrap(WIDE, 1.0, rng).arguments == (WIDE,)
    term = change.add_term(WIDE, 1.0, rng)
    assert term.block == "add"
    assert term.arguments[0] == WIDE
    assert 0.02 <= term.arguments[1].value <= 0.2
    factor = change.add_factor(WIDE, 1.0, rng)
    assert factor.arguments[1].text().startswith("1 + 0.")
    mixed = change.blend(WIDE, both.arguments[1], rng)
    assert sum(child.value for child in mixed.arguments) == pytest.approx(1.0)
    assert change.step_values(Expression("x_i"), rng) == Expression("x_i")


def test_what_is_no_such_kernel():
    grammar = PsdGrammar()
    linear = Expression("linear", value=1.0)
    assert grammar.is_valid(linear)
    assert not grammar.is_valid(Expression("number", value=1.0))
    assert not grammar.is_valid(Expression("add", (linear, Expression("number", value=-1.0))))
    assert not grammar.is_valid(Expression("subtract", (linear, linear)))
    assert not grammar.is_valid(Expression("inner_product", (Expression("x_i"), Expression("x_j"))))
    assert not PsdGrammar(max_constants=1).is_valid(Expression("add", (linear, WIDE)))


def test_the_degree_is_limited():
    cube = Expression("cube", (Expression("linear", value=1.0),))
    assert degree(cube) == 3
    assert degree(Expression("multiply", (cube, Expression("norms", value=1.0)))) == 5
    assert degree(Expression("add", (cube, WIDE))) == 3
    assert degree(Expression("normalise", (cube,))) == 0
    assert PsdGrammar().is_valid(Expression("square", (cube,)))
    assert not PsdGrammar().is_valid(Expression("cube", (cube,)))


@pytest.mark.parametrize("squared_norm", [0.0, -1.0, np.nan, np.inf, "1"])
def test_a_size_that_is_none(squared_norm):
    with pytest.raises(SolverError, match="use a positive, finite number"):
        PsdGrammar(squared_norm=squared_norm)
