import math

import pandas as pd
import pytest

from spotsvm.errors import DataError, StorageError
from spotsvm.studies.common.run_file import RunFile

COLUMNS = {"set": str, "split": int, "error": float, "formula": str}
ROWS = pd.DataFrame(
    [("a, b", 0, 0.1 + 0.2, "c1 / 3"), ("NA", 1, math.nan, "")],
    columns=list(COLUMNS),
)


def test_rows_come_back_to_the_last_bit(tmp_path):
    file = RunFile(tmp_path / "new" / "runs.csv", COLUMNS)
    assert not len(file.read())
    file.append(ROWS[:1])
    file.append(ROWS[1:])
    pd.testing.assert_frame_equal(file.read(), ROWS, check_exact=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set,split,error,formula\na,0,0.5,k\nb,1,0.", "ends in the middle of a line; delete that line"),
        ("set,split,error,formula\na,0,0.5,k\nb,", "ends in the middle of a line; delete that line"),
        ("set,split,err", "ends in the middle of a line"),
        ("set,split,error\na,0,0.5\n", "other columns"),
        ("set,split,error,formula\na,zero,0.5,k\n", "cannot be read as a file of runs"),
        ("", "cannot be read as a file of runs"),
        ("set,split,error,formula\na,0,0.5,k,l,m\na,0\n", "cannot be read|other columns"),
        ("\udcff\udcfe", "cannot be read"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, text, message):
    path = tmp_path / "runs.csv"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(DataError, match=message) as found:
        RunFile(path, COLUMNS).read()
    assert str(path) in str(found.value)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageError, match="cannot write there"):
        RunFile(tmp_path / "taken" / "runs.csv", COLUMNS).append(ROWS)
