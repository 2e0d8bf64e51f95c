"""Targets and weights of rows that are none are refused, with argument, row and value."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV
from spotsvm.common.targets import as_classes, as_numbers, check_sample_weight
from spotsvm.errors import ArgumentError, DataError

try:
    from polars import Series as SERIES
except ImportError:  # with the lowest versions it is not installed
    SERIES = pd.Series

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
        SERIES(["a", None]),
        SERIES([1, None]),
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


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([b"a", b"b"]), r"y has b'a' in row 0 .*, which is no label for a classifier; use texts or whole numbers"),
        ([date(2020, 1, 1), date(2020, 1, 2)], r"y has datetime.date\(2020, 1, 1\) in row 0 .*, which is no label"),
        ([Decimal(1), Decimal(2)], r"y has Decimal\('1'\) in row 0 .*, which is no label"),
        (np.array([1j, 2j]), r"y has 1j in row 0 .*, which is no label"),
        (np.array([1, 2], dtype=object), r"y is an array of objects, which are numbers; use numbers, as np.array\(list\(y\)\)"),
    ],
)
def test_labels_that_scikit_learn_does_not_take(y, message):
    with pytest.raises(DataError, match=message):
        as_classes(y, "TunedSVC")
    with pytest.raises(DataError, match=message):
        SpotSearchCV(SVC(), {"C": [1, 2]}, cv=2).fit([[0.0], [1.0]], y)
    remedy = list(y) if isinstance(y[0], int) else [str(label) for label in y]
    assert as_classes(np.array(remedy), "TunedSVC").tolist() == remedy


@pytest.mark.parametrize("y", ["abc", {"a": 1}, 3, (value for value in "ab")])
def test_a_target_that_is_no_sequence(y):
    for check in (as_classes, as_numbers):
        with pytest.raises(ArgumentError, match=r"y=.*; X takes one .* for each row, as a list or an array"):
            check(y, "X")


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (pd.Series(pd.to_datetime(["2020-01-01", None] * 5)), "dates"),
        (pd.Series(pd.to_datetime(["2020-01-01"] * 10)).dt.tz_localize("UTC"), "dates"),
        (np.array(["2020-01-01", "NaT"] * 5, dtype="datetime64[D]"), "dates"),
        (pd.to_timedelta(range(10), unit="D"), "durations"),
        (SERIES(np.array(["2020-01-01"] * 10, dtype="datetime64[ms]")), "dates"),
        (pd.DataFrame({"a": range(10), "b": pd.to_datetime(["2020-01-01"] * 10)}), "dates"),
    ],
)
def test_dates_are_no_target_of_a_regression(y, kind):
    for model in (SVR(), make_pipeline(StandardScaler(), SVR())):
        space = {"C" if isinstance(model, SVR) else "svr__C": [1, 2]}
        with pytest.raises(DataError, match=f"y has {kind}, and {type(model).__name__} needs numbers; pass them in a unit"):
            SpotSearchCV(model, space, cv=2).fit(np.arange(10.0)[:, None], y)


def test_labels_and_numbers_stay_as_they_are():
    for y in (["b", "a"], [1, 2], [1.0, 2.0], [True, False], np.array(["a"]), pd.Series(["a", "b"]), SERIES(["a", "b"])):
        assert as_classes(y, "X").tolist() == list(y)
    for y in ([1, 2], [1.5, -2.0], ["1", " 2e3 "], [Decimal("0.5")], [True], pd.Series([1, 2], dtype="Int64"), SERIES([1.5])):
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
