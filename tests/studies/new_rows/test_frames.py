import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spotsvm.studies.new_rows.frames import Typed, columns_of, numbers_alone, parts_of_dates, standard_numbers_first


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(3, 2, n), "flag": rng.random(n) < 0.5, "level": rng.choice(["u", "v", "w"], n)})
    X = X.assign(day=pd.date_range("2024-01-30 06:00", periods=n), grade=pd.Categorical(rng.choice(["low", "high"], n)), same=1.0)
    X.loc[3, ["a", "level", "day"]] = [np.nan, None, pd.NaT]
    return X


def test_columns_by_kind():
    assert columns_of(table()) == (["a", "flag", "same"], ["day"], ["level", "grade"])


def test_the_parts_of_a_date():
    parts = parts_of_dates(table()[["day"]])
    assert parts.iloc[2].to_dict() == {
        "day year": 2024, "day month": 2, "day day": 1, "day weekday": 3, "day hour": 6, "day days": 19754.25,
    }  # fmt: skip
    assert parts.iloc[3].isna().all()


@pytest.mark.parametrize("scaled", [False, True])
def test_numbers_alone(scaled):
    X = table()
    form = numbers_alone(scaled).fit(X)
    Z = form.transform(X)
    # a and flag; month, day, weekday and days of the date, whose year and hour are constant; 4 and 2 levels
    assert Z.shape == (40, 2 + 4 + 4 + 2)
    assert np.isfinite(Z).all()
    median = X["a"].median()
    expected = X["a"].fillna(median)
    if scaled:
        expected = (expected - expected.mean()) / expected.std(ddof=0)
    np.testing.assert_allclose(Z[:, 0], expected)
    assert set(np.unique(Z[:, -6:])) == {0, 1}  # levels are never scaled
    new = X.assign(level="unseen").iloc[:5]
    assert form.transform(new)[:, 6:10].sum() == 0


def test_a_typed_table_tells_categories_by_their_type():
    X = table()
    form = Typed().fit(X)
    Z = form.transform(X)
    assert [str(dtype) for dtype in Z.dtypes] == ["float64"] * 9 + ["category"] * 2
    assert form.categories_ == ["x9", "x10"]
    assert Z["x0"].isna().tolist() == X["a"].isna().tolist()
    assert Z["x9"].isna().sum() == 1
    assert Z["x9"].astype(object).dropna().tolist() == X["level"].dropna().tolist()
    new = form.transform(X.assign(level=["unseen"] * 20 + ["u"] * 20))
    assert new["x9"].isna().tolist() == [True] * 20 + [False] * 20
    assert new["x9"].cat.categories.tolist() == ["u", "v", "w"]


def test_a_typed_table_of_texts_and_without_gaps():
    X = table()
    texts = Typed(texts=True).fit(X).transform(X)
    assert texts["x9"].tolist() == X["level"].fillna("missing").tolist()
    assert texts["x0"].isna().sum() == 1
    filled = Typed(filled=True).fit(X).transform(X)
    assert not filled.isna().any(axis=None)
    assert filled["x0"][3] == X["a"].median()
    assert filled["x9"][3] == "missing"
    assert clone(Typed(filled=True)).filled


def test_a_column_with_very_many_levels():
    X = pd.DataFrame({"a": np.arange(600.0), "name": [f"n{k % 400}" for k in range(600)]})
    found = Typed().fit(X).transform(X)["x1"]
    assert found.nunique() == 254
    assert found[:200].notna().all()  # the frequent ones


def test_standard_numbers_first():
    X = table()
    transformer, sizes = standard_numbers_first(X)
    Z = transformer.transform(X)
    assert sizes == [4, 2]
    numbers = Z[:, :-6]
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-12)
    assert set(np.round(numbers.std(axis=0), 12)) == {0, 1}
    np.testing.assert_array_equal(Z[:, -6:-2].sum(axis=1), 1)
    assert standard_numbers_first(X[["a", "flag"]])[1] == []
