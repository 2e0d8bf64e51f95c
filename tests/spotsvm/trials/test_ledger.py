"""The ledger of a study follows from its events, in memory and in a record."""

from contextlib import closing

import pytest

from spotsvm import Trial
from spotsvm.study.record.record import Record, read_ledger
from spotsvm.trials.events import Asked, Described, EventError, Lost, Noted, Reported, Row, Told
from spotsvm.trials.ledger import Ledger
from spotsvm.trials.outcome import Outcome


def trial(number):
    return Trial(number, {"x": number / 4}, (number / 4,), seed=number)


def ok(value):
    return Outcome("ok", value)


#: two trials that are asked for, one lost worker, two outcomes that wait, one trial told, one given, a finding
EVENTS = (
    Described({"noise": True, "seed": 3}),
    Asked(trial(0), {"n": 1}),
    Asked(trial(1), {"n": 2}),
    Lost(1, "gone"),
    Reported(0, ok(0.25)),
    Reported(1, ok(0.5)),
    Told(0, 1.5, ok(0.25)),
    Asked(trial(2), {"n": 3}),
    Told(2, 2.5, Outcome("failed", reason="none")),
    Noted("weather", {"sun": True}),
)


def facts(ledger):
    return (ledger.about, ledger.trials, ledger.turns, ledger.told, ledger.findings, ledger.outcomes, ledger.search_state)


def test_it_counts_what_was_told_in_its_order():
    ledger = Ledger(EVENTS)
    assert (ledger.n_finished, ledger.told, ledger.n_told_since_asked) == (2, [0, 2], 1)
    assert ledger.turns == [("asked", 0), ("asked", 1), ("told", 0), ("asked", 2), ("told", 2)]
    assert ledger.outcomes == {1: ok(0.5)}
    assert (ledger.about, ledger.findings) == ({"noise": True, "seed": 3}, {"weather": {"sun": True}})
    assert (ledger.trials[1].lost, ledger.trials[2].reason, ledger.search_state) == (("gone",), "none", {"n": 3})
    assert [t.told_at for t in ledger.trials] == [1.5, None, 2.5]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Asked(trial(2)), "trial 2 was asked for before"),
        (Asked(trial(4)), "trials are missing"),
        (Lost(0, "gone"), "trial 0 is not running"),
        (Reported(9, ok(1.0)), "trial 9 is not running"),
        (Told(0, 1.0, ok(1.0)), "trial 0 is not running"),
        (Told(1, 1.0, ok(1.0), (Row(2, {}, (0.5,), ok(1.0)),)), "the sweep of trial 1 has trials of others"),
        (Told(1, 1.0, ok(1.0), (Row(1, {}, (0.5,), ok(1.0)), Row(0, {}, (0.5,), ok(1.0)))), "trials of others"),
        (Told(1, 1.0, ok(1.0), (Row(1, {}, (0.5,), ok(1.0)), Row(7, {}, (0.5,), ok(1.0)))), "trials are missing"),
    ],
)
def test_an_event_that_does_not_fit_is_not_written(event, said, tmp_path):
    with closing(Record(tmp_path / "study.db")) as record:
        ledger = Ledger(EVENTS)
        ledger.keep_in(record, EVENTS)
        before = repr(facts(ledger))
        with pytest.raises(EventError, match=said):
            ledger.append(Noted("a", {}), event)
        assert repr(facts(ledger)) == before
    assert "a" not in read_ledger(tmp_path / "study.db").findings
