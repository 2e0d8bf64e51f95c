"""A tank's level from rain: a stand-in for the stormwater problem of Koch et al. 2011, whose data are not public."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import randint, uniform
from sklearn.svm import SVR

from spotsvm.studies.common.data import Floats, Params
from spotsvm.studies.tasks.svm import fitted

_LENGTH = 4000
_ROWS = 260


def simulated_rain(rng: np.random.Generator) -> Floats:
    """Return bursts of rain: dry and wet spells of random length, each wet one with an intensity of its own."""
    rain = np.zeros(_LENGTH)
    wet, intensity = False, 0.0
    for t in range(_LENGTH):
        if wet:
            wet = rng.random() > 0.06
        elif rng.random() < 0.015:
            wet, intensity = True, rng.gamma(0.9, 1.0)
        if wet:
            rain[t] = intensity * rng.gamma(1.5, 1.0)
    return rain


def tank_level(rain: Floats, delay: float, drain: float) -> Floats:
    """Return the level, 0 to 100, of a tank that fills through a quick and a slow reservoir and drains as its root."""
    levels = np.zeros(len(rain))
    quick = slow = level = 0.0
    for t, fallen in enumerate(rain):
        quick += (fallen - quick) / delay
        slow += (quick - slow) / (3.0 * delay)
        inflow = 0.6 * quick + 0.4 * slow
        level = level + inflow - drain * np.sqrt(max(level, 0.0)) - 0.02 * max(level - 20.0, 0.0)
        levels[t] = level = min(max(level, 0.0), 100.0)
    return np.asarray(levels * (100.0 / levels.max()))


def leaky(rain: Floats, decay: float, window: int) -> Floats:
    """Return the sum of the last window + 1 values, each weighed by the decay to the power of its age."""
    return np.convolve(rain, decay ** np.arange(window + 1))[: len(rain)]


class StormwaterError:
    """Root mean squared error of an SVR that tells a tank's level from rain, on a later block of time.

    Nine parameters: of each of two leaky sums of the rain its decay, its window and how many past values of it are features;
    and the machine's gamma, epsilon and C.

    Parameters
    ----------
    seed : int, default=11
        Seed of the simulated rain.
    delay : float, default=6.0
        Delay of the quick reservoir, in steps.
    drain : float, default=0.15
        How fast the tank drains.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.
    """

    _train = np.linspace(200, 1900, _ROWS).astype(int)
    _later = np.linspace(2100, 3900, _ROWS).astype(int)

    def __init__(self, seed: int = 11, delay: float = 6.0, drain: float = 0.15):
        self._seed, self._delay, self._drain = seed, delay, drain

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        return {
            "D1": randint(2, 61),
            "D2": randint(2, 61),
            "lambda1": uniform(1e-5, 0.3 - 1e-5),
            "lambda2": uniform(1e-5, 0.3 - 1e-5),
            "W1": randint(50, 121),
            "W2": randint(50, 121),
            "gamma": uniform(0.005, 0.295),
            "epsilon": uniform(0.005, 0.295),
            "C": uniform(1.0, 9.0),
        }

    @property
    def default(self) -> dict[str, float]:
        """SVR's own parameters, and of the rain the middle of what is searched."""
        of_rain = {"D1": 31, "D2": 31, "lambda1": 0.15, "lambda2": 0.15, "W1": 85, "W2": 85}
        return of_rain | {"gamma": 1 / 62, "epsilon": 0.1, "C": 1.0}

    @cached_property
    def _series(self) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(self._seed)
        rain = simulated_rain(rng)
        level = tank_level(rain, self._delay, self._drain) + rng.normal(0.0, 0.4, _LENGTH)
        return rain / rain.std(), level

    def _features(self, params: Params) -> tuple[Floats, Floats]:
        """Return the training rows and the later ones."""
        parts = []
        for i in (1, 2):
            flow = leaky(self._series[0], params[f"lambda{i}"], params[f"W{i}"])
            flow = (flow - flow[200:1900].mean()) / flow[200:1900].std()
            past = np.arange(params[f"D{i}"])
            parts.append([flow[rows[:, None] - past] for rows in (self._train, self._later)])
        return np.hstack([part[0] for part in parts]), np.hstack([part[1] for part in parts])

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting."""
        level = self._series[1]
        known = level[self._train]
        rows, later_rows = self._features(params)
        machine = SVR(C=params["C"], gamma=params["gamma"], epsilon=params["epsilon"])
        fitted(machine, rows, (known - known.mean()) / known.std())
        predicted = machine.predict(later_rows) * known.std() + known.mean()
        return float(np.sqrt(np.mean((predicted - level[self._later]) ** 2)))
