"""A bit that has turned over on disk is never read as another number."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from spotsvm.commands.main import main
from spotsvm.errors import StorageError
from spotsvm.study.record.record import Record
from spotsvm.study.record.salvage import salvage
from spotsvm.study.recorded import RecordedStudy, record_tables
from spotsvm.trials.outcome import Outcome
from tests.spotsvm.study.record.records import change, partly_failing, study


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A record of a search with a memory, 61 trials on more than one page, one of which is running, and an outcome that waits."""
    path = tmp_path_factory.mktemp("whole") / "study.db"
    with study(path, "cmaes") as s:
        s.run(partly_failing, 60)
        s._books.hold(s.ask(), Outcome("ok", 0.5))
        s.add_finding("weather", {"sun": 0.25})
    return path


@pytest.fixture
def hurt(whole, tmp_path):
    """A copy to change."""
    return Path(shutil.copyfile(whole, tmp_path / "hurt.db"))


def content(path):
    with closing(Record(path, read_only=True)) as record:
        return repr((record.about(), record.trials(), record.events(), record.outcomes()))


def events(path):
    with closing(Record(path, read_only=True)) as record:
        return record.events()


def test_a_bit_that_has_turned_over_is_harmless_or_told_of(whole, hurt):
    data, truth = whole.read_bytes(), content(whole)
    rng = np.random.default_rng(0)
    written = np.flatnonzero(np.frombuffer(data, dtype=np.uint8))  # the rest is mostly room for more
    lines = []
    for at in [*rng.choice(written, 60), *rng.integers(len(data), size=10), *rng.integers(100, size=10)]:
        turned = bytearray(data)
        turned[at] ^= 1 << int(rng.integers(8))
        hurt.write_bytes(turned)
        try:
            assert content(hurt) == truth
        except StorageError as error:
            lines.append(str(error))
    assert len(lines) > 48
    assert all(str(hurt) in line and "\n" not in line for line in lines)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE trials SET value = value + 1e-16 WHERE number = 4", "trial 4 cannot be read"),
        ("UPDATE trials SET seconds = 7 WHERE number = 4", "trial 4 cannot be read"),
        ("UPDATE trials SET told_checksum = NULL WHERE number = 4", "trial 4 cannot be read"),
        ("UPDATE trials SET note = 'x' WHERE number = 60", "trial 60 cannot be read"),
        ("UPDATE trials SET params = replace(params, '0.', '1.') WHERE number = 4", "trial 4 cannot be read"),
        ("UPDATE about SET value = '1' WHERE key = 'seed'", "its entry 'seed'"),
        ("UPDATE about SET key = 'tpace' WHERE key = 'space'", "its entry 'tpace'"),
        ("UPDATE outcomes SET outcome = replace(outcome, '0.5', '0.7')", "the outcome of trial 60"),
        ("UPDATE outcomes SET number = 3", "the outcome of trial 3"),
    ],
)
def test_a_cell_that_has_changed(statement, said, hurt):
    with closing(sqlite3.connect(hurt, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount == 1
    for act in (content, lambda path: study(path, "cmaes")):
        with pytest.raises(StorageError, match=f"is damaged: {said}: its checksum does not match"):
            act(hurt)


@pytest.mark.parametrize(
    ("statement", "act", "said"),
    [
        ("UPDATE about SET value = '\"other\"' WHERE key = 'format'", content, "is not a record of spotsvm; name another file"),
        ("UPDATE about SET value = '3' WHERE key = 'space'", record_tables, "is damaged: its space is 3"),
        ("UPDATE trials SET told = 'x' WHERE number = 4", events, "is damaged: the order of its trials is lost"),
    ],
)
def test_a_cell_with_a_valid_checksum_that_makes_no_sense(statement, act, said, hurt):
    change(hurt, statement, signed=True)
    with pytest.raises(StorageError, match=said):
        act(hurt)


def test_trials_that_a_page_has_lost_from_its_end_are_missed(hurt):
    """The last trials have no successor that could tell of them."""
    data = bytearray(hurt.read_bytes())
    last = max(k for k in range(0, len(data), 8192) if data[k] == 0x0D and b'"kernel"' in data[k : k + 8192])
    data[last + 4] -= 1  # number of its rows
    hurt.write_bytes(data)
    with pytest.raises(StorageError, match="is damaged"):
        RecordedStudy(hurt)


def test_what_is_salvaged_leaves_out_what_has_changed_and_says_so(whole, hurt):
    trials = RecordedStudy(whole).trials
    change(hurt, "UPDATE trials SET value = 2 * value + 1, reason = reason || '.' WHERE number IN (7, 30, 59)")
    change(hurt, "UPDATE about SET value = '\"lhs\"' WHERE key = 'search'")
    found = salvage(hurt)
    assert found.changed == found.missing == (7, 30, 59)
    assert found.trials == tuple(t for t in trials if t.number not in (7, 30, 59))
    assert "search" not in found.about
    result = CliRunner().invoke(main, ["export", "--salvage", str(hurt)])
    assert "58 trials were read from" in result.stderr
    assert "3 were left out because their checksums do not match" in result.stderr
    assert salvage(whole).changed == ()
