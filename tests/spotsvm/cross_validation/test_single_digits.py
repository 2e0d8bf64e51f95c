import numpy as np
import pytest

from spotsvm.cross_validation.answers import NotSharedError
from spotsvm.cross_validation.shared_folds import check_rounding, check_scale, some_squares


def matrix(n=50, scale=1.0, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, 3))
    return (scale * (rows @ rows.T)).astype(np.float32)


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_kernel_values_that_are_all_but_equal_are_told(offset):
    check_scale(matrix(), offset)
    with pytest.raises(NotSharedError, match="too few digits"):
        check_scale(1e6 + matrix(), offset)


@pytest.mark.parametrize("scale", [1e-9, 1e11])
def test_size_counts_where_no_constant_was_taken_off(scale):
    check_scale(matrix(scale=scale), 1.0)
    with pytest.raises(NotSharedError, match="too few digits"):
        check_scale(matrix(scale=scale), 0.0)


def test_a_constant_kernel_is_no_matter_of_digits():
    check_scale(np.zeros((4, 4), np.float32), 1.0)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_the_bound_is_the_size_of_actual_rounding(scale):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 3))
    exact = scale * (rows @ rows.T)
    beta = rng.choice([-1.0, 1.0], size=300)
    actual = np.abs((exact.astype(np.float32) - exact) @ beta).max()
    squares = some_squares(exact.astype(np.float32))
    check_rounding(squares, [beta], 4 * actual)
    with pytest.raises(NotSharedError, match="leaves decisions open by"):
        check_rounding(squares, [np.zeros(300), beta], actual / 4)


def test_squares_beyond_single_precision_are_told():
    squares = some_squares(np.full((3, 3), 1e30, np.float32))
    with pytest.raises(NotSharedError, match="open by inf"):
        check_rounding(squares, [np.ones(3)], 1.0)
