from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.searches import (
    CmaesSearch,
    Coordinate,
    Domain,
    KrigingSearch,
    LbfgsbSearch,
    NestedSearch,
    RandomSearch,
    Search,
    Stage,
    Suggestion,
    VnsSearch,
)
from spotsvm.solvers.search.checks import RESPONSES, replayed, run
from spotsvm.solvers.search.registry import describe_search, make_search

LINE, SQUARE = Domain.continuous(1), Domain.continuous(2)
STAGES = [
    Stage(LINE, 8, lambda u: np.repeat(u, 2), lambda u: u[:1], name="diagonal"),
    Stage(SQUARE, 30, name="free"),
]


SMALL = Domain((Coordinate(levels=3),))
GRID = Domain((Coordinate(levels=3), Coordinate(levels=3)))
SMALL_STAGES = [Stage(SMALL, 7, lambda u: np.repeat(u, 2), lambda u: u[:1]), Stage(GRID, 5)]


def bowl(u, k=0):
    return float(((u - [0.3, 0.6]) ** 2).sum())


class Noting(Search):
    """Random search that keeps what happens to it."""

    made: list["Noting"] = []

    def __init__(self, domain, seed):
        super().__init__(domain, seed)
        self.events = []
        self.made.append(self)

    def assume(self, point, *, given=False):
        super().assume(point, given=given)
        self.events.append(("given" if given else "asked", *self.pending[-1]))

    def tell(self, point, value):
        super().tell(point, value)
        self.events.append(("told", *self.points[-1], value))

    def suggest(self, rng):
        return Suggestion(self.new_point(rng), "random")


@pytest.fixture
def noting():
    Noting.made = []
    return Noting


def test_algorithm_2_step_by_step():
    """Algorithm 1 on the diagonal, then Algorithm 1 in the square, started from the best of the diagonal."""
    narrow = partial(VnsSearch, opening="narrowest")
    search = NestedSearch(SQUARE, 1, stages=STAGES, inner=narrow)
    suggestions = run(search, bowl, 30)
    seeds = [int(np.random.SeedSequence([1, 1 << 40, h]).generate_state(1)[0]) for h in range(2)]
    poor = narrow(LINE, seeds[0])
    first = run(poor, lambda u, k: bowl(np.repeat(u, 2)), 8)
    assert [s.point.tolist() for s in suggestions[:8]] == [s.point.tolist() * 2 for s in first]
    assert {s.note for s in suggestions[:8]} == {"stage 1 of 2, diagonal"}
    best = np.repeat(poor.incumbent, 2)
    rich = narrow(SQUARE, seeds[1], start=best)
    rich.tell(best, bowl(best))
    second = run(rich, bowl, 22)
    assert [s.point.tolist() for s in suggestions[8:]] == [s.point.tolist() for s in second]
    assert {s.note for s in suggestions[8:]} == {"stage 2 of 2, free"}
    assert np.abs(second[0].point - best).max() <= 1 / 32
    assert search.stage == 1
    assert search.values.min() < poor.values.min()


def test_each_stage_is_searched_in_its_own_cube_with_any_inner_search():
    search = NestedSearch(SQUARE, 1, stages=STAGES, inner="kriging")
    suggestions = run(search, bowl, 20)
    points = np.array([s.point for s in suggestions])
    assert np.array_equal(points[:8, 0], points[:8, 1])
    assert (np.abs(np.diff(points[8:], axis=1)) > 0).any()
    inner_search = search._inners[1]
    assert np.array_equal(inner_search.points, points)
    assert np.array_equal(inner_search.values, search.values)
    assert inner_search.n_asked == 12
    assert inner_search.pending == []


def test_a_stage_ends_when_its_trials_were_asked_for(noting):
    search = NestedSearch(SQUARE, 0, stages=STAGES, inner=noting)
    batch = [search.ask().point for _ in range(10)]
    assert search.stage == 1
    poor, rich = noting.made
    assert [e[0] for e in poor.events] == ["asked"] * 8
    assert [e[0] for e in rich.events] == ["asked"] * 2
    for k in (9, 0, 7):
        search.tell(batch[k], float(k))
    assert len(poor.events) == 8
    assert rich.events[2:] == [("told", *batch[k], float(k)) for k in (9, 0, 7)]
    assert len(search.pending) == 7


def test_what_was_never_asked_for_goes_where_it_belongs(noting):
    search = NestedSearch(SQUARE, 0, stages=STAGES, inner=noting)
    poor, rich = noting.made
    search.tell([0.2, 0.9], 5.0)
    search.tell([0.4, 0.4], 6.0)
    assert poor.events == [("told", 0.4, 6.0)]
    run(search, bowl, 9)
    assert rich.events[:2] == [("told", 0.2, 0.9, 5.0), ("told", 0.4, 0.4, 6.0)]
    assert len([e for e in rich.events if e[0] == "told"]) == 11


def test_a_replicate_is_the_very_point_whatever_rounding_does():
    thirds = Stage(LINE, 40, lambda u: np.repeat(0.1 + 0.7 * u / 3, 2), lambda u: (u[:1] - 0.1) / 0.7 * 3)
    inner = partial(KrigingSearch, noise=True, repeat_below=1e9)
    search = NestedSearch(SQUARE, 2, stages=[thirds, STAGES[1]], inner=inner)
    suggestions = run(search, RESPONSES["noisy"], 16)
    seen = {tuple(s.point) for s in suggestions if s.origin != "replicate"}
    repeats = [tuple(s.point) for s in suggestions if s.origin == "replicate"]
    assert len(repeats) >= 5
    assert set(repeats) <= seen
    assert len(seen) == len(suggestions) - len(repeats)


@pytest.mark.parametrize(("inner", "batch"), [(CmaesSearch, 3), (LbfgsbSearch, 1)])
def test_a_plan_goes_on_whatever_rounding_does(inner, batch):
    thirds = Stage(LINE, 18, lambda u: np.repeat(0.1 + 0.7 * u / 3, 2), lambda u: (u[:1] - 0.1) / 0.7 * 3)
    plain = inner(LINE, int(np.random.SeedSequence([2, 1 << 40, 0]).generate_state(1)[0]))
    nested = NestedSearch(SQUARE, 2, stages=[thirds, STAGES[1]], inner=inner)
    for _ in range(18 // batch):
        asked = [(plain.ask(), nested.ask()) for _ in range(batch)]
        for one, other in asked:
            assert np.array_equal(thirds.embedded(one.point, SQUARE), other.point)
            assert one.origin == other.origin
            plain.tell(one.point, bowl(other.point))
            nested.tell(other.point, bowl(other.point))


@pytest.mark.parametrize("inner", ["vns", "kriging"])
def test_a_small_stage_that_is_exhausted_gives_way_to_the_next(inner):
    search = NestedSearch(GRID, 0, stages=SMALL_STAGES, inner=inner)
    with pytest.raises(SearchExhaustedError, match="all 9 configurations"):
        run(search, bowl, 40)
    cells = list(dict.fromkeys(tuple(GRID.level_of(point)[0]) for point in search.points))  # some are repeated
    assert {a == b for a, b in cells[:3]} == {True}
    assert {a == b for a, b in cells[3:]} == {False}
    assert len(cells) == 9


@pytest.mark.parametrize("inner", ["vns", "kriging", "cmaes", "lbfgsb"])
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
        values = [response(point, k) for k, point in enumerate(points[:cut])]
        resumed = replayed(NestedSearch(third.domain, 4, stages=nested, inner=inner), points[:cut], values, states[cut])
        for k in range(cut, cut + 4):
            point = resumed.ask().point
            assert np.array_equal(point, points[k])
            resumed.tell(point, response(point, k))


def test_state_of_an_earlier_stage_is_of_no_effect():
    diagonal = Stage(LINE, 8, lambda u: np.repeat(u, 2), lambda u: u[:1])
    search = NestedSearch(SQUARE, 0, stages=[diagonal, Stage(SQUARE, 9)], inner="kriging")
    run(search, RESPONSES["bowl"], 8)
    old = search.state()
    assert old["stage"] == 0
    search.ask()
    assert search.state() == {}
    search.restore(old)
    assert search.state() == {}


def test_a_model_that_rounding_in_the_richest_cube_empties_leaves_random_points():
    coarse = Domain((Coordinate(levels=3), Coordinate()))
    line = Stage(LINE, 8, lambda u: np.array([u[0], 0.5]), lambda u: u[:1])
    search = NestedSearch(coarse, 0, stages=[line, Stage(coarse, 5)], inner="random")
    suggestions = run(search, bowl, 10)
    assert [s.point[1] == 0.5 for s in suggestions] == [True] * 3 + [False] * 7
    assert "its model seems to hold nothing new" in suggestions[4].note
    assert len({tuple(s.point) for s in suggestions}) == 10


@pytest.mark.parametrize(
    ("inner", "stages", "needs"),
    [
        ("kriging", STAGES, (8 + 6, "trials of the stages before the last and its initial design")),
        ("vns", STAGES, (8 + 1, "trials of the stages before the last and its initial design")),
        ("cmaes", STAGES, (8 + 6, "trials of the stages before the last and its first generation")),
        ("cmaes", STAGES[1:], (6, "first generation")),
    ],
)
def test_what_it_needs_is_to_begin_with_the_last_stage(inner, stages, needs):
    search = NestedSearch(SQUARE, 0, stages=stages, inner=inner)
    assert (search.capabilities.n_initial, search.capabilities.initial_name) == needs


def test_starts_that_were_given_are_no_trials_of_a_stage(noting):
    search = NestedSearch(SQUARE, 0, stages=STAGES, inner=noting)
    for point in ([0.2, 0.9], [0.4, 0.4]):
        search.assume(point, given=True)
        search.tell(point, 1.0)
    run(search, bowl, 8)
    assert search.stage == 0
    search.ask()
    assert search.stage == 1
    poor = noting.made[0]
    assert poor.events[:2] == [("given", 0.4), ("told", 0.4, 1.0)]
    assert [e[0] for e in poor.events[2:]] == ["asked", "told"] * 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stages": []}, "stages is empty"),
        ({"stages": [Stage(LINE, 4, STAGES[0].embed, STAGES[0].restrict), STAGES[1]], "inner": "kriging"},
         "n_trials=4, below the initial design of 6 of its search; use at least that"),
        ({"stages": STAGES, "inner": "bayes"}, "search='bayes' is unknown"),
        ({"stages": STAGES, "inner": RandomSearch(SQUARE)}, "cannot search every stage; use a name, or a callable"),
        ({"stages": STAGES, "inner": lambda domain, seed: SimpleNamespace(ask=print, tell=print)}, "which cannot be nested"),
    ],
)  # fmt: skip
def test_what_cannot_be_nested_is_refused(arguments, message):
    with pytest.raises(SolverError, match=message):
        NestedSearch(SQUARE, 0, **arguments)


def test_a_nested_search_is_used_and_described_as_any_other():
    nested = partial(NestedSearch, stages=STAGES, inner="kriging")
    assert isinstance(make_search(nested, SQUARE, 3), NestedSearch)
    assert describe_search(nested) == (
        "NestedSearch(inner='kriging', stages=[Stage(name='diagonal', dimension=1, n_trials=8), "
        "Stage(name='free', dimension=2, n_trials=30)])"
    )
    assert make_search(nested, SQUARE, 3, noise=False)._inners[1].noise is False
    inner = partial(VnsSearch, radii=lambda kappa: 0.1 * kappa)
    text = describe_search(partial(NestedSearch, stages=tuple(STAGES[1:]), inner=inner))
    assert "inner=VnsSearch(radii=" in text
    assert "test_nested_search" in text
    assert "0x" not in text
    assert "0x" not in describe_search(partial(NestedSearch, inner=RandomSearch(SQUARE)))
