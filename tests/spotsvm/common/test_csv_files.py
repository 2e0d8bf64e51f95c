import csv
import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.common.csv_files import write_csv
from spotsvm.common.errors import StorageError


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


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\t1", "\n=1"])
def test_text_that_is_a_formula_is_none_any_more(text):
    (head, cell) = (row[0] for row in cells(pd.DataFrame({text: [text]})))
    assert head == cell == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+2.5e3", "-inf", "", "a=b", "'", "rbf", "--x"[1:] + "1"])
def test_other_text_stays_as_it_is(text):
    assert cells(pd.DataFrame({"x": ["z", text]}))[2] == [f"'{text}" if text == "-x1" else text]


def test_numbers_among_text_are_never_changed():
    frame = pd.DataFrame({"x": [-1, -0.5, None, "=a", np.float64(-2.0), -np.inf, True]})
    assert [row[0] for row in cells(frame)[1:]] == ["-1", "-0.5", "", "'=a", "-2.0", "-inf", "True"]


def test_a_carriage_return_ends_no_row():
    assert cells(pd.DataFrame({"x": ["a\rb", "a\r\nb", "\r=1"]}))[1:] == [["a\nb"], ["a\nb"], ["'\n=1"]]


def test_objects_are_judged_by_their_text():
    class Odd:
        def __str__(self):
            return "=Odd()"

    assert cells(pd.DataFrame({"x": [Odd(), (1, 2)]}))[1:] == [["'=Odd()"], ["(1, 2)"]]


def test_an_index_and_equal_column_names_do_no_harm():
    frame = pd.DataFrame([[1, "=a"], [2, "b"]], columns=["x", "x"], index=[5, 5])
    assert cells(frame) == [["x", "x"], ["1", "'=a"], ["2", "b"]]


def test_a_frame_without_rows_has_its_header():
    assert written(pd.DataFrame(columns=["a", "=b"])) == "a,'=b\n"


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(StorageError, match="cannot write the table: Is a directory"):
        write_csv(pd.DataFrame({"a": [1]}), tmp_path, "table")
