from functools import cache

import numpy as np
import pytest
from dual_references import general_optimum, libsvm, objective
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from spotsvm.errors import SolverError
from spotsvm.solvers.dual.front.evolve_front import evolve_front
from spotsvm.solvers.dual.front.front import better_than_constant, exact_front, natural_scale, resolve_front, without_C
from spotsvm.solvers.dual.front.margin_error import MarginError


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(60, 6, flip_y=0.2, random_state=1)
    return rbf_kernel(X, gamma=0.2), np.where(y == 1, 1.0, -1.0)


@pytest.fixture(scope="module")
def searched(noisy):
    """Return a function of error and bias: the criteria on the noisy data, the exact front, and the evolved one."""

    @cache
    def search(error, bias=True):
        criteria = criteria_of(*noisy, error, bias)
        return criteria, *found_front(criteria)

    return search


def criteria_of(K, y, error, bias=True):
    return MarginError(K, y, error, bias, smallest_norm=1 / natural_scale(K))


def bounds_of(criteria, count=10):
    scale = natural_scale(criteria.K)
    return np.geomspace(1 / (len(criteria.y) * scale), 1024 / scale, count)


def found_front(criteria, seed=0, population_size=40, n_generations=60):
    exact = exact_front(criteria, bounds_of(criteria), 1e-6)
    return exact, evolve_front(criteria, exact, population_size, n_generations, np.random.default_rng(seed))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("error", ["hinge", "count"])
def test_what_is_reported_follows_from_alpha_and_bias(noisy, error, bias):
    K, y = noisy
    criteria = criteria_of(K, y, error, bias)
    alpha = np.random.default_rng(0).random((5, len(y)))
    points = criteria.evaluate(alpha)
    for i in range(5):
        margins = y * (K @ (points.alpha[i] * y) + points.bias[i])
        assert points.norm_squared[i] == pytest.approx(points.alpha[i] @ (np.outer(y, y) * K) @ points.alpha[i])
        assert points.hinge[i] == pytest.approx(np.maximum(1 - margins, 0).mean())
        assert points.count[i] == (margins < 1 - 1e-9).mean()
        assert points.misclassified[i] == ((y * margins > 0) != (y > 0)).mean()
    assert (np.ptp(points.alpha / alpha, axis=1) < 1e-9).all()  # scaled as a whole
    assert bias or not points.bias.any()


def test_count_shrinks_w_until_a_row_is_on_the_margin_and_all_that_is_scaled_to_the_end_has_one_norm(noisy):
    K, y = noisy
    points = MarginError(K, y, "count").evaluate(np.random.default_rng(0).random((5, len(y))) * 9)
    margins = y * ((points.alpha * y) @ K + points.bias[:, None])
    assert np.where(margins >= 1 - 1e-9, margins, np.inf).min(axis=1) == pytest.approx(1.0)
    criteria = criteria_of(K, y, "hinge")
    tiny = criteria.evaluate(1e-3 * np.random.default_rng(0).random((50, len(y))))
    assert set(tiny.norm_squared) == {criteria.smallest_norm}


def test_a_given_direction_offers_every_number_of_margin_errors(noisy):
    K, y = noisy
    criteria = MarginError(K, y, "count", bias=False)
    alpha = np.ones(len(y))
    margins = y * (K @ y)
    counts = criteria.evaluate_at_all_scales(alpha).count
    assert sorted(counts) == [k / len(y) for k in range(np.sum(margins <= 0), len(y))]


@pytest.mark.parametrize("bias", [True, False])
def test_no_convex_front_is_better_than_a_support_vector_machine(noisy, searched, bias):
    """Every C weighs the two criteria; libsvm, or scipy without a bias, minimises that sum."""
    K, y = noisy
    _, _, front = searched("hinge", bias)
    for C in (0.1, 1.0, 10.0):
        sums = 0.5 * front.expansions.norm_squared + C * len(y) * front.expansions.hinge
        least = svm_optimum(K, y, C, bias)
        assert least * (1 - 1e-6) <= sums.min() <= least * 1.02


def svm_optimum(K, y, C, bias):
    if bias:
        return objective(K, y, libsvm(K, y, np.full(len(y), C), tol=1e-8)[1])
    return general_optimum(np.outer(y, y) * K, np.ones(len(y)), np.full(len(y), C))


def test_an_exact_point_is_the_optimum_of_its_C(noisy, searched):
    K, y = noisy
    _, exact, _ = searched("hinge")
    points = [i for i in range(len(exact)) if exact.source[i] == "exact"]
    assert len(points) >= 5
    assert set(exact.source) == {"exact", "scaled"}
    for i in points:
        weighted = 0.5 * exact.expansions.norm_squared[i] + exact.C[i] * len(y) * exact.expansions.hinge[i]
        assert weighted == pytest.approx(svm_optimum(K, y, exact.C[i], True), rel=1e-5)


def test_by_count_the_front_of_one_feature_is_the_best_there_is():
    """On a line, a margin is an interval: all of them can be tried."""
    random = np.random.default_rng(3)
    x = np.round(random.normal(size=14), 3)
    y = np.where(x + random.normal(size=14) > 0, 1.0, -1.0)
    criteria = criteria_of(np.outer(x, x), y, "count")
    exact, front = found_front(criteria)
    front = resolve_front(criteria, front, 100, 1e-8)
    objectives = criteria.objectives(front.expansions)
    reached = {round(14 * error): norm for norm, error in objectives}
    for side in (1, -1):
        for low, high in ((a, b) for a in side * x for b in side * x if a < b):
            errors = int(np.sum((y == 1) & (side * x < high)) + np.sum((y == -1) & (side * x > low)))
            norm = (2 / (high - low)) ** 2
            if norm >= criteria.smallest_norm:
                assert any(e <= errors and n <= norm * (1 + 1e-6) for e, n in reached.items()), (low, high, errors)


def test_the_constant_is_of_the_larger_class_and_what_is_no_better_is_left_out(noisy):
    K, _ = noisy
    y = np.where(np.arange(60) < 20, 1.0, -1.0)
    for labels, bias in ((y, -1.0), (-y, 1.0)):
        criteria = criteria_of(K, labels, "hinge")
        constant = criteria.constant()
        assert constant.bias[0] == bias
        assert constant.misclassified[0] == pytest.approx(1 / 3)
        assert constant.hinge[0] == pytest.approx(2 / 3)
        points = without_C(criteria.evaluate(np.random.default_rng(1).random((40, 60)) ** 4 * 10), "evolved")
        better = better_than_constant(criteria, points)
        assert better.expansions.hinge.tolist() == [h for h in points.expansions.hinge if h < 2 / 3]
        assert not len(better_than_constant(criteria, without_C(constant, "exact")))


@pytest.mark.parametrize(
    ("K", "y", "error", "said"),
    [
        (1e-200 * np.eye(2), [1, -1], "count", "K holds no entry beyond 1e-200; coefficients, .* scale the kernel"),
        (np.eye(2), [1, -1], "zero", "error='zero' is unknown; use 'count' or 'hinge'"),
        ([[0.0, 1.0], [2.0, 0.0]], [1, -1], "count", "not symmetric"),
        (np.eye(2), [1, 1], "count", "one class"),
    ],
)
def test_bad_input(K, y, error, said):
    with pytest.raises(SolverError, match=said):
        MarginError(K, y, error)
