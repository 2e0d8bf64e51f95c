import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.studies.stormwater.series import RainSeries, read_series, simulated_series
from spotsvm.studies.stormwater.tank import simulate_tank


def table(n=900):
    rng = np.random.default_rng(0)
    times = pd.date_range("2020-01-01", periods=n, freq="h").astype(str)
    return pd.DataFrame({"time": times, "rain_mm": rng.gamma(0.3, 1.0, n), "y": rng.normal(size=n)})


def written(tmp_path, frame, **options):
    frame.to_csv(tmp_path / "series.csv", index=False)
    return read_series(tmp_path / "series.csv", **options)


def test_a_simulated_tank_read_from_its_own_csv(tmp_path):
    made = simulate_tank(4000, 2)
    read, direct = written(tmp_path, made.frame()), simulated_series(2, 4000)
    np.testing.assert_allclose(read.rain, direct.rain)
    np.testing.assert_allclose(read.level, direct.level)
    assert read.times.equals(direct.times)


def test_series_are_cut_into_four_sets_and_keep_rain_without_level(tmp_path):
    series = RainSeries("some", np.zeros(4003), np.arange(4003.0))
    assert series.set_length == 1000
    assert [series.rows(k)[0] for k in (1, 2, 3, 4)] == [0, 1000, 2000, 3000]
    assert series.rows(4)[-1] == 3999
    assert str(series) == "some: 4003 records, cut into four consecutive sets of 1000; the last 3 are left out"
    frame = table()
    frame.loc[frame.index % 3 > 0, "y"] = np.nan
    series = written(tmp_path, frame)
    assert len(series.rain) == 900
    assert series.rows(1).tolist() == list(range(0, 225, 3))
    assert "900 records, 300 of them with a level" in str(series)


def test_ends_without_rain_are_left_out(tmp_path):
    frame = table()
    frame.loc[:9, "rain_mm"] = np.nan
    frame.loc[890:, "rain_mm"] = np.nan
    series = written(tmp_path, frame)
    np.testing.assert_allclose(series.rain, frame.rain_mm[10:890])
    np.testing.assert_allclose(series.level, frame.y[10:890])
    assert series.times[0] == pd.Timestamp("2020-01-01 10:00")


def test_columns_by_name_and_rows_without_time(tmp_path):
    frame = table().drop(columns="time").rename(columns={"y": "tank 7"}).assign(rain_other=0.0)
    series = written(tmp_path, frame, rain="rain_mm", level="tank 7")
    assert series.times is None
    np.testing.assert_allclose(series.rain, frame.rain_mm)


def changed(row, column, value):
    frame = table().astype({"time": object, "rain_mm": object, "y": object})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "options", "text"),
    [
        (
            table().drop(index=500),
            {},
            r"unevenly spaced, with a gap: .*21:00.* follows .*19:00.*, but the usual step is 0 days 01:00",
        ),
        (changed(500, "time", "2020-01-21 19:00:00"), {}, "the time 2020-01-21 19:00.* occurs more than once"),
        (changed(7, "time", "yesterday noon"), {}, "the time column 'time' cannot be read as time stamps"),
        (changed(7, "rain_mm", "much"), {}, "rain_mm='much' in line 9 is not a number"),
        (changed(7, "rain_mm", -1.0), {}, "rain_mm=-1 in line 9 is negative"),
        (changed(7, "rain_mm", None), {}, "rain_mm is empty in line 9, and is needed in every row"),
        (table().assign(rain_mm=np.nan), {}, "column rain_mm has no values"),
        (table().drop(columns="y"), {}, "no column looks like the level; the columns are time, rain_mm; choose one by level="),
        (table().assign(rain_b=0.0), {}, "columns rain_mm and rain_b could each be the rain"),
        (table(), {"level": "depth"}, "level='depth' is not a column; the columns are time, rain_mm, y"),
        (table(700), {}, "700 records are too few for four sets with windows of 120 steps; use 800 or more"),
        (table().assign(y=np.where(np.arange(900) < 300, 1.0, np.nan)), {}, "set 1 has 225 records with a level, which must be"),
    ],
)
def test_what_cannot_be_used(frame, options, text, tmp_path):
    with pytest.raises(DataError, match=text):
        written(tmp_path, frame, **options)


def test_a_file_that_is_not_there_or_not_csv(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv: cannot be read as CSV"):
        read_series(tmp_path / "nowhere.csv")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    with pytest.raises(DataError, match=r"binary\.csv: cannot be read as CSV"):
        read_series(tmp_path / "binary.csv")


@pytest.mark.data
def test_the_real_series():
    folder = Path(os.environ["SPOTSVM_DATA"])
    wye = read_series(folder / "rain_flow_wye_hourly.csv")
    assert str(wye).endswith("17544 records, cut into four consecutive sets of 4386")
    ground = read_series(folder / "rain_groundwater_b58c0698.csv")
    assert ground.times[-1] == pd.Timestamp("2016-10-31")
    assert [len(ground.rows(k)) for k in (1, 2, 3, 4)] == [77, 202, 183, 182]
