"""The text of an expression means what is evaluated."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.kernels.expressions import CONSTANTS, InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming.paper_grammar import grow_subtree


def inner(u, v):
    return float(np.dot(u, v))


def readable(rng):
    """Bars it cannot read, so no distances are in it."""
    while True:
        expression = grow_subtree("scalar", 6, rng)
        if expression.size > 3 and all(n.block != "squared_distance" for n in expression.nodes()):
            return expression


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_text_means_what_is_evaluated(seed):
    """Read by Python's own rules of precedence."""
    rng = np.random.default_rng(seed)
    expression = readable(rng)
    x, z = rng.integers(1, 4, size=(2, 1, 3)) / 4.0
    constants = {name: np.float64(value) for name, value in zip(CONSTANTS, (0.5, 0.25, 0.75, 1.5), strict=True)}
    code = expression.text().replace("<", "inner(").replace(">", ")").replace("^", "**")
    with np.errstate(all="ignore"):
        names = {"exp": np.exp, "inner": lambda u, v: np.float64(inner(u, v)), "x_i": x[0], "x_j": z[0]}
        expected = eval(code, names | constants)
    found = evaluate(expression, InnerProducts.between(x, z), constants)[0, 0]
    if np.isfinite(expected) and np.isfinite(found) and abs(expected) < 1e100:
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
