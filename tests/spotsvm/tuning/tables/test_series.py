import logging

import numpy as np
import pandas as pd
import pytest

from spotsvm import stormwater_pipeline
from spotsvm.errors import ArgumentError, DataError
from spotsvm.tables import read_series
from spotsvm.tuning.tables.series import DEFAULT_ROWS, LONGEST_WINDOW

N = 60
HOURS = pd.date_range("2011-03-31", periods=N, freq="h")
FRAME = pd.DataFrame({"time": HOURS.astype(str), "rain": np.arange(N) % 7.0, "level": np.sin(np.arange(N))})


@pytest.fixture
def write(tmp_path):
    def written(frame, name="series.csv"):
        frame.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return written


def test_the_time_becomes_the_index(write):
    table = read_series(write(FRAME), "level", "time")
    assert table.X.index.tolist() == HOURS.tolist()
    assert table.X.columns.tolist() == ["rain"]
    assert table.task == "regression"
    np.testing.assert_allclose(table.y, FRAME["level"])
    pd.testing.assert_frame_equal(table.history, table.X)


def test_whole_numbers_are_times_and_so_are_rows(write):
    numbered = read_series(write(FRAME.assign(time=np.arange(N) * 5 + 100)), "level", "time")
    assert numbered.X.index.tolist() == list(range(100, 100 + 5 * N, 5))
    plain = read_series(write(FRAME.drop(columns="time")), "level")
    assert plain.X.index.tolist() == list(range(N))


def test_rows_in_another_order_are_sorted_and_that_is_told(write, caplog):
    with caplog.at_level(logging.WARNING):
        table = read_series(write(FRAME[::-1]), "level", "time")
    assert table.X.index.is_monotonic_increasing
    np.testing.assert_allclose(table.y, FRAME["level"])
    assert "sorted by time" in caplog.text


def test_rows_without_a_target_are_only_history(write):
    level = FRAME["level"].where(np.arange(N) % 3 == 0)
    table = read_series(write(FRAME.assign(level=level)), "level", "time")
    assert table.X.index.tolist() == table.y.index.tolist() == HOURS[::3].tolist()
    assert len(table.history) == N
    assert table.y.notna().all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            FRAME.drop(index=5),
            "with a gap: 2011-03-31 06:00:00 follows 2011-03-31 04:00:00, but the usual step is 0 days 01:00:00",
        ),
        (FRAME.drop(index=[5, 9, 10]), "(2 uneven steps)"),
        (
            pd.concat([FRAME, FRAME[:1].assign(time="2011-03-31 04:10:00")]),
            "with an extra time: 2011-03-31 04:10:00 follows 2011-03-31 04:00:00, but the usual step is 0 days 01:00:00",
        ),
        (
            FRAME.assign(time=HOURS.tz_localize("Europe/Berlin").shift(-100, "h").astype(str)),
            "cannot be read as time stamps (Mixed timezones detected); use a single time zone, such as UTC",
        ),
        (
            FRAME.assign(time=[f"{time}+01:00" if k % 2 else time for k, time in enumerate(FRAME["time"])]),
            "(Mixed timezones detected); use a single time zone, such as UTC",
        ),
        (pd.concat([FRAME, FRAME[7:8]]), "the time 2011-03-31 07:00:00 occurs more than once (1 repeated rows in total)"),
        (FRAME.assign(time=["soon", *FRAME["time"][1:]]), "the time column 'time' cannot be read as time stamps"),
        (FRAME.assign(time=FRAME["time"].where(FRAME.index != 3)), "the time column 'time' has 1 missing values"),
        (FRAME.assign(time=np.arange(N) / 3), "the time column 'time' has non-integer numbers"),
        (FRAME.rename(columns={"time": "when"}), "--time 'time' is not a column; the columns are 'when', 'rain', 'level'"),
        (FRAME.assign(rain=FRAME["rain"].where(FRAME.index != 3)), "column 'rain' has 1 missing values, the first at 2011-03"),
        (FRAME.assign(rain=["wet"] * N), "column 'rain' is not numeric"),
        (FRAME.assign(rain=np.inf), "column 'rain' has infinite values"),
        (FRAME.assign(level=np.nan), "the target 'level' has no values"),
        (FRAME.assign(level="high"), "the target 'level' is not numeric"),
        (FRAME[:0], "the table has no rows"),
        (FRAME.drop(columns="rain"), "there are no features: the target 'level' is the only column"),
        (FRAME.drop(columns="level"), "--target 'level' is not a column"),
    ],
)
def test_a_series_that_cannot_be_used(changed, message, write):
    with pytest.raises(DataError, match="series.csv") as caught:
        read_series(write(changed), "level", "time")
    assert message in str(caught.value)


def test_other_arguments_that_make_no_sense(write):
    with pytest.raises(ArgumentError, match="--task classification: a series needs regression"):
        read_series(write(FRAME), "level", "time", "classification")
    with pytest.raises(DataError, match="--time 'level' is the target"):
        read_series(write(FRAME), "level", "level")
    with pytest.raises(
        DataError, match=r"column 'time' is not numeric \(it contains '2011-03-31 00:00:00'\); if it is the time, use --time"
    ):
        read_series(write(FRAME), "level")


def test_the_latest_rows_with_the_past_of_all(write, caplog):
    with caplog.at_level(logging.WARNING):
        table = read_series(write(FRAME), "level", "time", rows=10)
    assert table.X.index.tolist() == HOURS[-10:].tolist()
    assert len(table.history) == N
    assert "the latest 10 of 60 rows are used for training and testing" in caplog.text
    caplog.clear()
    assert len(read_series(write(FRAME), "level", "time", rows=0).X) == N
    assert len(read_series(write(FRAME), "level", "time").X) == N
    assert "training" not in caplog.text
    many = pd.DataFrame({"rain": np.ones(DEFAULT_ROWS + 1), "level": np.arange(DEFAULT_ROWS + 1)})
    assert len(read_series(write(many), "level").X) == DEFAULT_ROWS


def test_a_series_shorter_than_the_longest_window_is_told_of(write, caplog):
    with caplog.at_level(logging.WARNING):
        read_series(write(FRAME), "level", "time")
    assert "has 60 rows, fewer than the longest window of 500; no rain is assumed before the first row" in caplog.text
    distributions = stormwater_pipeline(region="wide")[1]
    longest = max(d.support()[1] for name, d in distributions.items() if "windows" in name)
    assert longest == LONGEST_WINDOW
