import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.study.workers.protocol import packed, unpacked
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


def test_an_error_that_can_be_sent_stays_itself_unless_it_holds_much():
    error = unpacked(packed(call(lambda params: {}["gamma"], {}))).error
    assert (type(error), error.args) == (KeyError, ("gamma",))
    sent = packed(Outcome("failed", reason="large", error=ValueError(np.zeros(10_000))))
    assert len(sent) < 2000
    assert isinstance(unpacked(sent).error, RuntimeError)
