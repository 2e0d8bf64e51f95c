import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from spotsvm import LeakyRain
from spotsvm.errors import ArgumentError, DataError, DataWarning


def direct(values, decay, window, *, before=0.0):
    """Equation (14), term by term, for a column."""
    padded = np.concatenate([np.full(window, before), values])
    return np.array([sum(decay**i * padded[window + t - i] for i in range(window + 1)) for t in range(len(values))])


def rainfall(n=60, seed=0, columns=("north", "south")):
    rng = np.random.default_rng(seed)
    hours = pd.date_range("1987-03-29", periods=n, freq="h")
    return pd.DataFrame(rng.gamma(0.3, 2.0, (n, len(columns))), index=hours, columns=list(columns))


def test_a_column_for_each_column_and_pair():
    rain = rainfall()
    leaky = LeakyRain(decays=(0.1, 0.3), windows=(5, 12), start="zero")
    found = leaky.fit_transform(rain)
    assert list(found.columns) == [
        "north_decay0.1_window5",
        "north_decay0.3_window12",
        "south_decay0.1_window5",
        "south_decay0.3_window12",
    ]
    assert found.index.equals(rain.index)
    for column in rain:
        for decay, window in leaky.pairs_:
            expected = direct(rain[column].to_numpy(), decay, window)
            np.testing.assert_allclose(found[f"{column}_decay{decay}_window{window}"], expected, rtol=1e-12)
    np.testing.assert_array_equal(leaky.fit_transform(rain.to_numpy()), found)


@given(st.integers(0, 59), st.floats(0, 1), st.integers(0, 30))
@settings(max_examples=25, deadline=None)
def test_nothing_of_the_future_is_used(last, decay, window):
    rain = rainfall()
    changed = rain.copy()
    changed.iloc[last + 1 :] = 1e9
    found = [LeakyRain(decay, window, start="zero").fit_transform(each).iloc[: last + 1] for each in (rain, changed)]
    pd.testing.assert_frame_equal(*found)


@given(st.integers(31, 58), st.floats(0, 1), st.integers(0, 30))
@settings(max_examples=25, deadline=None)
def test_across_the_border_rows_are_as_in_the_whole_series(border, decay, window):
    rain = rainfall()
    leaky = LeakyRain(decay, window, start="zero").fit(rain.iloc[:border])
    whole = LeakyRain(decay, window, start="zero").fit_transform(rain)
    pd.testing.assert_frame_equal(leaky.transform(rain.iloc[border:]), whole.iloc[border:])
    pd.testing.assert_frame_equal(leaky.transform(rain.iloc[:border]), whole.iloc[:border])


def test_between_far_sets_rows_are_summed_from_those_that_there_are():
    rain = rainfall(200)
    leaky = LeakyRain(0.95, 30, start="zero").fit(rain.iloc[:50])
    with pytest.raises(DataError, match="60 readings are missing .* at 1987-03-31 22:00:00; give the rows as HistoryPipeline"):
        leaky.transform(rain.iloc[100:150])
    dry = leaky.set_params(missing="zero").transform(rain.iloc[100:150])
    pd.testing.assert_frame_equal(dry, LeakyRain(0.95, 30, start="zero").fit_transform(rain.iloc[100:150]))
    with pytest.warns(
        DataWarning, match=r"30 of 50 rows look back to steps of which there is no row \(LeakyRain looks 30 back\)"
    ):
        known = leaky.set_params(missing="raise", start="known").transform(rain.iloc[100:150])
    pd.testing.assert_frame_equal(known, dry)


@pytest.mark.parametrize("missing", ["raise", "ignore"])
@pytest.mark.parametrize("start", ["zero", "ignore", "nan"])
def test_what_kind_of_index_does_not_matter(start, missing):
    rain = rainfall()
    leaky = LeakyRain(0.9, 12, start=start, missing=missing)
    expected = leaky.fit_transform(rain.to_numpy())
    hours = rain.index
    for index in (hours.as_unit("ns"), hours.to_period("h"), hours - hours[0], pd.RangeIndex(60), pd.Index(range(7, 307, 5))):
        step = 5 if index[0] == 7 else None
        model = clone(leaky).set_params(step=step)
        found = model.fit_transform(rain.set_axis(index))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(model.transform(rain.set_axis(index)[::-1]), expected[::-1], rtol=1e-13)
        np.testing.assert_allclose(model.transform(rain.set_axis(index)[9:]), expected[9:], rtol=1e-13)


@pytest.mark.parametrize("start", ["zero", "ignore", "nan"])
def test_the_time_before_the_first_row(start):
    rain = rainfall()[["north"]]
    values = rain["north"].to_numpy()
    decay, window = 0.8, 10
    weights = decay ** np.arange(window + 1)
    expected = direct(values, decay, window)
    for t in range(window):
        if start == "ignore":
            expected[t] *= weights.sum() / weights[: t + 1].sum()
        elif start == "nan":
            expected[t] = np.nan
    for X in (rain, rain.to_numpy()):
        np.testing.assert_allclose(np.ravel(LeakyRain(decay, window, start=start).fit_transform(X)), expected, rtol=1e-12)


@pytest.mark.parametrize("gap_in_time", [False, True])
@pytest.mark.parametrize("missing", ["zero", "ignore", "nan"])
def test_missing_readings(missing, gap_in_time):
    rain = rainfall()[["north"]]
    gone = [3, 20, 21, 22, 40]
    values, known = rain["north"].to_numpy(copy=True), np.ones(60)
    values[gone], known[gone] = 0.0, 0.0
    decay, window = 0.8, 2
    expected = direct(values, decay, window)
    if missing == "ignore":
        with np.errstate(invalid="ignore"):
            expected = expected * (decay ** np.arange(window + 1)).sum() / direct(known, decay, window, before=1.0)
    elif missing == "nan":
        expected[direct(1 - known, 1.0, window) > 0] = np.nan
    kept = np.flatnonzero(known) if gap_in_time else np.arange(60)
    X = rain.iloc[kept] if gap_in_time else rain.where(known[:, None] == 1)
    found = LeakyRain(decay, window, missing=missing, start="zero").fit_transform(X)
    np.testing.assert_allclose(found.to_numpy().ravel(), expected[kept], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decays": 1.2}, r"decays=1.2 is not in \[0, 1\]; use the share of a reading that is left a step later"),
        ({"decays": (0.1, 1.5)}, r"decays=\(0.1, 1.5\): 1.5 is not in \[0, 1\]"),
        ({"decays": "slow"}, "decays='slow'; use a number, or a sequence of numbers"),
        ({"decays": ()}, r"decays=\(\); use a number"),
        ({"windows": -1}, "windows=-1 is not a number of steps; use whole numbers, 0 or more"),
        ({"windows": (50, 2.5)}, r"windows=\(50, 2.5\): 2.5 is not a number of steps"),
        ({"windows": None}, "windows=None; use a number"),
        ({"decays": (0.1, 0.2, 0.3)}, "decays has 3 entries and windows 2; use as many, or one for all"),
        ({"decays": (0.1, 0.1), "windows": 5}, r"decays and windows have the pair \(0.1, 5\) twice"),
        ({"missing": "drop"}, "missing='drop'; use 'raise', 'zero', 'ignore' or 'nan'"),
        ({"start": 0}, "start=0; use 'known', 'zero', 'ignore', 'nan' or 'raise'"),
        ({"step": -1}, "step=-1 is not a step of time stamps; use a positive duration"),
    ],
)
def test_arguments_that_make_no_sense(options, message):
    with pytest.raises(ArgumentError, match=message):
        LeakyRain(**{"decays": (0.1, 0.3), "windows": (5, 12), **options}).fit(rainfall())


def test_a_series_shorter_than_the_window_is_said():
    rain = rainfall(100)
    with pytest.warns(
        DataWarning, match=r"100 of 100 rows look back to steps of which there is no row \(LeakyRain looks 120 back"
    ):
        found = LeakyRain(0.3, 120).fit_transform(rain)
    np.testing.assert_allclose(found, LeakyRain(0.3, 99, start="zero").fit_transform(rain), rtol=1e-12)


def test_gaps_in_time():
    rain = rainfall()
    with pytest.raises(
        DataError, match=r"2 readings are missing \(NaN, or a gap in time\), the first that of 'north' at 1987-03-29 20:00:00"
    ):
        LeakyRain(0.3, 5, start="zero").fit(rain.drop(rain.index[20]))
    with pytest.raises(DataError, match="use start='known', or use missing='zero', 'ignore', 'nan'"):
        LeakyRain(0.3, 5, start="zero").fit(rain.iloc[:30]).transform(rain.iloc[33:])
    with pytest.raises(
        DataError, match="1 readings are missing .* the first that of x1 at row 7; fill them, or use missing='zero'"
    ):
        LeakyRain(0.3, 5, start="zero").fit(rain.mask(np.arange(120).reshape(60, 2) == 15).to_numpy())


def test_uneven_time_stamps():
    rain = rainfall()
    rain.index = rain.index.where(np.arange(60) != 9, rain.index[9] + pd.Timedelta("17min"))
    message = (
        r"X is not evenly spaced in time: 1987-03-29 09:17:00 \(row 9\) is not a whole number of steps of 0 days 01:00:00 from "
        "1987-03-29 00:00:00; resample the rows, or give step="
    )
    with pytest.raises(DataError, match=message):
        LeakyRain(0.3, 5, start="zero").fit(rain)
    with pytest.raises(DataError, match=r"\(row 1\) is not a whole number of steps of 0 days 02:00:00"):
        LeakyRain(0.3, 5, step="2h", start="zero").fit(rainfall())
    assert (
        LeakyRain(0.3, 5, step="1min", missing="zero", start="zero").fit(rain).known_.grid.label(9 * 60 + 17)
        == "1987-03-29 09:17:00"
    )


def test_what_has_to_be_known_before_the_first_row():
    rain = rainfall()
    with pytest.raises(
        DataError, match="start='raise', and there is no row for 5 steps before rows, the last at 1987-03-28 23:00:00"
    ):
        LeakyRain(0.3, 5, start="raise").fit(rain)
    leaky = LeakyRain(0.3, 5, start="zero").fit(rain.iloc[:30]).set_params(start="raise")
    leaky.transform(rain.iloc[30:])
    with pytest.raises(DataError, match="there is no row for 2 steps before rows, the last at 1987-03-30 07:00:00"):
        leaky.transform(rain.iloc[32:])


def test_rows_of_two_kinds_of_index_are_refused():
    rain = rainfall()
    leaky = LeakyRain(0.3, 5, start="zero").fit(rain)
    with pytest.raises(DataError, match="X has an index of integers, and rows known before have time stamps"):
        leaky.transform(rain.reset_index(drop=True))
    with pytest.raises(DataError, match="X has an index of time stamps with a time zone"):
        leaky.transform(rain.tz_localize("UTC"))


def test_names_before_fit():
    with pytest.raises(NotFittedError):
        LeakyRain().get_feature_names_out()
