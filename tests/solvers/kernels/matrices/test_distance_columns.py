import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels import DistanceColumns
from spotsvm.solvers.kernels.matrices._column_kernels import (
    add_columns,
    add_gaussians,
    fill_columns,
    fill_distances,
    keep_gaussians,
)

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(40, 6)), RNG.normal(size=(1500, 6))
C = RNG.normal(size=(3, 7))


@pytest.mark.parametrize("columns", [[0, 1], slice(None)], ids=["differences", "products"])
@pytest.mark.parametrize("gamma", [0.0, 0.05, 2.0])
def test_sums_of_kernels(columns, gamma):
    rows = RNG.choice(40, 7, replace=False)
    found = DistanceColumns(X[:, columns], Z[:, columns]).gaussian_sums(rows, gamma, C)
    np.testing.assert_allclose(found, C @ rbf_kernel(X[rows][:, columns], Z[:, columns], gamma), atol=2e-6)


def test_single_exponentials_are_correct_to_seven_digits():
    distances = np.linspace(0.0, 120.0, 5000, dtype=np.float32)[None]
    found = np.zeros_like(distances)
    keep_gaussians(distances, np.array([0]), 1.0, found)
    exact = np.exp(-distances.astype(float))
    assert np.abs(found - exact).max() < 1e-7
    assert (np.abs(found / exact - 1.0) < 1e-5)[exact > 1e-37].all()
    assert found[0, 0] == 1.0


@pytest.mark.parametrize("n_slots", [3, 6])
def test_the_compiled_loop_is_the_plain_one_to_the_bit_with_kernels_that_are_kept(n_slots):
    distances = RNG.gamma(2.0, size=(12, 2500)).astype(np.float32)
    slots, coefficients = np.array([3, 0, 8, 11, 5, 1])[:n_slots], RNG.normal(size=(2, n_slots))
    coefficients[0, 1] = 0.0
    kernels, start = np.full_like(distances, np.nan), RNG.normal(size=(2, 2500))
    one, other = start.copy(), start.copy()
    keep_gaussians(distances, slots, 1.7, kernels)
    add_columns(kernels, slots, coefficients, one)
    add_gaussians(distances, slots, 1.7, coefficients, other)
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(other, start + coefficients @ np.exp(-1.7 * distances[slots].astype(float)), atol=1e-6)


def test_distances_in_compiled_loops_are_the_plain_ones():
    rows, others = X[:37], np.ascontiguousarray(Z.T)
    square, out = np.empty((37, 37)), np.zeros((40, len(Z)), np.float32)
    fill_distances(np.ascontiguousarray(rows.T), square)
    np.testing.assert_allclose(square, cdist(rows, rows, "sqeuclidean"), rtol=1e-12, atol=1e-12)
    slots = RNG.permutation(40)[:37]
    largest = fill_columns(rows, others, 2.5, slots, out)
    exact = cdist(rows, Z, "sqeuclidean")
    assert largest == pytest.approx(exact.max())
    np.testing.assert_allclose(out[slots], exact / 2.5, rtol=1e-6)


def test_columns_are_computed_once_and_the_longest_unused_makes_room():
    columns = DistanceColumns(X, Z)
    for rows in ([1, 2, 3], [3, 2], [4, 1]):
        columns.gaussian_sums(rows, 1.0, np.ones((1, len(rows))))
    assert columns.n_computed == 4
    assert columns.kept_bytes == (4 + 4) * 4 * len(Z)  # the second and the third time kernels were kept too
    columns = DistanceColumns(X, Z, max_bytes=3 * 8 * len(Z) + 7)
    for row in (0, 1, 2, 0, 3):
        columns.gaussian_sums([row], 1.0 + row, [[1.0]])
    assert (columns.n_computed, columns.kept_bytes) == (4, 3 * 4 * len(Z))
    columns.gaussian_sums([0, 2, 3], 1.0, np.ones((1, 3)))
    assert columns.n_computed == 4
    columns.gaussian_sums([1], 1.0, [[1.0]])
    assert columns.n_computed == 5


def test_far_equal_and_no_rows():
    far = DistanceColumns([[0.0]], [[1.0], [1e4]])
    assert far.gaussian_sums([0], 1.0, [[1.0]])[0, 1] == pytest.approx(0.0, abs=1e-30)
    columns = DistanceColumns(np.ones((2, 3)), np.ones((4, 3)))
    assert columns.gaussian_sums([0, 1], 5.0, [[1.0, 2.0]]).tolist() == [[3.0] * 4]
    assert not columns.gaussian_sums([], 1.0, np.empty((2, 0))).any()
    with pytest.raises(SolverError, match="scale the data"):
        DistanceColumns([[1e300], [0.0]], [[-1e300]]).gaussian_sums([0], 1.0, [[1.0]])


@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e20, 1e60])
def test_the_scale_of_the_data_changes_no_result(scale):
    plain = DistanceColumns(X, Z).gaussian_sums([0, 5], 0.4, C[:, :2])
    scaled = DistanceColumns(scale * X, scale * Z).gaussian_sums([0, 5], 0.4 / scale**2, C[:, :2])
    np.testing.assert_allclose(scaled, plain, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, Z[:, :2]), "Z has 2 columns and X has 6"),
        ((X, Z, -1), "max_bytes=-1"),
        ((X * np.nan, Z), r"X\[0, 0\] is nan"),
        ((X, np.empty((0, 6))), "Z has shape"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(SolverError, match=message):
        DistanceColumns(*arguments)


@pytest.mark.parametrize("room", [0, 1, 5, 100])
def test_the_room_changes_no_result(room):
    small = DistanceColumns(X, Z, max_bytes=8 * len(Z) * room)
    large = DistanceColumns(X, Z)
    for _ in range(5):
        rows = RNG.choice(40, 7, replace=False)
        np.testing.assert_allclose(small.gaussian_sums(rows, 0.3, C), large.gaussian_sums(rows, 0.3, C), atol=1e-12)
    assert small.kept_bytes <= 8 * len(Z) * max(room, 1)


def test_a_gamma_that_comes_again_changes_no_bit():
    one, other = DistanceColumns(X, Z), DistanceColumns(X, Z)
    for k, gamma in enumerate([0.3, 0.3, 0.3, 0.7, 0.3, 0.3]):
        rows = RNG.choice(40, 7, replace=False)
        fresh = other if k % 2 else DistanceColumns(X, Z)
        np.testing.assert_array_equal(one.gaussian_sums(rows, gamma, C), fresh.gaussian_sums(rows, gamma, C))
