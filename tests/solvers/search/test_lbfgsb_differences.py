import numpy as np
import pytest

from spotsvm.searches import Coordinate, Domain
from spotsvm.solvers.search.lbfgsb_search import FiniteDifferences

MIXED = Domain(
    (
        Coordinate(),
        Coordinate(levels=7),
        Coordinate(levels=60),
        Coordinate(levels=3, categorical=True),
        Coordinate(parent=3, parent_levels=frozenset({0})),
    )
)
SLOPES = np.array([1.0, -2.0, 3.0, 100.0, 7.0])


def linear(u):
    return float(SLOPES @ u)


@pytest.mark.parametrize("base", [0.0, 0.3, 0.97, 1.0])
def test_a_linear_response_has_its_slopes(base):
    differences = FiniteDifferences(Domain.continuous(2), lambda u: float(2 * u[0] - 5 * u[1]), 0.05)
    assert differences.gradient(np.full(2, base)) == pytest.approx([2.0, -5.0])


@pytest.mark.parametrize("category", [0, 1])
def test_what_moves_and_how_far(category):
    base = MIXED.snap_one([0.5, 0.5, 0.5, (category + 0.5) / 3, 0.4])
    differences = FiniteDifferences(MIXED, linear, 0.05)
    moved = {j: points[0][j] - base[j] for j, points in differences.neighbours(base).items()}
    # one level of seven is more than 0.05; three of sixty are just that
    assert moved == pytest.approx({0: 0.05, 1: 1 / 7, 2: 3 / 60} | ({4: 0.05} if category == 0 else {}))
    assert differences.gradient(base) == pytest.approx([1.0, -2.0, 3.0, 0.0, 7.0 if category == 0 else 0.0])
    further = {j: points[0][j] - base[j] for j, points in differences.neighbours(base, 4.0).items()}
    assert further == pytest.approx({0: 0.2, 1: 1 / 7, 2: 12 / 60} | ({4: 0.2} if category == 0 else {}))


def test_the_last_level_of_two_goes_back():
    differences = FiniteDifferences(Domain((Coordinate(levels=2),)), lambda u: float(4 * u[0]), 0.05)
    for at in (0.25, 0.75):
        assert differences.gradient(np.array([at])) == pytest.approx([4.0])


def test_a_failed_point_gives_way_to_the_other_side():
    fails = {0.55: np.nan, 0.45: np.nan}

    def response(u):
        return np.nan if u[0] > 0.5 or not 0.46 <= u[1] <= 0.54 else float(u[0] + u[1])

    assert FiniteDifferences(Domain.continuous(2), response, 0.05).gradient(np.full(2, 0.5)) == pytest.approx([1.0, 0.0])
    assert (
        FiniteDifferences(Domain.continuous(1), lambda u: fails.get(round(u[0], 2), 1.0), 0.05).gradient(np.array([0.5])) == 0.0
    )


def test_what_is_missing_is_asked_for_all_at_once_and_the_other_side_only_where_one_failed():
    known = {}

    def response(u):
        return known.get(tuple(np.round(u, 6)))

    differences = FiniteDifferences(Domain.continuous(2), response, 0.1)
    base = np.full(2, 0.5)
    known[0.5, 0.5] = 1.0
    assert np.array(differences.missing(base)) == pytest.approx(np.array([[0.6, 0.5], [0.5, 0.6]]))
    known[0.6, 0.5], known[0.5, 0.6] = 2.0, np.nan
    assert np.array(differences.missing(base)) == pytest.approx(np.array([[0.5, 0.4]]))
    known[0.5, 0.4] = 4.0
    assert differences.missing(base) == []
    assert differences.gradient(base) == pytest.approx([10.0, -30.0])
