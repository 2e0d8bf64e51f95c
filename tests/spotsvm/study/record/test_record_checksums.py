"""A bit that has turned over on disk is never read as another number."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm.errors import StorageError
from spotsvm.study.record.record import read_ledger
from spotsvm.study.record.salvage import salvage
from spotsvm.study.recorded import RecordedStudy, record_tables
from spotsvm.trials.outcome import Outcome
from tests.spotsvm.study.record.records import change, describe, partly_failing, study


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
    """Return all that the events of a record say."""
    ledger = read_ledger(path)
    return repr(
        (ledger.about, [vars(t) for t in ledger.trials], ledger.turns, ledger.outcomes, ledger.findings, ledger.search_state)
    )


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
        (
            "UPDATE events SET content = replace(content, '\"value\":0.', '\"value\":1.') WHERE number = 4 AND kind = 'told'",
            "trial 4",
        ),
        (
            "UPDATE events SET content = replace(content, '\"seconds\":', '\"seconds\":1') WHERE number = 4 AND kind = 'told'",
            "trial 4",
        ),
        ("UPDATE events SET checksum = 7 WHERE number = 4 AND kind = 'told'", "trial 4"),
        ("UPDATE events SET content = replace(content, '\"C\":0.', '\"C\":1.') WHERE number = 4 AND kind = 'asked'", "trial 4"),
        ("UPDATE events SET content = replace(content, '\"seed\":0', '\"seed\":1') WHERE position = 1", "its event 1"),
        ("UPDATE events SET kind = 'lost' WHERE kind = 'reported'", "trial 60"),
        ("UPDATE events SET content = replace(content, '0.5', '0.7') WHERE kind = 'reported'", "trial 60"),
        ("UPDATE events SET number = 3 WHERE kind = 'reported'", "trial 3"),
        ("UPDATE events SET arrays = x'' WHERE kind = 'reported'", "trial 60"),
        ("UPDATE events SET content = replace(content, '0.25', '0.26') WHERE kind = 'noted'", "its event"),
    ],
)
def test_a_cell_that_has_changed(statement, said, hurt):
    with closing(sqlite3.connect(hurt, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount == 1
    for act in (content, lambda path: study(path, "cmaes"), RecordedStudy, record_tables):
        with pytest.raises(StorageError, match="is damaged: its event .*: its checksum does not match") as caught:
            act(hurt)
        assert said in str(caught.value)


def test_a_table_with_a_valid_checksum_that_makes_no_sense(hurt):
    describe(hurt, space=3)
    with pytest.raises(StorageError, match="is damaged: its space is 3"):
        record_tables(hurt)


def test_rows_that_a_page_has_lost_from_its_end_are_missed(hurt):
    """The last events have no successor that could tell of them."""
    data = bytearray(hurt.read_bytes())
    last = max(k for k in range(0, len(data), 8192) if data[k] == 0x0D and b'"kernel"' in data[k : k + 8192])
    data[last + 4] -= 1  # number of its rows
    hurt.write_bytes(data)
    with pytest.raises(StorageError, match="is damaged"):
        RecordedStudy(hurt)


def test_what_is_salvaged_leaves_out_what_has_changed_and_says_so(whole, hurt):
    trials = RecordedStudy(whole).trials
    change(hurt, "UPDATE events SET content = replace(content, '0.', '1.') WHERE number IN (7, 30, 59) AND kind = 'told'")
    change(hurt, "UPDATE events SET content = replace(content, 'cmaes', 'lhs') WHERE position = 1")
    found = salvage(hurt)
    assert found.changed == found.missing == (7, 30, 59)
    assert found.trials == tuple(t for t in trials if t.number not in (7, 30, 59))
    assert "search" not in found.about
    assert found.about["budget"] == 60
    result = CliRunner().invoke(main, ["export", "--salvage", str(hurt)])
    assert "58 trials were read from" in result.stderr
    assert "3 were left out because their checksums do not match" in result.stderr
    assert salvage(whole).changed == ()
    assert salvage(whole).n_lost == 0


def test_rows_that_are_lost_are_counted_as_trials_may_have_ended_by_them(whole, hurt):
    trials = RecordedStudy(whole).trials
    change(hurt, "DELETE FROM events WHERE kind = 'told' AND number IN (7, 30)")
    found = salvage(hurt)
    assert [t.number for t in found.trials if t.state == "running"] == [7, 30, 60]
    assert [t for t in found.trials if t.state != "running"] == [t for t in trials if t.number not in (7, 30, 60)]
    result = CliRunner().invoke(main, ["export", "--salvage", str(hurt)])
    assert "2 rows of the record are lost, so some of the trials listed as running had ended" in result.stderr
