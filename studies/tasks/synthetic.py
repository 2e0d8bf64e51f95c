"""Functions with a known minimum, plain and with noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import uniform

from studies.common.data import Floats

BRANIN_MINIMUM = 0.397887357729738
HARTMANN6_MINIMUM = -3.322368011415515

# Dixon and Szego 1978
_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_SCALE = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]], dtype=float
)
_CENTRE = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def branin(x: Floats) -> float:
    """Return Branin's function on [-5, 10] x [0, 15]; three minima of 0.397887.

    Examples
    --------
    >>> round(branin(np.array([np.pi, 2.275])), 6)
    0.397887
    """
    bowl = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 / np.pi * x[0] - 6
    return float(bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10)


def hartmann6(x: Floats) -> float:
    """Return Hartmann's function of six variables on the unit cube; its minimum is -3.322368.

    Examples
    --------
    >>> round(hartmann6(np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])), 5)
    -3.32237
    """
    return -float(_ALPHA @ np.exp(-np.sum(_SCALE * (x - _CENTRE) ** 2, axis=1)))


def rosenbrock(x: Floats) -> float:
    """Return Rosenbrock's valley; its minimum is 0, where all coordinates are 1.

    Examples
    --------
    >>> rosenbrock(np.array([1.0, 1.0, 1.0]))
    0.0
    """
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


class SyntheticFunction:
    """A function of x0, x1, ... in a box, with normal noise if it has any.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,).
    bounds : sequence of (float, float)
        Of each variable.
    noise : float, default=0.0
        Standard deviation of what is added to the function, drawn from the seed of the evaluation.
    """

    def __init__(self, function: Callable[[Floats], float], bounds: Sequence[tuple[float, float]], noise: float = 0.0):
        self._function, self._bounds, self._noise = function, tuple(bounds), noise

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        return {f"x{i}": uniform(low, high - low) for i, (low, high) in enumerate(self._bounds)}

    @property
    def default(self) -> None:
        """A function has no settings of its own."""

    def truth(self, params: Mapping[str, float]) -> float:
        """Return the function itself."""
        return self._function(np.array([params[f"x{i}"] for i in range(len(self._bounds))]))

    def __call__(self, params: Mapping[str, float], seed: int = 0) -> float:
        """Evaluate a setting."""
        error = self._noise * float(np.random.default_rng([seed, 77]).standard_normal()) if self._noise else 0.0
        return self.truth(params) + error
