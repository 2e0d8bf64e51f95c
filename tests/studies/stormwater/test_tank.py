import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spotsvm.errors import ArgumentError
from spotsvm.studies.stormwater.tank import RainClimate, Tank, simulate_rain, simulate_tank

QUIET = Tank(noise=0.0)
SHOWERS = arrays(np.float64, 120, elements=st.floats(0.0, 5.0))


@settings(max_examples=15, deadline=None)
@given(SHOWERS)
def test_no_water_is_lost_in_the_tank(rain):
    tank = QUIET.respond(rain, np.random.default_rng(0))
    kept = np.cumsum(tank.inflow - tank.outflow - tank.overflow)
    np.testing.assert_allclose(tank.stored, kept, atol=1e-8 * max(1.0, tank.inflow.sum()))
    assert (tank.stored >= 0).all()
    assert (tank.stored <= QUIET.capacity).all()
    assert min(tank.outflow.min(), tank.overflow.min()) >= 0
    # it flows over only where it is full
    assert (tank.stored[tank.overflow > 0] == QUIET.capacity).all()
    np.testing.assert_allclose(tank.level, 100.0 * tank.stored / QUIET.capacity)


def test_the_two_ways_of_the_runoff_by_hand():
    tank = Tank(noise=0.0, wetting=0.0, drying=0.0, area=1.0, fast_share=0.5, fast=(1, 1, 1.0), slow=(2, 1, 3.0))
    inflow = tank.respond(np.r_[1.0, np.zeros(5)], np.random.default_rng(0)).inflow
    fast = np.r_[0.0, 5.0 * 0.5 ** np.arange(1, 6)]
    slow = np.r_[0.0, 0.0, 5.0 * 0.25 * 0.75 ** np.arange(4)]
    np.testing.assert_allclose(inflow, fast + slow)


def test_the_default_series_is_what_one_would_measure():
    series = simulate_tank()
    assert len(series.rain) == 20_000
    assert series.level.min() >= 0
    assert series.level.max() == 100
    assert 0.001 < np.mean(series.overflow > 0) < 0.03
    assert 500 < series.fallen.sum() * 52_560 / 20_000 < 1500  # mm a year
    assert 0.7 < np.mean(series.rain == 0) < 0.95
    assert np.corrcoef(series.rain, series.fallen)[0, 1] > 0.9
    # bursts: a wet step is followed by a wet one far more often than a dry one is
    wet = series.fallen > 0
    assert wet[1:][wet[:-1]].mean() > 0.8
    assert wet[1:][~wet[:-1]].mean() < 0.1
    climate = RainClimate(hours_between_storms=12.0, cells_per_storm=3.0, cell_hours=1.0, cell_intensity=0.5)
    rain = simulate_rain(400_000, np.random.default_rng(0), climate)
    per_hour = climate.cells_per_storm * climate.cell_hours * climate.cell_intensity / climate.hours_between_storms
    assert rain.mean() * 6 == pytest.approx(per_hour, rel=0.05)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: simulate_tank(0), "n_records=0 is not a number of records; use 1 or more"),
        (lambda: simulate_tank(10, gauge_error=-0.1), "gauge_error=-0.1 is not a part of the rain; use 0 or more"),
        (lambda: QUIET.respond(np.array([0.0, -1.0]), np.random.default_rng(0)), r"rain\[1\]=-1 is not an amount of rain"),
        (lambda: QUIET.respond(np.array([np.nan]), np.random.default_rng(0)), r"rain\[0\]=nan is not an amount of rain"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()


def test_without_an_error_of_the_gauge():
    exact = simulate_tank(2000, 3, gauge_error=0.0)
    assert np.array_equal(exact.rain, exact.fallen)
    assert np.array_equal(exact.level, simulate_tank(2000, 3).level)
