import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.searches import Coordinate, Domain
from spotsvm.solvers.search.cmaes_search import CmaesCoding

DOMAIN = Domain(
    (
        Coordinate(levels=2, categorical=True),
        Coordinate(),
        Coordinate(levels=5),
        Coordinate(levels=1),
        Coordinate(levels=60, parent=0, parent_levels=frozenset({1})),
    )
)


def test_what_each_coordinate_becomes():
    coding = CmaesCoding(DOMAIN)
    assert coding.columns.tolist() == [1, 2, 4]
    assert coding.integers == [1, 2]
    assert (coding.low.tolist(), coding.high.tolist()) == ([0.0, -0.5, -0.5], [1.0, 4.5, 59.5])
    assert coding.widths.tolist() == [1.0, 5.0, 60.0]
    for level in range(5):
        point = coding.decode(np.array([0.2, level, 0.0]), np.full(5, 0.75))
        assert DOMAIN.level_of(point)[0, 2] == level


def test_fewer_than_two_coordinates_are_filled_up():
    for domain in (Domain.continuous(1), Domain((Coordinate(levels=3, categorical=True),))):
        coding = CmaesCoding(domain)
        assert coding.encode(np.array([0.5])).tolist() == [0.5, 0.5]
        assert coding.decode(np.array([0.5, 0.9]), np.array([0.5])).tolist() == [0.5]


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_there_and_back(u):
    point, coding = DOMAIN.snap_one(u), CmaesCoding(DOMAIN)
    x = coding.encode(point)
    assert np.all((coding.low <= x) & (x <= coding.high))
    if point[0] > 0.5:  # else the last is inactive, and no level
        assert np.allclose(x[1:], np.round(x[1:]))
    assert np.allclose(coding.decode(x, point), point, rtol=0, atol=1e-15)
