import logging

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.tables import Choices, make_table, read_table


@pytest.fixture
def written(tmp_path):
    def write(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def rows(row_a="1,2,x", row_b="3,4,y", header="a,b,kind", n=5):
    return "\n".join([header, *[row_a, row_b] * n]) + "\n"


@pytest.mark.parametrize("kind", ["kind", "the kind", "2"])
def test_features_target_and_task(written, kind):
    table = read_table(written(rows(header=f"a,b,{kind}")), kind)
    assert table.task == "classification"
    assert list(table.X.columns) == ["a", "b"]
    assert table.X.to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] * 5
    assert set(table.X.dtypes) == {np.dtype(float)}
    assert table.y.tolist() == ["x", "y"] * 5


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["x", "y"] * 15, "classification"),
        ([True, False] * 15, "classification"),
        ([0, 1, 2] * 10, "classification"),
        ([0.0, 1.0] * 15, "classification"),
        (range(20), "classification"),
        (range(21), "regression"),
        (np.arange(21.0), "regression"),
        ([0.5, 1.0] * 15, "regression"),
    ],
)
def test_the_target_tells_the_task(target, task):
    y = pd.Series(list(target), name="y")
    assert make_table(pd.DataFrame({"a": range(len(y))}), y).task == task


def test_the_task_can_be_said(written):
    assert read_table(written(rows("1,2,0", "3,4,1")), "kind", "regression").task == "regression"
    for row_a, row_b in [("1,2,x", "3,4,y"), ("1,2,True", "3,4,False")]:
        with pytest.raises(DataError, match="the target 'kind' is not numeric .* as regression requires"):
            read_table(written(rows(row_a, row_b)), "kind", "regression")
    text = "a,y\n" + "".join(f"{k},{k / 2}\n" for k in range(40))
    assert read_table(written(text), "y").task == "regression"
    assert read_table(written(text), "y", "classification").task == "classification"


def test_booleans_integers_and_constants_are_features(written):
    table = read_table(written(rows("True,7,1.5,x", "False,9,1.5,y", "flag,count,same,kind")), "kind")
    assert table.X.to_numpy().tolist() == [[1.0, 7.0, 1.5], [0.0, 9.0, 1.5]] * 5


def test_fields_after_the_last_comma_are_nothing_and_shift_nothing(written):
    assert read_table(written(rows("1,2,x,", "3,4,y,")), "kind").X["a"].tolist() == [1.0, 3.0] * 5


@pytest.mark.parametrize("first", [range(10), range(1, 11), [7, 3, 0, 1, 9, 8, 2, 5, 4, 6]])
def test_an_index_without_a_name_is_no_feature(written, first, caplog):
    body = "".join(f"{k},1,{k / 4},{k % 2}\n" for k in first)
    with caplog.at_level(logging.WARNING):
        table = read_table(written(",a,b,kind\n" + body), "kind")
    assert list(table.X.columns) == ["a", "b"]
    assert "first column has no name" in caplog.text


@pytest.mark.parametrize(
    ("header", "row_a", "row_b"), [("", "1.5,2,x", "2.5,4,y"), ("", "1,2,x", "1,4,y"), ("id", "1,2,x", "2,3,y")]
)
def test_another_first_column_stays(written, header, row_a, row_b, caplog):
    table = read_table(written(rows(row_a, row_b, f"{header},b,kind", n=1)), "kind")
    assert table.X.shape[1] == 2
    assert not caplog.records


def test_an_index_is_a_feature_where_it_is_the_only_one(written):
    assert read_table(written(",kind\n0,x\n1,y\n"), "kind").X.shape == (2, 1)


@pytest.mark.parametrize(
    ("header", "twice"), [("a,a,kind", "a"), ("a,kind,kind", "kind"), ("a.1,a,a,kind", "a"), ("a,b,b.1,b,kind", "b")]
)
def test_columns_of_one_name_are_refused(written, header, twice):
    """pandas renames the second one; a second target would then be a feature that gives the answer away."""
    n = header.count(",")
    path = written(rows("1," * n + "0", "2," * n + "1", header))
    with pytest.raises(DataError, match=f"table.csv: 2 columns are named '{twice}'"):
        read_table(path, "kind")


def test_names_that_pandas_could_have_made_up_are_names(written):
    assert list(read_table(written(rows(header="a,a.1,kind")), "kind").X.columns) == ["a", "a.1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a CSV file with a header row: No columns"),
        ("\n\n", "not a CSV file with a header row: No columns"),
        ("a,b,kind\n", "the table has no rows"),
        (b"\x80\x00\xff\x9c" * 50, "not text, as it contains zero bytes"),
        (b"a,b,kind\n" + b"\0" * 100 + b"\n", "not text, as it contains zero bytes"),
        (
            rows("1,2,3,0", "4,5,6,1"),
            "10 rows, the first in line 2, have more fields than the header .* by --skip-rows N$",
        ),
        (rows() + "1,2,3,x\n", "line 12 has more fields than the header"),
        ('a,b,kind\n1,"2,x\n3,4,y\n', "EOF inside string starting in line 2;"),
        ('a,b,kind\n\n1,2,x\n"a\nb",2,y\n3,"4,y\n', "EOF inside string starting in line 6;"),
        ('a,b,kind\n1,"2,x\n' + "3,4,y\n" * 50_000, "EOF inside string starting in line 2;"),
        ("kind\nx\ny\n", "there are no features: the target 'kind' is the only column"),
        (
            "a,kind\n" + "".join(f"n{k},{k % 2}\n" for k in range(30)),
            "there is nothing to learn from: column 'a' is left out: nearly every row has a different word, .* 'n0', 'n1'",
        ),
        ("a,b,kind\n" + "1,2.5,x\n1,2.5,y\n" * 9, "there is nothing to learn from"),
        ("a,b,kind\n" + ",,x\n,,y\n" * 9, "there is nothing to learn from"),
        (rows("1,inf,x"), "column 'b' has infinite values, the first in line 2;"),
        (rows("1,-Infinity,x"), "column 'b' has infinite values"),
        (rows("1,1e200,x"), "column 'b' has absolute values above 1e.100"),
        (rows("1,2,y"), r"the target 'kind' has only one class \('y'\)"),
        (rows("1,2,5", "3,4,5"), r"the target 'kind' has only one class \(5\)"),
        (
            rows("1,2,0.5", "3,4,0.5"),
            "the target 'kind' is 0.5 in all rows, so there is nothing to predict: name another --target",
        ),
        (rows("1,2,0.5", "3,4,inf"), "the target 'kind' has infinite values"),
        (rows("1,2,0.5", "3,4,1e300"), "the target 'kind' has absolute values above 1e.100"),
        (
            "a,kind\n" + "".join(f"{k},c{k}\n" for k in range(1000)),
            "has 1000 classes, such as 'c0', but at most 100 .* another --tar",
        ),
        (
            "a,kind\n" + "".join(f"{k},{k}.5 {'mg' if k % 2 else 'g'}\n" for k in range(200)),
            "the target 'kind' is not numeric .*; correct the cell$",
        ),
        (
            "a,kind\n" + "".join(f"{k},{k}.5 {'mg' if k % 3 else 'g'} {'ab'[k % 2]}\n" for k in range(200)),
            "such as '0.5 g a', .* write a quantity without its unit$",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(written, text, message):
    path = written(text)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path, "kind")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def targets(odd, n=50):
    return "a,kind\n" + "".join(f"{k},{odd if k % 30 == 7 else k + 0.5}\n" for k in range(n))


def test_a_target_of_numbers_with_other_cells(written):
    """Up to 5 % of other cells are rows without a target; words for a missing value may be more."""
    for odd, n in (("4 cm", 2), ("-", 2), ("<0.01", 2)):
        table = read_table(written(targets(odd)), "kind")
        assert (table.task, len(table.y), len(table.unlabelled)) == ("regression", 50 - n, n)
        assert f"{n} rows have no target ({odd!r}), the first in line 9" in table.reading[1]
        with pytest.raises(DataError, match="the target 'kind' has 2 missing values .*, the first in line 9; remove those rows"):
            read_table(written(targets(odd)), "kind", choices=Choices(require_target=True))
    assert read_table(written(targets('"1,234.5"')), "kind").y.max() == 1234.5
    assert read_table(written(targets("4 cm", 12)), "kind").y.nunique() == 12  # as few levels may be labels
    few = "a,kind\n" + "".join(f"{k},{'-' if k < 9 else k % 2}\n" for k in range(30))
    assert read_table(written(few), "kind").y.tolist() == [1, 0] * 10 + [1]
    said = read_table(written(few.replace("-", "9")), "kind", choices=Choices(missing=["9"]))
    assert said.y.tolist() == [1, 0] * 10 + [1]
    assert len(said.X) == 21
    digits = {n: "a,kind\n" + "".join(f"{k},{10**n + k * 10 ** (n - 9)}\n" for k in range(40)) for n in (30, 120)}
    assert read_table(written(digits[30]), "kind").task == "regression"
    for task in ("auto", "regression"):
        with pytest.raises(
            DataError, match="the target 'kind' has absolute values above 1e.100, .*, the first in line 2; remove"
        ):
            read_table(written(digits[120]), "kind", task)


def test_integers_of_thirty_digits_are_numbers(written):
    text = "big,kind\n" + "".join(f"{10**30 + 10**16 * k},{k % 2}\n" for k in range(30))
    assert read_table(written(text), "kind").X["big"].iloc[1] == 1e30 + 1e16


def test_a_target_with_too_many_other_cells_names_one(written):
    text = "a,kind\n" + "".join(f"{k},{'red' if k % 9 == 7 else k + 0.5}\n" for k in range(50))
    found = r"the target 'kind' is not numeric \(line 9 contains 'red'\)"
    with pytest.raises(DataError, match=rf"{found}; correct the cell, or use --task classification if these are classes$"):
        read_table(written(text), "kind")
    with pytest.raises(DataError, match=rf"{found}, as regression requires; correct the cell, or name another --target$"):
        read_table(written(text), "kind", "regression")


@pytest.mark.parametrize(
    "name", ["table.csv.gz", "table.csv.bz2", "table.csv.xz", "table.csv.zip", "table.csv.tar", "table.csv.zst"]
)
def test_what_only_claims_to_be_compressed_is_refused(written, name):
    said = f"{name}.*; if it is not compressed, name it otherwise" if name.endswith((".gz", ".bz2")) else name
    with pytest.raises(DataError, match=said):
        read_table(written(rows(), name), "kind")


@pytest.mark.parametrize(
    ("name", "said"), [("missing.csv", "No such file or directory; check the path"), (".", "Is a directory; name a file in it")]
)
def test_what_is_no_file_is_refused(tmp_path, name, said):
    with pytest.raises(DataError, match=f"cannot read the file: {said}"):
        read_table(tmp_path / name, "kind")


def test_an_unknown_target_is_told_what_there_is(written):
    with pytest.raises(
        DataError, match=r"--target 'Kind' is not a column of .*, which has 'a', 'b', 'kind'; did you mean 'kind'"
    ):
        read_table(written(rows()), "Kind")
    wide = ",".join(f"c{k}" for k in range(30))
    with pytest.raises(DataError, match="'c7' and 22 more;"):
        read_table(written(f"{wide}\n{wide}\n"), "kind")
