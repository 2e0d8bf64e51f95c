import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from spotsvm.common.json_values import as_attributes, plain_number
from spotsvm.trials.evaluation import call
from spotsvm.trials.judging import outcome_of
from spotsvm.trials.outcome import Outcome, one_line


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, 1.0),
        (np.float32(0.5), 0.5),
        (np.bool_(True), 1.0),
        (np.array(2.5), 2.5),
        (np.ma.array(2.5), 2.5),
        ({"value": np.float64(0.25)}, 0.25),
    ],
)
def test_numbers_of_all_kinds(returned, value):
    outcome = outcome_of(returned, 1.5)
    assert outcome == Outcome("ok", value, {}, "", 1.5)
    assert type(outcome.value) is float


def test_values_can_be_named_and_further_numbers_are_kept():
    outcome = outcome_of({"time": np.float32(2), "value": 1, "gap": math.nan, "n": True})
    assert outcome.value == 1.0
    assert list(outcome.extra) == ["time", "gap", "n"]
    assert math.isnan(outcome.extra["gap"])
    assert {type(v) for v in outcome.extra.values()} == {float}
    assert outcome_of({"value": math.nan, "time": 2}).extra == {"time": 2.0}
    outcome = outcome_of({"values": {"b": np.float32(2), "a": 1}, "time": 3})
    assert (outcome.named, outcome.extra) == ({"b": 2.0, "a": 1.0}, {"time": 3.0})
    assert outcome_of({"values": [0.5]}).values == (0.5,)
    assert outcome_of({"value": 1.0, "values": 2.0}).extra == {"values": 2.0}
    for given in ({"value": 1.0, "time": "long", "n": 2}, {"values": [1.0, 2.0], "time": "long", "n": 2}):
        assert (outcome_of(given).extra, outcome_of(given).attributes) == ({"n": 2.0}, {"time": "long"})
    assert outcome_of({"value": math.nan, "time": "long"}).attributes == {"time": "long"}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (math.nan, "the objective returned nan"),
        (math.inf, "the objective returned inf"),
        (None, "the objective returned None; return a number, or a mapping with 'value' and further named numbers"),
        ("0.5", "the objective returned '0.5', which is not a number"),
        (np.complex128(1j), "which is not a number"),
        ([0.5], r"the objective returned \[0.5\], which is not a number"),
        (np.array([0.5]), "which is not a number"),
        (Decimal("0.5"), "which is not a number"),
        (np.ma.masked, "the objective returned masked, which is not a number"),
        (np.ma.array(3.0, mask=True), "which is not a number"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "which is not a number"),
        ([0.5, np.ma.masked], r"the objective returned \[0.5, masked\], which is not a number"),
        ({"value": np.ma.masked}, "the objective returned masked, which is not a number"),
        ({"values": [0.5, np.ma.masked]}, r"'values': \[0.5, masked\], which are not numbers"),
        (np.timedelta64(5, "ns"), "which is not a number"),
        (np.timedelta64(5, "s"), "which is not a number"),
        (np.datetime64(5, "ns"), "which is not a number"),
        ([[0.5, 0.1]], "which is not a number"),
        ({"value": [0.5, 0.1]}, "which is not a number"),
        ("x" * 500, "…, which is not a number"),
        ("two\nlines", "which is not a number"),
        ({}, r"a mapping without 'value', or 'values' of several objectives \(it has \)"),
        ({"score": 1.0, 3: 4}, r"a mapping without 'value', or 'values' of several objectives \(it has 'score', 3\)"),
        ({"value": 1.0, 3: 4.0}, "the objective returned 3: 4.0, which is not a named number"),
        ([math.nan, 1.0], r"the objective returned \[nan, 1.0\]"),
        ({"values": {"a": 1, "b": math.inf}}, r"the objective returned \[1.0, inf\]"),
        ({"values": 1.0}, "the objective returned 'values': 1.0, which are not numbers"),
        ({"values": []}, r"'values': \[\], which are not numbers"),
        ({"values": [1.0, None]}, r"'values': \[1.0, None\], which are not numbers"),
    ],
)
def test_what_is_no_number_is_a_failure_with_a_reason(returned, reason):
    outcome = outcome_of(returned)
    assert re.search(reason, outcome.reason)
    assert (outcome.state, outcome.value, outcome.values) == ("failed", None, None)
    assert "\n" not in outcome.reason
    assert len(outcome.reason) < 200


@pytest.mark.parametrize(
    "returned", [[0.5, 3], [Fraction(1, 2), np.int64(3)], {"values": [0.5, 3]}, {"values": np.array([0.5, 3.0])}]
)
def test_several_numbers_are_the_values_of_several_objectives(returned):
    outcome = outcome_of(returned, 1.5)
    assert outcome == Outcome("ok", None, {}, "", 1.5, values=(0.5, 3.0))
    assert {type(v) for v in outcome.values} == {float}


def raising(error):
    def objective(params):
        raise error

    return call(objective, {})


def test_what_is_raised_is_a_failure_that_says_what_and_where():
    outcome = raising(ValueError("line one\n  line two"))
    assert outcome.state == "failed"
    assert outcome.reason.startswith("ValueError: line one line two (test_outcome.py, line ")
    assert isinstance(outcome.error, ValueError)
    assert outcome.seconds >= 0
    for leave in (KeyboardInterrupt, SystemExit):
        with pytest.raises(leave):
            raising(leave)


@pytest.mark.parametrize("error", [KeyError("gamma"), ValueError("\udc80.csv"), SpeechlessError(), ValueError("x" * 9999)])
def test_reasons_can_always_be_written(error):
    reason = raising(error).reason
    assert reason.startswith(f"{type(error).__name__}: ")
    assert len(reason.encode("utf-8")) < 700
    assert one_line(" a\n\tb  é\x00\udcff ") == "a b é\x00\\udcff"


def test_numbers_of_any_kind_are_floats():
    assert [plain_number(value) for value in (np.float32(0.5), -(10**400), "1")] == [0.5, -math.inf, None]


def test_attributes_are_as_a_record_returns_them():
    named = {"solver": "smo", "path": (1, np.float32(0.5)), "rows": np.arange(2), 7: {1j}}
    assert as_attributes(named) == {"solver": "smo", "path": [1, 0.5], "rows": [0, 1], "7": "{1j}"}
