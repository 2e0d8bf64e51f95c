"""What a write that fails leaves."""

import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import Diagonal, bowl, facts

from spotsvm import Study
from spotsvm.errors import StorageError
from spotsvm.study.record.record import Record, read_ledger
from spotsvm.trials.events import Asked, Told


@pytest.mark.parametrize("search", ["kriging", "random", "own"])
@pytest.mark.parametrize("kind", [Asked, Told])
def test_a_write_that_fails_leaves_memory_and_record_agreed(search, kind, tmp_path, monkeypatch):
    def made():
        return Diagonal() if search == "own" else search

    right, failing = Record.append, iter([False] * 8 + [True, False, True, True] + [False] * 99)

    def write_or_fail(self, events):
        if isinstance(events[-1], kind) and next(failing):
            raise StorageError("the disk is full")
        return right(self, events)

    path = tmp_path / "s.db"
    with Study(SPACE, made(), 0, path=path) as study:
        monkeypatch.setattr(Record, "append", write_or_fail)
        for _ in range(3):
            with pytest.raises(StorageError, match="the disk is full"):
                study.run(bowl, 16, batch_size=2)
            recorded = read_ledger(path)
            assert (list(study.trials), study.ledger.turns) == (recorded.trials, recorded.turns)
        study.run(bowl, 16, batch_size=2)
        undisturbed = facts(Study(SPACE, made(), 0).run(bowl, 16, batch_size=2))
        assert facts(study) == undisturbed
    monkeypatch.undo()
    with Study(SPACE, made(), 0, path=path) as again:
        assert facts(again) == undisturbed


def test_a_value_that_could_not_be_recorded_is_in_the_error_and_can_be_told(tmp_path, monkeypatch):
    right = Record.append

    def fail(self, events):
        if isinstance(events[-1], Told):
            raise StorageError("the disk is full")
        right(self, events)

    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study:
        monkeypatch.setattr(Record, "append", fail)
        with pytest.raises(StorageError) as caught:
            study.run(bowl, 1)
        monkeypatch.undo()
        value = bowl(study.trials[0].params)
        assert caught.value.__notes__ == [f"trial 0 returned {value}, which is not recorded; pass it to tell()"]
        study.tell(0, value)
        assert study.run(bowl, 2).trials[0].value == value
