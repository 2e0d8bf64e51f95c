import numpy as np
import pytest
from driven import drive, two_bowls, zdt1

from spotsvm.errors import SolverError
from spotsvm.searches import Domain, ParegoSearch, RandomSearch


@pytest.mark.parametrize("seed", range(2))
def test_it_reaches_the_front_in_40_evaluations(seed):
    """On ZDT1 the mean of the variables but the first is the distance from the front."""
    search, other = ParegoSearch(Domain.continuous(4), seed), RandomSearch(Domain.continuous(4), seed)
    drive(search, zdt1, 40)
    drive(other, lambda u: 0.0, 40)
    distance = search.points[20:, 1:].mean(axis=1)
    assert np.median(distance) < 0.03
    assert np.median(distance) < other.points[:, 1:].mean(axis=1).min()
    assert np.ptp(search.points[20:, 0][distance < 0.03]) > 0.4  # more than one place of it


def test_weights_are_of_the_simplex_and_of_each_suggestion_s_own():
    search = ParegoSearch(Domain.continuous(2), 1, n_objectives=3)
    seen = []
    for k in range(200):
        seen.append(search.weights)
        assert np.array_equal(search.weights, seen[-1])
        search.assume([k / 200, 0.5])
    assert (np.array(seen) >= 0).all()
    assert np.allclose(np.sum(seen, axis=1), 1)
    assert np.allclose(np.mean(seen, axis=0), 1 / 3, atol=0.06)
    assert len(np.unique(seen, axis=0)) == 200


@pytest.mark.parametrize(("noise", "replicates"), [("auto", 1), (False, 0)])
def test_noise_is_found_out_by_one_replicate(noise, replicates):
    suggestions = drive(ParegoSearch(Domain.continuous(2), noise=noise), two_bowls, 20)
    assert sum(s.origin == "replicate" for s in suggestions) == replicates


def test_a_batch_has_one_second_look_only():
    search = ParegoSearch(Domain.continuous(2))
    drive(search, two_bowls, 6)
    batch = [search.ask() for _ in range(8)]
    assert [s.origin for s in batch].count("replicate") == 1
    assert len({tuple(s.point) for s in batch}) == 8


def test_a_region_that_fails_is_avoided():
    search = ParegoSearch(Domain.continuous(2), 1)
    suggestions = drive(search, lambda u: [np.nan, 1.0] if u[0] > 0.5 else two_bowls(u + 0.25), 35)
    assert "evaluations failed and are avoided" in suggestions[-1].note
    assert np.mean([s.point[0] > 0.5 for s in suggestions[15:]]) < 0.25


def test_arguments_of_the_kriging_search_reach_it():
    search = ParegoSearch(Domain.continuous(2), n_initial=9, correlation="gaussian")
    assert (search.capabilities.n_initial, search._model.ensemble.correlation.name) == (9, "gaussian")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n_initial": 1}, "n_initial=1 is too few"),
        *(({"rho": rho}, f"rho={rho!r} is not positive") for rho in (0, -1.0, np.nan)),
    ],
)
def test_bad_arguments(arguments, said):
    with pytest.raises(SolverError, match=said):
        ParegoSearch(Domain.continuous(2), **arguments)
