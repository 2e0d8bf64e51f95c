import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import eye_array

from spotsvm.errors import SolverError
from spotsvm.solvers.dual import DualProblem, make_problem, solve_dual_regression
from spotsvm.solvers.dual.problem.problem import bias_interval, middle_bias

SEEDS = st.integers(0, 10_000)


def gaussian(rng, n):
    X = rng.standard_normal((n, 2))
    return np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(1, 8))
def test_every_bias_of_the_interval_has_the_least_loss_and_no_other_one(seed, n_first, n_second):
    rng = np.random.default_rng(seed)
    y = np.r_[np.ones(n_first), -np.ones(n_second)]
    C = np.where(y > 0, 1e-3 / n_first, 1e-3 / n_second)  # so little that every variable ends at its bound
    K = gaussian(rng, len(y))
    decision = K @ (C * y)
    low, high = bias_interval(decision - y, C * y, np.minimum(C * y, 0), np.maximum(C * y, 0))

    def loss(bias):
        return C @ np.maximum(1 - y * (decision + bias), 0)

    assert high - low > 1.9
    assert max(loss(low), loss(high), loss(0.3 * low + 0.7 * high)) <= loss(middle_bias(low, high)) * (1 + 1e-12)
    assert min(loss(low - 0.01), loss(high + 0.01)) > loss(low) * (1 + 1e-6)


@pytest.mark.parametrize("left", [0.0, 1e-16, 1e-11])
def test_what_rounding_leaves_short_of_a_bound_changes_nothing(left):
    C = np.array([0.5, 0.5, 0.25, 0.25])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    slope = np.array([0.1, 0.2, 0.3, 0.4]) - y
    beta = y * C * (1 - np.array([left, 0, 0, left]))
    interval = bias_interval(slope, beta, np.minimum(C * y, 0), np.maximum(C * y, 0))
    assert interval == pytest.approx((-1.3, 0.8))
    # where nothing limits it on one side, or on both
    assert [middle_bias(*ends) for ends in ((-np.inf, 0.5), (-2.0, np.inf), (-np.inf, np.inf))] == [0.5, -2.0, 0.0]


def test_a_regression_at_its_bounds_has_the_middle():
    y = np.array([-3.0, -2.0, 1.0, 4.0])
    C = np.array([0.1, 0.2, 0.1, 0.2]) * 1e-3
    found = solve_dual_regression(np.eye(4), y, C, epsilon=0.5)
    np.testing.assert_allclose(found.alpha, C * [-1, -1, 1, 1], rtol=1e-9)
    assert found.bias == pytest.approx((-2.0 + 0.5 + 1.0 - 0.5) / 2, abs=1e-3)


Y = [1, -1, 1]
asymmetric = np.eye(3)
asymmetric[0, 2] = 0.5


def with_entry(value):
    K = np.eye(3)
    K[1, 2] = K[2, 1] = value
    return K


def test_asymmetry_is_found_and_told_in_every_block_of_a_large_matrix():
    K = np.eye(700)
    K[650, 600] = 1e-3
    with pytest.raises(SolverError, match=r"K\[600, 650\] = 0 but K\[650, 600\] = 0.001"):
        make_problem(K, np.where(np.arange(700) % 2, 1, -1), 1.0)
    K[650, 600] = 1e-9  # rounding
    assert make_problem(K, np.where(np.arange(700) % 2, 1, -1), 1.0).n == 700


def test_a_matrix_that_may_not_be_written_to_is_copied_and_no_other():
    K = np.eye(3)
    found = make_problem(K, Y, np.array([0.0, 1.0, 2.0]))
    assert found.K is K
    np.testing.assert_array_equal(found.C, [0, 1, 2])  # single bounds may be 0
    K.flags.writeable = False
    problem = make_problem(K, Y, 1.0)
    assert problem.K.flags.writeable
    np.testing.assert_array_equal(problem.K, K)


def test_the_objective_of_the_largest_C_is_finite():
    K, largest = 3.0 * np.ones((3, 3)), 2e153
    problem = make_problem(K, Y, largest)
    assert np.isfinite(problem.objective(problem.C))
    for C, scale in ((1e155, 1.0), (1e90, 1e140), (1e155, 1e-300)):
        with pytest.raises(SolverError, match=f"C={C:g} is so large that the objective overflows".replace("+", "[+]")):
            make_problem(scale * K, Y, C)


BAD = {
    "K": [
        (np.ones((2, 3)), r"K has shape \(2, 3\); it must be a square"),
        (np.ones(3), r"K has shape \(3,\)"),
        (np.empty((0, 0)), r"K has shape \(0, 0\).* n >= 1"),
        (asymmetric, r"K is not symmetric: K\[0, 2\] = 0.5 but K\[2, 0\] = 0;"),
        (with_entry(np.nan), r"K\[1, 2\] is nan"),
        (with_entry(np.inf), r"K\[1, 2\] is inf"),
        (with_entry(1e160), r"K holds entries up to 1e\+160.* scale the kernel"),
        ([["a", "b"], ["c", "d"]], "K must be a matrix of numbers.*'a'"),
        ([[1.0, 2.0], [3.0]], "K must be a matrix of numbers"),
        (eye_array(3), "K must be a matrix of numbers"),
        (1j * np.eye(3), "^K "),
    ],
    "y": [
        ([1, 1, 1], "y holds the one class 1; two are needed"),
        ([1, 0, -1], "y holds -1, 0, 1; the labels of a dual problem are -1 and 1"),
        ([0, 1, 1], "y holds 0, 1;"),
        ([True, False, True], "y holds False, True;"),
        (["a", "b", "a"], "y holds 'a', 'b'"),
        ([1, -1, np.nan], "y holds .*nan"),
        ([1, -1], r"y has shape \(2,\); K has 3 rows, so it must be \(3,\)"),
        (None, r"y has shape \(\)"),
        ([1, -1, None], "^y "),
        ([[1], [1, -1], 1], "^y "),
    ],
    "C": [
        (0, "C=0; use a positive, finite number"),
        (np.inf, "C=inf; .*1e6, for a hard margin"),
        (np.nan, "C=nan;"),
        (None, "C=None"),
        ("much", "C='much' is not a number"),
        (["1", "1", "1"], "C=.* is not a number or an array of 3 numbers"),
        (True, "C=True is not a number"),
        (10**400, "C=10+ is not a number"),
        ([1, -3, 1], "C holds -3.0; every bound must be finite and not negative"),
        ([1, np.nan, 1], "C holds nan"),
        ([0, 0, 0], "C holds only zeros"),
        ([1, 1], r"C has shape \(2,\); use a number or an array of shape \(3,\)"),
        ([], r"C has shape \(0,\)"),
    ],
    "bias": [(bias, f"bias={bias!r}; use True or False") for bias in ("no", 1, None)],
}


@pytest.mark.parametrize(("name", "value", "said"), [(name, *case) for name, cases in BAD.items() for case in cases])
def test_a_bad_argument_is_told(name, value, said):
    assert issubclass(SolverError, ValueError)
    with pytest.raises(SolverError, match=said):
        make_problem(**{"K": np.eye(3), "y": Y, "C": 1.0, name: value})


@pytest.mark.parametrize(
    ("K", "C"),
    [
        (np.eye(3, dtype=np.float32), 2),
        (np.eye(3, dtype=int), np.float32(2)),
        (np.eye(3).tolist(), [2, 2, 2]),
        (np.eye(6)[::2, ::2], np.full(6, 2.0)[::2]),
    ],
)
def test_arrays_are_made_plain(K, C):
    problem = make_problem(K, [1, -1, 1], C, True)
    for array in (problem.K, problem.y, problem.C):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
    np.testing.assert_array_equal(problem.K, np.eye(3))
    np.testing.assert_array_equal(problem.C, [2.0, 2.0, 2.0])
    assert problem.bias is True


def at_bounds(problem, seed):
    """Draw an alpha with some entries at each bound."""
    rng = np.random.default_rng(seed)
    return problem.C * rng.choice([0.0, 1.0, rng.random()], problem.n)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(["rbf", "linear", "wavy"]))
def test_objective_and_decision_are_the_sums_of_the_paper(drawn, seed, kind):
    problem = drawn(seed, 10, kind, 3.0)
    alpha, K, y = at_bounds(problem, seed), problem.K, problem.y
    decision = [sum(alpha[j] * y[j] * K[i, j] for j in range(10)) for i in range(10)]
    quadratic = sum(alpha[i] * alpha[j] * y[i] * y[j] * K[i, j] for i in range(10) for j in range(10))
    np.testing.assert_allclose(problem.decision(alpha), decision, rtol=1e-12, atol=1e-12)
    assert problem.objective(alpha) == pytest.approx(sum(alpha) - 0.5 * quadratic, rel=1e-12, abs=1e-12)
    assert problem.objective(alpha, problem.decision(alpha)) == problem.objective(alpha)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans())
def test_kkt_is_the_largest_slope_of_a_feasible_direction(drawn, seed, bias):
    bounds = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], 10)
    bounds[[0, -1]] = 2.0
    problem = drawn(seed, 10, "rbf", bounds, bias)
    alpha, y = at_bounds(problem, seed), problem.y
    gradient = 1 - y * problem.decision(alpha)  # of the objective
    rises = [(y[i], gradient[i]) for i in range(10) if alpha[i] < bounds[i]]
    falls = [(-y[i], -gradient[i]) for i in range(10) if alpha[i] > 0]
    moves = rises + falls  # by how much y'alpha changes, and the objective
    if bias:
        expected = max((a + b for s, a in moves for t, b in moves if s + t == 0), default=0.0)
    else:
        expected = max((a for _, a in moves), default=0.0)
    assert problem.kkt(alpha, problem.decision(alpha))[0] == pytest.approx(max(expected, 0.0), abs=1e-12)


def test_the_bias_is_the_mean_over_free_rows_else_the_middle_of_what_is_allowed():
    problem = DualProblem(np.zeros((4, 4)), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), True)
    # gains are y - decision: 1 - .2, 1 - .4, -1 - .2, -1 - .4
    decision = np.array([0.2, 0.4, 0.2, 0.4])
    assert problem.kkt(np.array([0.5, 1, 0.3, 0]), decision)[1] == pytest.approx((0.8 - 1.2) / 2)
    # at bounds: rows 0 (positive, 0) and 2 (negative, C) can rise, rows 1 (positive, C) and 3 (negative, 0) fall
    assert problem.kkt(np.array([0.0, 1, 1, 0]), decision) == (pytest.approx(2.2), pytest.approx((0.8 - 1.4) / 2))
    # nothing can rise, or nothing can fall: the one limit there is
    nothing = DualProblem(problem.K, problem.y, np.array([0.0, 0, 1, 1]), True)
    assert nothing.kkt(np.zeros(4), decision) == (0.0, pytest.approx(-1.4))
    assert nothing.kkt(nothing.C, decision) == (0.0, pytest.approx(-1.2))
    unbiased = DualProblem(problem.K, problem.y, problem.C, False)
    assert unbiased.kkt(np.array([0.5, 1, 0.3, 0]), decision)[1] == 0.0


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.floats(-2, 2))
def test_the_primal_is_that_of_the_hyperplane(seed, bias):
    rng = np.random.default_rng(seed)
    X, y, C = rng.standard_normal((9, 2)), np.array([1.0, -1, 1] * 3), rng.random(9)
    problem = DualProblem(X @ X.T, y, C, True)
    alpha = at_bounds(problem, seed)
    w = X.T @ (alpha * y)
    hinge = [max(0.0, 1 - y[i] * (X[i] @ w + bias)) for i in range(9)]
    primal = problem.primal(alpha, problem.decision(alpha), bias)
    assert primal == pytest.approx(0.5 * w @ w + C @ hinge, rel=1e-12, abs=1e-12)
    assert problem.primal(alpha, problem.decision(alpha), 0.0) >= problem.objective(alpha) - 1e-12
