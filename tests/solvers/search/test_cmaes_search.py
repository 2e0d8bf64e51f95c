import numpy as np
import pytest
from driven import bowl, drive, drive_points

from spotsvm.errors import SolverError
from spotsvm.searches import CmaesSearch, Domain

CUBE = Domain.continuous(4)


def test_a_failed_point_is_the_worst_of_its_generation():
    def f(u):
        return bowl(u) if u[0] < 0.6 else np.nan

    failing, worst = (CmaesSearch(CUBE, 1) for _ in range(2))
    # at most one point of a generation fails here, so that a huge value has the same rank
    a = drive_points(failing, lambda u: np.inf if np.array_equal(u, np.full(4, 0.5)) else bowl(u), 60)
    b = drive_points(worst, lambda u: 1e9 if np.array_equal(u, np.full(4, 0.5)) else bowl(u), 60)
    assert np.array_equal(a, b)
    search = CmaesSearch(CUBE, 1)
    drive(search, f, 100)
    assert np.isnan(search.values[:30]).any()
    assert np.isnan(search.values[-30:]).mean() < 0.2
    assert np.nanmin(search.values) < 0.01


def test_generations_that_fail_begin_anew_elsewhere_with_the_same_population():
    search = CmaesSearch(CUBE, 2)
    points = drive_points(search, lambda u: np.nan, 64)
    assert search.restarts.n_runs == 64 // search.popsize
    assert search._run.popsize == search.popsize == 8
    assert np.ptp(points, axis=0).min() > 0.7


@pytest.mark.parametrize("given", [False, True])
def test_the_first_point_is_the_centre_or_the_best_that_was_told(given):
    """The best itself is no point of the generation, nor is a given centre."""
    assert CmaesSearch(CUBE, 0).ask().point.tolist() == [0.5] * 4
    search = CmaesSearch(CUBE, 5, sigma0=0.05)
    for value, x in [(3.0, 0.2), (2.0, 0.5), (1.0, 0.8)]:
        if given:
            search.assume(np.full(4, x), given=True)
        search.tell(np.full(4, x), value)
    points = np.array([search.ask().point for _ in range(search.n_foreseen)])
    assert np.abs(points - 0.8).max() < 0.25
    assert not (points == 0.8).all(axis=1).any()
    assert search.n_foreseen == 1


def test_points_beyond_the_generation_take_the_place_of_those_that_are_late():
    search = CmaesSearch(CUBE, 0)
    first = [search.ask().point for _ in range(11)]
    for point in first[3:]:
        search.tell(point, bowl(point))
    late = search.ask()
    assert late.origin == "generation"
    assert search._run.es.countiter == 1
    search.tell(late.point, bowl(late.point))
    for point in first[:3]:
        search.tell(point, bowl(point))
    drive(search, bowl, 9)
    assert search._run.es.countiter == 2
    assert search._late == []


def test_a_flat_response_does_not_hold_it():
    search = CmaesSearch(CUBE, 0)
    points = drive_points(search, lambda u: 1.0, 150)
    assert search.restarts.n_runs > 1
    assert np.ptp(points, axis=0).min() > 0.8


@pytest.mark.parametrize("at", [0.0, 0.02])
def test_an_optimum_at_or_near_the_border_is_found(at):
    search = CmaesSearch(Domain.continuous(3), 0)
    drive(search, lambda u: float(np.abs(u - at).sum()), 200)
    assert search.values.min() < 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"popsize": 2}, "popsize=2 is not a population size; use 3 points or more"),
        ({"popsize": 6.5}, "popsize=6.5 is not a population size"),
        ({"sigma0": 0.0}, "sigma0=0.0 is not a part"),
        ({"sigma0": 1.5}, "sigma0=1.5 is not a part"),
        ({"restarts": "none"}, "restarts='none' is unknown; use 'ipop' or 'bipop'"),
        ({"options": {"tolfan": 1}}, "options has 'tolfan', which is not an option of cma.CMAEvolutionStrategy"),
        ({"options": {"popsize": 9}}, "options has 'popsize', which the search sets itself"),
        ({"tol_x": 0.0}, "tol_x=0.0 is not positive"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(SolverError, match=message):
        CmaesSearch(CUBE, **options)
