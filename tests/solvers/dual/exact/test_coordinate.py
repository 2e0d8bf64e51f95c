import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVC

from spotsvm.solvers.dual.exact import _coordinate_kernels as kernels
from spotsvm.solvers.dual.exact.box_newton import climb_face
from spotsvm.solvers.dual.exact.coordinate import REFRESH, coordinate_ascent
from spotsvm.solvers.dual.problem.problem import DualProblem

SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(["rbf", "linear", "sigmoid", "distance", "wavy"])
INDEFINITE = ["sigmoid", "distance", "wavy"]


def reference_optimum(problem):
    """Solve the box-constrained problem by L-BFGS-B, from several starts."""
    Q = problem.K * np.outer(problem.y, problem.y)
    result = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        np.zeros(problem.n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, c) for c in problem.C],
        options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 0, "gtol": 1e-10},
    )
    return -result.fun


def plain_best_pair(gi, gj, a, b, c, li, ui, lj, uj):
    """Go through the inner stationary point and the best point of each edge."""

    def gain(s, t):
        return gi * s + gj * t - 0.5 * (a * s * s + 2 * c * s * t + b * t * t)

    def on_line(slope, curvature, low, high):
        places = [low, high, *([np.clip(slope / curvature, low, high)] if curvature > 0 else [])]
        return max(places, key=lambda x: slope * x - 0.5 * curvature * x * x)

    places = [(0.0, 0.0)]
    if a > 0 and a * b - c * c > 1e-12 * a * b:
        s, t = np.linalg.solve([[a, c], [c, b]], [gi, gj])
        if li <= s <= ui and lj <= t <= uj:
            return s, t
    places += [(s, on_line(gj - c * s, b, lj, uj)) for s in (li, ui)] + [(on_line(gi - c * t, a, li, ui), t) for t in (lj, uj)]
    return max(places, key=lambda p: gain(*p))


def plain_ascent(problem, beta, tol, steps):
    """Do what `pair_ascent` does, in plain numpy."""
    K, y = problem.K, problem.y
    lower, upper = np.minimum(problem.C * y, 0), np.maximum(problem.C * y, 0)
    diagonal, tau = K.diagonal(), max(1e-12 * np.abs(K.diagonal()).max(), 1e-300)
    for _ in range(steps):
        gradient = y - K @ beta
        room = np.where(gradient > 0, beta < upper, beta > lower)
        violation = np.abs(gradient) * room
        i = violation.argmax()
        if violation[i] <= tol:
            break
        li, ui = lower[i] - beta[i], upper[i] - beta[i]
        step = kernels.best_step.py_func(gradient[i], diagonal[i], li, ui)
        after = gradient - K[i] * step
        slope = np.abs(after) * np.where(after > 0, beta < upper, beta > lower)
        curvature = diagonal - (K[i] ** 2 / diagonal[i] if li < step < ui else 0.0)
        score = slope**2 / np.maximum(curvature, tau)
        score[i] = 0.0
        j = score.argmax()
        if score[j] > 0:
            step, other = plain_best_pair(
                gradient[i], gradient[j], diagonal[i], diagonal[j], K[i, j], li, ui, lower[j] - beta[j], upper[j] - beta[j]
            )
            beta[j] = np.clip(beta[j] + other, lower[j], upper[j])
        beta[i] = np.clip(beta[i] + step, lower[i], upper[i])
    return beta


@settings(max_examples=60, deadline=None)
@given(SEEDS, KINDS, st.sampled_from([0.1, 1.0, 30.0]), st.integers(0, 25))
def test_the_kernel_does_what_plain_numpy_does(drawn, seed, kind, C, steps):
    problem = drawn(seed, 12, kind, C)
    expected = plain_ascent(problem, np.zeros(problem.n), 1e-3, steps)
    found = coordinate_ascent(problem, np.zeros(problem.n), 1e-3, steps)
    assert problem.objective(found.alpha) == pytest.approx(problem.objective(np.abs(expected)), rel=1e-6, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=200))
def test_the_largest_positive_entry(values):
    score = np.array(values)
    at, best = kernels.largest(score)
    assert (at, best) == ((int(score.argmax()), score.max()) if score.max() > 0 else (-1, 0.0))


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_no_place_in_the_box_of_two_is_better_than_the_best_pair(seed):
    rng = np.random.default_rng(seed)
    gi, gj, a, b, c = rng.normal(size=5)
    li, lj = -rng.random(2)
    ui, uj = rng.random(2)

    def gain(s, t):
        return gi * s + gj * t - 0.5 * (a * s * s + 2 * c * s * t + b * t * t)

    s, t = kernels.best_pair(gi, gj, a, b, c, li, ui, lj, uj)
    assert li <= s <= ui
    assert lj <= t <= uj
    places = np.meshgrid(np.linspace(li, ui, 41), np.linspace(lj, uj, 41))
    assert gain(s, t) >= gain(*places).max() - 1e-12
    assert gain(s, t) == pytest.approx(gain(*plain_best_pair(gi, gj, a, b, c, li, ui, lj, uj)), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(["rbf", "linear"]), st.sampled_from([0.01, 1.0, 100.0]))
def test_the_optimum_is_that_of_a_general_solver(drawn, seed, kind, C):
    problem = drawn(seed, 15, kind, C)
    found = coordinate_ascent(problem, np.zeros(15), 1e-8)
    assert found.converged
    assert problem.objective(found.alpha) >= reference_optimum(problem) * (1 - 1e-6)
    assert problem.kkt(found.alpha, problem.decision(found.alpha))[0] <= 2e-8


@settings(max_examples=60, deadline=None)
@given(SEEDS, KINDS, st.sampled_from([0.1, 10.0, 1e6]), st.integers(0, 60))
def test_every_step_is_feasible_and_no_step_descends(drawn, seed, kind, C, steps):
    bounds = C * np.random.default_rng(seed).choice([0.0, 0.3, 1.0], 12)
    bounds[0] = C
    problem = drawn(seed, 12, kind, bounds)
    start = np.random.default_rng(seed).random(12) * bounds
    before = problem.objective(start)
    for cap in (steps, steps + 1):
        found = coordinate_ascent(problem, start, 1e-3, cap)
        assert (found.alpha >= 0).all()
        assert (found.alpha <= bounds).all()
        after = problem.objective(found.alpha)
        assert after >= before - 1e-9 * max(abs(before), abs(after))
        before = after


@settings(max_examples=30, deadline=None)
@given(SEEDS, KINDS)
def test_it_always_ends_at_a_stationary_point(drawn, seed, kind):
    problem = drawn(seed, 40, kind, 5.0)
    found = coordinate_ascent(problem, np.random.default_rng(seed).random(40) * 5)
    assert found.converged
    assert problem.kkt(found.alpha, problem.decision(found.alpha))[0] <= 1e-3 + 1e-9


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_permuted_rows_permute_the_solution(drawn, seed):
    problem = drawn(seed, 20, "rbf", 2.0)
    order = np.random.default_rng(seed).permutation(20)
    permuted = DualProblem(np.ascontiguousarray(problem.K[np.ix_(order, order)]), problem.y[order], problem.C[order], False)
    one = coordinate_ascent(problem, np.zeros(20), 1e-9).alpha
    other = coordinate_ascent(permuted, np.zeros(20), 1e-9).alpha
    np.testing.assert_allclose(other, one[order], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([1e-12, 0.01, 300.0, 1e12]))
def test_a_factor_of_the_kernel_rescales_C(drawn, seed, factor):
    problem = drawn(seed, 15, "rbf", 2.0)
    scaled = DualProblem(problem.K * factor, problem.y, problem.C / factor, False)
    one = coordinate_ascent(problem, np.zeros(15), 1e-8).alpha
    other = coordinate_ascent(scaled, np.zeros(15), 1e-8).alpha
    np.testing.assert_allclose(other * factor, one, atol=1e-5)


def test_a_warm_start_at_the_solution_takes_no_steps(drawn):
    problem = drawn(3, 50, "rbf", 10.0)
    found = coordinate_ascent(problem, np.zeros(50), 1e-6)
    again = coordinate_ascent(problem, found.alpha, 1e-5)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.alpha, found.alpha)
    outside = coordinate_ascent(problem, np.full(50, 99.0), 1e-6)
    np.testing.assert_allclose(outside.alpha, found.alpha, atol=1e-4)


def test_the_cap_is_kept_and_told(drawn):
    found = coordinate_ascent(drawn(0, 50, "rbf", 100.0), np.zeros(50), 1e-6, 7)
    assert found.iterations == 7
    assert not found.converged
    assert "above tol=1e-06 after 7 steps" in found.message
    assert coordinate_ascent(drawn(0), np.zeros(12), 1e-3, 0).iterations == 0


def test_it_can_stop_by_the_duality_gap(drawn):
    problem = drawn(1, 300, "rbf", 100.0)
    found = coordinate_ascent(problem, np.zeros(300), 1e-9, gap=1e-2)
    assert "gap" in found.message
    optimum = problem.objective(coordinate_ascent(problem, np.zeros(300), 1e-9).alpha)
    assert optimum * 0.99 <= problem.objective(found.alpha) < optimum * (1 - 1e-12)


def test_newton_steps_end_what_pairs_do_not(drawn):
    problem = drawn(5, 60, "rbf", 1e6)
    found = coordinate_ascent(problem, np.zeros(60), 1e-6)
    assert found.converged
    assert REFRESH * 60 <= found.iterations < 100_000
    gap = problem.primal(found.alpha, problem.decision(found.alpha), 0.0) - problem.objective(found.alpha)
    assert gap <= 1e-5 * problem.objective(found.alpha)


def test_a_newton_step_maximises_over_the_free_variables(drawn):
    problem = drawn(2, 12, "rbf", 1e9)
    beta = 0.5 * problem.y
    gradient = problem.y - problem.K @ beta
    free = np.array([0, 3, 4])
    lower, upper = beta.copy(), beta.copy()
    lower[free] -= 1e9
    upper[free] += 1e9
    assert climb_face(problem.K, lower, upper, beta, gradient)
    np.testing.assert_allclose(gradient[free], 0.0, atol=1e-9)
    np.testing.assert_allclose(gradient, problem.y - problem.K @ beta, atol=1e-9)
    np.testing.assert_array_equal(np.delete(beta, free), np.delete(0.5 * problem.y, free))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("kind", ["rbf", *INDEFINITE])
def test_one_and_two_rows(drawn, n, kind):
    found = coordinate_ascent(drawn(0, n, kind, 3.0), np.zeros(n), 1e-9)
    assert found.converged
    if kind == "rbf" and n == 1:
        assert found.alpha == pytest.approx([1.0])


@pytest.mark.parametrize("C", [0.1, 1.0, 1e6])
@pytest.mark.parametrize(
    ("K", "expected"),
    [
        (np.zeros((6, 6)), lambda C: np.full(6, C)),
        (np.eye(6), lambda C: np.full(6, min(C, 1.0))),
        (-np.eye(6), lambda C: np.full(6, C)),
    ],
)
def test_zero_and_identity(K, expected, C):
    problem = DualProblem(K, np.array([1.0, -1, 1, -1, 1, -1]), np.full(6, C), False)
    np.testing.assert_allclose(coordinate_ascent(problem, np.zeros(6), 1e-9).alpha, expected(C))


@pytest.mark.parametrize("C", [0.1, 1e6])
def test_constant_kernel_and_same_rows_with_opposite_labels(C):
    y = np.array([1.0, -1, 1, -1, 1])
    problem = DualProblem(np.ones((5, 5)), y, np.full(5, C), False)
    found = coordinate_ascent(problem, np.zeros(5), 1e-6)
    assert found.converged
    # two rows of the minority at C, and the others' sum larger by 1, or as near as C allows
    assert problem.objective(found.alpha) == pytest.approx(reference_optimum(problem), rel=1e-6)


def test_hard_margin_agrees_with_what_libsvm_finds_on_centred_data():
    rng = np.random.default_rng(0)
    half = rng.standard_normal((40, 3)) + [1.0, 0, 0]
    X, y = np.vstack([half, -half]), np.repeat([1.0, -1.0], 40)
    K = X @ X.T
    problem = DualProblem(K, y, np.full(80, 1.0), False)
    found = coordinate_ascent(problem, np.zeros(80), 1e-6)
    # by symmetry the best hyperplane has no threshold, so the bias changes nothing
    svc = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    alpha = np.zeros(80)
    alpha[svc.support_] = np.abs(svc.dual_coef_[0])
    assert problem.objective(found.alpha) == pytest.approx(problem.objective(alpha), rel=1e-6)
