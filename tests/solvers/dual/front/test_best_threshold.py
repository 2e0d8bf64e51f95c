import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.front.best_threshold import best_count_threshold, best_hinge_threshold


def hinge(decision, y, b):
    return np.maximum(1 - y * (decision + b), 0).sum()


def count(decision, y, b):
    return np.sum(y * (decision + b) < 1 - 1e-9)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=12))
def test_no_other_threshold_is_better(rows):
    decision = np.array([value / 2 for value, _ in rows])
    y = np.array([1.0 if positive else -1.0 for _, positive in rows])
    y[0], y[-1] = 1.0, -1.0
    candidates = np.concatenate([y - decision, [-99.0, 99.0]])  # both criteria change their course only there
    for find, error in ((best_hinge_threshold, hinge), (best_count_threshold, count)):
        b = find(decision[None, :], y)[0]
        assert error(decision, y, b) <= min(error(decision, y, other) for other in candidates) + 1e-9


@pytest.mark.parametrize("find", [best_hinge_threshold, best_count_threshold])
def test_a_separating_threshold_is_halfway_and_many_at_once_are_as_each_alone(find):
    decision, y = np.array([[-5.0, 1.0, 7.0]]), np.array([-1.0, -1.0, 1.0])
    assert find(decision, y)[0] == pytest.approx(-4.0)
    random = np.random.default_rng(0)
    decisions, y = random.normal(size=(7, 30)), np.where(random.random(30) < 0.3, 1.0, -1.0)
    assert find(decisions, y).tolist() == [find(row[None, :], y)[0] for row in decisions]
