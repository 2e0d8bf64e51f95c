import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm import Study, load_study
from spotsvm.errors import StorageError
from spotsvm.study.record.salvage import salvage
from tests.spotsvm.study.record.records import SPACE, change, partly_failing, study


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A record of 60 trials, of which one is running; closed."""
    path = tmp_path_factory.mktemp("whole") / "study.db"
    with study(path) as s:
        s.run(partly_failing, 59)
        s.ask()
    return path, s.trials


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """The file and its write-ahead log as a killed process leaves them: 30 trials in the file, 10 more in the log."""
    folder = tmp_path_factory.mktemp("logged")
    path = folder / "study.db"
    with study(path) as s:
        s.run(partly_failing, 30)
    with study(path) as s:
        s.run(partly_failing, 40)
        (folder / "copy").mkdir()
        for name in ("study.db", "study.db-wal"):
            shutil.copyfile(folder / name, folder / "copy" / name)
    return folder / "copy" / "study.db", s.trials


def refusal(act, path):
    """Return the line that says why a record cannot be opened, empty if it can."""
    try:
        act(path)
    except StorageError as error:
        return str(error)
    return ""


def salvaged_by_command(path, *options):
    return CliRunner().invoke(main, ["export", "--salvage", str(path), *map(str, options)])


def check_among(found, trials):
    """Check that each trial that was salvaged is as it ended, or as it was while it ran."""
    for t in found.trials:
        mine = trials[t.number]
        assert (t.params, t.point, t.seed) == (mine.params, mine.point, mine.seed)
        assert t.state == "running" or (t.state, t.value, t.extra, t.reason) == (mine.state, mine.value, mine.extra, mine.reason)


def test_a_whole_record_is_read_whole_also_what_is_in_the_log_alone(whole, logged):
    path, trials = whole
    found = salvage(path)
    assert found.trials == trials
    assert found.missing == ()
    assert found.about["search"] == "random"
    assert found.frame().equals(load_study(path).frame())
    path, trials = logged
    assert salvage(path).trials == trials


@pytest.mark.faults
def test_a_file_that_is_cut_anywhere(whole, tmp_path):
    path, trials = whole
    content, cut = path.read_bytes(), tmp_path / "cut.db"
    counts = []
    for length in [*range(0, 200, 7), *range(200, len(content), 5003), len(content) - 1]:
        cut.write_bytes(content[:length])
        found = salvage(cut)
        check_among(found, trials)
        counts.append(len(found.trials))
        if length == 0:
            continue
        for act in (study, load_study):
            said = refusal(act, cut)
            assert "\n" not in said
            assert said
            if found.trials:
                assert said.endswith(f"; {len(found.trials)} of its trials can be read: spotsvm export --salvage {cut}")
        assert cut.read_bytes() == content[:length]
    assert counts == sorted(counts)
    assert counts[-1] >= 58


@pytest.mark.faults
def test_a_log_that_is_cut_anywhere_leaves_what_was_committed_before(logged, tmp_path):
    path, trials = logged
    content, cut = path.with_name("study.db-wal").read_bytes(), tmp_path / "study.db"
    ended = []
    for length in [*range(0, 60, 5), *range(60, len(content), 60013), len(content) - 1, len(content)]:
        shutil.copyfile(path, cut)
        cut.with_name("study.db-wal").write_bytes(content[:length])
        check_among(salvage(cut), trials)
        read = load_study(cut)
        ended.append(read.n_finished)
        assert read.trials[: read.n_finished] == trials[: read.n_finished]
        with study(cut) as s:
            assert s.n_finished == read.n_finished
        for suffix in ("-wal", "-shm"):
            cut.with_name(f"study.db{suffix}").unlink(missing_ok=True)
    assert ended == sorted(ended)
    assert (ended[0], ended[-1]) == (30, 40)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(3))
def test_pages_that_were_overwritten_take_only_the_trials_that_they_lead_to(seed, whole, tmp_path):
    """A page of another kind, of noise, or of zeros in place of one of the record's."""
    path, trials = whole
    rng, content, hurt = np.random.default_rng(seed), path.read_bytes(), tmp_path / "hurt.db"
    lost = []
    for page in range(len(content) // 8192):
        noise = [bytes(8192), rng.bytes(8192), b"\x0d" + rng.bytes(8191)][seed]
        hurt.write_bytes(content[: page * 8192] + noise + content[(page + 1) * 8192 :])
        found = salvage(hurt)
        check_among(found, trials)
        numbers = {t.number for t in found.trials}
        assert numbers | set(found.missing) >= set(range(max(numbers, default=0)))
        lost.append(60 - len(found.trials))
    assert lost[0] == 0, "the first page is that of any record"
    assert lost.count(60) == 1, "one page leads to all trials"
    assert sum(0 < n < 60 for n in lost) >= 2, "the trials are on several pages"


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(2))
def test_noise_anywhere_makes_no_other_error_and_takes_no_time(seed, whole, tmp_path):
    path, _ = whole
    rng, content, hurt = np.random.default_rng(seed), path.read_bytes(), tmp_path / "hurt.db"
    for _ in range(12):
        damaged = np.frombuffer(content, dtype=np.uint8).copy()
        at = rng.integers(len(content), size=400)
        damaged[at] = rng.integers(256, size=400)
        hurt.write_bytes(damaged.tobytes())
        found = salvage(hurt)
        assert len(found.frame()) == len(found.trials)
        assert "\n" not in refusal(study, hurt)


def test_the_command_writes_what_is_left(whole, tmp_path):
    path, trials = whole
    cut, out = tmp_path / "cut.db", tmp_path / "trials.csv"
    content = path.read_bytes()
    cut.write_bytes(bytes(8192) + content[8192:])
    refused = CliRunner().invoke(main, ["export", str(cut)])
    assert refused.exit_code != 0
    assert f"60 of its trials can be read: spotsvm export --salvage {cut}" in " ".join(refused.stderr.split())
    result = salvaged_by_command(cut, "--csv", out, "--folds", tmp_path / "folds.csv")
    assert result.exit_code == 0
    assert result.stderr == f"spotsvm: 60 trials were read from {cut}, up to number 59\n"
    assert pd.read_csv(out)["value"].dropna().tolist() == [t.value for t in trials if t.value is not None]
    assert len(pd.read_csv(tmp_path / "folds.csv")) == 2 * sum(t.state == "ok" for t in trials)
    cut.write_bytes(b"nothing of it")
    result = salvaged_by_command(cut)
    assert result.exit_code != 0
    assert "no trial can be read from it" in result.stderr


def test_the_command_that_is_named_can_be_pasted(whole, tmp_path):
    cut = tmp_path / "a b.db"
    cut.write_bytes(whole[0].read_bytes()[:-100])
    command = refusal(load_study, cut).partition("read: ")[2]
    assert shlex.split(command) == ["spotsvm", "export", "--salvage", str(cut)]


def test_missing_numbers_are_named(whole, tmp_path):
    holed = Path(shutil.copyfile(whole[0], tmp_path / "holed.db"))
    change(holed, "DELETE FROM events WHERE number IN (3, 10)")
    found = salvage(holed)
    assert found.missing == (3, 10)
    assert len(found.trials) == 58
    said = salvaged_by_command(holed).stderr
    assert "58 trials were read from" in said
    assert "2 with lower numbers are missing; 4 rows of the record are lost" in said


def test_several_objectives_keep_their_names(path):
    with Study(SPACE, "random", 0, direction={"error": "minimize", "gain": "maximize"}, path=path) as s:
        s.run(lambda p: {"values": [p["C"], 1 - p["C"]]}, 6)
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    found = salvage(path)
    assert found.trials == s.trials
    assert list(found.frame().columns)[2:4] == ["value_error", "value_gain"]


def test_long_rows_are_on_pages_of_their_own(path):
    """A row that does not fit on its page is followed through the pages that it continues on."""
    with study(path) as s:
        for k in range(5):
            s.fail(s.ask(), f"{k} " + "long " * (3000 * k))
    content = path.read_bytes()
    path.write_bytes(content[:64] + bytes(36) + content[100:])
    assert salvage(path).trials == s.trials


def test_the_study_s_own_record_is_not_salvaged_while_it_is_open(path, tmp_path):
    with study(path), pytest.raises(StorageError, match="close the study first"):
        salvage(path)
    with pytest.raises(StorageError, match="there is no such record"):
        salvage(tmp_path / "none.db")
