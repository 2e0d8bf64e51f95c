"""The steps of the variable neighbourhood search, and what it finds."""

import numpy as np
import pytest
from driven import branin

from spotsvm.searches import Coordinate, Domain, RandomSearch, VnsSearch
from spotsvm.solvers.search.checks import RESPONSES, run
from spotsvm.solvers.search.registry import carrizosa2014

SQUARE = Domain.continuous(2)


def wavy(u):
    return float(((u - 0.37) ** 2).sum() + 0.05 * np.cos(25 * u).sum())


def test_the_settings_of_the_paper_and_radii_in_the_axes_own_unit():
    """One step on all axes, however wide; one without a unit has the paper's grid."""
    domain = Domain((Coordinate(width=24.0), Coordinate(width=16.0), Coordinate(), Coordinate(levels=5)))
    search = carrizosa2014(domain, 1)
    assert (search.kappa_max, search.norm, search.plateau) == (25, "inf", "stay")
    assert np.allclose(search.radii * [24, 16, 24, 24], np.arange(1, 26)[:, None])
    listed = VnsSearch(domain, unit="axis", radii=[[1, 2, 3, 4], 8.0])
    assert np.allclose(listed.radii * [24, 16, 24, 24], [[1, 2, 3, 4], [8] * 4])
    assert np.array_equal(VnsSearch(domain).radii, VnsSearch(Domain.continuous(4)).radii)


def test_what_was_never_asked_for_moves_the_incumbent_and_leaves_kappa():
    search = VnsSearch(SQUARE, opening="narrowest")
    for x, value in [(0.1, 1.0), (0.2, 2.0), (0.3, np.nan)]:  # nor do starts that were given
        search.assume([x, x], given=True)
        search.tell([x, x], value)
    assert (search.incumbent.tolist(), search.kappa) == ([0.1, 0.1], 1)
    assert np.abs(search.ask().point - 0.1).max() <= 1 / 32
    search = VnsSearch(SQUARE, opening="narrowest")
    run(search, lambda u, k: float(k), 4)
    assert search.kappa == 4
    search.tell([0.9, 0.9], -1.0)
    search.tell([0.1, 0.1], 5.0)
    assert (search.incumbent.tolist(), search.kappa) == ([0.9, 0.9], 4)


@pytest.mark.parametrize(("plateau", "moves"), [("stay", False), ("move", True)])
def test_plateaus(plateau, moves):
    search = VnsSearch(SQUARE, plateau=plateau, opening="narrowest")
    suggestions = run(search, RESPONSES["constant"], 4)
    assert np.array_equal(search.incumbent, suggestions[-1 if moves else 0].point)
    assert search.kappa == 4


def test_a_flat_start_is_left_by_the_widest_neighbourhood_until_the_first_better_value():
    search = VnsSearch(SQUARE, start=[0.05, 0.05], radii=[0.01, 1.0])
    points = np.array([s.point for s in run(search, RESPONSES["constant"], 11)])
    assert (np.abs(points[1:] - 0.05).max(axis=1) > 0.02).sum() >= 9  # of ten draws from the whole square
    assert search.kappa == 1
    assert np.abs(search.ask().point - search.incumbent).max() <= 0.01
    search = VnsSearch(SQUARE, radii=[0.01, 0.1, 1.0])
    for value, kappa in [(5.0, 3), (7.0, 3), (5.0, 3), (np.nan, 3), (4.0, 1), (6.0, 2)]:
        search.tell(search.ask().point, value)
        assert search.kappa == kappa


def test_a_failure_is_never_better():
    search = VnsSearch(SQUARE, plateau="move", opening="narrowest")
    suggestions = run(search, RESPONSES["all fail"], 5)
    assert search.incumbent is None
    assert search.kappa == 1
    assert {s.note for s in suggestions[1:]} == {"no evaluation has succeeded yet"}
    search.tell(search.ask().point, 7.0)
    found = search.incumbent
    search.tell(search.ask().point, -np.inf)
    assert np.array_equal(search.incumbent, found)
    assert search.kappa == 2


def test_where_a_discrete_neighbourhood_holds_nothing_new_the_next_is_tried():
    search = VnsSearch(Domain((Coordinate(levels=9),)), radii=[0.01, 0.2, 1.0], opening="narrowest")
    suggestions = run(search, lambda u, k: float(k), 9)
    assert suggestions[1].note == "neighbourhood 2, for 1 holds nothing new"
    narrow = VnsSearch(Domain((Coordinate(levels=9),)), radii=[0.01, 0.02], opening="narrowest")
    narrow.tell([0.5], 1.0)
    assert narrow.ask().note == "no neighbourhood of the incumbent holds anything new"


@pytest.mark.parametrize("name", ["branin", "wavy"])
def test_it_beats_random_search(name):
    response = {"branin": lambda u, k: branin(u), "wavy": lambda u, k: wavy(u)}[name]
    best = {}
    for kind in (VnsSearch, carrizosa2014, RandomSearch):
        searches = [kind(SQUARE, seed) for seed in range(15)]
        for search in searches:
            run(search, response, 100)
        best[kind] = np.median([search.values.min() for search in searches])
    assert best[VnsSearch] < best[RandomSearch]
    assert best[carrizosa2014] < best[RandomSearch]
