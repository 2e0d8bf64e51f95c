"""The table encoder: kinds, gaps, unseen levels, and what is said about each column."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from spotsvm import TableEncoder
from spotsvm.common.notices import untold
from spotsvm.errors import ArgumentError, DataError, DataWarning

N = 120
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def table():
    days = pd.date_range("2000-01-01", periods=N)
    return pd.DataFrame(
        {
            "number": RNG.normal(size=N),
            "gaps": [None, *RNG.normal(size=N - 1)],
            "flag": RNG.choice([True, False], N),
            "answer": RNG.choice(["no", "yes"], N),
            "level": RNG.choice(list("abc"), N),
            "day": days.strftime("%b %d %Y"),
            "stamp": days,
            "text": [f"model {k % 60} of year {k % 7}" for k in range(N)],
            "name": [f"A{k}" for k in range(N)],
            "same": 1,
            "length": pd.to_timedelta(np.arange(N), "h"),
            "written": [str(k) for k in range(N)],
        }
    )


def test_each_column_has_its_kind_and_is_reported(table):
    encoder = TableEncoder()
    with pytest.warns(DataWarning) as told:
        encoded = encoder.fit_transform(table)
    assert [(notice.code, notice.column) for notice in told[0].message.notices] == [("identifier", "name"), ("constant", "same")]
    report = encoder.columns_.set_index("column")
    assert report["kind"].to_dict() == {
        "number": "number", "gaps": "number", "flag": "number", "answer": "yes/no", "level": "category", "day": "date",
        "stamp": "date", "text": "text", "name": "identifier", "same": "constant", "length": "number", "written": "number",
    }  # fmt: skip
    assert encoded.shape == (N, report["n_outputs"].sum())
    assert np.bincount(encoder.sources_, minlength=len(report)).tolist() == report["n_outputs"].tolist()
    named = [report.index[k] for k in encoder.sources_]
    assert all(out.startswith(name) for out, name in zip(encoder.get_feature_names_out(), named, strict=True))
    assert encoded.dtype == float
    assert np.isfinite(encoded).all()
    assert report.loc[["level", "text", "name"], "levels"].tolist() == [3, 60 * 7 // 7 * 2, N]
    assert report.loc[["name", "same"], "treatment"].str.startswith("left out: ").all()
    assert report["gaps"].tolist() == [0, 1] + [0] * 10
    names = encoder.get_feature_names_out().tolist()
    assert len(set(names)) == encoded.shape[1]
    by_name = dict(zip(names, encoded.T, strict=True))
    assert by_name["number"] == pytest.approx(table["number"])
    assert by_name["gaps"][0] == pytest.approx(table["gaps"].median())
    assert by_name["gaps_missing"].tolist() == [1.0] + [0.0] * (N - 1)
    assert by_name["answer"].tolist() == (table["answer"] == "yes").tolist()
    assert by_name["level_b"].tolist() == (table["level"] == "b").tolist()
    assert by_name["day_day"].tolist() == by_name["stamp_day"].tolist() == [10957.0 + k for k in range(N)]
    assert by_name["length"].tolist() == [3600.0 * k for k in range(N)]
    assert by_name["written"].tolist() == list(range(N))
    assert np.array_equal(encoder.transform(table), encoded)
    with untold():
        assert np.array_equal(TableEncoder().fit_transform(table), encoded)


def test_needs_that_no_encoder_of_skrub_meets():
    """Neighbours in double precision, months by their names, gaps that are filled and marked, identifiers that are left out."""
    time = 1_700_000_000.0 + np.arange(30)
    gap = np.where(np.arange(30) == 3, np.nan, time)
    day = [f"{month} {k + 1} 2000" for month in ("Apr", "May") for k in range(15)]
    encoder = TableEncoder()
    with untold():
        encoded = encoder.fit_transform(pd.DataFrame({"time": time, "gap": gap, "day": day, "id": [f"p{k}" for k in range(30)]}))
    assert encoder.columns_["kind"].tolist() == ["number", "number", "date", "identifier"]
    names = encoder.get_feature_names_out().tolist()
    assert np.diff(encoded[:, names.index("time")]).tolist() == [1.0] * 29
    assert encoded[3, names.index("gap")] == np.nanmedian(gap)
    assert encoded[:, names.index("gap_missing")].sum() == 1.0
    assert np.diff(encoded[:, names.index("day_day")]).tolist() == [1.0] * 14 + [16.0] + [1.0] * 14
    assert not any(name.startswith("id") for name in names)


def test_later_rows_with_unseen_levels_new_gaps_and_other_types(table):
    with untold():
        encoder = TableEncoder().fit(table)
    later = table.iloc[:2].copy()
    usual = dict(zip(encoder.get_feature_names_out(), encoder.transform(later).T, strict=True))
    later["level"], later["number"], later["text"] = ["new", None], [None, None], [None, "model 3"]
    later["day"], later["stamp"] = ["no day", None], ["2000-01-01", "2000-01-02"]
    later["flag"], later["written"], later["answer"] = [1, 0], [0, 1], [3, "yes"]
    with pytest.warns(DataWarning) as told:
        encoded = encoder.transform(later)
    told = {(notice.code, notice.column, notice.share) for notice in told[0].message.notices}
    assert told == {("unread", "day", 0.5), ("unknown level", "answer", 0.5), ("unknown level", "level", 0.5)}
    assert np.isfinite(encoded).all()
    found = dict(zip(encoder.get_feature_names_out(), encoded.T, strict=True))
    assert [found[f"level_{name}"].tolist() for name in "abc"] == [[0.0, 0.0]] * 3
    assert found["number"] == pytest.approx(table["number"].median())
    assert found["day_day"].tolist() == [10957 + (N - 1) / 2] * 2
    assert all(np.array_equal(found[name], usual[name]) for name in found if name.startswith("stamp") or name == "written")


def test_a_text_of_many_repeated_levels_is_used():
    """Of 142 levels, each in less than 1 % of the rows, the effect of each is learnt; encoded as texts, most of it."""
    from sklearn.linear_model import Ridge

    effect = RNG.normal(size=142)
    level = np.repeat(np.arange(142), 12)
    X = pd.DataFrame({"country": [f"{chr(65 + k % 26)}{chr(97 + k * 7 % 26)}land {k}" for k in level]})
    encoder = TableEncoder()
    encoded = encoder.fit_transform(X)
    assert encoder.columns_[["kind", "n_outputs", "levels"]].values.tolist() == [["category", 142, 142.0]]
    assert Ridge(1e-3).fit(encoded, effect[level]).score(encoded, effect[level]) > 0.99
    encoder = TableEncoder(max_levels=141, n_components=100)
    encoded = encoder.fit_transform(X)
    assert encoder.columns_[["kind", "n_outputs", "levels"]].values.tolist() == [["text", 100, 142.0]]
    assert Ridge(1e-3).fit(encoded, effect[level]).score(encoded, effect[level]) > 0.5


def test_numbers_named_as_categories_keep_their_levels_whatever_their_type():
    X = pd.DataFrame({"zip": [1, 2, 3, 1], "x": [0.5, 1, 2, 3]})
    encoder = TableEncoder(categorical=["zip"]).fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x", "zip_1", "zip_2", "zip_3"]
    assert np.array_equal(encoder.transform(X.astype({"zip": float})), encoder.transform(X))
    with pytest.raises(ArgumentError, match="categorical='zap' is not a column; there are 'zip', 'x'"):
        TableEncoder(categorical=["zap"]).fit(X)


def test_an_array_of_numbers_is_not_copied_without_gaps_and_filled_with_them():
    X = RNG.normal(size=(20, 3))
    X[:, 2] = 1.0
    assert TableEncoder().fit(X).transform(X) is X
    X = X.copy()
    X[4, 1] = np.nan
    encoded = TableEncoder().fit_transform(X)
    assert encoded.shape == (20, 4)
    assert encoded[4].tolist() == [X[4, 0], np.nanmedian(X[:, 1]), 1.0, 1.0]


def test_the_scaler_leaves_levels_and_gaps_alone(table):
    with untold():
        plain, scaled = TableEncoder().fit(table), TableEncoder(scaler=StandardScaler()).fit(table)
    for name, before, after in zip(
        plain.get_feature_names_out(), plain.transform(table).T, scaled.transform(table).T, strict=True
    ):
        same = name.endswith("_missing") or name.startswith(("level_", "text_"))
        assert after == pytest.approx(before if same else (before - before.mean()) / before.std(), abs=1e-9), name


def test_nothing_to_learn_from_and_infinity():
    with pytest.raises(DataError, match="nothing to learn from"):
        TableEncoder().fit(pd.DataFrame({"a": [1, 1], "b": [None, None]}))
    with pytest.raises(ValueError, match="infinity in column 'a'"):
        TableEncoder().fit(pd.DataFrame({"a": [1, np.inf], "b": ["x", "y"]}))
    with pytest.raises(DataError, match="0 rows"):
        TableEncoder().fit(pd.DataFrame({"a": []}))
    with pytest.raises(NotFittedError):
        TableEncoder().transform([[1.0]])


_ROW = np.arange(24)
_DAYS = pd.Series(pd.Timestamp("2024-05-17") + pd.to_timedelta(_ROW, unit="D"))
#: columns of every kind, and those that are left out
KINDS = {
    "number": _ROW / 7, "gaps": np.where(_ROW % 5 == 0, np.nan, _ROW), "yes/no": np.where(_ROW % 3, "no", "yes"),
    "category": np.array(["red", "green", "blue"])[_ROW % 3], "text": [f"cell {k} of a text" for k in _ROW], "date": _DAYS,
    "date with gaps": _DAYS.where(_ROW % 6 > 0), "one number": np.ones(24), "one date": _DAYS[[0] * 24].array,
    "one text": ["same"] * 24, "name": [f"id{k:05d}x" for k in _ROW * 7919], "nothing": [None] * 24,
    "one day written": ["2024-05-17"] * 24, "one date with gaps": pd.Series(_DAYS[[0] * 24].array).where(_ROW % 6 > 0),
}  # fmt: skip


@cache
def width_alone(name):
    """Return the number of outputs of a column beside a number."""
    return TableEncoder().fit_transform(pd.DataFrame({"beside": KINDS["number"], name: KINDS[name]})).shape[1] - 1


@settings(max_examples=15)
@given(st.permutations(sorted(KINDS)), st.integers(1, 6))
@example(["one date", "number", "yes/no", "date"], 4)
def test_columns_that_are_left_out_move_no_other(order, n):
    """The rows of the fit are encoded as in the fit, and each output has its column, whatever the columns and their order."""
    X = pd.DataFrame({name: KINDS[name] for name in (*order[:n], "number")})
    with untold():
        encoder = TableEncoder()
        encoded = encoder.fit_transform(X)
        assert_allclose(encoder.transform(X), encoded)
        widths = [width_alone(name) for name in X.columns]
    assert encoded.shape[1] == len(encoder.sources_) == len(encoder.get_feature_names_out())
    assert encoder.columns_["n_outputs"].tolist() == widths
    owners = X.columns[encoder.sources_]
    assert all(name.startswith(owner) for name, owner in zip(encoder.get_feature_names_out(), owners, strict=True))
    assert [(owners == name).sum() for name in X.columns] == widths
