import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.expressions import InnerProducts

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(20, 6)), RNG.normal(size=(15, 6))


def test_one_set_is_symmetric_blocks_are_parts_and_overflow_is_infinite():
    products = InnerProducts.between(np.vstack([X, X]) * 1e3)
    np.testing.assert_array_equal(products.G, products.G.T)
    np.testing.assert_array_equal(np.diag(products.G), products.left)
    assert not products.distances[np.arange(20), np.arange(20, 40)].any()
    rows, columns = np.array([3, 0, 7]), slice(5, 9)
    block = InnerProducts.between(X, Z).block(rows, columns)
    expected = InnerProducts.between(X[rows], Z[columns])
    for name in ("G", "left", "right", "distances"):
        np.testing.assert_allclose(getattr(block, name), getattr(expected, name), rtol=1e-12, atol=1e-13)
    assert block.shape == (3, 4)
    products = InnerProducts.between(np.array([[1e200], [-1e200]]))
    assert np.isposinf(products.left).all()
    assert np.isneginf(products.G[0, 1])


def test_distances_far_from_the_origin_have_digits_only_if_they_are_given():
    far = X + 1e7
    expected = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    products = InnerProducts.between(far)
    np.testing.assert_allclose(products.distances, expected, rtol=1e-6)
    derived = InnerProducts(products.G, products.left, products.right).distances
    assert np.abs(derived - expected).max() > 1e-3
    assert derived.min() >= 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"G": np.ones(3)}, r"G has the shape \(3,\); use a matrix"),
        ({"left": np.ones(4)}, r"left has the shape \(4,\); with a G of shape \(3, 2\) it has \(3,\)"),
        ({"right": np.ones((1, 2))}, "right has the shape"),
        ({"distances": np.ones((2, 3))}, "distances has the shape"),
        ({"left": np.array(["a", "b", "c"])}, "left is not an array of numbers: it holds the string 'a'"),
    ],
)
def test_shapes_that_do_not_fit(change, message):
    with pytest.raises(SolverError, match=message):
        InnerProducts(**({"G": np.ones((3, 2)), "left": np.ones(3), "right": np.ones(2)} | change))
