import numpy as np
import pytest
from driven import branin, drive

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.searches import Coordinate, Domain, KrigingSearch, RandomSearch


def test_branin_in_30_evaluations():
    search = KrigingSearch(Domain.continuous(2), 0)
    drive(search, branin, 30)
    assert search.values.min() < 0.45
    other = RandomSearch(Domain.continuous(2), 0)
    drive(other, branin, 30)
    assert search.values.min() < other.values.min()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_points": 19}, "max_points=19 is too few"),
        ({"n_initial": 1}, "n_initial=1 is too few"),
        ({"repeat_below": -1}, "repeat_below=-1 is negative"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(arguments, said):
    with pytest.raises(SolverError, match=said):
        KrigingSearch(Domain.continuous(2), **arguments)


def test_few_evaluations_fail_where_the_value_improves_up_to_a_border():
    """The best is at the border of a region that fails; of the last 20 of 40 evaluations all failed once."""

    def value(x):
        return np.nan if x[0] > 0.6 + 0.1 * np.sin(6 * x[1]) else (1 - x[0]) + 2 * (x[1] - 0.3) ** 2

    search = KrigingSearch(Domain.continuous(2), seed=0)
    for _ in range(40):
        point = search.ask().point
        search.tell(point, value(point))
    assert np.isnan(search.values[-20:]).sum() < 11
    assert np.nanmin(search.values) < 0.305


@pytest.mark.parametrize("noise", ["auto", True])
def test_an_exhausted_space_under_noise_is_evaluated_again_by_ocba(noise):
    """Most evaluations go to the best configurations, which differ by half a standard deviation of the noise."""
    means = np.array([0.0, 0.5, 4.0, 4.0, 5.0, 6.0])
    domain, rng = Domain((Coordinate(levels=3), Coordinate(levels=2))), np.random.default_rng(0)
    search = KrigingSearch(domain, seed=0, noise=noise)
    counts = np.zeros(6, dtype=int)
    for _ in range(40):
        point = search.ask().point
        k = int(2 * np.floor(3 * point[0]) + np.floor(2 * point[1]))
        counts[k] += 1
        search.tell(point, means[k] + rng.normal())
    assert counts.sum() == 40
    assert counts.min() >= 1
    assert counts[:2].sum() > 24
    assert counts[:2].min() > 6


def test_an_exhausted_space_with_all_pending_or_failed():
    search = KrigingSearch(Domain((Coordinate(levels=3),)), seed=0, noise=True)
    for k in range(3):
        point = search.ask().point
        search.tell(point, np.nan if k < 1 else float(k))
    for _ in range(6):  # more workers than configurations
        assert search.ask().origin == "replicate"
    failed = KrigingSearch(Domain((Coordinate(levels=2),)), seed=0, noise=True)
    for _ in range(2):
        failed.tell(failed.ask().point, np.nan)
    with pytest.raises(SearchExhaustedError):
        failed.ask()


@pytest.mark.parametrize(("n", "differs"), [(12, False), (13, True)])
def test_every_sixth_suggestion_per_second_is_made_cost_blind(n, differs):
    points = np.random.default_rng(0).random((n, 2))
    suggested = []
    for per_second in (False, True):
        search = KrigingSearch(Domain.continuous(2), noise=False, per_second=per_second)
        for point in points:
            search.assume(point)
            search.tell(point, branin(point))
            search.take_seconds(10.0 ** (3 * point[0]))
        suggested.append(search.ask().point)
    plain, other = suggested
    assert (not np.array_equal(plain, other)) == differs
    assert (other[0] < plain[0]) == differs
