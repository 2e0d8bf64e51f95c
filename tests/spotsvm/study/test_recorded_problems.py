from dataclasses import replace

import pytest

from spotsvm.space.space import Space
from spotsvm.study.resume import MOST_CELLS, events_problem, params_problem, size_problem, trial_problem
from spotsvm.trials.trial import Trial

SPACE = Space({"x": [1, 2], "y": ["a", "b"]})
WHOLE = Trial(0, {"x": 1, "y": "a"}, (0.25, 0.25), "ok", 0.5)


def test_a_trial_that_can_be():
    assert trial_problem(WHOLE, SPACE, 1) == ""
    assert params_problem(WHOLE, SPACE.decode(WHOLE.point)) == ""
    assert trial_problem(replace(WHOLE, state="running", value=None, values=None), SPACE, 1) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"point": (0.5,)}, "no point of the unit cube"),
        ({"point": (0.5, float("nan"))}, "no point of the unit cube"),
        ({"state": "failed"}, "is 'failed', and has 1 values"),
        ({"values": (1.0, 2.0)}, "has 2 values"),
        ({"value": None, "values": None}, "has 0 values"),
        ({"value": float("inf"), "values": (float("inf"),)}, "not finite"),
    ],
)
def test_a_trial_that_cannot_be(change, said):
    assert said in trial_problem(replace(WHOLE, **change), SPACE, 1)


@pytest.mark.parametrize(
    ("params", "said"),
    [({"x": 1}, "other parameters"), ({"x": "1", "y": "a"}, "not an integer"), ({"x": 1.5, "y": "a"}, "not an integer")],
)
def test_parameters_that_cannot_be(params, said):
    assert said in params_problem(replace(WHOLE, params=params), {"x": 1, "y": "a"})
    assert "not a finite number" in params_problem(replace(WHOLE, params={"x": "0.5"}), {"x": 0.5})


def test_events_that_can_be():
    assert events_problem([WHOLE], [(0, "asked", 0), (1, "told", 0)]) == ""
    assert events_problem([], []) == ""


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([(0, "told", 0), (1, "asked", 0)], "told before it was asked for"),
        ([(0, "asked", 0)], "contradicts its recorded events"),
        ([(1, "asked", 0), (1, "told", 0)], "order"),
        ([(0, "asked", 5)], "order"),
    ],
)
def test_events_that_cannot_be(events, said):
    assert said in events_problem([WHOLE], events)


def test_a_table_that_would_fill_the_memory():
    many = [replace(WHOLE, number=k, extra={f"{k} {j}": 0.0 for j in range(50)}) for k in range(400)]
    assert size_problem(many[:10]) == ""
    assert 400 * (400 * 50 + 2) > MOST_CELLS
    assert "20002 different names" in size_problem(many)
