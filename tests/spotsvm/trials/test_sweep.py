"""The parameter that is swept: its values, points with and without it, and what the search is told of a sweep."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space, Study, Trial
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.space.parameter import ContinuousParameter
from spotsvm.trials.events import Told, changed_trials
from spotsvm.trials.judging import sweep_outcome
from spotsvm.trials.ledger import suggested
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.sweep import SPARED, SweptParameter

SPACE = Space({"x": uniform(0, 1), "C": loguniform(1e-2, 1e2), "degree": randint(2, 6)})
_C = SweptParameter(SPACE, "C")


def trials_of(swept, asked, sweep, sign=1.0):
    """Return the trials of a sweep: the one with the best value, and the others, numbered from 9."""
    rows = swept.rows(asked, sweep, 9, sign)
    lead, *others = changed_trials(Told(asked.number, 0.0, Outcome("ok"), rows), {asked.number: asked}.get, swept=True)
    return lead, tuple(others)


def finished(losses, sign=1.0):
    """Return the lead and the others of a sweep of these losses, over C = 0.01 ... 100."""
    asked = Trial(4, {"x": 0.25, "degree": 3}, tuple(_C.whole_point(_C.searched.encode({"x": 0.25, "degree": 3}))))
    values = _C.values(len(losses))
    path = [
        (value, Outcome("failed", reason="no") if np.isnan(loss) else Outcome("ok", sign * loss))
        for value, loss in zip(values, losses, strict=True)
    ]
    return trials_of(_C, asked, path[::-1], sign)


def response_by_hand(losses):
    """Return the response of a sweep of numbers, each step written out."""
    best = min(losses)
    excess = []
    for k in range(len(losses)):
        around = [losses[j] if 0 <= j < len(losses) else losses[k] for j in (k - 1, k + 1)]
        if losses[k] == best:
            excess.append(sum(around) / 2 - best)
    five = sorted(losses)[:5]
    return best + 0.25 * min(excess) + 0.05 * (sum(five) / len(five) - best)


@pytest.mark.parametrize("name", ["x", "C", "degree"])
def test_a_point_without_the_parameter_and_back_is_the_same_but_for_it(name):
    swept = SweptParameter(SPACE, name)
    point = SPACE.encode({"x": 0.75, "C": 10.0, "degree": 5})
    at = SPACE.names.index(name)
    again = swept.whole_point(swept.searched_point(point), point[at])
    assert again.tolist() == point.tolist()
    assert swept.searched.decode(swept.searched_point(point)) == {
        key: value for key, value in SPACE.decode(point).items() if key != name
    }


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.sampled_from([-1.0, 1.0]))
def test_the_lead_has_the_best_value_and_the_response_rewards_broad_optima(losses, sign):
    lead, others = finished(losses, sign)
    assert sign * lead.value == min(losses)
    assert (lead.number, [t.number for t in others]) == (4, list(range(9, 9 + len(losses) - 1)))
    assert {t.sweep for t in (lead, *others)} == {4}
    assert sorted([lead.value, *(t.value for t in others)]) == sorted(sign * loss for loss in losses)
    assert suggested([lead, *others]) == [lead]
    assert _C.response([lead, *others], sign) == pytest.approx(response_by_hand(losses), abs=1e-12)
    for t in (lead, *others):
        assert SPACE.decode(t.point) == pytest.approx(dict(t.params))


def test_equal_values_are_told_apart_by_their_neighbours():
    lead, _ = finished([0.0, 9.0, 9.0, 1.0, 0.0, 1.0, 9.0, 0.0, 2.0])
    assert lead.params["C"] == pytest.approx(_C.values(9)[4])


def test_spared_values_count_as_the_last_one():
    lead, others = finished([9.0, 8.0, 1.0, 2.0, 3.0])
    path = sorted([lead, *others], key=lambda t: t.point)
    path[-1] = replace(path[-1], extra={SPARED: 2.0})
    assert _C.response(path, 1.0) == pytest.approx(response_by_hand([9.0, 8.0, 1.0, 2.0, 3.0, 3.0, 3.0]), abs=1e-12)


def test_values_that_fail_are_failed_trials_and_count_for_nothing_else():
    lead, others = finished([np.nan, 3.0, np.nan])
    assert (lead.value, lead.state, [t.state for t in others]) == (3.0, "ok", ["failed", "failed"])
    assert _C.response([lead, *others], 1.0) == 3.0
    lead, others = finished([np.nan, np.nan])
    assert lead.state == "failed"
    assert np.isnan(_C.response([lead, *others], 1.0))


@pytest.mark.parametrize(
    ("origin", "own", "losses", "lead"),
    [
        ("start", 1.0, [3.0, 2.0, 1.0], 1.0),
        ("start", 1.0, [3.0, np.nan, 1.0], 100.0),  # it has failed
        ("start", 5.0, [3.0, 2.0, 1.0], 100.0),  # it is not there
        ("design", None, [3.0, 2.0, 1.0], 100.0),
        ("given", 1.0, [3.0, 2.0, 1.0], 100.0),
    ],
)
def test_a_start_keeps_its_own_value_and_the_search_is_told_the_best(origin, own, losses, lead):
    params = {"x": 0.25, "degree": 3} | ({} if own is None else {"C": own})
    point = SPACE.encode({"C": 1.0} | params)
    path = [(C, Outcome("ok" if loss == loss else "failed", loss)) for C, loss in zip((0.01, 1.0, 100.0), losses, strict=True)]
    found, others = trials_of(_C, Trial(0, params, tuple(point), origin=origin), path)
    assert (found.params["C"], found.number, found.origin) == (lead, 0, origin)
    assert [(t.number, t.origin, t.sweep) for t in others] == [(9, "sweep", 0), (10, "sweep", 0)]
    assert _C.response([found, *others], 1.0) == _C.response([*others, found], 1.0) >= 1.0


@pytest.mark.parametrize(
    ("space", "name", "said"),
    [
        ({"x": [1, 2], "C": uniform(0, 1)}, "D", "sweep='D' is not a parameter with a range; the space has x, C"),
        ({"x": ["a"], "C": uniform(0, 1), "y": [1, 2]}, "x", "sweep='x' is not a parameter with a range"),
        ({"C": uniform(0, 1)}, "C", "sweep='C' leaves nothing to search"),
        ([{"C": uniform(0, 1), "x": [1, 2]}, {"x": [1, 2]}], "C", "sweep='C' needs the same range in all dictionaries"),
        (
            [{"C": uniform(0, 1), "x": [1, 2]}, {"C": uniform(0, 2), "x": [1, 2]}],
            "C",
            "sweep='C' needs the same range in all dictionaries",
        ),
    ],
)
def test_what_cannot_be_profiled_is_refused(space, name, said):
    with pytest.raises(ArgumentError, match=said):
        SweptParameter(Space(space), name)


WEIGHTS = [None, "balanced", {0: 1, 1: 5}, {0: 5, 1: 1}]
LISTED = SweptParameter(Space({"x": uniform(0, 1), "w": WEIGHTS, "C": [1, 10, 100, 1000]}), "w")


def sweep_of_losses(swept, losses):
    asked = Trial(4, {"x": 0.25}, tuple(swept.whole_point(np.full(swept.searched.domain.dimension, 0.25))))
    return trials_of(swept, asked, [(k, Outcome("ok", loss)) for k, loss in enumerate(losses)])


def test_a_path_of_a_list_has_its_values_in_the_order_given():
    assert (LISTED.listed, LISTED.ordered, _C.listed, _C.ordered) == (tuple(WEIGHTS), False, (), True)
    lead, others = sweep_of_losses(LISTED, [3.0, 2.0, 1.0, 4.0])
    assert (lead.params["w"], lead.value) == ({0: 1, 1: 5}, 1.0)
    assert [t.params["w"] for t in others] == [None, "balanced", {0: 5, 1: 1}]
    for t in (lead, *others):
        assert LISTED.space.decode(t.point)["w"] == t.params["w"]
    for place in (-1, 4, 0.5, 3.5):
        with pytest.raises(SpaceError, match=f"w: {place} is not an index in its list of 4 values, counted from 0"):
            LISTED.coordinate(place)


def test_values_of_a_list_have_neighbours_if_they_rise_or_fall():
    rising = SweptParameter(LISTED.space, "C")
    assert rising.ordered
    losses = [0.0, 9.0, 0.0, 1.0]
    (lead, others), (best, rest) = sweep_of_losses(LISTED, losses), sweep_of_losses(rising, losses)
    assert (lead.params["w"], best.params["C"]) == (None, 1)  # of the two, 1 has the better neighbours
    assert rising.response([best, *rest], 1.0) == pytest.approx(response_by_hand(losses))
    assert LISTED.response([lead, *others], 1.0) == pytest.approx(0.05 * 2.5)


def test_values_of_a_list_are_keys_or_in_pairs():
    pairs = [({1: 5, 0: 1}, 0.5), (None, {"value": 0.75, "time": 2}), ("balanced", None)]
    outcome = sweep_outcome(pairs, "w", 2.0, WEIGHTS)
    assert [(place, one.state, one.value) for place, one in outcome.sweep] == [
        (2, "ok", 0.5),
        (0, "ok", 0.75),
        (1, "failed", None),
    ]
    assert outcome.seconds == 2.0
    assert (
        sweep_outcome({None: 0.75, "balanced": 0.5}, "w", None, WEIGHTS).sweep
        == sweep_outcome([(None, 0.75), ("balanced", 0.5)], "w", None, WEIGHTS).sweep
    )
    for returned in ({"value": 1.0}, [({0: 2}, 1.0)], {2: 1.0}):
        outcome = sweep_outcome(returned, "w", 2.0, WEIGHTS)
        assert (outcome.state, outcome.sweep) == ("failed", ())
        assert "the objective returned a sweep with w=" in outcome.reason
        assert "is not one of [None, 'balanced', " in outcome.reason


@pytest.mark.parametrize("returned", [0.5, None, {}, [], "path", {"value": 1.0}, [(1.0, 2.0, 3.0)], {None: 1.0}])
def test_what_is_no_path_is_a_failure(returned):
    outcome = sweep_outcome(returned, "C", 2.0)
    assert (outcome.state, outcome.seconds) == ("failed", 2.0)
    assert "mapping from values of C to outcomes" in outcome.reason


def test_a_path_may_be_pairs_of_values_and_mappings():
    outcome = sweep_outcome([(1, {"value": 0.5, "time": 3}), (np.float64(2.5), None)], "C")
    assert [(value, one.state, dict(one.extra)) for value, one in outcome.sweep] == [
        (1, "ok", {"time": 3.0}),
        (2.5, "failed", {}),
    ]


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_values_of_a_path_are_not_searched_for_one_by_one(monkeypatch):
    names = [Counted(f"level {k}") for k in range(500)]
    levels = SweptParameter(Space({"level": names, "x": (0.0, 1.0)}), "level")
    outcome = sweep_outcome([(Counted(name), float(k)) for k, name in enumerate(names)], "level", listed=levels.listed)
    assert [key for key, _ in outcome.sweep] == list(range(500))
    assert Counted.compared < 2000
    calls = []
    encode = ContinuousParameter.encode
    monkeypatch.setattr(ContinuousParameter, "encode", lambda self, value: calls.append(value) or encode(self, value))
    study = Study({"y": (0.0, 1.0), "x": (0.0, 1.0)}, "random", 0, sweep="y")
    study.run(lambda params: {k / 100: params["x"] + k for k in range(100)}, n_trials=4)
    assert sorted(calls) == [k / 100 for k in range(100)]
