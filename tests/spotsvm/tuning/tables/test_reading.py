import gzip
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import ArgumentError, DataError
from spotsvm.tables import Choices, held_out, read_table

ROWS = [["1.5", "2", "x"], ["-3.25", "4", "y"]] * 5


@pytest.fixture
def written(tmp_path):
    def write(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def lines(mark=",", header=("a", "b", "kind"), body=ROWS):
    return "".join(f"{mark.join(row)}\n" for row in ([header] if header else []) + list(body))


def is_usual(table):
    return table.X.to_numpy().tolist() == [[1.5, 2.0], [-3.25, 4.0]] * 5 and table.y.tolist() == ["x", "y"] * 5


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_separators_are_found_with_and_without_a_header(written, mark, header):
    table = read_table(written(lines(mark, ("a", "b", "kind") if header else None)), "kind" if header else "3")
    assert is_usual(table)
    assert list(table.X.columns) == (["a", "b"] if header else ["1", "2"])
    assert ("no header row" in table.reading[0]) != header


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_commas(written, mark, header):
    text = lines(mark, ("a", "b", "kind") if header else None).replace(".", ",")
    table = read_table(written(text), "kind" if header else "3")
    assert is_usual(table)
    assert "decimal commas" in table.reading[0]


def test_decimal_commas_in_quotes_between_commas(written):
    assert is_usual(read_table(written(lines().replace("1.5", '"1,5"').replace("-3.25", '"-3,25"')), "kind"))


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16-LE"), ("utf-16-be", "UTF-16-BE"), ("utf-32", "UTF-32"), ("utf-8-sig", "UTF-8")]
    + [("latin-1", "Latin-1"), ("cp1252", "Windows-1252")],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_encodings_are_found(written, encoding, said, compressed):
    data = lines(header=("größe", "b", "kind")).replace("x", "Käse").encode(encoding)
    table = read_table(written(gzip.compress(data) if compressed else data, f"table.csv{'.gz' * compressed}"), "kind")
    assert list(table.X.columns) == ["größe", "b"]
    assert set(table.y) == {"Käse", "y"}
    assert said in table.reading[0]


def test_another_encoding_than_at_the_beginning(written):
    """The first megabyte is ASCII."""
    body = lines(body=[["1", "2", "x"]] * 180_000).encode() + "3,4,Käse\n".encode("latin-1") * 5
    table = read_table(written(body), "kind")
    assert table.y.iloc[-1] == "Käse"
    assert "Latin-1" in table.reading[0]


def test_what_is_said_counts(written):
    path = written("a:b:kind\n" + "1:2:Käse\n3:4:y\n" * 5, encoding="cp437")
    table = read_table(path, "kind", choices=Choices(sep=":", encoding="cp437"))
    assert set(table.y) == {"Käse", "y"}
    assert is_usual(read_table(written(lines("\t"), "tabs.csv"), "kind", choices=Choices(sep="tab")))
    with pytest.raises(DataError, match="is not utf8 text: .* --encoding"):
        read_table(path, "kind", choices=Choices(sep=":", encoding="utf8"))
    for wrong in ("", "ab", "x", '"'):
        with pytest.raises(ArgumentError, match="--sep .* is not a separator"):
            read_table(path, "kind", choices=Choices(sep=wrong))
    for wrong in ("utf-99", "base64"):
        with pytest.raises(ArgumentError, match=f"--encoding '{wrong}' is unknown"):
            read_table(path, "kind", choices=Choices(encoding=wrong))


@pytest.mark.parametrize("names", [("0", "1", "2"), ("1", "2", "3"), ("2019", "2020", "kind")])
def test_a_header_of_numbers(written, names):
    body = [[a, b, str(int(c == "x"))] for a, b, c in ROWS]
    assert list(read_table(written(lines(header=names, body=body)), names[-1]).X.columns) == list(names[:2])


def test_a_missing_target_is_told_what_there_is(written):
    with pytest.raises(DataError, match="which has '1', '2', '3', numbered as there is no header row$"):
        read_table(written(lines(header=None)), "kind")
    with pytest.raises(DataError, match="use --sep; did you mean 'a/b/kind'"):
        read_table(written(lines("/")), "kind")


def test_spare_columns_and_rows_are_left_out(written, caplog):
    text = "a,b,kind,,empty\n" + "1,2,x,,\n,,,,\n\n3,4,y,,\n" * 5
    with caplog.at_level(logging.WARNING):
        table = read_table(written(text), "kind")
    assert table.X.to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] * 5
    assert "2 columns are empty and left out: 'Unnamed: 3', 'empty'" in caplog.text
    assert "rows without any value are left out: 5, the first in line 3" in caplog.text


def test_rows_that_end_early_are_told(written):
    rows = ["x,1,2"] * 5 + ["y,3,4"] * 5
    text = "kind,a,b\n\n" + "\n".join(rows)
    assert read_table(written(text), "kind").reading[1:] == ()
    assert read_table(written(f"{text}\nx,1,\n"), "kind").reading[1:] == ()  # a field that is empty is one
    table = read_table(written(f"{text}\nx,1\n"), "kind")
    assert table.reading[1:] == ("1 row has fewer fields than the first one; these fields are missing values (line 13)",)
    assert "gaps are filled" in table.columns["treatment"][1]
    more = read_table(written(f"{text}\nx,1\ny\n"), "kind")
    assert more.reading[1:] == ("2 rows have fewer fields than the first one; these fields are missing values (first line 13)",)


@pytest.mark.parametrize(
    ("text", "line", "cell"),
    [
        ("a,kind\n1,x\n\n" + "5,x\n6,y\n" * 20 + "-,y\n", 44, "'-'"),
        ('kind,a\n"two\nlines",1\nx,high\n' + "y,2\ny,3\n" * 10, 4, "'high'"),
        ("a;kind\n1,5;x\n2 mg;y\n" + "2,5;x\n3;y\n" * 10, 3, "'2 mg'"),
        ("a,kind\n" + "5,x\n6,y\n" * 200 + "4 cm,y\n", 402, "'4 cm'"),
    ],
)
def test_the_cell_that_is_no_number_is_named(written, text, line, cell):
    (notice,) = read_table(written(text), "kind").notices
    assert (notice.code, notice.column) == ("unread", "a")
    assert notice.sentence.startswith("column 'a' has a cell that is no number in 1 of ")
    assert notice.sentence.endswith(f"which counts as a gap: {cell}, in line {line}")


def test_columns_to_use_and_to_leave_out(written):
    path = written('a,b,c,"d,e",kind\n' + "1,2,3,4,x\n5,6,7,8,y\n" * 5)

    def features(**choices):
        return list(read_table(path, "kind", choices=Choices(**choices)).X.columns)

    assert features(drop=["a"]) == ["b", "c", "d,e"]
    assert features(drop=["a, b", "d,e"]) == ["c"]
    assert features(features=["c,a"]) == ["c", "a"]
    assert features(groups="b", drop=["c"]) == ["a", "d,e"]
    for choices, said in (
        ({"drop": ["z"]}, "--drop 'z' is not a column; there are 'a', 'b'"),
        ({"drop": ["kind"]}, "--drop 'kind' is the target"),
        ({"features": ["kind"]}, "--features 'kind' is the target"),
        ({"groups": "kind"}, "--groups 'kind' is the target"),
        ({"drop": ["a"], "features": ["a"]}, "--features 'a' is also named by --drop"),
        ({"drop": ["a,b,c", "d,e"]}, "there are no features"),
    ):
        with pytest.raises((ArgumentError, DataError), match=said):
            features(**choices)


@pytest.mark.parametrize(
    ("mark", "lines"),
    [
        (",", ['"1,234.5",x', "0.5,y"]),
        (",", ['"1,234",x', "7,y"]),
        (".", ["1.234,5;x", "7;y"]),
        ("'", ["1'234.5;x", "7;y"]),
        (" ", ["1 234,5;x", "7;y"]),
    ],
)
def test_marks_between_thousands_are_found_and_can_be_said(written, mark, lines):
    path = written("\n".join([f"a{';' if ';' in lines[0] else ','}kind", *lines * 5]) + "\n")
    found, said = read_table(path, "kind"), read_table(path, "kind", choices=Choices(thousands=mark))
    assert [notice.code for notice in found.notices] == ["notation"]
    assert f"{mark!r} between thousands" in found.notices[0].sentence
    assert f"thousands separated by {mark!r}" in said.reading[0]
    for table in (found, said):
        assert table.X["a"].iloc[0] in (1234.5, 1234.0)
        assert table.X["a"].iloc[1] in (0.5, 7.0)
    with pytest.raises(ArgumentError, match="--thousands 'xx' is not a mark"):
        read_table(path, "kind", choices=Choices(thousands="xx"))


def test_a_comma_that_may_be_either_mark(written):
    """A comma before three digits is between thousands, unless the option says otherwise or the file has decimal commas."""
    path = written("a,kind\n" + "".join(f'"{k},234",{k % 2}\n' for k in range(1, 30)))
    table = read_table(path, "kind")
    assert table.X["a"].iloc[0] == 1234.0
    assert table.notices[0].sentence.endswith("; if the comma is the decimal mark, use --decimal ,")
    assert read_table(path, "kind", choices=Choices(decimal=",")).X["a"].iloc[0] == 1.234
    path = written("a;b;kind\n" + "".join(f"{k},234;{k},5;{k % 2}\n" for k in range(1, 30)))
    assert read_table(path, "kind").X["a"].iloc[0] == 1.234
    path = written("a;b;kind\n" + "".join(f"{k}.234;{k},5;{k % 2}\n" for k in range(1, 30)))
    assert read_table(path, "kind").X["a"].iloc[0] == 1234.0
    with pytest.raises(ArgumentError, match="--decimal 'x' is no decimal mark"):
        read_table(path, "kind", choices=Choices(decimal="x"))


def test_whether_there_is_a_header_can_be_said(written):
    path = written("2001,2002,y\n" + "1,2,x\n3,4,y\n" * 5)
    assert read_table(path, "3").X.shape == (11, 2)  # numbers over numbers
    assert list(read_table(path, "y", choices=Choices(header=True)).X.columns) == ["2001", "2002"]
    path = written("low,high,y\n" + "low,low,x\nhigh,low,y\n" * 5)
    assert read_table(path, "y").X.shape == (10, 2)
    assert read_table(path, "3", choices=Choices(header=False)).X.shape == (11, 2)


def test_classes_are_left_out(written):
    path = written("a,kind\n" + '1,x\n2,y\n3,z\n4,"v, w"\n' * 3)
    table = read_table(path, "kind", choices=Choices(drop_classes=["z", "v, w"]))
    assert table.y.tolist() == ["x", "y"] * 3
    assert "rows of the classes 'z', 'v, w' are left out: 6" in table.reading
    numbers = written("a,kind\n" + "1,0\n2,1\n3,2\n" * 3)
    assert read_table(numbers, "kind", choices=Choices(drop_classes=["2.0"])).y.tolist() == [0, 1] * 3
    with pytest.raises(DataError, match="--drop-classes 'w' does not occur in the target 'kind'; use 0 or 1 or 2"):
        read_table(numbers, "kind", choices=Choices(drop_classes=["w"]))


@pytest.mark.parametrize(("labels", "label"), [("xyz", "y"), ("012", "1"), ("012", "1.0")])
def test_a_positive_class(written, labels, label):
    path = written("a,kind\n" + "".join(f"{k},{labels[k % 3]}\n" for k in range(12)))
    table = read_table(path, "kind", choices=Choices(positive=label))
    assert table.y.tolist() == [0, 1, 0] * 4
    assert table.why == f"1 being {label!r} and 0 all other classes"
    assert table.task == "classification"
    with pytest.raises(DataError, match="--positive 'w' does not occur in the target 'kind'; use "):
        read_table(path, "kind", choices=Choices(positive="w"))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_groups_are_not_divided(written, task):
    path = written("a,who,y\n" + "".join(f"{np.sin(k):.3f},p{k // 5},{k % 2}\n" for k in range(60)))
    table = read_table(path, "y", task, Choices(groups="who"))
    train, test = held_out(table, 3, seed=0)
    assert set(train.groups).isdisjoint(test.groups)
    assert len(train.y) + len(test.y) == 60
    assert 10 <= len(test.y) <= 20
    with pytest.raises(DataError, match="--groups 'who' has 9 different values in the training rows, fewer than --cv 10"):
        held_out(table, 10, seed=0)
    gap = written(path.read_text().replace("p3", ""))
    with pytest.raises(DataError, match="--groups 'who' has 5 missing values, the first in line 17"):
        read_table(gap, "y", task, Choices(groups="who"))


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="this system has no /dev/stdin")
def test_what_a_shell_pipes_is_read_although_it_comes_once():
    code = "from spotsvm.tuning.tables.table import read_table; print(read_table('/dev/stdin', 'kind').X.shape)"
    ended = subprocess.run([sys.executable, "-c", code], input=lines(";"), capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr) == ("(10, 2)\n", "")


def test_rows_without_a_target_are_kept_aside(written):
    path = written(lines(body=[*ROWS, ["5", "", ""], *[["6", "7", ""]] * 10, ["red", "7", "NA"]]))
    said = read_table(path, "kind").notices[-1].sentence
    assert said.startswith(
        "rows without a target: column 'a' has a cell that is no number in 1 of 12 rows (8.33 %), which counts"
    )
    assert said.endswith(": 'red', in line 23")
    path = written(lines(body=[["5", "", ""], *ROWS, ["6", "7", "NA"]]))
    table = read_table(path, "kind")
    assert is_usual(table)
    assert table.unlabelled.to_dict("split", index=True)["index"] == [0, 11]
    assert table.unlabelled["a"].tolist() == [5.0, 6.0]
    assert table.reading[1] == "2 rows have no target ('NA'), the first in line 2; left out here, and predicted into --out"
    with pytest.raises(DataError, match="the target 'kind' has 2 missing values .*, the first in line 2; remove those rows"):
        read_table(path, "kind", choices=Choices(require_target=True))
    with pytest.raises(DataError, match="the target 'kind' has 10 missing values"):
        read_table(written(lines(body=[[*row[:2], ""] for row in ROWS])), "kind")


def test_columns_may_have_any_name(written):
    body = [[*row[:2], "Jan 3 2020", row[2]] for row in ROWS]
    table = read_table(written(lines(header=("self", "X", "y", "kind"), body=body)), "kind")
    assert list(table.X.columns) == ["self", "X", "y"]


@pytest.mark.parametrize("title", ["Measurements of 2020\n", "Measurements,,\n\nin cm\n", "# a comment\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_a_title_above_the_header_is_left_out_and_told(written, title, mark):
    path = written(title.replace(",", mark) + lines(mark))
    table = read_table(path, "kind")
    assert is_usual(table)
    n = title.count("\n")
    first = "the first line" if n == 1 else f"the first {n} lines"
    assert f"{first} left out as a title ('{title.split(',')[0].strip()}'; --skip-rows 0 keeps it)" in table.reading[0]
    with pytest.raises(DataError):
        read_table(path, "kind", choices=Choices(skip_rows=0))
    red = written(title.replace(",", mark) + lines(mark, body=[*ROWS[:1], ["red", "2", "x"], *ROWS * 2]))
    assert read_table(red, "kind").notices[0].sentence.endswith(f"'red', in line {n + 3}")


def test_lines_can_be_left_out(written):
    text = "made by, a program, of ours, 2020\n" + lines()
    assert is_usual(read_table(written(text), "kind", choices=Choices(skip_rows=1)))


@pytest.mark.parametrize("gap", [" ", "   "])
def test_blanks_separate_fields_where_nothing_else_does(written, gap):
    table = read_table(written(lines(gap)), "kind")
    assert is_usual(table)
    assert table.reading[0].startswith("fields separated by blanks")
    path = written(lines(gap, body=[*ROWS[:3], ["red", "2", "x"], *ROWS * 2]))
    assert read_table(path, "kind").notices[0].sentence.endswith("'red', in line 5")


def test_rows_with_more_fields_than_the_header_are_counted_and_the_first_named(written):
    path = written(lines(body=[[*ROWS[0], "more"], *ROWS, [*ROWS[1], "more"]]))
    with pytest.raises(DataError, match="2 rows, the first in line 2, have more fields than the header .*--skip-rows N"):
        read_table(path, "kind")


@pytest.mark.parametrize("format", ["%Y-%m-%d", "%b %d %Y", None])
def test_the_latest_rows_are_held_out_by_a_column_of_times(written, format):
    order = np.random.default_rng(0).permutation(40)
    days = pd.date_range("2020-01-01", periods=40)
    when = [str(k) if format is None else days[k].strftime(format) for k in order]
    path = written(lines(header=("when", "a", "kind"), body=[[when[k], str(order[k]), "xy"[order[k] % 2]] for k in range(40)]))
    table = read_table(path, "kind", choices=Choices(time_split="when"))
    train, test = held_out(table, 3, 0)
    assert train.X["a"].tolist() == list(range(30))
    assert test.X["a"].tolist() == list(range(30, 40))
    with pytest.raises(ArgumentError, match="--time-split 'kind' is the target"):
        read_table(path, "kind", choices=Choices(time_split="kind"))


def test_times_that_are_none_are_refused(written):
    with pytest.raises(DataError, match="--time-split 'b' has neither dates nor numbers, such as 'u'"):
        read_table(written("a,b,kind\n1,u,x\n2,v,y\n"), "kind", choices=Choices(time_split="b"))
    with pytest.raises(DataError, match="--time-split 'a' has 1 missing values, the first in line 3"):
        read_table(written("a,b,kind\n1,u,x\n,v,y\n"), "kind", choices=Choices(time_split="a"))
    with pytest.raises(ArgumentError, match="--time-split 'a' and --groups 'b' are different ways"):
        read_table(written("a,b,kind\n1,u,x\n,v,y\n"), "kind", choices=Choices(time_split="a", groups="b"))


@pytest.mark.parametrize(
    "content",
    ["a,code,y\n1,01067,0\n2,20095,1\n", "a,b,y\n1,2,0\n3,4\n5,6,1\n", "a,b,y\n1,9007199254740993,0\n2,,1\n"],
    ids=["codes", "short rows", "large numbers with gaps"],
)
def test_a_file_is_opened_once_also_where_its_columns_are_read_twice(content, tmp_path, monkeypatch):
    opened, real = [], Path.open

    def counting(self, *args, **options):
        opened.append(self)
        return real(self, *args, **options)

    (tmp_path / "t.csv").write_text(content)
    monkeypatch.setattr(Path, "open", counting)
    read_table(tmp_path / "t.csv", "y")
    assert opened == [tmp_path / "t.csv"]
