import math
import os
import pickle
import re
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from spotsvm.evaluation import Here, InKillableWorkers, OnExecutor, Outcome, call, one_line, outcome_of


class AwkwardError(Exception):
    """As many are: it pickles, and cannot be unpickled."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError


def half(params):
    return params["x"] / 2


def awkward(params):
    if params["x"] == 1:
        raise AwkwardError(7, "no")
    return params["x"]


def nap(params):
    time.sleep(params["x"])
    return params["x"]


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (-0.0, 0.0),
        (True, 1.0),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.bool_(True), 1.0),
        (np.array(2.5), 2.5),
        (Fraction(1, 2), 0.5),
        ({"value": np.float64(0.25)}, 0.25),
    ],
)
def test_numbers_of_all_kinds(returned, value):
    outcome = outcome_of(returned, 1.5)
    assert outcome == Outcome("ok", value, {}, "", 1.5)
    assert type(outcome.value) is float


def test_further_numbers_are_kept_be_they_finite_or_not():
    outcome = outcome_of({"time": np.float32(2), "value": 1, "gap": math.nan, "n": True})
    assert outcome.value == 1.0
    assert list(outcome.extra) == ["time", "gap", "n"]
    assert math.isnan(outcome.extra["gap"])
    assert {type(v) for v in outcome.extra.values()} == {float}
    assert outcome_of({"value": math.nan, "time": 2}).extra == {"time": 2.0}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (math.nan, "the objective returned nan"),
        (math.inf, "the objective returned inf"),
        (-math.inf, "the objective returned -inf"),
        (np.float32("nan"), "the objective returned nan"),
        (None, "the objective returned None, which is not a number"),
        ("0.5", "the objective returned '0.5', which is not a number"),
        (1j, "the objective returned 1j, which is not a number"),
        (np.complex128(1j), "which is not a number"),
        ([0.5], r"the objective returned \[0.5\], which is not a number"),
        (np.array([0.5]), "which is not a number"),
        (np.array("a"), "which is not a number"),
        (Decimal("0.5"), "which is not a number"),
        ((0.5, "a"), "which is not a number"),
        ([[0.5, 0.1]], "which is not a number"),
        (np.zeros((2, 2)), "which is not a number"),
        ({"value": [0.5, 0.1]}, "which is not a number"),
        ("x" * 500, r"\.\.\., which is not a number"),
        ("two\nlines", "which is not a number"),
        ({}, r"a mapping without 'value', or 'values' of several objectives \(it has \)"),
        ({"score": 1.0, 3: 4}, r"a mapping without 'value', or 'values' of several objectives \(it has 'score', 3\)"),
        ({"value": None}, "the objective returned None, which is not a number"),
        ({"value": 1.0, "time": "long"}, "the objective returned 'time': 'long', which is not a named number"),
        ({"value": 1.0, 3: 4.0}, "the objective returned 3: 4.0, which is not a named number"),
    ],
)
def test_what_is_no_number_is_a_failure_with_a_reason(returned, reason):
    outcome = outcome_of(returned)
    assert re.search(reason, outcome.reason)
    assert (outcome.state, outcome.value) == ("failed", None)
    assert "\n" not in outcome.reason
    assert len(outcome.reason) < 200


@pytest.mark.parametrize(
    "returned",
    [
        [0.5, 3],
        (0.5, 3.0),
        np.array([0.5, 3]),
        [Fraction(1, 2), np.int64(3)],
        {"values": [0.5, 3]},
        {"values": np.array([0.5, 3.0])},
    ],
)
def test_several_numbers_are_the_values_of_several_objectives(returned):
    outcome = outcome_of(returned, 1.5)
    assert outcome == Outcome("ok", None, {}, "", 1.5, values=(0.5, 3.0))
    assert {type(v) for v in outcome.values} == {float}


def test_values_can_be_named_and_have_further_numbers_beside_them():
    outcome = outcome_of({"values": {"b": np.float32(2), "a": 1}, "time": 3})
    assert (outcome.values, outcome.extra) == ({"b": 2.0, "a": 1.0}, {"time": 3.0})
    assert outcome_of({"values": [0.5]}).values == (0.5,)
    assert outcome_of({"value": 1.0, "values": 2.0}).extra == {"values": 2.0}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ([math.nan, 1.0], r"the objective returned \[nan, 1.0\]"),
        ({"values": {"a": 1, "b": math.inf}}, r"the objective returned \[1.0, inf\]"),
        ({"values": 1.0}, "the objective returned 'values': 1.0, which are not numbers"),
        ({"values": []}, r"'values': \[\], which are not numbers"),
        ({"values": "ab"}, "'values': 'ab', which are not numbers"),
        ({"values": [1.0, None]}, r"'values': \[1.0, None\], which are not numbers"),
        ({"values": [1.0, 2.0], "time": "long"}, "the objective returned 'time': 'long', which is not a named number"),
    ],
)
def test_values_that_are_no_numbers_are_a_failure_with_a_reason(returned, reason):
    outcome = outcome_of(returned)
    assert re.search(reason, outcome.reason)
    assert (outcome.state, outcome.value, outcome.values) == ("failed", None, None)


def test_what_is_raised_is_a_failure_that_says_what_and_where():
    def objective(params):
        raise ValueError("line one\n  line two")

    outcome = call(objective, {})
    assert outcome.state == "failed"
    assert outcome.reason.startswith("ValueError: line one line two (test_evaluation.py, line ")
    assert isinstance(outcome.error, ValueError)
    assert outcome.seconds >= 0


@pytest.mark.parametrize("error", [KeyError("gamma"), ValueError("\udc80.csv"), SpeechlessError(), ValueError("x" * 9999)])
def test_reasons_can_always_be_written(error):
    def objective(params):
        raise error

    reason = call(objective, {}).reason
    assert reason.startswith(f"{type(error).__name__}: ")
    assert len(reason.encode("utf-8")) < 700


def test_numbers_too_large_for_a_float_are_failures():
    assert "too large" in call(lambda params: 10**400, {}).reason


def test_leaving_is_no_failure():
    for leave in (KeyboardInterrupt, SystemExit):
        with pytest.raises(leave):
            call(lambda params, leave=leave: (_ for _ in ()).throw(leave), {})


def test_one_line():
    assert one_line(" a\n\tb  é\x00\udcff ") == "a b é\x00\\udcff"


def test_here_evaluates_one_after_the_other():
    seen = []
    with Here(lambda params: seen.append(params["x"]) or params["x"]) as evaluator:
        outcomes = evaluator.evaluate([{"x": 1}, {"x": 2}])
        assert next(outcomes).value == 1.0
        assert seen == [1]
        assert next(outcomes).value == 2.0


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_outcomes_in_the_order_of_the_batch(kind):
    with kind(2) as executor, OnExecutor(nap, executor, None) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in (0.2, 0.0, 0.1)]))
    assert [o.value for o in outcomes] == [0.2, 0.0, 0.1]
    assert outcomes[0].seconds >= 0.2


def test_an_error_that_cannot_be_unpickled_breaks_no_pool():
    with ProcessPoolExecutor(2) as executor, OnExecutor(awkward, executor, None) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in range(4)]))
        assert [o.state for o in outcomes] == ["ok", "failed", "ok", "ok"]
        assert outcomes[1].reason.startswith("AwkwardError: 7: no (test_evaluation.py")
        assert str(outcomes[1].error) == outcomes[1].reason
        assert next(evaluator.evaluate([{"x": 5}])).value == 5.0


def test_an_error_that_can_be_unpickled_stays_itself():
    outcome = pickle.loads(pickle.dumps(call(lambda params: {}["gamma"], {})))
    assert isinstance(outcome.error, KeyError)
    assert outcome.error.args == ("gamma",)
    plain = Outcome("ok", 1.0, {"a": 2.0}, "", 0.5)
    assert pickle.loads(pickle.dumps(plain)) == plain


def test_what_cannot_be_sent_to_a_worker_fails_that_trial():
    with ProcessPoolExecutor(1) as executor, OnExecutor(half, executor, None) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": threading.Lock()}, {"x": 3}]))
    assert [o.state for o in outcomes] == ["failed", "ok"]
    assert "TypeError: cannot pickle" in outcomes[0].reason


def test_on_an_executor_a_late_trial_is_given_up_and_the_others_count():
    release = threading.Event()

    def objective(params):
        if params["x"] == 1:
            release.wait(10)
        return params["x"]

    with ThreadPoolExecutor(2) as executor, OnExecutor(objective, executor, 0.3) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in range(3)]))
        release.set()
    assert [o.state for o in outcomes] == ["ok", "timeout", "ok"]
    assert (outcomes[1].reason, outcomes[1].seconds) == ("it took longer than trial_timeout=0.3 s", 0.3)


def test_waiting_for_a_worker_is_not_counted():
    with ThreadPoolExecutor(1) as executor, OnExecutor(nap, executor, 0.6) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": 0.2}] * 4))
    assert [o.state for o in outcomes] == ["ok"] * 4


def test_a_trial_that_was_late_is_late_even_if_nobody_waited_for_it():
    with ThreadPoolExecutor(1) as executor, OnExecutor(nap, executor, 0.4) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": 0.0}, {"x": 0.55}]))
    assert [o.state for o in outcomes] == ["ok", "timeout"]


def test_killable_workers_take_lambdas_and_closures():
    factor = np.array([2.0])
    with InKillableWorkers(lambda params: {"value": float(factor[0] * params["x"]), "pid": os.getpid()}, 2, 30.0) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in range(5)]))
        again = list(evaluator.evaluate([{"x": 9}]))
    assert [o.value for o in outcomes + again] == [0.0, 2.0, 4.0, 6.0, 8.0, 18.0]
    pids = {o.extra["pid"] for o in outcomes + again}
    assert os.getpid() not in pids
    assert len(pids) <= 2


def test_a_late_trial_is_killed_and_the_others_of_its_batch_count(tmp_path):
    def objective(params):
        import time

        if params["x"] == 1:
            time.sleep(1)
            (tmp_path / "lived on").touch()
        return params["x"]

    with InKillableWorkers(objective, 2, 0.7) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in range(4)]))
        assert [o.state for o in outcomes] == ["ok", "timeout", "ok", "ok"]
        assert outcomes[1].reason == "it took longer than trial_timeout=0.7 s"
    time.sleep(0.6)
    assert not (tmp_path / "lived on").exists()


@pytest.mark.parametrize("batch", [[1], [0, 1, 2]])
def test_a_worker_that_dies_fails_only_its_own_trial(batch):
    def objective(params):
        import os

        if params["x"] == 1:
            os._exit(1)
        return params["x"]

    with InKillableWorkers(objective, len(batch), 30.0) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in batch]))
        assert next(evaluator.evaluate([{"x": 5}])).value == 5.0
    assert [o.state for o in outcomes] == ["failed" if x == 1 else "ok" for x in batch]
    assert outcomes[batch.index(1)].reason == "the worker process died (killed, out of memory, or a crash in compiled code)"


def test_errors_in_killable_workers():
    class OwnError(Exception):
        pass

    def objective(params):
        if params["x"] == 0:
            raise KeyError("gamma")
        if params["x"] == 1:
            raise OwnError("mine")
        return object()

    with InKillableWorkers(objective, 1, 30.0) as evaluator:
        outcomes = list(evaluator.evaluate([{"x": x} for x in range(3)]))
    assert [o.state for o in outcomes] == ["failed"] * 3
    assert outcomes[0].reason.startswith("KeyError: 'gamma' (test_evaluation.py")
    assert isinstance(outcomes[0].error, KeyError)
    assert outcomes[1].reason.startswith("OwnError: mine")
    assert "mine" in str(outcomes[1].error)
    assert "which is not a number" in outcomes[2].reason


def test_an_objective_that_cannot_be_sent_is_refused_at_once():
    lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot pickle"):
        InKillableWorkers(lambda params: lock, 1, 1.0)
