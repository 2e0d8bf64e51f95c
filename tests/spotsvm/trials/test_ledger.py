from contextlib import closing

import pytest
from scipy.stats import uniform

from spotsvm.study.record.record import LedgerInRecord, Record
from spotsvm.study.study import Study
from spotsvm.trials.ledger import Ledger
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import Trial


def happenings(ledger):
    """Two trials that are asked for, one lost worker, one outcome that waits, one trial told, one given, a finding."""
    first, second = (Trial(k, {"x": k / 2}, (k / 2,), seed=k) for k in range(2))
    ledger.describe({"seed": 3})
    ledger.add_asked(first, {"n": 1})
    ledger.add_asked(second, {"n": 2})
    ledger.add_lost(Trial(1, {"x": 0.5}, (0.5,), seed=1, lost=("gone",)))
    ledger.hold(0, Outcome("ok", 0.25))
    ledger.hold(1, Outcome("ok", 0.5))
    ledger.add_told(Trial(0, {"x": 0.0}, (0.0,), "ok", 0.25, seed=0, values=(0.25,)))
    ledger.add_given(Trial(2, {"x": 1.0}, (1.0,), "failed", None, {}, "none", origin="given", seed=2), {"n": 3})
    ledger.add_finding("weather", {"sun": True})
    return ledger


def test_it_counts_what_was_told_in_its_order():
    ledger = happenings(Ledger({"noise": True}))
    assert (ledger.n_finished, ledger.told_numbers, ledger.n_told_since_asked) == (2, (0, 2), 1)
    assert ledger.events == [(0, "asked", 0), (1, "asked", 1), (2, "told", 0), (3, "asked", 2), (4, "told", 2)]
    assert ledger.outcomes == {1: Outcome("ok", 0.5)}
    assert (ledger.about, ledger.findings) == ({"noise": True, "seed": 3}, {"weather": {"sun": True}})


def test_a_record_holds_what_the_memory_does(tmp_path):
    plain = happenings(Ledger({}))
    with closing(Record(tmp_path / "study.db")) as record:
        recorded = happenings(LedgerInRecord(record, {}))
        assert (recorded.trials, recorded.events, recorded.outcomes) == (plain.trials, plain.events, plain.outcomes)
        assert (record.trials(), record.events(), record.outcomes()) == (plain.trials, plain.events, plain.outcomes)
        assert record.findings() == plain.findings
        assert record.about()["search_state"] == {"n": 3}
        assert recorded.path == tmp_path / "study.db"


def test_a_copy_in_memory_shares_nothing(tmp_path):
    with Study({"x": uniform(0, 1)}, "random", 0, path=tmp_path / "study.db") as study:
        study.run(lambda p: p["x"], n_trials=3)
        copied = study._ledger.in_memory()
        study.run(lambda p: p["x"], n_trials=5)
    assert (copied.path, copied.n_finished, study.n_finished) == (None, 3, 5)


@pytest.mark.parametrize("step", ["add_asked", "add_told", "add_lost"])
def test_nothing_takes_effect_that_cannot_be_written(step, tmp_path, monkeypatch):
    class Refused(Exception):
        pass

    def refuse(*arguments):
        raise Refused

    with closing(Record(tmp_path / "study.db")) as record:
        ledger = LedgerInRecord(record, {})
        trial = Trial(0, {"x": 0.5}, (0.5,), seed=0)
        if step != "add_asked":
            ledger.add_asked(trial, {})
        before = (list(ledger.trials), list(ledger.events))
        monkeypatch.setattr(record, step.replace("add", "write"), refuse)
        with pytest.raises(Refused):
            getattr(ledger, step)(trial, *([{}] if step == "add_asked" else []))
        assert (ledger.trials, ledger.events) == before
