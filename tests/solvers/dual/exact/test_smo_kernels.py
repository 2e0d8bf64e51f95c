import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.exact import _face_kernels as face
from spotsvm.solvers.dual.exact import _smo_kernels as kernels
from spotsvm.solvers.dual.exact.smo import face_minimum
from spotsvm.solvers.kernels.matrices._single_kernels import fill_gaussian, fill_gaussian_less_one

SEEDS = st.integers(0, 10_000)
SIZES = st.sampled_from([1, 2, 7, 40, 1023, 1024, 1025, 2100])  # a pass is by blocks of 1024
DIGITS = 2.0**-12  # of a key, whose low 10 of 23 bits hold its place
EPSILON = st.sampled_from([0.0, 0.3])


def room():
    keys = np.empty(1024, np.float32)
    return keys, keys.view(np.int32)


def with_infinities(rng, values, infinity):
    values[rng.random(len(values)) < 0.3] = infinity
    return values


def drawn_pairs(seed, n, epsilon, dtype=np.float64):
    """Draw bounds around 0, a kernel matrix, targets, and a beta inside with some at each bound and at 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(dtype)
    z = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    signed = rng.choice([0.0, 0.5, 4.0], n) * z
    lower, upper = (-np.abs(signed), np.abs(signed)) if epsilon else (np.minimum(signed, 0), np.maximum(signed, 0))
    share = rng.choice([0.0, 1.0, rng.random()], n)
    beta = np.where(rng.random(n) < 0.3, 0.0, lower + share * (upper - lower))
    return K, z, lower, upper, beta


def plain_slopes(g, beta, lower, upper, epsilon):
    """Differentiate g beta + epsilon |beta| to the right and to the left."""
    rise = np.where(beta < upper, g + np.where(beta >= 0, epsilon, -epsilon), np.inf)
    fall = np.where(beta > lower, g + np.where(beta > 0, epsilon, -epsilon), -np.inf)
    return rise, fall


def plain_smo(K, z, beta, lower, upper, epsilon, tol):
    """Move the pair with the steepest rise and the partner that gains most, until no violation is above tol."""
    for _ in range(100_000):
        rise, fall = plain_slopes(K @ beta - z, beta, lower, upper, epsilon)
        i = rise.argmin()
        gap = np.maximum(fall - rise[i], 0.0)
        if gap.max() <= tol:
            return beta
        curvature = np.maximum(K[i, i] + K.diagonal() - 2 * K[i], 1e-12)
        j = (gap**2 / curvature).argmax()
        room_i = (upper[i] if beta[i] >= 0 else min(upper[i], 0.0)) - beta[i]
        room_j = beta[j] - (lower[j] if beta[j] <= 0 else max(lower[j], 0.0))
        step = min(gap[j] / curvature[j], room_i, room_j)
        beta[i] = upper[i] if step == room_i and beta[i] >= 0 else beta[i] + step
        beta[j] = lower[j] if step == room_j and beta[j] <= 0 else beta[j] - step
    raise AssertionError("no convergence")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_the_least_and_the_largest_are_those_of_numpy_also_of_nan(values):
    values = np.array(values)
    assert kernels._least(values) == values.argmin()
    np.testing.assert_equal(kernels._largest(values), values.max())


@settings(max_examples=30, deadline=None)
@given(SEEDS, SIZES, st.floats(-3, 6))
def test_the_steepest_rise(seed, n, shift):
    rng = np.random.default_rng(seed)
    rise = with_infinities(rng, rng.standard_normal(n), np.inf)
    place = kernels._steepest_rise(rise, shift, *room())
    if rise.min() >= shift:
        assert place == -1
    else:
        assert shift - rise[place] >= (1 - DIGITS) * (shift - rise.min())


@settings(max_examples=30, deadline=None)
@given(SEEDS, SIZES, st.sampled_from([np.float32, np.float64]), st.floats(-3, 6))
def test_the_partner_and_the_largest_violation(seed, n, dtype, best):
    rng = np.random.default_rng(seed)
    fall = with_infinities(rng, rng.standard_normal(n), -np.inf)
    row, diagonal = rng.uniform(-1, 1, n).astype(dtype), rng.uniform(1.5, 3, n).astype(dtype)
    gap = np.maximum(fall - best, 0.0)
    gain = gap**2 / (2.0 + diagonal - 2 * row.astype(np.float64))
    place, largest = kernels._partner(row, diagonal, 2.0, fall, best, *room(), *room())
    assert largest == pytest.approx(gap.max(), rel=1e-6)
    if gap.max() == 0:
        assert place == -1
    else:
        assert gain[place] >= (1 - 2 * DIGITS) * gain.max()


@pytest.mark.parametrize("curvature", [0.0, -1.0])
def test_a_partner_without_curvature_gains_most(curvature):
    row = np.array([0.5, 1.0 - curvature / 2, 0.5])
    place, gap = kernels._partner(row, np.ones(3), 1.0, np.array([9.0, 1.0, 5.0]), 0.5, *room(), *room())
    assert (place, gap) == (1, 8.5)


@settings(max_examples=25, deadline=None)
@given(SEEDS, SIZES, st.sampled_from([np.float32, np.float64]))
def test_a_move_changes_the_slopes_and_finds_the_next_rise(seed, n, dtype):
    rng = np.random.default_rng(seed)
    rise, fall = (with_infinities(rng, rng.standard_normal(n), infinity) for infinity in (np.inf, -np.inf))
    p, q = rng.standard_normal((2, n)).astype(dtype)
    change = 0.3 * (p.astype(np.float64) - q)
    new_rise, new_fall = rise + change, fall + change
    place = kernels._move(0.3, p, q, rise, fall, 2.0, *room())
    np.testing.assert_array_equal(rise, new_rise)
    np.testing.assert_array_equal(fall, new_fall)
    assert place == kernels._steepest_rise(rise, 2.0, *room())


@settings(max_examples=30, deadline=None)
@given(SEEDS, EPSILON)
def test_slopes_and_back(seed, epsilon):
    _, g, lower, upper, beta = drawn_pairs(seed, 30, epsilon)
    rise, fall = np.empty(30), np.empty(30)
    violation = kernels.slopes(g, beta, lower, upper, epsilon, rise, fall)
    expected = plain_slopes(g, beta, lower, upper, epsilon)
    np.testing.assert_array_equal((rise, fall), expected)
    assert violation == expected[1].max() - expected[0].min()
    back = [kernels._smooth_slope(k, beta, epsilon, rise, fall) for k in range(30)]
    np.testing.assert_allclose(back, np.where(lower < upper, g, np.nan), rtol=1e-15)


@settings(max_examples=25, deadline=None)
@given(SEEDS, EPSILON)
def test_active_are_all_that_could_be_in_a_violating_pair(seed, epsilon):
    K, z, lower, upper, beta = drawn_pairs(seed, 30, epsilon)
    rise, fall = plain_slopes(K @ beta - z, beta, lower, upper, epsilon)
    active = np.empty(30, np.int64)
    m = kernels._choose_active(rise, fall, active)
    violating = fall[:, None] >= rise  # fall of the one, rise of the other
    assert active[:m].tolist() == [k for k in range(30) if violating[k].any() or violating[:, k].any()]
    part = np.empty((m, m))
    kernels._gather(K, active[:m], part)
    np.testing.assert_array_equal(part, K[np.ix_(active[:m], active[:m])])


@settings(max_examples=30, deadline=None)
@given(SEEDS, EPSILON, st.sampled_from([np.float32, np.float64]), st.sampled_from([1, 20 * 20, 40 * 40]))
def test_solve_ends_where_plain_numpy_does(seed, epsilon, dtype, buffer):
    K, z, lower, upper, beta = drawn_pairs(seed, 40, epsilon, dtype)
    total, plain = beta.sum(), K.astype(np.float64)
    expected = plain_smo(plain, z, beta.copy(), lower, upper, epsilon, 1e-7)
    g = plain @ beta - z
    diagonal = np.ascontiguousarray(K.diagonal())
    steps, converged, work = kernels.solve(K, diagonal, g, beta, lower, upper, epsilon, 1e-7, 100_000, np.empty(buffer, dtype))
    assert converged
    assert work >= steps
    assert ((lower <= beta) & (beta <= upper)).all()
    assert beta.sum() == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(g, plain @ beta - z, atol=1e-12)

    def value(b):
        return 0.5 * b @ plain @ b - z @ b + epsilon * np.abs(b).sum()

    assert value(beta) == pytest.approx(value(expected), abs=1e-7 * np.abs(upper - lower).sum())
    np.testing.assert_allclose(plain @ (beta - expected), 0.0, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 25), st.data())
def test_taking_a_row_out_of_a_factor(seed, m, data):
    A = np.random.default_rng(seed).standard_normal((m, m + 2))
    H = A @ A.T
    R = np.linalg.cholesky(H).T.copy()
    k = data.draw(st.integers(0, m - 1))
    face._remove(R, m, k)
    fresh = np.linalg.cholesky(np.delete(np.delete(H, k, 0), k, 1)).T
    found = np.triu(R[: m - 1, : m - 1])
    np.testing.assert_allclose(np.abs(found), np.abs(fresh), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.T @ found, fresh.T @ fresh, rtol=1e-10, atol=1e-10)
    x = np.arange(1.0, m + 1)
    expected = np.linalg.solve(fresh.T @ fresh, x[: m - 1])
    face._solve_factored(R, m - 1, x)
    np.testing.assert_allclose(x[: m - 1], expected, rtol=1e-5, atol=1e-8)
    assert x[m - 1] == m


def plain_descent(H, slope, beta, lower, upper, most):
    """Solve for the minimum over the free ones with their sum kept, and stop at the first bound on the way."""
    free = list(range(len(beta)))
    for stops in range(most + 1):
        if len(free) < 2:
            return stops, True
        m = len(free)
        system = np.ones((m + 1, m + 1))
        system[:m, :m], system[m, m] = H[np.ix_(free, free)], 0.0
        step = np.linalg.solve(system, np.append(-slope[free], 0.0))[:m]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(step == 0, np.inf, np.where(step > 0, upper[free] - beta[free], lower[free] - beta[free]) / step)
        share, first = min(1.0, max(shares.min(), 0.0)), int(shares.argmin())
        whole = np.zeros(len(beta))
        whole[free] = share * step
        beta += whole
        slope = slope + H @ whole
        if share == 1.0:
            return stops, True
        k = free.pop(first)
        beta[k] = upper[k] if step[first] > 0 else lower[k]
    return most, False


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 15), st.sampled_from([0, 1, 3, 20]), st.sampled_from([0.01, 1.0, 100.0]))
def test_the_descent_on_a_face_is_that_of_plain_numpy(seed, m, most, width):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, m + 3))
    H, slope, beta = A @ A.T, rng.standard_normal(m), rng.standard_normal(m)
    lower, upper = beta - width * rng.random(m), beta + width * rng.random(m)
    expected, start = beta.copy(), beta.copy()
    ends = plain_descent(H, slope, expected, lower, upper, most)
    assert face.descend_face(np.linalg.cholesky(H).T.copy(), slope, beta, lower, upper, most) == ends
    np.testing.assert_allclose(beta, expected, rtol=1e-6, atol=1e-8)
    step = beta - start
    assert slope @ step + 0.5 * step @ H @ step <= 1e-12


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 40), st.integers(1, 3), st.booleans())
def test_a_newton_step_is_feasible_and_does_not_ascend_on_a_singular_matrix(seed, m, rank, ties):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, rank))
    X[m // 2 :] = X[: m - m // 2] if ties else X[m // 2 :]
    H, slope, beta = X @ X.T, rng.choice([-1.0, 1.0], m), np.full(m, 0.5)
    point, stops = face_minimum(H.copy(), slope, beta, np.zeros(m), np.ones(m), m // 2 + 4)
    assert 0 <= stops <= m // 2 + 4
    assert ((point >= 0) & (point <= 1)).all()
    assert point.sum() == pytest.approx(m / 2, rel=1e-13)
    step = point - beta
    assert slope @ step + 0.5 * step @ H @ step <= 1e-9
    np.testing.assert_array_equal(beta, 0.5)


def test_there_is_no_newton_step_where_the_matrix_is_not_definite():
    assert face_minimum(np.diag([1.0, -1.0]), np.zeros(2), np.zeros(2), -np.ones(2), np.ones(2), 5) is None


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e-8, 1e-3, 1.0, 1e3, 1e300])
def test_the_gaussian_is_exact_to_single_precision(gamma):
    d = np.concatenate([[0.0, 1e-30, 1e30], np.geomspace(1e-9, 1e9, 997)]).astype(np.float32).reshape(40, 25)
    K = np.full(d.shape, np.nan, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        exponents = -gamma * d.astype(np.float64)
        fill_gaussian_less_one(d, gamma, K)
        np.testing.assert_allclose(K, np.expm1(exponents).astype(np.float32), rtol=1.3e-7, atol=1e-45)
        fill_gaussian(d, gamma, K)
        np.testing.assert_allclose(K, np.exp(np.maximum(exponents, -80.0)), rtol=1.3e-7)
