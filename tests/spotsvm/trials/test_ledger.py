"""The ledger of a study follows from its events, in memory and in a record."""

from contextlib import closing

import pytest
from scipy.stats import uniform

from spotsvm import Study, Trial
from spotsvm.study.record.record import Record, read_ledger
from spotsvm.trials.events import Asked, Described, EventError, Lost, Noted, Reported, Row, Told, Widened
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


def test_a_record_holds_what_the_memory_does(tmp_path):
    ledger = Ledger(EVENTS[:3])
    with closing(Record(tmp_path / "study.db")) as record:
        ledger.keep_in(record, EVENTS[:3])
        ledger.append(*EVENTS[3:5])
        for event in EVENTS[5:]:
            ledger.append(event)
    assert ledger.path == tmp_path / "study.db"
    about, *rest = facts(read_ledger(tmp_path / "study.db"))
    assert about == {"format": "spotsvm study", "schema_version": 7, **ledger.about}
    assert rest == list(facts(ledger))[1:] == list(facts(Ledger(EVENTS)))[1:]


def test_it_can_be_seen_as_it_was():
    ledger = Ledger(EVENTS)
    before = ledger.after(1)
    assert (before.n_finished, before.turns) == (1, list(ledger.turns[:3]))
    assert [t.state for t in before.trials] == ["ok", "running"]
    assert [t.state for t in ledger.after(0).trials] == []
    assert [t.number for t in ledger.told_before_asked(2)] == [0]


def test_a_sweep_is_a_row_for_each_value_and_a_trial_of_its_own():
    rows = [Row(n, {"x": 0.0, "y": y}, (0.0, y), ok(y)) for n, y in ((0, 0.25), (2, 0.5))]
    told = Told(0, 1.5, Outcome("ok", seconds=3.0, attributes={"a": 1}), tuple(rows))
    ledger = Ledger([Described({"sweep": "y"}), Asked(trial(0)), Asked(trial(1)), told])
    assert [(t.number, t.sweep, t.value, t.origin, t.seconds, t.told_at) for t in ledger.trials] == [
        (0, 0, 0.25, "", 3.0, 1.5), (1, None, None, "", None, None), (2, 0, 0.5, "sweep", None, None),
    ]  # fmt: skip
    assert [t.attributes for t in ledger.trials] == [{"a": 1}, {}, {"a": 1}]
    ledger.append(Told(1, 2.5, Outcome("failed", reason="all of it")))
    assert (ledger.trials[1].sweep, ledger.trials[1].state) == (1, "failed")


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


def test_a_wider_space_has_other_points_and_forgets_the_state_of_the_search():
    ledger = Ledger(EVENTS)
    ledger.append(Widened({"space": [2]}, ((0.1,), (0.2,), (0.3,)), {1: ok(0.75)}))
    assert [t.point for t in ledger.trials] == [(0.1,), (0.2,), (0.3,)]
    assert (ledger.about["space"], ledger.search_state, ledger.outcomes) == ([2], {}, {1: ok(0.75)})


def test_a_copy_in_memory_shares_nothing(tmp_path):
    with Study({"x": uniform(0, 1)}, "random", 0, path=tmp_path / "study.db") as study:
        study.run(lambda p: p["x"], n_trials=3)
        copied = study.ledger.in_memory()
        study.run(lambda p: p["x"], n_trials=5)
    assert (copied.path, copied.n_finished, study.n_finished) == (None, 3, 5)
