import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix

from spotsvm.common.data_hash import data_hash

X = np.random.default_rng(0).integers(-50, 50, (6, 4)) / 4.0
LABELS = np.array(["a", "b", "a", "c", "b", "a"])
#: X with a cell in two parts that cancel each other
ROWS, COLUMNS = np.r_[np.repeat(range(6), 4), 0, 0], np.r_[np.tile(range(4), 6), 1, 1]
DOUBLED = coo_matrix((np.r_[X.ravel(), 1.0, -1.0], (ROWS, COLUMNS)))
DAYS = pd.to_datetime(["2024-01-01", "2024-02-29", None, "2025-12-31", "1999-01-01", "2024-01-01"])


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (X, np.asfortranarray(X)),
        (X, X.tolist()),
        (X, [tuple(row) for row in X]),
        (X, X.astype(np.float32)),
        (X, np.repeat(X, 2, axis=1)[:, ::2]),
        (X, X.astype(object)),
        (X[:, 0], pd.Series(X[:, 0], index=list("fedcba"), name="y")),
        (X[:, 0], pd.Series(X[:, 0].astype(np.float32))),
        ([1, 0, 1], np.array([1.0, -0.0, 1.0])),
        ([1, 0, 1], np.array([True, False, True])),
        ([1, 0, 1], pd.Series([1, 0, 1], dtype="Int64")),
        ([1.0, np.nan], pd.Series([1, pd.NA], dtype="Int64")),
        ([1.0, np.nan], np.array([1.0, None], dtype=object)),
        ([1.0, np.nan], np.ma.array([1.0, 7.0], mask=[False, True])),
        (LABELS, list(LABELS)),
        (LABELS, pd.Series(LABELS, dtype="category")),
        (LABELS, pd.Series(LABELS, dtype="string")),
        (LABELS, LABELS.astype(object)),
        (DAYS, DAYS.astype("datetime64[s]")),
        (DAYS, DAYS.to_numpy()),
        (csr_matrix(X), csc_matrix(X)),
        (csr_matrix(X), DOUBLED),
        (csr_matrix(X), csr_matrix(X.astype(np.float32))),
        (pd.DataFrame(X), pd.DataFrame(np.asfortranarray(X), index=list("abcdef"))),
        (pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), pd.DataFrame({"a": [1.0, 2.0], "b": np.float32([0.5, 1.5])})),
        ({"w": [1, 2], "groups": ["a", "b"]}, {"groups": np.array(["a", "b"]), "w": np.array([1.0, 2.0])}),
        (2**53 + np.arange(2), [2**53, 2**53 + 1]),
    ],
)  # fmt: skip
def test_what_holds_the_cells_is_no_other_data(one, same):
    assert data_hash(one) == data_hash(same)
    assert data_hash(one, None) != data_hash(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (X, X.T),
        (X, X[:, ::-1]),
        (X, np.nextafter(X, 99.0)),
        (X, X.astype(str)),
        (X, csr_matrix(X)),
        (X.ravel(), X),
        ([0.1], np.array([0.1], np.float32)),
        ([1, 2], ["1", "2"]),
        ([1, None], [1, "None"]),
        (["a", "b"], ["ab", ""]),
        (["a", "b", "c"], ["a", "c", "b"]),
        ([2**53], [2**53 + 1]),
        (np.array([2**60], object), np.array([2**60 + 1], object)),
        ([1 + 2j], [1 + 3j]),
        (DAYS, DAYS + pd.Timedelta(1, "ns")),
        (DAYS.to_frame(), DAYS.tz_localize("UTC").to_frame()),
        (DAYS.tz_localize("UTC").to_frame(), DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo").to_frame()),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), pd.DataFrame({"b": [3, 4], "a": [1, 2]})),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]}, dtype="category")),
        ({"a": [1]}, {"b": [1]}),
        ([decimal.Decimal(1)], [decimal.Decimal(2)]),
        ([datetime.date(2024, 1, 1), "a"], [datetime.date(2024, 1, 2), "a"]),
        (np.array([[1, 2], [3]], object), np.array([[1, 2], [4]], object)),
        ([[1, 2], [3]], [[1, 2], [4]]),
    ],
)  # fmt: skip
def test_other_cells_names_and_shapes_are_other_data(one, other):
    assert data_hash(one) != data_hash(other)


@given(arrays.arrays(st.sampled_from([np.int16, np.float32, np.bool_, np.float64]), arrays.array_shapes(max_dims=2, max_side=4)))
def test_layout_and_type_never_count(values):
    others = [np.asfortranarray(values), values.astype(np.float64), values.astype(object)]
    assert {data_hash(other) for other in others} == {data_hash(values)}


def test_a_frame_of_polars_is_hashed_by_its_columns():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    cells = {"a": [1, 2], "b": ["x", None], "day": [datetime.date(2024, 1, 1), None]}
    one, same, other = polars.DataFrame(cells), polars.DataFrame(cells).rechunk(), polars.DataFrame({**cells, "a": [1, 3]})
    assert data_hash(one) == data_hash(same) != data_hash(other)
    named = one.with_columns(polars.col("b").cast(polars.Categorical))
    assert data_hash(one) != data_hash(named)
