import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.searches import Coordinate, Domain
from spotsvm.solvers.search.cmaes_search import CategoryShares

DOMAIN = Domain(
    (
        Coordinate(levels=3, categorical=True),
        Coordinate(),
        Coordinate(levels=4, categorical=True, parent=0, parent_levels=frozenset({2})),
    )
)


def test_a_start_has_half_of_the_shares_where_it_is_active():
    shares = CategoryShares(DOMAIN, 0.3, 0.2, DOMAIN.snap_one([0.9, 0.5, 0.1]))
    assert shares.shares[0] == pytest.approx([1 / 6, 1 / 6, 2 / 3])
    assert shares.shares[2] == pytest.approx([0.625, 0.125, 0.125, 0.125])
    shares = CategoryShares(DOMAIN, 0.3, 0.2, DOMAIN.snap_one([0.1, 0.5, 0.1]))
    assert shares.shares[2] == pytest.approx([0.25] * 4)


def test_an_update_by_hand():
    shares = CategoryShares(DOMAIN, 0.5, 0.0)
    points = DOMAIN.snap([[0.9, 0.1, 0.1], [0.1, 0.1, 0.1]])
    shares.update(points, np.array([0.75, 0.25]))
    assert shares.shares[0] == pytest.approx([0.5 / 3 + 0.125, 0.5 / 3, 0.5 / 3 + 0.375])
    # only the first point, of weight 3/4, has the second category at all
    assert shares.shares[2] == pytest.approx([0.25 + 0.5 * 0.75 * 0.75] + [0.25 - 0.5 * 0.75 * 0.25] * 3)
    before = shares.shares[2].tolist()
    shares.update(DOMAIN.snap([[0.1, 0.1, 0.1]]), np.array([1.0]))
    assert shares.shares[2].tolist() == before  # no point has it


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60), st.floats(0.05, 1.0))
def test_shares_stay_a_distribution_above_the_floor(draws, rate):
    shares = CategoryShares(DOMAIN, rate, 0.2)
    for a, b in draws:
        shares.update(DOMAIN.snap([[a, 0.5, b], [0.99, 0.5, b]]), np.array([0.7, 0.3]))
    for s in shares.shares.values():
        assert s.sum() == pytest.approx(1.0)
        assert s.min() >= 0.2 / len(s) - 1e-12
