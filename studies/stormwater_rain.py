"""Simulated rain: storms of cells, as point processes of hydrology have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]

STEP_MINUTES = 10


class RainClimate(NamedTuple):
    """Rates of the storms and their cells; the defaults are of a temperate climate, about 900 mm a year.

    Parameters
    ----------
    hours_between_storms : float, default=24.0
        Mean time from one storm's beginning to the next one's.
    cells_per_storm : float, default=6.0
        Mean number of cells, at least 1.
    hours_between_cells : float, default=2.0
        Mean time from one cell's beginning to the next one's in a storm.
    cell_hours : float, default=1.2
        Mean duration of a cell.
    cell_intensity : float, default=0.4
        Mean of the cells' intensities, mm per hour.
    shape : float, default=0.8
        Shape of the gamma distribution of the cells' intensities; below 1 few cells bring most of the rain.
    roughness : float, default=0.5
        Coefficient of variation of the rain of a step about its cell's intensity.
    """

    hours_between_storms: float = 24.0
    cells_per_storm: float = 6.0
    hours_between_cells: float = 2.0
    cell_hours: float = 1.2
    cell_intensity: float = 0.4
    shape: float = 0.8
    roughness: float = 0.5


def simulate_rain(n_records: int, rng: np.random.Generator, climate: RainClimate | None = None) -> Floats:
    """Give rain in mm per step of 10 minutes: bursts in wet spells, and dry spells between them.

    Storms begin at random (a Poisson process); each has a geometric number of cells, which begin at random after it; a cell has
    an exponential duration and a gamma distributed intensity, which the rain of its steps varies about. Cells add up.

    Parameters
    ----------
    n_records : int
        Number of steps, at least 1.
    rng : numpy.random.Generator
        Source of all randomness.
    climate : RainClimate, optional
        Rates of the storms and their cells.

    Returns
    -------
    ndarray of shape (n_records,)
        Rain, mm in the step that ends there, rounded to 0.01 mm.

    Raises
    ------
    ArgumentError
        If `n_records` is not positive.

    References
    ----------
    Rodriguez-Iturbe, Cox, Isham 1987, "Some models for rainfall based on stochastic point processes", section 4 (the
    Bartlett-Lewis model of rectangular pulses).

    Examples
    --------
    >>> rain = simulate_rain(1008, np.random.default_rng(0))  # a week
    >>> rain.shape, bool((rain >= 0).all()), bool((rain == 0).mean() > 0.5)
    ((1008,), True, True)
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
    """Add a cell that lasts from one time to another, in steps; the first and the last step get their part of the amount."""
    steps = np.arange(int(first), int(np.ceil(last)))
    share = np.minimum(steps + 1, last) - np.maximum(steps, first)
    varied = rng.gamma(1.0 / roughness**2, roughness**2, len(steps))
    within = steps < len(rain)
    rain[steps[within]] += (amount * share * varied)[within]
