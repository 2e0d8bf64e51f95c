import numpy as np
import pytest

from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.acquisition.maximize_acquisition import maximize_acquisition, pattern_search

ANCHOR = np.full((1, 4), 0.5)


class Bowl:
    """-|u - target|^2 in the numeric coordinates, and 1 for the right category."""

    def __init__(self, target, category=None):
        self.target, self.category = np.array(target), category

    def value(self, points):
        out = -((points[:, : len(self.target)] - self.target) ** 2).sum(axis=1)
        return out if self.category is None else out + np.isclose(points[:, -1], self.category)

    def climb(self, point, free, evaluations):
        found = point.copy()
        found[: len(self.target)] = np.where(free[: len(self.target)], self.target, point[: len(self.target)])
        return found, float(self.value(found[None])[0])


def test_polish_reaches_the_maximum():
    found = maximize_acquisition(Domain.continuous(4), Bowl([0.31, 0.77, 0.05, 1.0]), ANCHOR, np.random.default_rng(0))
    assert found is not None
    assert np.allclose(found[0], [0.31, 0.77, 0.05, 1.0], atol=1e-6)
    assert np.isclose(found[1], 0.0, atol=1e-10)


def test_discrete_coordinates_stay_on_their_values():
    domain = Domain((Coordinate(), Coordinate(levels=5), Coordinate(levels=3), Coordinate(levels=4, categorical=True)))
    point, _ = maximize_acquisition(domain, Bowl([0.42, 0.66, 0.2], category=0.875), ANCHOR, np.random.default_rng(1))
    assert np.isclose(point[0], 0.42, atol=1e-5)
    assert np.allclose(point[1:], [0.7, 1 / 6, 0.875])
    assert np.array_equal(point, domain.snap(point)[0])


def test_what_is_not_allowed_is_not_returned():
    domain = Domain((Coordinate(levels=4), Coordinate(levels=2)))
    best = domain.snap([0.6, 0.9])[0]
    bowl = Bowl([0.6, 0.9])
    anchor = np.array([[0.5, 0.5]])
    point, _ = maximize_acquisition(domain, bowl, anchor, np.random.default_rng(2), allowed=lambda u: not np.array_equal(u, best))
    assert not np.array_equal(point, best)
    assert maximize_acquisition(domain, bowl, anchor, np.random.default_rng(2), allowed=lambda u: False) is None


def test_inactive_coordinates_are_not_polished():
    domain = Domain((Coordinate(levels=2, categorical=True), Coordinate(), Coordinate(parent=0, parent_levels=frozenset({1}))))

    class First(Bowl):
        def value(self, points):
            return -((points[:, 1] - 0.2) ** 2) - (points[:, 0] > 0.5)

        def climb(self, point, free, evaluations):
            assert free.tolist() == [False, True, False]
            return np.where(free, 0.2, point), 0.0

    point, _ = maximize_acquisition(domain, First([0.0]), np.array([[0.25, 0.5, 0.5]]), np.random.default_rng(3))
    assert np.allclose(point, [0.25, 0.2, 0.5], atol=1e-6)


def test_a_pattern_search_moves_the_free_coordinates_alone():
    point, value = pattern_search(lambda u: -((u - 0.3) ** 2).sum(axis=1), np.full(2, 0.5), np.array([True, False]), 40)
    assert point == pytest.approx([0.3, 0.5], abs=0.005)
    assert value == pytest.approx(-0.04, abs=1e-4)
