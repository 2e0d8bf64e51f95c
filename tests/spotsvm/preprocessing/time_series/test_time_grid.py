import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.time_series.time_grid import TimeGrid, read_time_stamps


def frame(index):
    return pd.DataFrame({"rain": np.zeros(len(index))}, index=index)


def positions(index, step=None):
    stamps = read_time_stamps(frame(index), "X")
    return TimeGrid.through([stamps], step).positions(stamps)


def test_data_without_an_index():
    assert read_time_stamps(np.zeros((3, 1)), "X") is None
    assert read_time_stamps([[1.0]], "X") is None


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_time_stamps_does_not_matter(unit):
    hours = pd.date_range("1987-01-01", periods=5, freq="h")
    grid = TimeGrid.through([read_time_stamps(frame(hours), "X")])
    later = read_time_stamps(frame((hours + pd.Timedelta("1D")).as_unit(unit)), "X")
    np.testing.assert_array_equal(grid.positions(later), np.arange(24, 29))
    assert grid.label(30) == "1987-01-02 06:00:00"


def test_the_step_is_the_most_common_one():
    hours = pd.date_range("1987-01-01", periods=10, freq="h")
    np.testing.assert_array_equal(positions(hours[[0, 1, 2, 5, 6, 9]]), [0, 1, 2, 5, 6, 9])
    np.testing.assert_array_equal(positions(hours[[9, 2, 1, 0]]), [0, -7, -8, -9])
    np.testing.assert_array_equal(positions(pd.Index([3, 10, 4])), [0, 7, 1])
    np.testing.assert_array_equal(positions(hours[::3], step="30min"), [0, 6, 12, 18])


def test_spacing_is_that_of_all_stamps():
    numbers = np.arange(200_000)
    for place in (1, 32_768, 32_769, 199_999):
        late = numbers + (numbers >= place)
        stamps = read_time_stamps(frame(pd.Index(late)), "X")
        assert stamps.spacing == (1, 2)
        np.testing.assert_array_equal(TimeGrid.through([stamps]).positions(stamps), late)
    assert positions(pd.date_range("1987-01-01", periods=200_000, freq="min")) == range(200_000)


def test_summer_time_in_a_time_zone_leaves_no_gap():
    hours = pd.date_range("1987-03-28 20:00", periods=12, freq="h", tz="Europe/London")
    np.testing.assert_array_equal(positions(hours), np.arange(12))


def test_months_are_even_as_periods_alone():
    months = pd.date_range("1987-01-01", periods=12, freq="MS")
    np.testing.assert_array_equal(positions(months.to_period("M")), np.arange(12))
    with pytest.raises(DataError, match="X is not evenly spaced in time: 1987-03-01 .* of 31 days 00:00:00 from 1987-01-01"):
        positions(months)


@pytest.mark.parametrize(
    ("index", "label"),
    [
        (pd.period_range("1987-01", periods=3, freq="M"), "1987-05"),
        (pd.to_timedelta([0, 5, 10], unit="min"), "0 days 00:20:00"),
        (pd.RangeIndex(10, 13), "14"),
        (pd.date_range("1987-01-01", periods=3, freq="D", tz="UTC"), "1987-01-05 00:00:00 UTC"),
    ],
)
def test_labels(index, label):
    assert TimeGrid.through([read_time_stamps(frame(index), "X")]).label(4) == label


@pytest.mark.parametrize(
    ("index", "kind"),
    [
        (pd.Index(["1987-01-01", "1987-01-02"]), "str|object"),
        (pd.Index([0.0, 0.5]), "float64"),
        (pd.MultiIndex.from_tuples([(1, 2), (1, 3)]), "object"),
        (pd.Index([True, False]), "bool"),
    ],
)
def test_an_index_that_is_no_time(index, kind):
    with pytest.raises(
        DataError, match=f"X has an index of ({kind}), which does not say when its rows were read; use time stamps"
    ):
        read_time_stamps(frame(index), "X")


def test_time_stamps_that_are_missing_or_twice():
    with pytest.raises(DataError, match="X has a row without a time stamp: row 1 has"):
        read_time_stamps(frame(pd.DatetimeIndex(["1987-01-01", None])), "X")
    for index in (pd.DatetimeIndex(["1987-01-01", None, "1960-01-01"]), pd.Index([3, None, 4], dtype="Int64")):
        with pytest.raises(DataError, match="X has a row without a time stamp: row 1 has"):
            read_time_stamps(frame(index), "X")
    with pytest.raises(DataError, match="history has the time stamp 5 twice, and 2 such rows in all"):
        read_time_stamps(frame(pd.Index([5, 4, 5, 5])), "history")


@pytest.mark.parametrize("step", [0, -1, 1.5, "1h", None])
def test_steps_of_integers(step):
    if step is None:
        np.testing.assert_array_equal(positions(pd.Index([4, 8]), step), [0, 4])
        return
    with pytest.raises(ArgumentError, match="is not a step of integers; use a whole number, 1 or more"):
        positions(pd.Index([4, 8]), step)


def test_one_row_does_not_say_how_far_apart_rows_are():
    with pytest.raises(DataError, match=r"X has one row \(n_samples=1\), which does not say how far apart rows are; give step="):
        positions(pd.DatetimeIndex(["1987-01-01"]))
    np.testing.assert_array_equal(positions(pd.DatetimeIndex(["1987-01-01"]), "1h"), [0])
