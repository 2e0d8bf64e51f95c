"""The parameter that is profiled: its values, points with and without it, and what the search is told of a path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space
from spotsvm.common.errors import ArgumentError
from spotsvm.trials.profile import Profile, path_of, suggested
from spotsvm.trials.trial import Outcome, Trial

SPACE = Space({"x": uniform(0, 1), "C": loguniform(1e-2, 1e2), "degree": randint(2, 6)})
PROFILE = Profile(SPACE, "C")


def finished(losses, sign=1.0):
    """Return the lead and the others of a path of these losses, over C = 0.01 ... 100."""
    told = Trial(4, {"x": 0.25, "degree": 3}, tuple(PROFILE.whole_point(PROFILE.searched.encode({"x": 0.25, "degree": 3}))), "ok")
    values = PROFILE.values(len(losses))
    path = [
        (value, Outcome("failed", reason="no") if np.isnan(loss) else Outcome("ok", sign * loss))
        for value, loss in zip(values, losses, strict=True)
    ]
    return PROFILE.finished(told, path[::-1], 9, sign)


def response_by_hand(losses):
    """Return the response of a path of numbers, each step written out."""
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
    profile = Profile(SPACE, name)
    point = SPACE.encode({"x": 0.75, "C": 10.0, "degree": 5})
    at = SPACE.names.index(name)
    again = profile.whole_point(profile.searched_point(point), point[at])
    assert again.tolist() == point.tolist()
    assert profile.searched.decode(profile.searched_point(point)) == {
        key: value for key, value in SPACE.decode(point).items() if key != name
    }


def test_values_run_from_end_to_end_and_integers_are_not_repeated():
    np.testing.assert_allclose(PROFILE.values(5), [0.01, 0.1, 1, 10, 100])
    assert Profile(SPACE, "degree").values(11) == [2, 3, 4, 5]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.sampled_from([-1.0, 1.0]))
def test_the_lead_has_the_best_value_and_the_response_rewards_broad_optima(losses, sign):
    lead, others = finished(losses, sign)
    assert sign * lead.value == min(losses)
    assert (lead.number, [t.number for t in others]) == (4, list(range(9, 9 + len(losses) - 1)))
    assert {t.suggestion for t in (lead, *others)} == {4}
    assert sorted([lead.value, *(t.value for t in others)]) == sorted(sign * loss for loss in losses)
    assert suggested([lead, *others]) == [lead]
    assert PROFILE.response([lead, *others], sign) == pytest.approx(response_by_hand(losses), abs=1e-12)
    for t in (lead, *others):
        assert SPACE.decode(t.point) == pytest.approx(dict(t.params))


def test_equal_values_are_told_apart_by_their_neighbours():
    lead, _ = finished([0.0, 9.0, 9.0, 1.0, 0.0, 1.0, 9.0, 0.0, 2.0])
    assert lead.params["C"] == pytest.approx(PROFILE.values(9)[4])


def test_values_that_fail_are_failed_trials_and_count_for_nothing_else():
    lead, others = finished([np.nan, 3.0, np.nan])
    assert (lead.value, lead.state, [t.state for t in others]) == (3.0, "ok", ["failed", "failed"])
    assert PROFILE.response([lead, *others], 1.0) == 3.0
    lead, others = finished([np.nan, np.nan])
    assert lead.state == "failed"
    assert np.isnan(PROFILE.response([lead, *others], 1.0))


@pytest.mark.parametrize(
    ("space", "name", "said"),
    [
        ({"x": [1, 2], "C": uniform(0, 1)}, "D", "profile='D' is not a parameter with a range; the space has x, C"),
        ({"x": ["a", "b"], "C": uniform(0, 1)}, "x", "profile='x' is a list of values; a profiled parameter has a distribution"),
        ({"C": uniform(0, 1)}, "C", "profile='C' leaves nothing to search"),
        ([{"C": uniform(0, 1), "x": [1, 2]}, {"x": [1, 2]}], "C", "profile='C' has not the same range in all dictionaries"),
        (
            [{"C": uniform(0, 1), "x": [1, 2]}, {"C": uniform(0, 2), "x": [1, 2]}],
            "C",
            "profile='C' has not the same range in all dictionaries",
        ),
    ],
)
def test_what_cannot_be_profiled_is_refused(space, name, said):
    with pytest.raises(ArgumentError, match=said):
        Profile(Space(space), name)


@pytest.mark.parametrize("returned", [0.5, None, {}, [], "path", {"value": 1.0}, [(1.0, 2.0, 3.0)], {None: 1.0}])
def test_what_is_no_path_is_a_failure(returned):
    outcome = path_of(returned, "C", 2.0)
    assert (outcome.state, outcome.seconds) == ("failed", 2.0)
    assert "mapping from values of C to outcomes" in outcome.reason


def test_a_path_may_be_pairs_of_values_and_mappings():
    outcome = path_of([(1, {"value": 0.5, "time": 3}), (np.float64(2.5), None)], "C")
    assert [(value, one.state, dict(one.extra)) for value, one in outcome.path] == [(1, "ok", {"time": 3.0}), (2.5, "failed", {})]
