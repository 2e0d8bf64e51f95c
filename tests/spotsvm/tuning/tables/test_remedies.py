"""Each remedy that an error of the reader of tables names is followed, and works."""

import ast
import bz2
import gzip
import io
import json
import lzma
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from spotsvm.errors import ArgumentError, DataError, SpotSVMError
from spotsvm.tables import Choices, held_out, make_table, read_series, read_table
from spotsvm.tuning.tables import formats
from spotsvm.tuning.tables.faults import check_features
from spotsvm.tuning.tables.reading import Source, find_layout
from spotsvm.tuning.tables.split import check_folds

N = 40
RNG = np.random.default_rng(0)
GOOD = pd.DataFrame({"a": RNG.normal(size=N).round(3), "b": RNG.normal(size=N).round(3), "kind": ["ill", "well"] * (N // 2)})
TEXT = GOOD.to_csv(index=False)
DAY = pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
SERIES = pd.DataFrame({"day": DAY, "rain": RNG.random(N).round(3), "level": RNG.random(N).round(3)})


def csv(frame=GOOD, **columns):
    return frame.assign(**columns).to_csv(index=False)


def table(content, folder, target="kind", task="auto", name="table.csv", split=None, series=None, folds=None, **choices):
    """Read a table, or a series, as the command does, and split it if the case is about that."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if series is not None:
        return read_series(path, target, task=task, **series)
    read = read_table(path, target, task, Choices(**choices))
    if folds is not None:
        check_folds(read, folds)
    return read if split is None else held_out(read, split, 0)


def odd(cell, row=3, column="a"):
    """Return a table with another cell, and the line of this cell."""
    return csv(**{column: [cell if k == row else v for k, v in enumerate(GOOD[column])]})


def numbers(column="kind", n=N, odd=()):
    """Return a table whose target has numbers with fractions, but for some cells."""
    return csv(**{column: [*odd, *(f"{k}.5" for k in range(n - len(odd)))]})


SVR = csv(kind=np.arange(N) + 0.5)
FEW = csv(GOOD[:6])
RARE = TEXT + "1,2,rare\n"
GROUPS = csv(who=np.arange(N) // 10)
S = {"series": {"time": "day"}, "target": "level"}

#: content, arguments, words of the error; and the content and arguments of each remedy (None: as before)
CASES = {
    "wrong decimal": (TEXT, {"decimal": ";"}, "use . or ,$", [(None, {"decimal": "."}), (None, {"decimal": ","})]),
    "wrong thousands": (TEXT, {"thousands": "xx"}, "use one character, such as ','$", [(None, {"thousands": ","})]),
    "zero bytes": (b"\1" * 40 + b"\0\1" * 9, {}, "save the table as CSV in UTF-8$", [(TEXT, {})]),
    "no encoding": (
        TEXT,
        {"encoding": "utf-99"},
        "use utf-8, utf-16, latin-1 or",
        [(TEXT.encode(name), {"encoding": name}) for name in ("utf-8", "utf-16", "latin-1")],
    ),
    "no separator": (
        TEXT,
        {"sep": "ab"},
        "use one character, such as ';', or tab$",
        [(TEXT.replace(",", ";"), {"sep": ";"}), (TEXT.replace(",", "\t"), {"sep": "tab"})],
    ),
    "misspelt target": (TEXT, {"target": "Kind"}, "did you mean 'kind'", [(None, {"target": "kind"})]),
    "no header, target by number": (
        csv(GOOD.assign(a="x", b=["u", "v"] * (N // 2))).partition("\n")[2],
        {"target": "3"},
        "if the first row has no names, use --no-header, which numbers the columns from 1$",
        [(None, {"header": False})],
    ),
    "no header, repeated cells": (
        "u,u,ill\nv,u,well\nv,v,ill\n" * 9,
        {"target": "3"},
        "rename or remove all but one; if the first row has no names, use --no-h",
        [(None, {"header": False})],
    ),
    "one column": (
        TEXT.replace(",", "/"),
        {},
        "if the fields are not separated by commas, use --sep; did",
        [(None, {"sep": "/"})],
    ),
    "another encoding": (
        TEXT.replace("ill", "k\u00e4se").encode("latin-1"),
        {"encoding": "utf8"},
        "use the right --encoding, or none$",
        [(None, {"encoding": "latin-1"}), (None, {"encoding": None})],
    ),
    "no rows": ("", {}, "the file has no rows, so name another one$", [(TEXT, {})]),
    "ragged": (
        f"{TEXT}1,2,3,ill\n",
        {},
        "line 42 has more fields than the header .*; correct it, name the separator by --sep, or",
        [(TEXT, {})],
    ),
    "ragged, by a separator": (
        "a;b;kind\n" + "u,v;2;ill\nw;3;well\n" * 9,
        {"sep": ","},
        "name the separator by --sep",
        [(None, {"sep": ";"})],
    ),
    "ragged, by a title": (
        "made,by\n" + TEXT,
        {},
        "leave out lines above the header by --skip-rows N$",
        [(None, {"skip_rows": 1})],
    ),
    "open quote": (
        f'{TEXT}"1,2,ill\n1,2,well\n',
        {},
        "starting in line 42; a quote is opened and not closed, so close",
        [(f'{TEXT}"1",2,ill\n1,2,well\n', {}), (f"{TEXT}1,2,ill\n1,2,well\n", {})],
    ),
    "two columns of a name": (
        TEXT.replace("b", "a", 1),
        {},
        "rename or remove all but one$",
        [(TEXT, {}), (csv(GOOD[["a", "kind"]]), {})],
    ),
    "series of classes": (
        csv(SERIES),
        S | {"task": "classification"},
        "use --task regression, or --model svm$",
        [(None, {"task": "regression"}), (None, {"series": None})],
    ),
    "series without a target": (csv(SERIES, level=np.nan), S, "has no values$", [(csv(SERIES), {})]),
    "series of a target": (csv(SERIES[["day", "level"]]), S, "there are no features", [(csv(SERIES), {})]),
    "series without rows": ("day,rain,level\n", S, "has no rows$", [(csv(SERIES), {})]),
    "time is the target": (
        csv(SERIES),
        {"series": {"time": "level"}, "target": "level"},
        "name the column of time stamps$",
        [(None, {"series": {"time": "day"}})],
    ),
    "time is no column": (
        csv(SERIES),
        {"series": {"time": "date"}, "target": "level"},
        "the columns are 'day'",
        [(None, {"series": {"time": "day"}})],
    ),
    "times twice": (csv(SERIES, day=[DAY[0], *DAY[:-1]]), S, "keep one row per time$", [(csv(SERIES[1:]), {})]),
    "times missing": (csv(SERIES, day=[None, *DAY[1:]]), S, "fill or remove them$", [(csv(SERIES), {}), (csv(SERIES[1:]), {})]),
    "times with fractions": (
        csv(SERIES, day=np.arange(N) + 0.5),
        S,
        "use time stamps or integers$",
        [(csv(SERIES), {}), (csv(SERIES, day=np.arange(N)), {})],
    ),
    "no times": (
        csv(SERIES, day="w"),
        S,
        "use the format 2024-05-31 13:00$",
        [(csv(SERIES, day=pd.date_range("2024-05-31 13:00", periods=N, freq="h").strftime("%Y-%m-%d %H:%M")), {})],
    ),
    "uneven": (
        csv(SERIES.drop(index=5)),
        S,
        "insert missing rows, with an empty target if necessary, or resample$",
        [(csv(SERIES, level=SERIES["level"].where(SERIES.index != 5)), {}), (csv(SERIES[6:]), {})],
    ),
    "a time that is not named": (
        csv(SERIES),
        {"series": {}, "target": "level"},
        "if it is the time, use --time$",
        [(None, {"series": {"time": "day"}})],
    ),
    "a gap in a series": (
        csv(SERIES, rain=[None, *SERIES["rain"][1:]]),
        S,
        "fill them, for example with 0 .*, or remove the rows at",
        [(csv(SERIES, rain=[0, *SERIES["rain"][1:]]), {}), (csv(SERIES[1:]), {})],
    ),
    "few rows": (
        FEW,
        {"split": 9},
        "use fewer folds \\(a smaller --cv\\), or give more rows$",
        [(None, {"split": 2}), (TEXT, {})],
    ),
    "few rows of a regression": (
        csv(GOOD[:6], kind=np.arange(6) + 0.5),
        {"split": 5},
        "use fewer folds \\(--cv 4\\), or give more rows$",
        [(None, {"split": 4}), (SVR, {})],
    ),
    "two rows": (csv(GOOD[:3], kind=[1.5, 2.5, 3.5]), {"folds": 5}, "use fewer folds", [(None, {"folds": 2})]),
    "few groups": (
        GROUPS,
        {"groups": "who", "split": 5},
        "use --cv 3, or another column$",
        [(None, {"split": 3}), (csv(who=np.arange(N) // 4), {})],
    ),
    "few rows of a class": (
        RARE + "3,2,rare\n2,3,rare\n",
        {"split": 4},
        "use --cv 2, or leave its rows out by --drop-classes rare$",
        [(None, {"split": 2}), (None, {"drop_classes": ["rare"]})],
    ),
    "one row of a class": (
        RARE,
        {"split": 2},
        "leave its rows out by --drop-classes rare$",
        [(None, {"drop_classes": ["rare"]})],
    ),
    "one row of a class of numbers": (
        csv(kind=[7, *(np.arange(N - 1) % 2)]),
        {"split": 2},
        "by --drop-classes 7, or use --task regression$",
        [(None, {"drop_classes": ["7"]}), (None, {"task": "regression"})],
    ),
    "two classes of one row": (csv(GOOD[:2]), {"split": 2}, "give more rows$", [(TEXT, {})]),
    "category that is no feature": (
        TEXT,
        {"categorical": ["kind"]},
        "name one of the features$",
        [(None, {"categorical": ["a"]})],
    ),
    "time split and groups": (
        csv(SERIES, who=np.arange(N) // 4, kind=GOOD["kind"]),
        {"time_split": "day", "groups": "who"},
        "use one of them$",
        [(None, {"groups": None}), (None, {"time_split": None})],
    ),
    "time split by the target": (
        csv(SERIES, kind=GOOD["kind"]),
        {"time_split": "kind"},
        "name the column of times$",
        [(None, {"time_split": "day"})],
    ),
    "time split by text": (
        csv(SERIES, w="x", kind=GOOD["kind"]),
        {"time_split": "w"},
        "name a column of times$",
        [(None, {"time_split": "day"})],
    ),
    "time split with gaps": (
        csv(SERIES, day=[None, *DAY[1:]], kind=GOOD["kind"]),
        {"time_split": "day"},
        "fill them or remove the rows$",
        [(csv(SERIES, kind=GOOD["kind"]), {}), (csv(SERIES[1:], kind=GOOD["kind"][1:]), {})],
    ),
    "the target dropped": (TEXT, {"drop": ["kind"]}, "name another column$", [(None, {"drop": ["a"]})]),
    "features dropped": (
        TEXT,
        {"drop": ["a"], "features": ["a"]},
        "leave one of them out$",
        [(None, {"drop": []}), (None, {"features": []})],
    ),
    "groups with gaps": (
        csv(who=[None, *(np.arange(N - 1) // 4)]),
        {"groups": "who"},
        "name each row's group$",
        [(csv(who=np.arange(N) // 4), {})],
    ),
    "a misspelt column": (TEXT, {"drop": ["aa"]}, "there are 'a', 'b', 'kind'; did you mean 'a'", [(None, {"drop": ["a"]})]),
    "a misspelt class": (
        TEXT,
        {"positive": "Ill"},
        "use ill or well$",
        [(None, {"positive": "ill"}), (None, {"positive": "well"})],
    ),
    "a target alone": (csv(GOOD[["kind"]]), {}, "there are no features", [(TEXT, {})]),
    "a header alone": ("a,b,kind\n", {}, "name a file with rows$", [(TEXT, {})]),
    "one row": (csv(GOOD[:1]), {}, "give more rows$", [(TEXT, {})]),
    "nothing to learn from": (
        csv(GOOD[["kind"]], code=[f"p{k}" for k in range(N)]),
        {},
        "name a column as categorical to use it$",
        [(None, {"categorical": ["code"]})],
    ),
    "missing targets": (
        csv(kind=["NA", *GOOD["kind"][1:]]),
        {"require_target": True},
        "remove those rows$",
        [(csv(GOOD[1:]), {}), (None, {"require_target": False})],
    ),
    "a target of numbers and texts": (
        numbers(odd=["red"] * 3),
        {},
        "contains 'red'\\); correct the cell, or use --task classification if these are classes$",
        [(SVR, {}), (None, {"task": "classification"})],
    ),
    "a target of many numbers and texts": (
        csv(pd.DataFrame({"a": np.arange(150.0), "kind": ["red"] * 9 + [f"{k}.5" for k in range(141)]})),
        {},
        "correct the cell$",
        [(csv(pd.DataFrame({"a": np.arange(150.0), "kind": np.arange(150) + 0.5})), {})],
    ),
    "a regression of text": (
        TEXT,
        {"task": "regression"},
        "correct the cell, or name another --target$",
        [(SVR, {}), (None, {"target": "a"})],
    ),
    "a target of one number": (csv(kind=0.5), {}, "name another --target$", [(None, {"target": "a"})]),
    "a target of one class": (csv(kind="ill"), {}, "name another --target$", [(None, {"target": "a"})]),
    "very many classes": (
        csv(pd.DataFrame({"a": np.arange(150.0), "kind": np.arange(150)})),
        {"task": "classification"},
        "use --task regression if it is a quantity$",
        [(None, {"task": "regression"})],
    ),
    "very many texts": (
        csv(pd.DataFrame({"a": np.arange(150.0), "kind": [f"{k} {'mg' if k % 2 else 'g'} {'xyz'[k % 3]}" for k in range(150)]})),
        {},
        "name another --target, or write a quantity without its unit$",
        [(None, {"target": "a"}), (csv(pd.DataFrame({"a": np.arange(150.0), "kind": np.arange(150) + 0.5})), {})],
    ),
    "infinity": (
        odd("inf"),
        {},
        "infinite values, the first in line 5; remove those rows, or leave the column out by --drop$",
        [(csv(GOOD.drop(index=3)), {}), (None, {"drop": ["a"]})],
    ),
    "too large": (odd("1e300"), {}, "too large to scale, .* or leave the column out by --drop$", [(None, {"drop": ["a"]})]),
    "an infinite target": (odd("inf", column="b"), {"target": "b"}, "remove those rows$", [(csv(GOOD.drop(index=3)), {})]),
}


def origin(error):
    """Return the place in the sources of the tables where an error was raised first."""
    while isinstance(error.__cause__, SpotSVMError):
        error = error.__cause__
    found, trace = None, error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.parent.name == "tables" and path.parent.parent.name == "tuning":
            found = path.name, trace.tb_lineno
        trace = trace.tb_next
    return found


def refused(says, call, *arguments, **more):
    """Return where the error of a call was raised, which has these words."""
    with pytest.raises((DataError, ArgumentError), match=says) as caught:
        call(*arguments, **more)
    return origin(caught.value)


def cases_of_files(folder):
    """Follow each remedy of `CASES`; yield where each error was raised."""
    yield refused("name a file in it$", read_table, folder, "kind")
    for content, arguments, says, remedies in CASES.values():
        yield refused(says, table, content, folder, **arguments)
        assert remedies
        for other, more in remedies:
            table(content if other is None else other, folder, **(arguments | more))


def cases_of_frames():
    """Follow the remedies of errors that need a frame in memory, or a pipeline that takes numbers alone."""
    X = GOOD[["a", "b"]]
    for wrong, right in (
        (X.assign(a="w"), [X, X[["b"]]]),
        (X.assign(a=X["a"].where(X.index != 3)), [X, X.drop(index=3), X.assign(a=X["a"].where(X.index != 3, 0.0))]),
    ):
        yield refused("correct the cell, or leave the column out$|fill or remove them$", check_features, wrong)
        for one in right:
            check_features(one)
    yield refused("are too few to hold out a share", held_out, make_table(X[:4], GOOD["kind"][:4]), 2, 0, share=0.01)


def test_each_remedy_works_and_every_error_has_a_case(tmp_path):
    """Each place that raises an error is reached by a case, or only names the file of an error from elsewhere."""
    hit = {*cases_of_files(tmp_path), *cases_of_frames()}
    hit |= {refused("is no CSV file but", table, OTHERS[kind][0], tmp_path) for kind in ("ARFF", "gzip")}
    places = set()
    for path in Path(formats.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Raise)
                and isinstance(node.exc, ast.Call)
                and node.exc.func.id in ("DataError", "ArgumentError")
            ):
                only_names_the_file = ast.unparse(node.exc.args[0]) == "f'{path}: {error}'"
                if not only_names_the_file:
                    places.add((path.name, node.lineno, node.end_lineno))
    assert {
        place for place in places if not any(name == place[0] and place[1] <= line <= place[2] for name, line in hit)
    } == set()


ARFF = """% made by hand
@relation ill
@attribute a numeric
@attribute kind {ill, well}

@data
"""
ARFF += "".join(f"{a},{'?' if k == 3 else kind}\n" for k, (a, kind) in enumerate(zip(GOOD["a"], GOOD["kind"], strict=True)))


def excel():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    return file.getvalue()


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, TEXT)
    return file.getvalue()


def in_python(says):
    """Follow a remedy that is code: run it, and return the table that it writes."""
    lines = says.partition("; convert it")[2].partition("by ")[2].replace(" and pandas.", "\npandas.")
    exec("import numpy, pandas, sklearn.datasets\n" + lines)
    return Path("table.csv").read_bytes()


def bytes_of(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


#: files that are no CSV: content, words of the error, and how to follow the remedy, by its text or by hand
OTHERS = {
    "ARFF": (
        ARFF,
        "an ARFF file; use --skip-rows 6 --no-header --target 2, as its columns are numbered from 1",
        {"skip_rows": 6, "header": False, "target": "2"},
    ),
    "sparse ARFF": (
        ARFF.partition("@data\n")[0] + "@data\n% none\n{0 1.5, 1 ill}\n{1 well}\n",
        "a sparse ARFF file; export its table as CSV with the program that wrote it",
        None,
    ),
    "JSON": (GOOD.to_json(orient="records"), "a JSON file; convert it by pandas.read_json(", in_python),
    "JSON by columns": (GOOD.to_json(), "a JSON file; convert it by pandas.read_json(", in_python),
    "JSON on several lines": (json.dumps(GOOD.to_dict("records"), indent=2), "a JSON file; convert it by", in_python),
    "JSON lines": (GOOD.to_json(orient="records", lines=True), "lines=True).to_csv(", in_python),
    "svmlight": (
        bytes_of(lambda f: dump_svmlight_file(GOOD[["a", "b"]].to_numpy(), np.arange(N) % 2, f)),
        "a file of svmlight; convert it by",
        in_python,
    ),
    "pickle": (pickle.dumps(GOOD), "a pickle; convert it, if you trust its origin, by pandas.read_pickle(", in_python),
    "Stata": (bytes_of(lambda f: GOOD.to_stata(f, write_index=False, version=118)), "a Stata file; convert it by", in_python),
    "numpy": (
        bytes_of(lambda f: np.save(f, np.column_stack([GOOD[["a", "b"]], np.arange(N) % 2]))),
        "an array of numpy; convert",
        in_python,
    ),
    "gzip": (gzip.compress(TEXT.encode()), "compressed by gzip; name it ", "t.csv.gz"),
    "bzip2": (bz2.compress(TEXT.encode()), "compressed by bzip2; name it ", "t.csv.bz2"),
    "xz": (lzma.compress(TEXT.encode()), "compressed by xz; name it ", "t.csv.xz"),
    "zip": (zipped("t.csv"), "a zip archive; name it ", "t.csv.zip"),
    "zip of several": (zipped("t.csv", "u.csv"), "a zip archive; unpack it, and name the table in it", None),
    "Excel": (excel(), "a workbook of Excel; save its sheet as CSV", None),
    "Excel, compressed": (gzip.compress(excel()), "a zip archive; unpack it", None),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a workbook of Excel; save its sheet as CSV", None),
    "HTML": (
        "<!DOCTYPE html>\n<html><body>404, not found</body></html>\n",
        "a page of HTML; download the table itself, or save",
        None,
    ),
    "HTML table": (
        f"<table>{TEXT}</table>",
        "a page of HTML; download the table itself, or save the table of the page as CSV",
        None,
    ),
    "XML": ('<?xml version="1.0"?>\n<rows/>\n', "an XML file; export its table as CSV", None),
    "PDF": (b"%PDF-1.7\n" + bytes(99), "a PDF; export its table as CSV", None),
    "SQLite": (b"SQLite format 3\0" + bytes(99), "a database of SQLite; export its table as CSV", None),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file; export its table as CSV", None),
    "SPSS": (b"$FL2" + bytes(99), "an SPSS file; export its table as CSV", None),
    "R": (b"RDX3\nX\n" + bytes(99), "a file of R; export its table as CSV", None),
    "R, compressed": (gzip.compress(b"RDX3\nX\n" + bytes(99)), "a file of R; export its table as CSV", None),
    "MATLAB": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(99), "a file of MATLAB; export its table as CSV", None),
    "SAS": (bytes(12) + b"\xc2\xea\x81\x60" + bytes(99), "a SAS file; convert it by pandas.read_sas(", None),
    "old pickle": (pickle.dumps(GOOD, 2), "a pickle; convert it, if you trust its origin, by pandas.read_pickle(", in_python),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(99), "a 7z archive; unpack it, and name the table in it", None),
    "RAR": (b"Rar!\x1a\x07" + bytes(99), "a RAR archive; unpack it, and name the table in it", None),
    "tar": (bytes(257) + b"ustar" + bytes(99), "a tar archive; unpack it, and name the table in it", None),
    "Zstandard": (b"\x28\xb5\x2f\xfd" + bytes(99), "compressed by Zstandard; unpack it, and name the table in it", None),
    "Git LFS": (
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n",
        "get the table itself by git lfs pull",
        None,
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_that_is_no_csv_says_what_it_is_and_how_to_use_it(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, says, follow = OTHERS[kind]
    name = "t.csv.gz" if kind.endswith("compressed") else "t.csv"
    with pytest.raises(DataError, match="is no CSV file but") as caught:
        table(content, tmp_path, name=name)
    error = str(caught.value)
    assert says in error
    assert "\n" not in error
    if isinstance(follow, dict):
        assert len(table(content, tmp_path, name=name, **follow).y) == N - 1
    elif isinstance(follow, str):
        assert error.endswith(f"name it {tmp_path / follow}")
        assert len(table(content, tmp_path, name=follow).y) == N
    elif follow is None:  # what another program does: the same table as CSV
        assert len(table(TEXT, tmp_path).y) == N
    else:
        names = {"svmlight": "y", "numpy": "3"}
        read = table(follow(error), tmp_path, name="u.csv", target=names.get(kind, "kind"))
        assert (len(read.y), read.X.shape[1]) == (N, 2)


def test_files_of_columns_are_converted_by_polars_as_well(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    frame = polars.DataFrame({name: GOOD[name].tolist() for name in GOOD})
    for write, says, read in (
        (frame.write_parquet, "a Parquet file; convert it by read_parquet of pandas or polars", polars.read_parquet),
        (frame.write_ipc, "a Feather file; convert it by pandas.read_feather or polars.read_ipc", polars.read_ipc),
    ):
        write("t.csv")
        with pytest.raises(DataError, match=says):
            read_table("t.csv", "kind")
        read("t.csv").write_csv("u.csv")
        assert len(read_table("u.csv", "kind").y) == N


@pytest.mark.parametrize(
    "text", ["[x],[y]\n1,2\n", "{x},y\n1,2\n", "% done,y\n1,2\n", "a,b\n1:2,3\n", "1,2\n3,4\n", "x<y,z\n1,2\n"]
)
def test_unusual_headers_are_csv(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert find_layout(Source.of(path), "y", Choices()).rows
