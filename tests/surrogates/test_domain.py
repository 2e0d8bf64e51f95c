import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SurrogateError
from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.domain import LARGEST, LogIntegers, initial_design

MIXED = Domain((Coordinate(), Coordinate(levels=4), Coordinate(levels=3, categorical=True)))
BRANCHED = Domain(
    (
        Coordinate(levels=2, categorical=True),
        Coordinate(),
        Coordinate(levels=3, parent=0, parent_levels=frozenset({1})),
    )
)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
@settings(max_examples=100, deadline=None)
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
    ("domain", "size"),
    [
        (MIXED, np.inf),
        (Domain((Coordinate(levels=4), Coordinate(levels=3))), 12),
        (Domain((Coordinate(levels=2, categorical=True), Coordinate(levels=3, parent=0, parent_levels=frozenset({1})))), 1 + 3),
    ],
)
def test_size_counts_the_configurations(domain, size):
    assert domain.size == size


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


@given(st.integers(1, LARGEST - 1), st.integers(1, LARGEST), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_a_number_is_at_its_place(low, width, u):
    numbers = LogIntegers(low, min(low + width, LARGEST))
    for number in (numbers.low, numbers.low + 1, numbers.high - 1, numbers.high, int(numbers.number_at(u))):
        assert numbers.number_at(numbers.place_of(number)) == number
        assert 0.0 < numbers.place_of(number) < 1.0


def test_shares_follow_the_logarithm():
    numbers = LogIntegers(1, 100)
    drawn = numbers.number_at(np.linspace(0, 1, 100_001))
    shares = np.bincount(drawn)[1:] / 100_001
    k = np.arange(1, 101)
    assert shares == pytest.approx(np.log((k + 0.5) / (k - 0.5)) / np.log(100.5 / 0.5), abs=2e-5)


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
