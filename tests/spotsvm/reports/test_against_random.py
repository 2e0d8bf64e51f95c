from collections import Counter

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import beta, qmc

from spotsvm import Trial
from spotsvm.reports.model import against_random
from spotsvm.searches import Coordinate, Domain
from spotsvm.trials.trial import START

SQUARE = Domain.continuous(2)
MIXED = Domain((Coordinate(), Coordinate(), Coordinate(levels=3, categorical=True)))


def branin(u):
    x, y = 15 * u[:, 0] - 5, 15 * u[:, 1]
    return (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def valley(u):
    """Like the error of a support vector machine: a flat high plain, and a valley along C and gamma."""
    return 0.4 * expit(8 * (5 * np.abs(u[:, 0] + u[:, 1] - 1) - 1)) + 0.1 * (u[:, 0] - 0.4) ** 2


def mixed(u):
    return (u[:, 0] - 0.2 - 0.6 * u[:, 2]) ** 2 + (u[:, 1] - 0.7) ** 2 + 0.2 * u[:, 2]


FUNCTIONS = [
    (SQUARE, branin),
    (SQUARE, valley),
    (MIXED, mixed),
    (Domain.continuous(3), lambda u: ((u - 0.3) ** 2) @ np.array([3.0, 1.0, 0.2])),
    (SQUARE, lambda u: np.log(1e-3 + ((u - 0.6) ** 2).sum(axis=1))),
    (Domain.continuous(4), lambda u: u @ np.array([1.0, -1.0, 0.5, 0.1])),
    (SQUARE, lambda u: ((u - 0.4) ** 2).sum(axis=1) - 0.05 * np.cos(9 * (u - 0.4)).sum(axis=1)),
    (Domain.continuous(5), lambda u: np.round(20 * np.abs(u - 0.5).mean(axis=1)) / 20),
]


def searched(way, domain, response, n, rng):
    """A search of n points: random, in disguise or not; one that learns; one that looks in a bad corner only."""
    d = domain.dimension
    if way == "disguised":
        points = qmc.LatinHypercube(d, rng=rng).random(n)
    elif way == "worse":
        places = rng.random((200, d))
        points = places[np.argsort(response(places))[rng.integers(100, 200)]] + 0.1 * rng.normal(size=(n, d))
    else:
        points = rng.random((n, d))
    points = domain.snap(points)
    values = response(points)
    if way == "better":
        for k in range(6, n):  # steps that shrink, from the best so far
            at = points[np.argmin(values[:k])] + 0.3 * 0.9 ** (k - 6) * rng.normal(size=d)
            points[k] = domain.snap_one(at)
            values[k] = response(points[k : k + 1])[0]
    return points, values


def told(points, values, origin="random"):
    ended = [("ok", float(value)) if np.isfinite(value) else ("failed", None) for value in values]
    return [
        Trial(number, {}, tuple(point), state, value, origin=origin)
        for number, (point, (state, value)) in enumerate(zip(points, ended, strict=True))
    ]


def simulate(number):
    """One study of 15 to 50 trials, and the chance that a random search of as many gets as far, from 16,384 configurations."""
    rng = np.random.default_rng([17, number])
    domain, f = FUNCTIONS[number % len(FUNCTIONS)]
    way = ("random", "better", "disguised", "better", "worse")[number % 5]
    dense = f(domain.snap(qmc.Sobol(domain.dimension, rng=rng).random(2**14)))
    sd = 0.0 if number % 3 else float(rng.choice([0.1, 0.4])) * dense.std()

    def response(points):
        return f(domain.snap(points)) + sd * rng.normal(size=len(points))

    n = int(rng.choice([15, 15, 20, 20, 30, 50]))
    points, values = searched(way, domain, response, n, rng)
    best = values.min()
    share = np.mean(ndtr((best - dense) / sd)) if sd else np.mean(dense <= best)
    beside = domain.snap(rng.random((n, domain.dimension)))
    drawn = told(beside, response(beside)) if (number // 5) % 2 else []
    found = against_random(told(points, values), domain, sign=1.0, noise=sd > 0, seed=number, drawn=drawn)
    return found, 1 - (1 - share) ** n, bool(drawn)


TRUE = {
    "better": lambda chance: chance <= 0.1,
    "above": lambda chance: chance <= 0.5,
    "not better": lambda chance: chance >= 0.5,
    "unknown": lambda chance: True,
}


def test_the_verdict_is_wrong_in_at_most_one_of_twenty_runs_and_is_given():
    runs = [simulate(number) for number in range(120)]
    wrong = [number for number, (found, chance, _) in enumerate(runs) if not TRUE[found.verdict](chance)]
    assert len(wrong) <= 6, wrong
    assert set(Counter(found.verdict for found, _, _ in runs)) == set(TRUE)
    for beside, least in ((True, 0.75), (False, 0.45)):
        clear = [found.verdict for found, chance, drawn in runs if drawn == beside and (chance < 0.02 or chance > 0.9)]
        assert len(clear) > 12
        assert np.mean([verdict != "unknown" for verdict in clear]) > least


def losses(values, origin="random"):
    return told(np.random.default_rng(len(values)).random((len(values), 2)), np.asarray(values, dtype=float), origin)


@pytest.mark.parametrize(
    ("n", "as_good", "worse", "verdict"),
    [(720, 0, 2.0, "better"), (720, 0, np.nan, "better"), (120, 0, 2.0, "above"), (20, 4, 2.0, "not better")],
)
def test_random_trials_are_counted_where_they_decide(n, as_good, worse, verdict):
    """The interval of the share is Clopper's and Pearson's; failed trials are worse."""
    drawn = losses([0.0] * as_good + [worse] * (n - as_good))
    found = against_random(losses([1.0] * 20), SQUARE, sign=1.0, noise=False, seed=0, drawn=drawn)
    assert found.verdict == verdict
    assert f"Of the {n} trials of the random search, {as_good} did as well" in found.sentence()
    high = beta.ppf(0.975, as_good + 1, n - as_good)
    assert found.high == pytest.approx(1 - (1 - high) ** 20)
    low = beta.ppf(0.025, as_good, n - as_good + 1) if as_good else 0.0
    assert found.low == pytest.approx(1 - (1 - low) ** 20)


def test_a_start_that_was_never_surpassed_is_no_merit_of_the_search():
    trials = losses([0.5], START) + losses([1.0] * 20)
    found = against_random(trials, SQUARE, sign=1.0, noise=False, seed=0)
    assert found.verdict == "not better"
    assert "No trial is better than the starting points" in found.sentence()


@pytest.mark.parametrize("values", [[1.0], [1.0] * 30, [3.0, 2.0, 1.0]])
def test_what_no_model_can_tell_is_not_told(values):
    found = against_random(losses(values), SQUARE, sign=1.0, noise=False, seed=0)
    assert found.sentence() == (
        "The trials do not show whether the search did better than random search. "
        "There are too few trials, or too few different values, to fit a model."
    )


def test_the_direction_and_the_unit_of_the_values_do_not_matter():
    points, values = searched("better", SQUARE, branin, 30, np.random.default_rng(0))
    one = against_random(told(points, values), SQUARE, sign=1.0, noise=False, seed=0)
    other = against_random(told(points, -(2.0**1000) * values), SQUARE, sign=-1.0, noise=False, seed=0)
    assert (one.low, one.high) == (other.low, other.high)
    assert 0 < one.low < one.high < 1
