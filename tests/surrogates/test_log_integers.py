"""Whole numbers on a log scale, and the first design."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SurrogateError
from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.domain import LARGEST, LogIntegers, initial_design


@given(st.integers(1, LARGEST - 1), st.integers(1, LARGEST), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_number_is_at_its_place(low, width, u):
    numbers = LogIntegers(low, min(low + width, LARGEST))
    for number in (numbers.low, numbers.low + 1, numbers.high - 1, numbers.high, int(numbers.number_at(u))):
        assert numbers.number_at(numbers.place_of(number)) == number
        assert 0.0 < numbers.place_of(number) < 1.0


def test_points_of_a_domain_have_the_places():
    domain = Domain((Coordinate(numbers=LogIntegers(1, 50)), Coordinate(levels=3, categorical=True), Coordinate()))
    once = domain.snap(np.random.default_rng(0).random((200, 3)))
    assert np.array_equal(once, domain.snap(once))
    assert 10 < len(np.unique(once[:, 0])) <= 50
    finite = Domain(domain.coordinates[:2])
    assert (finite.size, domain.size) == (150, np.inf)
    cells = {finite.cell(at).tobytes() for at in np.ndindex(50, 3)}
    assert len(cells) == 150


@pytest.mark.parametrize("bounds", [(0, 5), (5, 5), (6, 5), (1, LARGEST + 1)])
def test_bounds_that_have_no_such_scale(bounds):
    with pytest.raises(SurrogateError, match="no range on a log scale"):
        LogIntegers(*bounds)


def test_a_coordinate_is_one_thing():
    with pytest.raises(SurrogateError, match="coordinate 0 has numbers on a log scale and levels=3; use one of them"):
        Domain((Coordinate(levels=3, numbers=LogIntegers(1, 3)),))


def test_centre_and_latin_hypercube():
    design = initial_design(Domain.continuous(3), 9, np.random.default_rng(0))
    assert design[0].tolist() == [0.5] * 3
    assert (np.sort((8 * design[1:]).astype(int), axis=0) == np.arange(8)[:, None]).all()
    assert initial_design(Domain.continuous(3), 8, np.random.default_rng(0), centre=False).shape == (8, 3)
    domain = Domain((Coordinate(levels=3), Coordinate()))
    snapped = initial_design(domain, 6, np.random.default_rng(0))
    assert np.array_equal(snapped, domain.snap(snapped))
    with pytest.raises(ValueError, match="n=0 is not a number of points"):
        initial_design(domain, 0, np.random.default_rng(0))
