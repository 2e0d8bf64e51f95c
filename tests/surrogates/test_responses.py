import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spotsvm.surrogates.responses import aggregate, are_penalties, judge_noise, needs_second_look, within_reach

FLOATS = st.floats(-1e308, 1e308)


@settings(max_examples=40)
@given(arrays(float, st.integers(1, 8), elements=FLOATS))
def test_squares_and_differences_are_numbers_and_the_digits_stay(values):
    scaled, unit = within_reach(values)
    assert np.isfinite(1e6 * np.ptp(scaled) ** 2)
    large = np.abs(values) > 1e-100
    assert (scaled * unit)[large].tolist() == values[large].tolist()


def test_failures_stay_failures_and_what_is_no_larger_than_usual_stays_as_it_is():
    scaled, unit = within_reach(np.array([np.nan, 1e308, np.inf]))
    np.testing.assert_array_equal(scaled * unit, [np.nan, 1e308, np.inf])
    values = np.array([1e100, -1.0, 0.0])
    assert within_reach(values)[0] is values


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("penalty", [1e10, 1e100, 1.7e308])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_penalties_are_recognised_in_any_order(penalty, share):
    values = 3 + RNG.normal(size=100)
    bad = RNG.permutation(100) < 100 * share
    assert np.array_equal(are_penalties(np.where(bad, penalty, values)), bad)


def test_several_penalties_of_different_size_and_failures():
    values = np.array([1.0, 2.0, np.nan, 3.0, 1e9, 4.0, 2.5, 3e10, -np.inf])
    assert are_penalties(values).tolist() == [False, False, False, False, True, False, False, True, False]


@pytest.mark.parametrize("width", [1.0, 5.0, 100.0])
def test_skewed_objectives_have_none(width):
    for seed in range(20):
        x = width * np.random.default_rng(seed).uniform(-1, 1, (60, 3))
        rosenbrock = (100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(axis=1)
        assert not are_penalties(rosenbrock).any()
        assert not are_penalties(np.exp(20 * x[:, 0] / width)).any()


def test_too_few_or_equal_values_have_none():
    assert not are_penalties([1.0, 2.0, 1e10]).any()
    assert not are_penalties([1.0] * 8 + [1e10]).any()
    assert not are_penalties([np.nan] * 8).any()
    assert are_penalties([]).shape == (0,)


@pytest.mark.parametrize(
    ("points", "values", "verdict"),
    [
        ([0.1], [1.0], "unknown"),
        ([0.1, 0.2, 0.3], [1.0, 1.0, 2.0], "unknown"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0], "deterministic"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0 + 1e-15], "noisy"),
        ([0.1, 0.2, 0.1, 0.1], [1.0, 5.0, 1.0, 1.1], "noisy"),
    ],
)
def test_verdict(points, values, verdict):
    assert judge_noise(np.array(points)[:, None], np.array(values)) == verdict
    assert judge_noise(np.array(points)[:, None], np.array(values), True) == "noisy"
    assert judge_noise(np.array(points)[:, None], np.array(values), False) == "deterministic"


def test_ties_ask_for_a_second_look():
    points = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1])[:, None]
    assert not needs_second_look(points, np.array([1.0, 2.0, 3.0, 4.0, 9.0, 1.0]))
    assert needs_second_look(points, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0]))
    assert not needs_second_look(points, np.array([1.0, 9.0, 9.0, 9.0, 9.0, 1.0]))
    again = np.append(points, [[0.2]], axis=0)
    assert not needs_second_look(again, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0, 1.0]))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
def test_means_counts_and_scatter(rows):
    X = np.array([[float(k)] for k, _ in rows])
    y = np.array([v for _, v in rows])
    a = aggregate(X, y)
    assert a.count.sum() == len(y)
    assert np.array_equal(a.X[a.index], X)
    for k, point in enumerate(a.X):
        mine = y[(point == X).all(axis=1)]
        assert np.isclose(a.mean[k], mine.mean(), atol=1e-9)
    assert np.isclose(a.within, sum(((y[a.index == k] - y[a.index == k].mean()) ** 2).sum() for k in range(len(a.X))), atol=1e-6)


def test_points_keep_the_order_of_their_first_appearance():
    assert aggregate(np.array([[3.0], [1.0], [3.0], [2.0]]), np.arange(4.0)).X.ravel().tolist() == [3.0, 1.0, 2.0]
    alone = aggregate(np.array([[2.0], [0.0], [1.0]]), np.array([0.1, 0.2, 0.3]))
    assert (alone.mean.tolist(), alone.within) == ([0.1, 0.2, 0.3], 0.0)
