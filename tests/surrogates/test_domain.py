import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SurrogateError
from spotsvm.searches import Coordinate, Domain

MIXED = Domain((Coordinate(), Coordinate(levels=4), Coordinate(levels=3, categorical=True)))
BRANCHED = Domain(
    (
        Coordinate(levels=2, categorical=True),
        Coordinate(),
        Coordinate(levels=3, parent=0, parent_levels=frozenset({1})),
    )
)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
@settings(max_examples=40, deadline=None)
def test_snap_is_idempotent_to_the_bit(u):
    for domain in (MIXED, BRANCHED):
        once = domain.snap(u)
        assert np.array_equal(once, domain.snap(once))
        assert np.array_equal(domain.level_of(u), domain.level_of(once)) or domain is BRANCHED
        assert ((once >= 0) & (once <= 1)).all()


def test_each_value_owns_an_equal_share():
    u = np.linspace(0, 1, 4001)[:-1]
    counts = np.bincount(MIXED.level_of(np.tile(u[:, None], (1, 3)))[:, 1])
    assert counts.tolist() == [1000] * 4
    assert MIXED.level_of([1.0, 1.0, 1.0])[0].tolist() == [0, 3, 2]


def test_inactive_coordinates_are_one_point():
    a, b = BRANCHED.snap([[0.1, 0.3, 0.1], [0.1, 0.3, 0.9]])
    assert np.array_equal(a, b)
    assert a[2] == 0.5
    assert BRANCHED.active([[0.1, 0.3, 0.1], [0.9, 0.3, 0.1]]).tolist() == [[True, True, False], [True, True, True]]


def test_model_inputs_number_the_categories():
    assert MIXED.model_inputs(MIXED.snap([[0.2, 0.2, 0.9]]))[0, 2] == 2
    nested = Domain(
        (Coordinate(levels=2, categorical=True), Coordinate(levels=3, categorical=True, parent=0, parent_levels=frozenset({1})))
    )
    assert nested.model_inputs(nested.snap([[0.1, 0.9]]))[0].tolist() == [0, -1]


@pytest.mark.parametrize(
    ("coordinates", "said"),
    [
        ((), "coordinates is empty"),
        ((Coordinate(levels=-1),), "levels=-1"),
        ((Coordinate(width=0.0),), "coordinate 0 has width=0.0; use a positive number"),
        ((Coordinate(categorical=True),), "categorical with levels=0"),
        ((Coordinate(parent=3, parent_levels=frozenset({0})),), "parent=3"),
        ((Coordinate(), Coordinate(parent=0, parent_levels=frozenset({0}))), "must be discrete"),
        ((Coordinate(levels=2), Coordinate(parent=0, parent_levels=frozenset({2}))), "use some of 0 to 1"),
    ],
)
def test_a_domain_that_makes_no_sense_is_refused(coordinates, said):
    with pytest.raises(SurrogateError, match=said):
        Domain(coordinates)
    with pytest.raises(SurrogateError, match="points has 2 columns; the domain has 3"):
        MIXED.snap([0.1, 0.2])


def test_widths_change_nothing_about_what_points_mean():
    domain = Domain((Coordinate(width=16.0), Coordinate()))
    assert np.array_equal(domain.widths, [16.0, np.nan], equal_nan=True)
    assert domain == Domain.continuous(2)
