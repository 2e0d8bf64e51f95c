import decimal
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from spotsvm.errors import SolverError
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import BLOCKS, CONSTANTS, InnerProducts, evaluate, evaluate_settings
from spotsvm.solvers.kernels.expressions.evaluation import Evaluation, PairFields

RNG = np.random.default_rng(0)
X_I, X_J = Expression("x_i"), Expression("x_j")
SETTING = {"c1": 0.5, "c2": -2.0, "c3": 3.0, "c4": 0.25}


def node(block, *arguments, value=None):
    return Expression(block, arguments, value)


@st.composite
def expressions(draw, wanted="scalar", depth=4):
    fitting = [b for b in BLOCKS.values() if b.result == wanted and (depth > 1 or not b.arguments)]
    block = draw(st.sampled_from(fitting))
    value = draw(st.sampled_from([0.25, 0.5, 1.5, 2.0])) if block.values != "none" else None
    return Expression(block.name, tuple(draw(expressions(kind, depth - 1)) for kind in block.arguments), value)


def naive(e, x, z):
    """The value at one pair of vectors, in whatever kind of numbers they are."""
    exact = type(x[0])
    v = None if e.value is None else exact(e.value)
    decaying = lambda exponent: np.exp(max(exponent, exact(-80)))  # noqa: E731
    dot = lambda u, w: sum((a * b for a, b in zip(u, w, strict=True)), exact(0))  # noqa: E731
    apart = dot([a - b for a, b in zip(x, z, strict=True)], [a - b for a, b in zip(x, z, strict=True)])
    if e.block in ("normalise", "exponential"):
        child = e.arguments[0]
        at_x, at_z = naive(child, x, x), naive(child, z, z)
        unit = exact(0)
        if at_x != 0 and at_z != 0:
            unit = naive(child, x, z) / (np.sqrt(at_x) * np.sqrt(at_z))
        return unit if e.block == "normalise" else decaying(v * (unit - 1))
    leaves = {
        "x_i": lambda: x,
        "x_j": lambda: z,
        "number": lambda: v,
        "linear": lambda: v * dot(x, z),
        "gaussian": lambda: decaying(-v * apart),
        "rational": lambda: 1 / (1 + v * apart),
        "norms": lambda: v * dot(x, x) * v * dot(z, z),
        "damping": lambda: decaying(-v * dot(x, x)) * decaying(-v * dot(z, z)),
        **{c: lambda c=c: exact(SETTING[c]) for c in CONSTANTS},
    }
    if e.block in leaves:
        return leaves[e.block]()
    k, *others = (naive(child, x, z) for child in e.arguments)
    other = others[0] if others else None
    return {
        "exp": lambda: np.exp(k),
        "square": lambda: k * k,
        "cube": lambda: k * k * k,
        "scale": lambda: v * k,
        "add": lambda: k + other,
        "subtract": lambda: k - other,
        "multiply": lambda: k * other,
        "divide": lambda: k / other,
        "add_vectors": lambda: [a + b for a, b in zip(k, other, strict=True)],
        "subtract_vectors": lambda: [a - b for a, b in zip(k, other, strict=True)],
        "inner_product": lambda: dot(k, other),
        "squared_distance": lambda: sum(((a - b) * (a - b) for a, b in zip(k, other, strict=True)), exact(0)),
        "scalar_times_vector": lambda: [k * b for b in other],
        "vector_times_scalar": lambda: [a * other for a in k],
    }[e.block]()


@settings(max_examples=60, deadline=None)
@given(expressions(), st.integers(1, 40), st.integers(0, 1000))
def test_it_agrees_with_a_naive_evaluation_of_pairs_in_60_digits(expression, dimension, seed):
    """Both in 60 digits, so that what cancels does not blur the comparison: the algebra, not the rounding, is compared."""
    rng = np.random.default_rng(seed)
    X, Z = (np.vectorize(Decimal)(rng.integers(-3, 4, size=(rows, dimension)).astype(object)) for rows in (2, 3))
    left, right = (X * X).sum(axis=1)[:, None], (Z * Z).sum(axis=1)[None, :]
    distances = ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    constants = {name: Decimal(value) for name, value in SETTING.items()}
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**6, -(10**6)
        try:
            expected = [[naive(expression, list(x), list(z)) for z in Z] for x in X]
            pairs = PairFields(X @ Z.T, left, right, distances)
            field = Evaluation(pairs, constants, {}, number=Decimal).scalar(expression)
        except (decimal.DecimalException, ZeroDivisionError):
            assume(False)  # 0/0 and overflow have tests of their own
        found = np.broadcast_to(np.asarray(field, dtype=object), (2, 3))
        for i, j in np.ndindex(2, 3):
            assert abs(found[i, j] - expected[i][j]) <= Decimal("1e-25") * max(1, abs(expected[i][j]))


X, Z = RNG.normal(size=(30, 5)), RNG.normal(size=(20, 5))
INNER = X @ Z.T
NORMS_X, NORMS_Z = (X**2).sum(axis=1)[:, None], (Z**2).sum(axis=1)[None, :]
LINEAR = node("inner_product", X_I, X_J)
DISTANCE = node("squared_distance", X_I, X_J)
REFERENCES = {
    "gaussian": (node("exp", node("multiply", Expression("c2"), DISTANCE)), np.exp(-2 * cdist(X, Z, "sqeuclidean"))),
    "polynomial": (node("square", node("add", Expression("c1"), LINEAR)), (0.5 + INNER) ** 2),
    "a row alone": (node("inner_product", X_I, X_I), np.broadcast_to(NORMS_X, (30, 20))),
    "a constant": (Expression("c1"), np.full((30, 20), 0.5)),
    "moved": (
        node("squared_distance", node("vector_times_scalar", X_I, LINEAR), X_J),
        ((INNER[:, :, None] * X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2),
    ),
    "cosine": (node("normalise", Expression("linear", value=3.0)), INNER / np.sqrt(NORMS_X * NORMS_Z)),
    "exponential": (
        node("exponential", Expression("linear", value=3.0), value=0.7),
        np.exp(0.7 * (INNER / np.sqrt(NORMS_X * NORMS_Z) - 1)),
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_values_in_double_precision(name):
    expression, expected = REFERENCES[name]
    found = evaluate(expression, InnerProducts.between(X, Z), SETTING)
    assert found.shape == (30, 20)
    assert found.flags.c_contiguous
    assert found.flags.writeable
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    without = evaluate(expression, InnerProducts(INNER, NORMS_X[:, 0], NORMS_Z[0]), SETTING)
    np.testing.assert_allclose(without, expected, rtol=1e-11)


def test_diagonals_blocks_and_symmetry():
    """A normalised kernel of new rows against the old ones is the corner of the matrix of all."""
    kernel = node("normalise", node("add", node("square", Expression("linear", value=0.3)), Expression("norms", value=0.2)))
    both = evaluate(kernel, InnerProducts.between(np.vstack([X, Z])))
    np.testing.assert_allclose(evaluate(kernel, InnerProducts.between(X, Z)), both[:30, 30:], rtol=1e-12)
    np.testing.assert_allclose(np.diag(both), 1.0, rtol=1e-14)
    long = RNG.normal(size=(700, 3))
    expression = node("add", node("exp", node("multiply", Expression("c2"), DISTANCE)), REFERENCES["exponential"][0])
    inner, norms = long @ X[:, :3].T, (long**2).sum(axis=1)[:, None]
    apart = cdist(long, X[:, :3], "sqeuclidean")
    cosine = inner / np.sqrt(norms * (X[:, :3] ** 2).sum(axis=1))
    found = evaluate(expression, InnerProducts.between(np.tile(long, (3, 1)), X[:, :3]), SETTING)
    np.testing.assert_allclose(found[1400:], np.exp(-2 * apart) + np.exp(0.7 * (cosine - 1)), rtol=1e-12)
    products = InnerProducts.between(RNG.normal(size=(300, 7)))
    for expression in (LINEAR, DISTANCE, REFERENCES["gaussian"][0], Expression("gaussian", value=0.1)):
        matrix = evaluate(expression, products, SETTING)
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-14)


def test_settings_share_what_has_no_constant_and_nothing_else():
    expression = node("multiply", Expression("c1"), node("exponential", node("add", LINEAR, Expression("c2")), value=1.0))
    products = InnerProducts.between(X)
    settings = [{"c1": 1.0, "c2": 40.0}, {"c1": 2.0, "c2": 50.0}]
    for matrix, setting in zip(evaluate_settings(expression, products, settings), settings, strict=True):
        np.testing.assert_array_equal(matrix, evaluate(expression, products, setting))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (node("divide", node("subtract", LINEAR, LINEAR), node("subtract", LINEAR, LINEAR)), np.nan),
        (node("divide", Expression("c1"), node("subtract", Expression("c1"), Expression("c1"))), np.inf),
        (node("exp", node("exp", node("exp", node("exp", Expression("c3"))))), np.inf),
        (node("normalise", node("subtract", LINEAR, DISTANCE)), None),
    ],
)
def test_overflow_and_0_by_0_come_back_as_such(expression, expected):
    found = evaluate(expression, InnerProducts.between(np.array([[1.0], [2.0]])), SETTING)
    if expected is not None:
        np.testing.assert_array_equal(found, np.full((2, 2), expected))


def test_no_rows_and_what_cannot_be_normalised_or_evaluated():
    found = evaluate(node("normalise", Expression("linear", value=1.0)), InnerProducts.between(np.array([[0, 0], [3.0, 4.0]])))
    np.testing.assert_allclose(found, [[0.0, 0.0], [0.0, 1.0]])  # a row of zeros has no direction
    assert np.isnan(evaluate(node("normalise", Expression("number", value=-1.0)), InnerProducts.between(np.eye(2)))).all()
    assert evaluate(LINEAR, InnerProducts.between(np.empty((0, 3)), X[:, :3])).shape == (0, 30)
    assert evaluate(REFERENCES["cosine"][0], InnerProducts.between(X[:, :3], np.empty((0, 3)))).shape == (30, 0)
    products = InnerProducts.between(X)
    with pytest.raises(SolverError, match="'x_i' is a vector"):
        evaluate(X_I, products)
    with pytest.raises(SolverError, match="the constant 'c1' of 'c1' has no value"):
        evaluate(Expression("c1"), products)
    with pytest.raises(SolverError, match=r"constants\['c1'\]=nan; use a finite number"):
        evaluate(Expression("c1"), products, {"c1": np.nan})
