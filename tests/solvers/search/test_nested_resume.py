"""A nested search lives through a record in any stage, and goes on to the bit."""

import numpy as np
import pytest
from conformance import RESPONSES

from spotsvm.solvers.search.nested_search import NestedSearch
from spotsvm.solvers.search.stage import Stage
from spotsvm.surrogates.domain import Coordinate, Domain

LINE, SQUARE = Domain.continuous(1), Domain.continuous(2)
GRID = Domain((Coordinate(levels=3), Coordinate(levels=3)))
GRID_AND_LINE = Domain((Coordinate(levels=3), Coordinate(levels=3), Coordinate()))


@pytest.mark.parametrize("inner", ["vns", "random", "kriging", "lhs", "cmaes", "lbfgsb"])
def test_a_search_is_resumed_in_the_middle_of_each_stage(inner):
    third = Stage(Domain.continuous(3), 9, name="all")
    nested = [
        Stage(LINE, 6, lambda u: np.repeat(0.1 + 0.7 * u, 3), lambda u: (u[:1] - 0.1) / 0.7, name="one"),
        Stage(SQUARE, 8, lambda u: np.array([u[0], u[1], u[1]]), lambda u: u[:2], name="two"),
        third,
    ]
    undisturbed = NestedSearch(third.domain, 4, stages=nested, inner=inner)
    response = RESPONSES["noisy"]
    states, points = [{}], []
    for k in range(22):
        points.append(undisturbed.ask().point)
        states.append(undisturbed.state())
        undisturbed.tell(points[-1], response(points[-1], k))
    for cut in (3, 6, 9, 14, 18):
        resumed = NestedSearch(third.domain, 4, stages=nested, inner=inner)
        for k, point in enumerate(points[:cut]):
            resumed.assume(point)
            resumed.tell(point, response(point, k))
        resumed.restore(states[cut])
        for k in range(cut, cut + 4):
            point = resumed.ask().point
            assert np.array_equal(point, points[k])
            resumed.tell(point, response(point, k))


@pytest.mark.parametrize("inner", ["vns", "random"])
def test_a_batch_is_resumed_with_points_still_pending(inner):
    def lived(events):
        search = NestedSearch(GRID_AND_LINE, 5, stages=nested, inner=inner)
        for what, point, value in events:
            search.assume(point) if what == "ask" else search.tell(point, value)
        return search

    nested = [
        Stage(GRID, 7, lambda u: np.append(u, 0.5), lambda u: u[:2]),
        Stage(GRID_AND_LINE, 9),
    ]
    search, events, waiting = lived([]), [], []
    rng = np.random.default_rng(0)
    for k in range(16):
        assert np.array_equal(lived(events).ask().point, point := search.ask().point)
        events.append(("ask", point, None))
        waiting.append(point)
        while len(waiting) > rng.integers(4):
            done = waiting.pop(rng.integers(len(waiting)))
            events.append(("tell", done, np.nan if k % 5 == 4 else float(done.sum())))
            search.tell(*events[-1][1:])
    assert search.stage == 1
    assert len({tuple(p) for what, p, _ in events if what == "ask"}) == 16


def test_state_of_an_earlier_stage_is_of_no_effect():
    diagonal = Stage(LINE, 8, lambda u: np.repeat(u, 2), lambda u: u[:1])
    search = NestedSearch(SQUARE, 0, stages=[diagonal, Stage(SQUARE, 9)], inner="kriging")
    for k in range(8):
        point = search.ask().point
        search.tell(point, RESPONSES["bowl"](point, k))
    old = search.state()
    assert old["stage"] == 0
    search.ask()
    assert search.state() == {}
    search.restore(old)
    assert search.state() == {}
