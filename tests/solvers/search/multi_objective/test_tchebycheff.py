import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.solvers.pareto import non_dominated
from spotsvm.solvers.search.multi_objective.parego_search import augmented_tchebycheff

rows = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=15)


def test_by_hand():
    """Scaled: (0, 1), (0.5, 0.25), (1, 0); weights 0.8, 0.2: 0.2 + 0.01, 0.4 + 0.05 * 0.45, 0.8 + 0.04."""
    objectives = np.array([[-3.0, 400.0], [-1.0, 100.0], [1.0, 0.0]])
    assert np.allclose(augmented_tchebycheff(objectives, np.array([0.8, 0.2])), [0.21, 0.4225, 0.84])
    assert np.allclose(augmented_tchebycheff(objectives, np.array([0.8, 0.2]), 1.0), [0.4, 0.85, 1.6])


@given(rows, st.tuples(*[st.floats(0.01, 1.0)] * 3))
def test_the_smallest_is_on_the_front(objectives, weights):
    objectives = np.unique(np.array(objectives, dtype=float), axis=0)
    values = augmented_tchebycheff(objectives, np.array(weights))
    best = np.flatnonzero(values <= values.min() * (1 + 1e-12))
    assert set(best) <= set(non_dominated(objectives)) or not np.ptp(objectives, axis=0).all()


def test_units_make_no_difference():
    objectives = np.random.default_rng(0).random((9, 2))
    weights = np.array([0.3, 0.7])
    for scale in ([1e-200, 1e300], [-0.5 + 1e3, 7.0]):
        assert np.allclose(augmented_tchebycheff(objectives * scale, weights), augmented_tchebycheff(objectives, weights))
    extreme = np.array([[-1.7e308, 0.0], [1.7e308, -1.0], [0.0, -1.0]])
    assert np.allclose(augmented_tchebycheff(extreme, np.array([0.5, 0.5])), [0.525, 0.525, 0.2625])


def test_failures_have_none_and_ties_in_an_objective_do_not_matter():
    objectives = np.array([[1.0, 5.0], [np.nan, 2.0], [3.0, 5.0], [np.inf, 1.0]])
    values = augmented_tchebycheff(objectives, np.array([0.5, 0.5]))
    assert np.array_equal(np.isnan(values), [False, True, False, True])
    assert np.allclose(values[[0, 2]], [0.0, 0.525])
    assert np.isnan(augmented_tchebycheff(objectives[1:2], np.array([0.5, 0.5]))).all()
    assert augmented_tchebycheff(objectives[:0], np.array([0.5, 0.5])).shape == (0,)
