import numpy as np
import pytest

from spotsvm import Study, Trial
from spotsvm.errors import ArgumentError, StorageError
from spotsvm.trials.objectives import Objectives

NAMED = {"error": "minimize", "margin": "maximize"}
TWO = Objectives.of(NAMED)
ONE = Objectives.of("maximize")


@pytest.mark.parametrize(
    ("direction", "columns", "signs", "description"),
    [
        ("minimize", ("value",), [1], "minimize"),
        ("maximize", ("value",), [-1], "maximize"),
        (("minimize", "maximize"), ("value_0", "value_1"), [1, -1], {"0": "minimize", "1": "maximize"}),
        (NAMED, ("value_error", "value_margin"), [1, -1], NAMED),
    ],
)
def test_directions(direction, columns, signs, description):
    objectives = Objectives.of(direction)
    assert objectives.columns == columns
    assert objectives.signs.tolist() == signs
    assert objectives.describe() == description
    assert Objectives.of(description) == objectives
    assert (len(objectives), objectives.several) == (len(signs), len(signs) > 1)


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("up", "direction='up' is unknown; use 'minimize' or 'maximize'"),
        (None, "direction=None is unknown"),
        ((), r"direction=\(\) names 0 objectives; name two or more"),
        (["minimize"], r"direction=\['minimize'\] names 1 objectives; name two or more, or use 'minimize' or 'maximize'"),
        (("minimize", "up"), r"direction\[1\]='up' is unknown; use 'minimize' or 'maximize'"),
        ({"error": "minimize", "margin": 1}, r"direction\['margin'\]=1 is unknown"),
        ({1: "minimize", 2: "minimize"}, "direction has an objective named 1; use a non-empty string"),
    ],
)
def test_what_is_no_direction(direction, said):
    with pytest.raises(ArgumentError, match=said):
        Objectives.of(direction)


def test_a_direction_is_turned_in_what_a_search_is_told_and_turned_back():
    values = np.array([[0.1, 3.0], [0.2, -4.0]])
    assert TWO.turned(values).tolist() == [[0.1, -3.0], [0.2, 4.0]]
    assert np.array_equal(TWO.turned(TWO.turned(values)), values)
    assert ONE.response(Trial(0, {}, (), "ok", 2.0)) == -2.0
    assert np.isnan(ONE.response(Trial(0, {}, (), "failed")))
    assert TWO.response(Trial(0, {}, (), "ok", values=(0.5, 2.0))).tolist() == [0.5, -2.0]
    assert np.isnan(TWO.response(Trial(0, {}, (), "failed"))).tolist() == [True, True]
    assert TWO.labels == ("error (smaller is better)", "margin (larger is better)")
    assert Objectives.of(["maximize", "minimize"]).labels == ("value 0 (larger is better)", "value 1 (smaller is better)")


def asked(direction):
    study = Study({"x": [1, 2, 3]}, "random", 0, direction=direction)
    return study, study.ask()


@pytest.mark.parametrize(
    ("direction", "returned", "said"),
    [
        (NAMED, {"value": 1.5}, r"one value \(1.5\), and the study has 2 objectives \(error: minimize, margin: maximize\)"),
        (NAMED, {"values": (1.0, 2.0, 3.0)}, r"returned 3 values \(1, 2, 3\), and the study has 2 objectives"),
        (NAMED, {"values": {"error": 1.0, "time": 2.0}}, "returned values named 'error', 'time', and the study has 2"),
        ("minimize", {"values": (1.0, 2.0)}, r"returned 2 values \(1, 2\), and the study has one objective; for several use"),
        ("minimize", {"values": {"a": 1.0}}, "returned values named 'a', and the study has one objective"),
        ("minimize", {"values": (1.0,) * 99}, r"returned 99 values \(1, 1, 1, 1, 1, 1, 1, 1, \.\.\.\), and"),
    ],
)
def test_another_number_of_values_is_an_error_and_a_failure_that_keeps_the_rest(direction, returned, said):
    study, trial = asked(direction)
    with pytest.raises(ArgumentError, match=said) as caught:
        study.tell(trial, {**returned, "time": 1.0}, seconds=2.0)
    (told,) = study.trials
    assert (told.state, told.value, told.values, told.extra, told.seconds) == ("failed", None, None, {"time": 1.0}, 2.0)
    assert told.reason == str(caught.value)


def test_one_value_may_be_in_a_list_and_contradictions_are_told():
    study, trial = asked("minimize")
    assert study.tell(trial, {"values": (2.0,)}).value == 2.0
    good, bad = Trial(0, {}, (), "ok", values=(1.0, 2.0)), Trial(1, {}, (), "ok", 1.0)
    assert Objectives.described(NAMED, [good, Trial(2, {}, ())]) == TWO
    with pytest.raises(StorageError, match="the record is damaged: trial 1 has 1 values, not 2"):
        Objectives.described(["minimize", "minimize"], [good, bad])
    with pytest.raises(StorageError, match="the record is damaged: direction=5 is unknown"):
        Objectives.described(5, [])
