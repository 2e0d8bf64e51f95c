"""Targets and weights of rows that are none are refused, with argument, row and value."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import DataConversionWarning

from spotsvm.common.targets import as_classes, as_numbers, check_sample_weight
from spotsvm.errors import ArgumentError, DataError

MISSING = [None, float("nan"), np.nan, pd.NA, pd.NaT]


@pytest.mark.parametrize("gap", MISSING)
@pytest.mark.parametrize("labels", [["a", "b"], [1, 2], [0.5, 1.5], [True, False]])
def test_a_missing_label_is_named_with_its_row(gap, labels):
    y = [*labels, gap, *labels]
    for given_ in (y, tuple(y), np.array(y, dtype=object), pd.Series(y, dtype=object)):
        with pytest.raises(DataError, match=r"y has (None|nan|<NA>|NaT) in row 2 \(counted from 0\), which is no class"):
            as_classes(given_, "TunedSVC")


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None], dtype="category"),
        pd.Series(["a", None], dtype="string"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([pd.Timestamp("2020-01-01"), None]),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        np.ma.masked_array([1, 2], mask=[False, True]),
        np.array([0.0, np.inf]),
    ],
)
def test_gaps_of_every_type(y):
    with pytest.raises(DataError, match=r"in row 1 \(counted from 0\), which is no class"):
        as_classes(y, "TunedSVC")


def test_labels_of_several_types_and_targets_of_several_columns():
    for y in (["a", 1, "a"], np.array(["a", 1], dtype=object), ["a", 1.5], ["a", True]):
        with pytest.raises(DataError, match=r"y has 'a' in row 0 and .* in row 1 .*; use one type, as \[str\(label\)"):
            as_classes(y, "TunedSVC")
    for check in (as_classes, as_numbers):
        with pytest.raises(ArgumentError, match=r"y has shape \(2, 2\), and should be a 1d array: X takes one"):
            check([[0, 1], [1, 0]], "X")
        with pytest.raises(ArgumentError, match="y is sparse"):
            check(csr_matrix(np.eye(2)), "X")
        with pytest.warns(DataConversionWarning, match=r"y has shape \(2, 1\); use y.ravel\(\)"):
            assert check(np.array([[0], [1]]), "X").tolist() == [0, 1]
        assert check(None, "X") is None
    with pytest.raises(DataError, match="y: Unknown label type: continuous"):
        as_classes([0.1, 0.2], "TunedSVC")


def test_labels_and_numbers_stay_as_they_are():
    for y in (["b", "a"], [1, 2], [1.0, 2.0], [True, False], np.array(["a"]), pd.Series(["a", "b"]), pl.Series(["a", "b"])):
        assert as_classes(y, "X").tolist() == list(y)
    for y in ([1, 2], [1.5, -2.0], ["1", " 2e3 "], [Decimal("0.5")], [True], pd.Series([1, 2], dtype="Int64"), pl.Series([1.5])):
        assert as_numbers(y, "X").tolist() == [float(value) for value in y]


@pytest.mark.parametrize("value", [*MISSING, np.inf, "a", "", 10**400, pd.Timestamp("2020-01-01"), (1,)])
def test_a_value_that_is_no_number_is_named_with_its_row(value):
    with pytest.raises(DataError, match=r"y has .* in row 1 \(counted from 0\)"):
        as_numbers([1.0, value, 2.0], "TunedSVR")
    with pytest.raises(DataError, match="Complex data not supported"):
        as_numbers([1.0, 1j], "TunedSVR")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan, 1.0], r"sample_weight\[1\] is nan; weights are finite, and 0 or more"),
        ([1.0, np.inf, 1.0], r"sample_weight\[1\] is inf"),
        ([1.0, -0.5, 1.0], r"sample_weight\[1\] is -0.5"),
        ([1.0, 1e100, 1.0], r"sample_weight\[1\] is 1e\+100, and all others together are 2e-100 of it"),
        ([0.0, 0.0, 0.0], "sample_weight is zero for every row"),
        ([1.0, 1.0], r"sample_weight has shape \(2,\); X has 3 rows, so it must be \(3,\)"),
        ([[1.0], [1.0], [1.0]], r"sample_weight has shape \(3, 1\)"),
        (1.0, r"sample_weight has shape \(\)"),
        (["a", "b", "c"], "sample_weight is not an array of numbers"),
        ([1j, 1, 1], "sample_weight is not an array of numbers; it has complex"),
        ([1.0, None, 1.0], r"sample_weight\[1\] is nan"),
    ],
)
def test_weights_that_are_none(weights, message):
    with pytest.raises(ArgumentError, match=message):
        check_sample_weight(weights, 3)


@given(st.lists(st.floats(1e-3, 1e3) | st.just(0.0), min_size=1, max_size=9).filter(any), st.floats(1e-250, 1e250))
def test_weights_of_a_similar_size_stay_as_they_are(weights, factor):
    given_ = factor * np.array(weights)
    for one in (given_, given_.tolist(), pd.Series(given_)):
        assert check_sample_weight(one, len(weights)).tolist() == given_.tolist()
