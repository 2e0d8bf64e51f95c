import numpy as np
import pytest

from spotsvm.searches import Domain
from spotsvm.solvers.search.lbfgsb_search import LbfgsbDescent, ValueMissingError

CUBE = Domain.continuous(2)
OPTIONS = {"ftol": 1e-9, "gtol": 1e-9, "maxls": 6}


class Memo:
    """Knows what it has been taught."""

    def __init__(self, f):
        self.f = f
        self.known = {}

    def __call__(self, point):
        return self.known.get(point.tobytes())

    def learn(self, points):
        self.known |= {p.tobytes(): self.f(p) for p in points}


def descend(f, start, **options):
    """Teach the descent what it misses until it misses nothing; gives what it asked for, in order."""
    memo, asked = Memo(f), []
    for _ in range(200):
        try:
            LbfgsbDescent(CUBE, memo, np.array(start), 0.01, options.get("first_step", 0.2), OPTIONS).run()
        except ValueMissingError as missing:
            asked.append((missing.origin, missing.points))
            memo.learn(missing.points)
        else:
            return asked
    raise AssertionError("the descent does not end")


def test_a_step_that_is_turned_down_costs_no_gradient():
    asked = descend(lambda u: float(np.exp(30 * abs(u[0] - 0.55))), [0.5, 0.5], first_step=0.4)
    k = next(k for k in range(2, len(asked)) if asked[k][0] == asked[k - 1][0] == "step")
    assert asked[k - 1][1][0][0] == pytest.approx(0.9)
    assert 0.5 < asked[k][1][0][0] < 0.9


@pytest.mark.parametrize("f", [lambda u: np.nan, lambda u: 2.0])
def test_no_slope_no_descent(f):
    assert {origin for origin, _ in descend(f, [0.5, 0.5])} <= {"step", "difference"}
    assert sum(len(points) for _, points in descend(f, [0.5, 0.5])) in (1, 5)


def test_a_slope_that_is_no_number_ends_it():
    asked = descend(lambda u: -1.7e308 if u[0] > 0.5 else 1.7e308, [0.5, 0.5])
    assert [origin for origin, _ in asked] == ["step"] + ["difference"] * 4
