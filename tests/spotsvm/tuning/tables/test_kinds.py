import logging

import numpy as np
import pandas as pd
import pytest

from spotsvm.common.errors import ArgumentError, DataError
from spotsvm.tuning.tables.kinds import FORMATS, Kinds, find_kinds, typed
from spotsvm.tuning.tables.table import Choices, make_table, read_table

N = 60
ROWS = np.arange(N)
FRAME = pd.DataFrame(
    {
        "size": ROWS / 7,
        "gap": np.where(ROWS % 5, ROWS, np.nan),
        "flag": ROWS % 3 == 0,
        "smoker": np.where(ROWS % 4, "no", "yes"),
        "town": np.array(["Köln", "Bonn", "Ulm"])[ROWS % 3],
        "day": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
        "name": [f"person {k}" for k in ROWS],
        "zip": ROWS % 2,
    }
)
Y = pd.Series(ROWS % 2, name="y")


def where(row):
    return f"row {row}"


def test_each_column_has_its_kind():
    found = find_kinds(FRAME, where, ["zip"])
    assert found.numeric == ("size", "gap", "flag")
    assert (found.yes_no, found.categorical) == (("smoker",), ("town", "zip"))
    assert found.dates == {"day": "%d.%m.%Y"}
    assert list(found.left_out) == ["name"]
    assert found.incomplete == ("gap",)
    assert not found.plain
    assert str(found) == "3 numeric, 1 yes/no, 2 categorical, 1 dates, 1 of them with missing values; 1 left out"
    used = typed(FRAME, found)
    assert list(used.columns) == list(FRAME.columns.drop("name"))
    assert [used[name].dtype.kind for name in used] == ["f", "f", "f", "O", "O", "O", "f"]


def test_plain_numbers_are_plain():
    found = find_kinds(FRAME[["size", "flag", "zip"]], where)
    assert found == Kinds(("size", "flag", "zip"))
    assert found.plain
    gaps = pd.DataFrame({"flag": [True, None] * 5})
    assert find_kinds(gaps, where).numeric == ("flag",)
    assert typed(gaps, find_kinds(gaps, where)).dtypes.tolist() == [float]


@pytest.mark.parametrize("written", FORMATS)
def test_dates_are_read_in_one_format(written):
    days = pd.Series(pd.date_range("2023-11-13 14:15:16", periods=40, freq="D").strftime(written))
    assert find_kinds(pd.DataFrame({"day": days}), where).dates == {"day": written}
    odd = pd.DataFrame({"day": [*days[:3], "soon"] * 10})
    assert find_kinds(odd, where).categorical == ("day",)


def test_a_text_of_many_levels_can_be_wanted():
    for options in ({"categorical": ["name"]}, {"wanted": ["name"]}):
        assert "name" in find_kinds(FRAME, where, **options).categorical
    assert not find_kinds(FRAME[:20], where).left_out


def test_numbers_with_faults_are_no_categories():
    column = ["1.5", "2.5", "n.a.", "3.5"] * 5
    with pytest.raises(DataError, match=r"column 'a' is not numeric \(row 2 contains 'n.a.'\); correct the cell, or use --cat"):
        make_table(pd.DataFrame({"a": column}), Y[:20])
    assert make_table(pd.DataFrame({"a": column}), Y[:20], categorical=["a"]).kinds.categorical == ("a",)
    assert make_table(pd.DataFrame({"a": ["1.5", "low", "high", "mid"] * 5}), Y[:20]).kinds.categorical == ("a",)


def test_a_file_of_all_kinds(tmp_path, caplog):
    path = tmp_path / "table.csv"
    FRAME.assign(y=Y).to_csv(path, index=False)
    with caplog.at_level(logging.WARNING):
        table = read_table(path, "y", choices=Choices(categorical=["zip"]))
    assert table.kinds == find_kinds(FRAME, where, ["zip"])
    assert "column 'name' is left out: a text with 60 different values in 60 rows" in caplog.text
    assert "name" in read_table(path, "y", choices=Choices(features=["name", "size"])).kinds.categorical
    with pytest.raises(ArgumentError, match="--categorical 'size' is no feature"):
        read_table(path, "y", choices=Choices(categorical=["size"], drop=["size"]))
