import bz2
import csv
import gzip
import io
import lzma
import math
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.common import csv_files
from spotsvm.common.csv_files import read_csv, write_csv
from spotsvm.errors import DataError, StorageError


def written(frame):
    target = io.StringIO()
    write_csv(frame, target, "table")
    return target.getvalue()


def cells(frame):
    return list(csv.reader(io.StringIO(written(frame))))


@given(st.lists(st.floats(), min_size=1))
def test_numbers_come_back_to_the_last_bit(numbers):
    for x, (cell,) in zip(
        numbers, csv.reader(io.StringIO(written(pd.DataFrame({"x": numbers})).split("\n", 1)[1])), strict=False
    ):
        assert (math.isnan(x) and cell == "") or float(cell) == x
        assert math.isnan(x) or math.copysign(1.0, float(cell)) == math.copysign(1.0, x)


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(StorageError, match="cannot write the table: Is a directory"):
        write_csv(pd.DataFrame({"a": [1]}), tmp_path, "table")


class Odd:
    def __str__(self):
        return "=Odd()"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *((text, f"'{text}") for text in ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\t1", "\n=1", "-x1")),
        *((f"{sign}=1", f"'{sign}=1") for sign in ("\u200b", "\u200d\u2060", "\ufeff ", "\u00ad", "\ufe0f", "\u3164", "\u2800")),
        ("\u200bred", "\u200bred"),
        *((text, text) for text in ("-1", "+2.5e3", "-inf", "", "a=b", "'", "rbf")),
        *((number, str(number)) for number in (-1, -0.5, np.float64(-2.0), -np.inf, True)),
        (None, ""),
        *(("a\rb", "a\nb"), ("a\r\nb", "a\nb"), ("\r=1", "'\n=1")),
        *((Odd(), "'=Odd()"), ((1, 2), "(1, 2)")),
    ],
)
def test_text_that_is_a_formula_is_none_any_more_and_other_cells_stay(cell, expected):
    assert cells(pd.DataFrame({"x": ["z", cell]}, dtype=object)) == [["x"], ["z"], [expected]]


def test_an_index_equal_column_names_and_no_rows_do_no_harm():
    frame = pd.DataFrame([[1, "=a"], [2, "b"]], columns=["x", "x"], index=[5, 5])
    assert cells(frame) == [["x", "x"], ["1", "'=a"], ["2", "b"]]
    assert written(pd.DataFrame(columns=["a", "=b"])) == "a,'=b\n"


TABLE = b"a,b\n1,2\n3,4\n"


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


PACKED = {
    "t.csv": TABLE,
    "t.csv.gz": gzip.compress(TABLE),
    "t.csv.bz2": bz2.compress(TABLE),
    "t.csv.xz": lzma.compress(TABLE),
    "t.zip": zipped(table=TABLE),
}


@pytest.mark.parametrize("name", PACKED)
def test_plain_and_packed(tmp_path, name):
    (tmp_path / name).write_bytes(PACKED[name])
    assert read_csv(tmp_path / name).to_dict("list") == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("name", list(PACKED)[1:])
@pytest.mark.parametrize("keep", [3, -5])
def test_cut_off(tmp_path, name, keep):
    (tmp_path / name).write_bytes(PACKED[name][:keep])
    with pytest.raises((DataError, OSError, ValueError)):
        read_csv(tmp_path / name)


@pytest.mark.parametrize("name", list(PACKED)[1:])
def test_a_bomb_is_given_up_before_it_fills_the_memory(tmp_path, name, monkeypatch):
    monkeypatch.setattr(csv_files, "MOST_BYTES", 1_000_000)
    much = b"a,b\n" + b"1,2\n" * 1_000_000
    packs = {"t.csv.gz": gzip.compress, "t.csv.bz2": bz2.compress, "t.csv.xz": lzma.compress, "t.zip": lambda x: zipped(t=x)}
    (tmp_path / name).write_bytes(packs[name](much))
    with pytest.raises(DataError, match="the unpacked table has more than"):
        read_csv(tmp_path / name)


def test_members_of_an_archive_are_written_nowhere(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../escaped.csv", TABLE)
    (inside / "t.zip").write_bytes(out.getvalue())
    assert len(read_csv(inside / "t.zip")) == 2
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inside", "t.zip"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.zip", zipped(a=TABLE, b=TABLE), "contains 2 files"),
        ("t.csv.zst", TABLE, "archives of this kind are not supported"),
        ("t.tar", TABLE, "archives of this kind are not supported"),
    ],
)
def test_other_archives(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_csv(tmp_path / name)


def test_an_address_on_a_network_is_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        read_csv("http://localhost:1/table.csv")
