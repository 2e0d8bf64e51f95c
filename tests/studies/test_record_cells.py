import shutil

import pytest

from spotsvm import Study
from studies.killable_runs import SPACE, Objective
from studies.record_cells import copied, first_difference, is_sound, record_cells


def make(path, seed=0, n_trials=6):
    with Study(SPACE, "random", seed, path=path) as study:
        study.run(Objective(), n_trials)
    return path


def test_two_runs_from_one_seed_are_the_same_but_for_times(tmp_path):
    one, other = make(tmp_path / "one.db"), make(tmp_path / "other.db")
    assert one.read_bytes() != other.read_bytes()
    assert first_difference(record_cells(one), record_cells(other)) == ""
    assert len(record_cells(one)["trials"]) == 6


@pytest.mark.parametrize(("options", "table"), [({"seed": 1}, "about"), ({"n_trials": 7}, "about")])
def test_other_runs_are_not(tmp_path, options, table):
    one, other = make(tmp_path / "one.db"), make(tmp_path / "other.db", **options)
    assert first_difference(record_cells(one), record_cells(other)).startswith(f"{table}, row ")


def test_one_cell_is_enough():
    cells = {"about": [("a", 1)], "trials": [(0, "ok"), (1, "ok")]}
    assert first_difference(cells, {**cells, "trials": [(0, "ok"), (1, "failed")]}) == (
        "trials, row 1: (1, 'ok') instead of (1, 'failed')"
    )
    assert first_difference(cells, {**cells, "trials": [(0, "ok")]}) == "trials: 2 rows instead of 1"
    assert first_difference(cells, {"about": [("a", 1)]}) == "tables about, trials instead of about"


def test_a_copy_has_what_is_still_in_the_journal(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "open.db") as study:
        study.run(Objective(), 5)
        with copied(study.path) as copy:
            assert len(record_cells(copy)["trials"]) == 5


def test_a_damaged_file_is_not_sound(tmp_path):
    path = make(tmp_path / "one.db")
    assert is_sound(path)
    shutil.copy(path, tmp_path / "bad.db")
    content = bytearray(path.read_bytes())
    for head in range(4096, len(content), 4096):  # of each page but the first
        content[head : head + 100] = bytes(100)
    (tmp_path / "bad.db").write_bytes(content)
    assert not is_sound(tmp_path / "bad.db")
