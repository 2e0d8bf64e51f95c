import numpy as np
import pytest

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators.evolved.settings import Ranges, Setting, check_range

WIDE = Ranges(C=(2.0**-8, 2.0**8), constants=(0.1, 10.0))
REGRESSION = Ranges(C=(1.0, 1.0), constants=(0.1, 10.0), epsilon=(0.01, 1.0))


@pytest.mark.parametrize(("ranges", "n_constants", "factor", "size"), [(WIDE, 0, 3, 3), (WIDE, 4, 3, 15), (REGRESSION, 2, 2, 8)])
def test_the_design_has_the_paper_s_size(ranges, n_constants, factor, size):
    design = ranges.design(n_constants, factor, np.random.default_rng(0))
    assert len(design) == size
    assert all(len(s.constants) == n_constants for s in design)


def test_every_slice_of_a_log_scale_is_visited_once():
    design = WIDE.design(2, 5, np.random.default_rng(1))
    edges = np.geomspace(*WIDE.C, 16)
    assert (np.histogram([s.C for s in design], edges)[0] == 1).all()
    edges = np.geomspace(*WIDE.constants, 16)
    for k in range(2):
        assert (np.histogram([s.constants[k] for s in design], edges)[0] == 1).all()


def test_epsilon_is_of_regression_alone():
    assert {s.epsilon for s in WIDE.design(1, 3, np.random.default_rng(0))} == {0.0}
    design = REGRESSION.design(1, 3, np.random.default_rng(0))
    assert all(0.01 <= s.epsilon <= 1.0 for s in design)
    assert {s.C for s in design} == {1.0}


def test_corners():
    assert WIDE.setting([0.0, 1.0], 1) == Setting(2.0**-8, (10.0,), 0.0)
    found = REGRESSION.setting([0.3, 0.5, 0.0], 1)
    assert found.C == 1.0
    assert found.epsilon == pytest.approx(0.1)
    assert found.constants == (0.1,)


def test_the_even_grid():
    grid = WIDE.grid(3)
    assert len(grid) == 6
    np.testing.assert_allclose(np.diff(np.log2([s.C for s in grid])), 16 / 6)


@pytest.mark.parametrize("factor", [1, 2, 3, 5])
def test_with_epsilon_the_grid_is_even_in_both(factor):
    grid = Ranges(C=(0.1, 10.0), constants=(1.0, 1.0), epsilon=(0.01, 1.0)).grid(factor)
    m = 4 * factor
    assert len(grid) == m
    for values, low, high in (([s.C for s in grid], 0.1, 10.0), ([s.epsilon for s in grid], 0.01, 1.0)):
        assert (np.histogram(values, np.geomspace(low, high, m + 1))[0] == 1).all()
    places = np.log([[s.C / 0.1, s.epsilon / 0.01] for s in grid]) / np.log(100.0)
    apart = [np.linalg.norm(a - b) for k, a in enumerate(places) for b in places[:k]]
    assert min(apart) > 0.7 / np.sqrt(m)


@pytest.mark.parametrize("wrong", [(1, 0.1), (0, 1), (-1, 1), (1, np.inf), (1,), (1, 2, 3), 5, None, "ab", (np.nan, 1)])
def test_what_is_no_range(wrong):
    with pytest.raises(ArgumentError, match="C_range=.*use two positive, finite numbers"):
        check_range("C_range", wrong)


def test_a_range_that_is_too_wide():
    with pytest.raises(ArgumentError, match="constant_range=.*is too wide.*1e300 apart"):
        check_range("constant_range", (1e-300, 1e300))


def test_a_range_may_be_a_list_of_integers():
    assert check_range("C_range", [1, 4]) == (1.0, 4.0)
