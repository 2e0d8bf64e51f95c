import numpy as np
import pytest

from spotsvm import EvolvedKernelSVC, EvolvedKernelSVR
from spotsvm.errors import ArgumentError
from spotsvm.estimators.evolved.settings import Ranges, check_range, read_settings


def test_the_paper_s_settings():
    """Koch 2011, Table 3 and section 2.3.2."""
    s = read_settings(EvolvedKernelSVC(grammar="paper"))
    assert (s.n_trials, s.design_factor, s.population_size, s.tournament_size) == (2500, 3, 20, 8)
    assert (s.breeding_tries, s.max_depth, s.max_constants) == (5000, 10, 4)
    assert (s.validation_fraction, s.n_holdouts, s.parsimony, s.n_finalists) == (1 / 3, 1, 0.0, 0)
    assert s.indefinite == "reject"
    assert s.n_tuning_trials == 0


def test_epsilon_is_of_regression_alone():
    assert read_settings(EvolvedKernelSVC()).ranges.epsilon is None
    assert read_settings(EvolvedKernelSVR(epsilon_range=(0.1, 0.2))).ranges.epsilon == (0.1, 0.2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"grammar": "koch"}, "grammar='koch'; use 'paper' or 'psd'"),
        ({"n_trials": 0}, "n_trials=0"),
        ({"population_size": 1}, "population_size=1"),
        ({"tournament_size": 30}, "tournament_size=30 is more than population_size=20"),
        ({"design_factor": 0}, "design_factor=0; use a whole number, 1 or more"),
        ({"breeding_tries": 1.5}, "breeding_tries=1.5"),
        ({"n_holdouts": 0}, "n_holdouts=0; use 'auto' or a whole number, 1 or more"),
        ({"screened": False}, "screened=False"),
        ({"max_depth": 2}, "max_depth=2; use a whole number, from 3 to 64"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0 is not between 0 and 1"),
        ({"parsimony": -0.1}, "parsimony=-0.1"),
        ({"indefinite": "flip"}, "indefinite='flip'"),
        ({"C_range": (1, 0)}, r"C_range=\(1, 0\)"),
        ({"constant_range": (-1, 1)}, r"constant_range=\(-1, 1\)"),
    ],
)
def test_what_makes_no_sense(wrong, words):
    with pytest.raises(ValueError, match=words):
        read_settings(EvolvedKernelSVC(**wrong))


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


def test_a_range_of_epsilon_that_makes_no_sense():
    with pytest.raises(ArgumentError, match="epsilon_range=0.1"):
        read_settings(EvolvedKernelSVR(epsilon_range=0.1))


@pytest.mark.parametrize("wrong", [(1, 0.1), (0, 1), (-1, 1), (1, np.inf), (1,), (1, 2, 3), 5, None, "ab", (np.nan, 1)])
def test_what_is_no_range(wrong):
    with pytest.raises(ArgumentError, match="C_range=.*use two positive, finite numbers"):
        check_range("C_range", wrong)


def test_a_range_that_is_too_wide():
    with pytest.raises(ArgumentError, match="constant_range=.*is too wide.*1e300 apart"):
        check_range("constant_range", (1e-300, 1e300))
