import numpy as np
import pytest

from spotsvm.trials.tables import trial_table
from spotsvm.trials.trial import Trial

TRIALS = (
    Trial(0, {"kernel": "rbf", "C": 1.5}, (0.1, 0.2), "ok", 0.25, {"time": 3.0}, origin="design", seed=7, seconds=0.5),
    Trial(1, {"kernel": "poly", "C": 2.0, "degree": 3}, (0.9, 0.2), "failed", reason="ValueError: no, nothing", seed=8),
    Trial(2, {"kernel": None, "C": 2.5}, (0.9, 0.2), "running", origin="improvement", seed=2**32 - 1, ask_seconds=0.1),
)
NAMES = ("kernel", "C", "degree")


def test_columns_and_their_order():
    frame = trial_table(TRIALS, NAMES)
    assert list(frame.columns) == [
        "number",
        "state",
        "param_kernel",
        "param_C",
        "param_degree",
        "value",
        "extra_time",
        "origin",
        "note",
        "reason",
        "seed",
        "ask_seconds",
        "fit_seconds",
        "acquisition_seconds",
        "seconds",
        "lost",
    ]
    assert frame["number"].tolist() == [0, 1, 2]


def test_what_is_not_there_is_empty():
    frame = trial_table(TRIALS, NAMES)
    assert frame["value"].tolist()[0] == 0.25
    assert frame["value"].isna().tolist() == [False, True, True]
    assert frame["param_degree"].isna().tolist() == [True, False, True]
    assert frame["param_kernel"].isna().tolist() == [False, False, True]
    assert frame["extra_time"].isna().tolist() == [False, True, True]


def test_numbers_are_numbers_whatever_is_missing():
    for trials in (TRIALS, TRIALS[1:2], TRIALS[2:], ()):
        frame = trial_table(trials, NAMES)
        assert len(frame) == len(trials)
        assert frame.dtypes[["number", "seed"]].tolist() == [np.int64, np.int64]
        assert frame.dtypes[["value", "ask_seconds", "seconds"]].tolist() == [np.float64] * 3


def test_several_objectives_have_a_column_each():
    trials = [Trial(0, {"C": 1.0}, (0.5,), "ok", values=(0.1, 12.0)), Trial(1, {"C": 2.0}, (0.7,), "failed", reason="no")]
    frame = trial_table(trials, ["C"], ("value_error", "value_1"))
    assert list(frame.columns[2:5]) == ["param_C", "value_error", "value_1"]
    assert "value" not in frame
    assert frame.dtypes[["value_error", "value_1"]].tolist() == [np.float64] * 2
    assert frame["value_1"].tolist()[0] == 12.0
    assert frame["value_error"].isna().tolist() == [False, True]
    assert list(trial_table([], ["C"], ("value_0", "value_1")).columns[3:5]) == ["value_0", "value_1"]


def test_further_numbers_are_in_the_order_in_which_they_appear():
    trials = [Trial(0, {"C": 1.0}, (0.5,), extra={"b": 1.0}), Trial(1, {"C": 1.0}, (0.5,), extra={"a": np.inf, "b": np.nan})]
    frame = trial_table(trials, ["C"])
    assert [c for c in frame.columns if c.startswith("extra_")] == ["extra_b", "extra_a"]
    assert frame["extra_a"].tolist()[1] == np.inf


def test_objects_stay_what_they_are():
    values = [None, True, (1, 2), np.array([1, 2])]
    frame = trial_table([Trial(k, {"x": v}, (0.5,)) for k, v in enumerate(values)], ["x"])
    assert all(a is b for a, b in zip(frame["param_x"], values, strict=True))


@pytest.mark.parametrize("names", [("C",), ("C", "value", "number")])
def test_parameters_may_be_called_like_columns(names):
    frame = trial_table([Trial(0, dict.fromkeys(names, 2), (0.5,), "ok", 1.0)], names)
    assert frame.columns.is_unique
    assert (frame["number"][0], frame["value"][0]) == (0, 1.0)
