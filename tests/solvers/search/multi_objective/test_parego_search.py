import numpy as np
import pytest
from driven import drive, two_bowls, zdt1

from spotsvm.errors import SolverError
from spotsvm.searches import Domain, KrigingSearch, ParegoSearch, RandomSearch
from spotsvm.solvers.search.checks import replayed
from spotsvm.solvers.search.multi_objective.parego_search import augmented_tchebycheff


def test_it_reaches_the_front_in_40_evaluations():
    """On ZDT1 the mean of the variables but the first is the distance from the front."""
    search, other = ParegoSearch(Domain.continuous(4), 0), RandomSearch(Domain.continuous(4), 0)
    drive(search, zdt1, 40)
    drive(other, lambda u: 0.0, 40)
    distance = search.points[20:, 1:].mean(axis=1)
    assert np.median(distance) < 0.03
    assert np.median(distance) < other.points[:, 1:].mean(axis=1).min()
    assert np.ptp(search.points[20:, 0][distance < 0.03]) > 0.4  # more than one place of it


def test_noise_is_found_out_by_one_replicate():
    suggestions = drive(ParegoSearch(Domain.continuous(2)), two_bowls, 20)
    assert sum(s.origin == "replicate" for s in suggestions) == 1


def test_the_first_model_is_the_kriging_search_s_of_the_norm():
    """After the design both search the same response, so they suggest the same point."""
    search = ParegoSearch(Domain.continuous(2), 3, noise=False)
    drive(search, two_bowls, 6)
    response = augmented_tchebycheff(search.values, search.weights)
    other = replayed(KrigingSearch(Domain.continuous(2), 3, noise=False), search.points, response)
    assert np.array_equal(search.ask().point, other.ask().point)


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
