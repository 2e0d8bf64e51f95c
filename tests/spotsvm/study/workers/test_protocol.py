import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.study.workers.protocol import Here, packed, unpacked
from spotsvm.trials.evaluation import call
from spotsvm.trials.outcome import Outcome

numbers = st.floats(allow_nan=False)


class Name(str):
    """A name that must not be sent: it raises when it is unpickled."""

    def __reduce__(self):
        return _fail, ()


def _fail():
    raise RuntimeError("unpickled")


@given(
    outcome=st.builds(
        Outcome,
        st.sampled_from(["ok", "failed", "timeout"]),
        st.none() | numbers,
        st.dictionaries(st.text(), numbers, max_size=3),
        st.text(st.characters(codec="utf-8")),
        st.none() | numbers,
        values=st.none() | st.tuples(numbers, numbers),
        named=st.dictionaries(st.text(), numbers, max_size=3),
        lost=st.booleans(),
    )
)
def test_it_comes_back_as_it_went(outcome):
    assert unpacked(packed(outcome)) == outcome


def test_names_are_sent_as_plain_strings():
    returned = {"values": {Name("a"): 1.0, 3: 2.0}, Name("time"): np.float64(2.0), np.str_("n"): 1.0}
    read = unpacked(packed(call(lambda params: returned, {})))
    assert (read.extra, read.named) == ({"time": 2.0, "n": 1.0}, {"a": 1.0, "3": 2.0})
    assert {type(name) for name in (*read.extra, *read.named)} == {str}


def raising(error):
    def reduce(self):
        raise error

    return reduce


@pytest.mark.parametrize(
    "reduce",
    [raising(RuntimeError("no")), raising(SystemExit(1)), lambda self: (_fail, ()), lambda self: (str, ("a string",))],
    ids=["pickled", "left", "unpickled", "text"],
)
def test_an_error_that_cannot_be_sent_becomes_its_text(reduce):
    kind = type("Own", (Exception,), {"__reduce__": reduce})

    def objective(params):
        raise kind("mine")

    read = unpacked(packed(call(objective, {})))
    assert read.reason.startswith("Own: mine")
    assert (type(read.error), str(read.error)) == (RuntimeError, read.reason)


def test_an_error_that_raises_only_where_it_arrives_becomes_its_text():
    outcome = Outcome("failed", 0.5, {"time": 1.0}, "it failed")
    sent, _ = pickle.loads(packed(outcome))
    read = unpacked(pickle.dumps((sent, b"no pickle")))
    assert (read.extra, str(read.error)) == ({"time": 1.0}, "it failed")


def test_an_error_that_can_be_sent_stays_itself_unless_it_holds_much():
    error = unpacked(packed(call(lambda params: {}["gamma"], {}))).error
    assert (type(error), error.args) == (KeyError, ("gamma",))
    sent = packed(Outcome("failed", reason="large", error=ValueError(np.zeros(10_000))))
    assert len(sent) < 2000
    assert isinstance(unpacked(sent).error, RuntimeError)


def test_it_evaluates_one_trial_at_a_time_when_somebody_waits():
    seen = []
    with Here(lambda params: seen.append(params["x"]) or params["x"]) as workers:
        assert workers.n_workers == 1
        workers.submit(7, {"x": 1})
        workers.submit(3, {"x": 2})
        assert seen == []
        assert [(key, o.value) for key, o in workers.wait()] == [(7, 1.0)]
        assert seen == [1]
        assert [(key, o.value) for key, o in workers.wait()] == [(3, 2.0)]
        assert workers.wait() == []


def test_what_is_abandoned_is_not_evaluated():
    with Here(lambda params: 1 / 0) as workers:
        workers.submit(0, {})
        assert workers.abandon() == workers.wait() == []


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit])
def test_leaving_is_no_failure(leave):
    def objective(params):
        raise leave

    with Here(objective) as workers:
        workers.submit(0, {})
        with pytest.raises(leave):
            workers.wait()
