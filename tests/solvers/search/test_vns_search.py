import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.searches import Domain, VnsSearch

SQUARE = Domain.continuous(2)


def wavy(u, k=0):
    return float(((u - 0.37) ** 2).sum() + 0.05 * np.cos(25 * u).sum())


def test_algorithm_1_step_by_step():
    """The paper's pseudo-code beside the search, each shake drawn in plain numpy from the same streams."""
    kappa_max, m = 5, 60
    step = np.array([1 / 10, 1 / 16])
    start = np.array([0.3, 0.5])
    search = VnsSearch(SQUARE, 0, start=start, step=step, radii="linear", kappa_max=kappa_max, opening="narrowest")
    incumbent, kappa = start, 1
    assert np.array_equal(search.ask().point, start)
    search.tell(start, wavy(start))
    moves, kappas = 0, []
    for k in range(1, m):
        rng = np.random.default_rng([0, k])
        rng.random(2)  # what a coordinate of no meaning at the incumbent would be
        low = np.maximum(incumbent - kappa * step, 0.0)
        high = np.minimum(incumbent + kappa * step, 1.0)
        candidate = rng.uniform(low, high)
        suggestion = search.ask()
        assert np.allclose(suggestion.point, candidate, rtol=0, atol=1e-12)
        assert suggestion.origin == "shake"
        search.tell(suggestion.point, wavy(suggestion.point))
        kappas.append(kappa)
        if wavy(candidate) < wavy(incumbent):
            incumbent, kappa, moves = candidate, 1, moves + 1
        else:
            kappa = kappa + 1 if kappa < kappa_max else 1
        assert np.allclose(search.incumbent, incumbent, rtol=0, atol=1e-12)
        assert search.kappa == kappa
    assert moves >= 3
    assert set(kappas) == set(range(1, kappa_max + 1))


OUTSIDE = [[0.2, 1.1], [-0.1, 0.5], [0.5], [[0.1, 0.2]], [np.nan, 0.1], None, {"C": 1.0, "gamma": 2.0}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"start": start}, "is not in the box; use a point of the unit cube of dimension 2") for start in OUTSIDE),
        ({"start": "middle"}, "start='middle' is unknown"),
        ({"unit": "octave"}, "unit='octave' is unknown; use 'cube' or 'axis'"),
        ({"norm": "3"}, "norm='3' is unknown; use 'inf', '2' or '1'"),
        ({"plateau": "walk"}, "plateau='walk' is unknown; use 'stay' or 'move'"),
        ({"opening": "wide"}, "opening='wide' is unknown; use 'widest' or 'narrowest'"),
        ({"kappa_max": 0}, "kappa_max=0 is not"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(SolverError, match=message):
        VnsSearch(SQUARE, **arguments)


def test_the_best_of_what_was_told_is_the_start():
    search = VnsSearch(SQUARE, radii=[0.01, 0.5])
    for point, value in [([0.1, 0.1], 3.0), ([0.8, 0.7], 1.0), ([0.4, 0.4], 2.0), ([0.9, 0.9], np.nan)]:
        search.tell(point, value)
    assert (search.incumbent.tolist(), search.kappa) == ([0.8, 0.7], 1)
    assert np.abs(search.ask().point - [0.8, 0.7]).max() <= 0.01
    given = VnsSearch(SQUARE, start=[0.2, 0.2])
    given.tell([0.8, 0.7], 1.0)
    assert given.ask().point.tolist() == [0.2, 0.2]
    given.tell([0.2, 0.2], 2.0)
    assert given.incumbent.tolist() == [0.8, 0.7]
