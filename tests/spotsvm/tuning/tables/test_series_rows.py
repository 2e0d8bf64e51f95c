"""The rows of a series, and its longest window."""

import logging

import numpy as np
import pandas as pd
import pytest

from spotsvm import stormwater_pipeline
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
