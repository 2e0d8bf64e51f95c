import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.studies.new_rows import sets
from spotsvm.studies.new_rows.sets import CLASSIFICATION, MIXED, NUMBERS, REGRESSION, SETS, TableSet, read_set


def table_set(n, task=CLASSIFICATION, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n), "same": 1.0})
    target = rng.integers(0, 2, n) if task == CLASSIFICATION else 5 + 3 * rng.normal(size=n)
    return TableSet("made", task, MIXED, table, target)


def test_there_are_as_many_sets_of_each_kind_as_the_question_needs():
    kinds = pd.DataFrame([(source.task, source.kind) for source in SETS.values()], columns=["task", "kind"]).value_counts()
    assert kinds[:, NUMBERS].sum() >= 15
    assert kinds[:, MIXED].sum() >= 8
    assert set(kinds.index.get_level_values("task")) == {CLASSIFICATION, REGRESSION}


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
    np.testing.assert_array_equal(few.new_X[:, 0], many.new_X[:, 0])
    assert set(other.new_X[:, 0]) != set(few.new_X[:, 0])
    for split in (few, many, other):
        assert not set(split.X[:, 0]) & set(split.new_X[:, 0])
        assert split.y.mean() == pytest.approx(made.target.mean(), abs=0.01)  # by class


def test_columns_are_encoded_by_the_rows_tuned_on():
    made = table_set(300)
    table = made.table.assign(a=[np.nan if k % 3 == 0 else float(k % 5) for k in range(300)])
    split = made._replace(table=table).split(100, 0)
    assert split.X.shape[1] == 4  # a, and three levels of b; the constant column is dropped
    assert np.isfinite(split.X).all()
    assert np.isfinite(split.new_X).all()
    assert (split.new_X[:, 1:].sum(axis=1) == 1).all()


def test_a_target_is_scaled_by_the_rows_tuned_on():
    made = table_set(300, REGRESSION)
    split = made.split(100, 3)
    assert split.y.mean() == pytest.approx(0, abs=1e-12)
    assert split.y.std() == pytest.approx(1)
    assert abs(split.new_y.mean()) < 0.4  # not those of the raw target, 5 and 3
    assert 0.7 < split.new_y.std() < 1.4


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(sets, "find_spec", lambda package: None)
    with pytest.raises(DataError, match="the package ISLP, which ships data/Wage.csv, is not installed"):
        read_set("wage")


def test_a_table_of_a_package(tmp_path, monkeypatch):
    (tmp_path / "made_package").mkdir()
    (tmp_path / "made_package" / "__init__.py").write_text("raise AssertionError('it was imported')")
    (tmp_path / "made_package" / "t.csv").write_text("a,b,y\n1,u,2\n3,v,\n5,u,4\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    read = sets._targets(MIXED, sets._of_package, "made_package", "t.csv", "y", "a")
    monkeypatch.setitem(SETS, "made", read)
    made = read_set("made")
    assert made.table.columns.tolist() == ["b"]
    assert made.target.tolist() == [2.0, 4.0]  # a row without a target is left out
    monkeypatch.setitem(SETS, "gone", sets._targets(MIXED, sets._of_package, "made_package", "gone.csv", "y"))
    with pytest.raises(DataError, match=r"the package made_package has no gone\.csv that can be read"):
        read_set("gone")
