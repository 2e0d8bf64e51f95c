import errno
import io
import math
import os
import pickle
import shutil
from contextlib import closing
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from killed_at import killed_at_each_file_event

from spotsvm.errors import DataError, StorageError
from spotsvm.studies.common.data import data_from, named_folder
from spotsvm.studies.common.jobs import Job, JobFile, run_jobs

ROWS = [{"error": 0.1 + 0.2, "formula": "c1 / 3\u2028"}, {"error": math.nan, "formula": ""}]
HEAD = '{"study": "toy", "n": 3}\n'


def squares(n, base):
    return [{"power": k, "value": base**k} for k in range(n)]


def jobs(n):
    return [Job({"base": base}, squares, (2, base)) for base in np.arange(n)]


def test_rows_come_back_to_the_last_bit(tmp_path):
    path = tmp_path / "new" / "jobs.json"
    JobFile(path, "toy", {"n": np.int64(3), "names": ("a",)}).add({"set": "a, b", "seed": np.int64(0)}, ROWS)
    again = JobFile(path, "toy", {"n": 3, "names": ["a"]})
    pd.testing.assert_frame_equal(pd.DataFrame(again.rows({"seed": 0, "set": "a, b"})), pd.DataFrame(ROWS), check_exact=True)
    assert again.rows({"seed": 1, "set": "a, b"}) is None


def test_only_missing_jobs_run_and_the_rows_have_the_order_of_the_jobs(tmp_path):
    with closing(JobFile(tmp_path / "jobs.json", "toy")) as file, joblib.parallel_config("threading"):
        file.add({"base": 1}, [{"power": 7, "value": 7}])
        frame = run_jobs(jobs(3), file, "toy", n_jobs=2)
    assert frame["base"].tolist() == [0, 0, 1, 2, 2]
    assert frame["value"].tolist() == [1, 0, 7, 1, 2]
    pd.testing.assert_frame_equal(run_jobs(jobs(3), JobFile(tmp_path / "jobs.json", "toy"), "toy"), frame)
    assert len((tmp_path / "jobs.json").read_text().splitlines()) == 1 + 3


def test_of_a_job_that_was_written_twice_the_first_rows_count(tmp_path):
    path = tmp_path / "jobs.json"
    JobFile(path, "toy").add({"base": 1}, [{"value": 1}])
    path.write_text(path.read_text() + path.read_text().splitlines()[1].replace(": 1}]", ": 2}]") + "\n")
    assert JobFile(path, "toy").rows({"base": 1}) == [{"value": 1}]


def test_workers_read_from_the_named_folder_and_arguments_may_come_late(tmp_path):
    made = [Job({"k": k}, lambda given: {"folder": named_folder(), "given": given}, lambda: (named_folder(),)) for k in range(12)]
    with data_from(tmp_path), joblib.parallel_config("threading"):
        frame = run_jobs(made, JobFile(None, "toy"), "toy", n_jobs=2)  # which takes those after the first four in another thread
    assert frame["folder"].tolist() == frame["given"].tolist() == [tmp_path] * 12


def test_a_job_that_a_killed_run_was_writing_is_run_again(tmp_path):
    path = tmp_path / "jobs.json"
    for k in range(2):
        JobFile(path, "toy").add({"base": k}, [{"value": k}])
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with closing(JobFile(path, "toy")) as file:
            for k in range(2):
                if file.rows({"base": k}) is None:
                    file.add({"base": k}, [{"value": k}])
        assert path.read_bytes() == whole


def test_a_file_with_the_heads_of_two_runs_that_began_at_once_is_read(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(HEAD + HEAD + '{"key": {"base": 1}, "rows": [{"value": 1}]}\n' + HEAD)
    assert JobFile(path, "toy", {"n": 3}).rows({"base": 1}) == [{"value": 1}]


def test_a_second_run_with_the_same_file_is_refused_and_named(tmp_path):
    path = tmp_path / "jobs.json"
    with closing(JobFile(path, "toy")) as file:
        file.add({"base": 1}, ROWS)
        with pytest.raises(StorageError, match="has been open for writing in this process since"):
            JobFile(path, "toy")
        assert pickle.loads(pickle.dumps(file)).rows({"base": 1})[0] == ROWS[0]  # which does not let go of it
    assert sorted(file.name for file in tmp_path.iterdir()) == ["jobs.json"]
    JobFile(path, "toy").add({"base": 2}, ROWS)


def test_where_the_disk_is_full_nothing_of_a_job_is_written(tmp_path, monkeypatch):
    path = tmp_path / "jobs.json"
    with closing(JobFile(path, "toy")) as file:
        file.add({"base": 1}, [{"value": 1}])
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", lambda path, *how, **more: Full(path, "ab"))
            with pytest.raises(StorageError, match="jobs.json: cannot write there: No space left on device"):
                file.add({"base": 2}, [{"value": 2}])
        assert path.read_bytes() == before


class Full(io.FileIO):
    """A file on a disk that takes three more bytes."""

    def write(self, content):
        if len(content) <= 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(content[:3])


def test_killed_at_each_of_its_steps_a_run_goes_on_with_the_file(tmp_path):
    path = tmp_path / "new" / "jobs.json"

    def run():
        with closing(JobFile(path, "toy", {"n": 3})) as file:
            for k in range(2):
                if file.rows({"base": k}) is None:
                    file.add({"base": k}, [{"value": k}])

    for _ in killed_at_each_file_event(run):
        run()
        assert path.read_text() == HEAD + "".join(f'{{"key": {{"base": {k}}}, "rows": [{{"value": {k}}}]}}\n' for k in range(2))
        shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD[:9] + "?", "cannot be read as a file of jobs"),
        ('{"study": "toy", "n": 4}\n', "was written with n=4, not 3; name another file"),
        ('{"study": "other", "n": 3}\n', "was written with study='other', not 'toy'; name another file"),
        (HEAD + '{"key": {}}\n', "cannot be read as a file of jobs"),
        (HEAD + '{"key": {}, "rows": 3}\n', "cannot be read as a file of jobs"),
        ("[]\n", "cannot be read as a file of jobs"),
        ("base,value\n1,1\n", "cannot be read as a file of jobs"),
        ("\n", "cannot be read as a file of jobs"),
        ("\udcff\udcfe\n", "cannot be read"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, text, message):
    path = tmp_path / "jobs.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(DataError, match=message) as error:
        JobFile(path, "toy", {"n": 3})
    assert str(path) in str(error.value)


def test_a_folder_is_refused_before_the_first_job(tmp_path):
    with pytest.raises(StorageError, match="is a folder; name a file for the jobs"):
        JobFile(tmp_path, "toy")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="cannot write there"):
        JobFile(tmp_path / "taken" / "jobs.json", "toy").add({"base": 1}, ROWS)
