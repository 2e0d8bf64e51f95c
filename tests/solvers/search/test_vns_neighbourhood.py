import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from spotsvm.errors import SolverError
from spotsvm.searches import Domain
from spotsvm.solvers.search.vns_search import neighbourhood_radii, shake, uniform_in_ball

NORMS = {"inf": np.inf, "2": 2, "1": 1}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), d=st.integers(1, 12), norm=st.sampled_from(list(NORMS)), seed=st.integers(0, 2**32 - 1))
def test_a_shaken_point_is_in_the_neighbourhood_and_in_the_cube(data, d, norm, seed):
    around = np.array(data.draw(st.lists(st.floats(0, 1), min_size=d, max_size=d)))
    radius = np.array(data.draw(st.lists(st.floats(1e-6, 3), min_size=d, max_size=d)))
    point = shake(Domain.continuous(d), around, radius, norm, np.random.default_rng(seed))
    assert ((point >= 0) & (point <= 1)).all()
    assert np.linalg.norm((point - around) / radius, NORMS[norm]) <= 1 + 1e-9
    assert not np.array_equal(point, around)


@pytest.mark.parametrize(("norm", "d"), [("2", 2), ("1", 20)])
def test_a_ball_is_drawn_from_uniformly(norm, d):
    """The norm of a uniform point of a ball, to the power d, is uniform: by rejection (2), and by Gibbs sampling."""
    rng = np.random.default_rng(1)
    n = 1000 if d == 2 else 300
    points = np.array([uniform_in_ball(np.full(d, 0.5), np.full(d, 0.5), norm, rng) for _ in range(n)])
    size = np.linalg.norm((points - 0.5) / 0.5, NORMS[norm], axis=1)
    assert kstest(size**d, "uniform").pvalue > 0.01
    assert np.abs(points.mean(axis=0) - 0.5).max() < 0.05
    corner = np.array([uniform_in_ball(np.zeros(d), np.ones(d), norm, rng) for _ in range(n)])
    assert kstest(np.linalg.norm(corner, NORMS[norm], axis=1) ** d, "uniform").pvalue > 0.01


def test_radii():
    assert neighbourhood_radii("doubling", 1 / 32, None, 1).ravel().tolist() == [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
    assert np.allclose(neighbourhood_radii("linear", [0.1, 0.2], 3, 2), [[0.1, 0.2], [0.2, 0.4], [0.3, 0.6]])
    assert neighbourhood_radii([0.1, [0.2, 0.3]], 0.5, None, 2).tolist() == [[0.1, 0.1], [0.2, 0.3]]
    assert np.allclose(neighbourhood_radii(lambda kappa: 0.1 * kappa**2, 0.5, 3, 1).ravel(), [0.1, 0.4, 0.9])


@pytest.mark.parametrize(
    ("radii", "step", "kappa_max", "message"),
    [
        ("linear", 0.0, 3, "step=0.0 is not a radius"),
        ("linear", [0.1] * 3, 3, r"step=\[0.1, 0.1, 0.1\] is not a radius; use one positive number or 2"),
        ("linear", np.nan, 3, "step=nan is not a radius"),
        ("linear", 0.1, 0, "kappa_max=0 is not a number of neighbourhoods; use 1 or more"),
        ("linear", 0.1, 2.5, "kappa_max=2.5 is not a number of neighbourhoods"),
        ("growing", 0.1, 3, "radii='growing' is unknown"),
        ([0.1, 0.2], 0.1, 3, "radii has 2 entries for kappa_max=3"),
        ([], 0.1, None, "radii has 0 entries"),
        ([0.2, 0.1], 0.1, None, r"radii=\[0.2, 0.1\] do not grow"),
        ([0.1, -0.2], 0.1, None, r"radii\[1\]=-0.2 is not a radius"),
        (lambda kappa: 0.1, 0.1, 2, "do not grow"),
    ],
)
def test_radii_that_make_no_sense(radii, step, kappa_max, message):
    with pytest.raises(SolverError, match=message):
        neighbourhood_radii(radii, step, kappa_max, 2)
