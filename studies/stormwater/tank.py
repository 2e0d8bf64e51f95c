"""A simulated stormwater tank: rain runs off fast and slowly, fills the tank, drains through a throttle, and overflows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.signal import lfilter

from spotsvm.errors import ArgumentError
from spotsvm.studies.common.data import Floats

STEP_MINUTES = 10


class RainClimate(NamedTuple):
    """Rates of storms and their cells; the defaults describe a temperate climate with about 900 mm a year.

    Intensity in mm per hour, its gamma's `shape` below 1: a few cells bring most of the rain; `roughness`: variation of a step's
    rain.
    """

    hours_between_storms: float = 24.0
    cells_per_storm: float = 6.0
    hours_between_cells: float = 2.0
    cell_hours: float = 1.2
    cell_intensity: float = 0.4
    shape: float = 0.8
    roughness: float = 0.5


def simulate_rain(n_records: int, rng: np.random.Generator, climate: RainClimate | None = None) -> Floats:
    """Return rain in mm per step of 10 minutes, rounded to 0.01: bursts in wet spells, and dry spells between them.

    The Bartlett-Lewis model of rectangular pulses (Rodriguez-Iturbe, Cox, Isham 1987, section 4): Poisson storms, a geometric
    number of cells of exponential duration and gamma intensity, which add up.
    """
    if n_records < 1:
        raise ArgumentError(f"n_records={n_records} is not a number of records; use 1 or more")
    climate = climate or RainClimate()
    per_hour = 60.0 / STEP_MINUTES
    rain = np.zeros(n_records)
    begins = 0.0
    while True:
        begins += rng.exponential(climate.hours_between_storms)
        if begins * per_hour >= n_records:
            return np.round(rain, 2)
        cells = rng.geometric(1.0 / climate.cells_per_storm)
        delays = np.concatenate([[0.0], np.cumsum(rng.exponential(climate.hours_between_cells, cells - 1))])
        hours = rng.exponential(climate.cell_hours, cells)
        intensities = rng.gamma(climate.shape, climate.cell_intensity / climate.shape, cells)
        for delay, duration, intensity in zip(delays, hours, intensities, strict=True):
            first = (begins + delay) * per_hour
            _add_cell(rain, first, first + duration * per_hour, intensity / per_hour, climate.roughness, rng)


def _add_cell(rain: Floats, first: float, last: float, amount: float, roughness: float, rng: np.random.Generator) -> None:
    """Add a cell from time `first` to time `last`, in steps; the first and the last step get their part of the amount."""
    steps = np.arange(int(first), int(np.ceil(last)))
    share = np.minimum(steps + 1, last) - np.maximum(steps, first)
    varied = rng.gamma(1.0 / roughness**2, roughness**2, len(steps))
    within = steps < len(rain)
    rain[steps[within]] += (amount * share * varied)[within]


_M3_PER_MM_AND_HECTARE = 10.0


@dataclass(frozen=True)
class TankSeries:
    """The state of a tank under rain, (n_records,) each, with a value for each step of 10 minutes.

    `rain` (gauge) and `fallen` (catchment) in mm, flows and `stored` (end of the step) in m3, `level` measured, 0 to 100 %.
    """

    rain: Floats
    fallen: Floats
    runoff: Floats
    inflow: Floats
    outflow: Floats
    overflow: Floats
    stored: Floats
    level: Floats

    def frame(self, start: str = "2001-04-01") -> pd.DataFrame:
        """Return a table of time, rain (mm) and level (%), as in a user's CSV file."""
        times = pd.date_range(start, periods=len(self.rain), freq=f"{STEP_MINUTES}min")
        return pd.DataFrame({"time": times, "rain_mm": self.rain, "level": self.level})


@dataclass(frozen=True)
class Tank:
    """A tank and its catchment (Koch et al. 2011, 3.2.1, whose data are not public), in m3, hectares, mm and steps.

    Rain fills a store (`wetting`); the rest runs off fast and slow: (delay, reservoirs, mean time in each), in steps of 10
    minutes (Nash 1957). The outflow goes with the root of the level, as of an orifice.
    """

    area: float = 20.0
    wetting: float = 1.0
    drying: float = 0.01
    fast_share: float = 0.65
    fast: tuple[int, int, float] = (1, 1, 1.0)
    slow: tuple[int, int, float] = (3, 2, 3.0)
    capacity: float = 300.0
    throttle: float = 24.0
    noise: float = 1.0

    def respond(self, rain: Floats, rng: np.random.Generator) -> TankSeries:
        """Return the state of an initially empty tank under this rain, in mm per step; `rng` draws the measurement noise."""
        rain = np.asarray(rain, dtype=np.float64)
        wrong = ~(rain >= 0) | ~np.isfinite(rain)
        if wrong.any():
            raise ArgumentError(f"rain[{np.argmax(wrong)}]={rain[wrong][0]:g} is not an amount of rain; use 0 or more")
        runoff = self._left_to_run_off(rain) * self.area * _M3_PER_MM_AND_HECTARE
        inflow = self.fast_share * _routed(runoff, *self.fast) + (1.0 - self.fast_share) * _routed(runoff, *self.slow)
        stored, outflow, overflow = self._storage(inflow)
        level = np.clip(100.0 * stored / self.capacity + rng.normal(0.0, self.noise, len(rain)), 0.0, 100.0)
        return TankSeries(rain, rain, runoff, inflow, outflow, overflow, stored, level)

    def _left_to_run_off(self, rain: Floats) -> Floats:
        """Return the rain minus the water that wets the ground, in mm."""
        left = np.empty_like(rain)
        wet = 0.0
        for t, fallen in enumerate(rain.tolist()):
            wet = max(wet - self.drying, 0.0) + fallen
            left[t] = max(wet - self.wetting, 0.0)
            wet -= left[t]
        return left

    def _storage(self, inflow: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the volume at the end of each step, the outflow through the throttle, and the overflow."""
        stored, outflow, overflow = (np.empty_like(inflow) for _ in range(3))
        volume = 0.0
        for t, arrived in enumerate(inflow.tolist()):
            volume += arrived
            outflow[t] = min(volume, self.throttle * (volume / self.capacity) ** 0.5)
            volume -= outflow[t]
            overflow[t] = max(volume - self.capacity, 0.0)
            volume -= overflow[t]
            stored[t] = volume
        return stored, outflow, overflow


def _routed(runoff: Floats, lag: int, reservoirs: int, time: float) -> Floats:
    """Delay the runoff, and send it through linear reservoirs; in a step, 1 / (1 + time) of the content of each flows out."""
    keeps = time / (1.0 + time)
    arrived = np.concatenate([np.zeros(lag), runoff])[: len(runoff)]
    for _ in range(reservoirs):
        arrived = lfilter([1.0 - keeps], [1.0, -keeps], arrived)
    return np.asarray(arrived)


def simulate_tank(
    n_records: int = 20_000,
    seed: int = 0,
    *,
    tank: Tank | None = None,
    climate: RainClimate | None = None,
    gauge_error: float = 0.3,
) -> TankSeries:
    """Simulate rain in steps of 10 minutes, and the tank under it; the same seed gives the same series.

    `gauge_error` is the coefficient of variation of the rain at the gauge about that of the catchment, in a step.
    """
    if not 0 <= gauge_error < np.inf:
        raise ArgumentError(f"gauge_error={gauge_error} is not a part of the rain; use 0 or more")
    rain_rng, level_rng, gauge_rng = np.random.default_rng(seed).spawn(3)
    series = (tank or Tank()).respond(simulate_rain(n_records, rain_rng, climate), level_rng)
    if not gauge_error:
        return series
    spread = gauge_error**2
    return replace(series, rain=np.round(series.fallen * gauge_rng.gamma(1.0 / spread, spread, n_records), 2))
