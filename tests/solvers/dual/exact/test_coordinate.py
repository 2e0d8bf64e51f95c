import numpy as np
import pytest
from dual_references import libsvm, objective
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual import DualProblem
from spotsvm.solvers.dual.exact import _coordinate_kernels as kernels
from spotsvm.solvers.dual.exact.coordinate import REFRESH, climb_face, coordinate_ascent

SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(["rbf", "linear", "sigmoid", "distance", "wavy"])


def pair_gain(gi, gj, a, b, c):
    return lambda s, t: gi * s + gj * t - 0.5 * (a * s * s + 2 * c * s * t + b * t * t)


def plain_best_pair(gi, gj, a, b, c, li, ui, lj, uj):
    """Go through the inner stationary point and the best point of each edge."""
    gain = pair_gain(gi, gj, a, b, c)

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


@settings(max_examples=30, deadline=None)
@given(SEEDS, KINDS, st.sampled_from([0.1, 1.0, 30.0]), st.integers(0, 25))
def test_the_kernel_does_what_plain_numpy_does(drawn, seed, kind, C, steps):
    problem = drawn(seed, 12, kind, C)
    expected = plain_ascent(problem, np.zeros(problem.n), 1e-3, steps)
    found = coordinate_ascent(problem, np.zeros(problem.n), 1e-3, steps)
    assert problem.objective(found.alpha) == pytest.approx(problem.objective(np.abs(expected)), rel=1e-6, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_no_place_in_the_box_of_two_is_better_than_the_best_pair(seed):
    rng = np.random.default_rng(seed)
    gi, gj, a, b, c = rng.normal(size=5)
    li, lj = -rng.random(2)
    ui, uj = rng.random(2)
    gain = pair_gain(gi, gj, a, b, c)
    s, t = kernels.best_pair(gi, gj, a, b, c, li, ui, lj, uj)
    assert li <= s <= ui
    assert lj <= t <= uj
    places = np.meshgrid(np.linspace(li, ui, 41), np.linspace(lj, uj, 41))
    assert gain(s, t) >= gain(*places).max() - 1e-12
    assert gain(s, t) == pytest.approx(gain(*plain_best_pair(gi, gj, a, b, c, li, ui, lj, uj)), abs=1e-12)


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


def test_hard_margin_agrees_with_what_libsvm_finds_on_centred_data():
    rng = np.random.default_rng(0)
    half = rng.standard_normal((40, 3)) + [1.0, 0, 0]
    X, y = np.vstack([half, -half]), np.repeat([1.0, -1.0], 40)
    K = X @ X.T
    found = coordinate_ascent(DualProblem(K, y, np.ones(80), False), np.zeros(80), 1e-6)
    # by symmetry the best hyperplane has no threshold, so the bias changes nothing
    _, beta = libsvm(K, y, np.ones(80), tol=1e-8)
    assert objective(K, y, found.alpha * y) == pytest.approx(objective(K, y, beta), rel=1e-6)
