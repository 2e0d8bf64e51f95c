"""Correlation functions of the scaled squared distance r2 = sum_j theta_j d_j^2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SurrogateError

Floats = NDArray[np.float64]


class Correlation(Protocol):
    """A correlation function: 1 at distance 0 and decreasing."""

    @property
    def name(self) -> str:
        """Name of the correlation function."""
        ...

    def value(self, r2: Floats) -> Floats:
        """Return the correlation at squared distances r2 >= 0."""
        ...

    def slope(self, r2: Floats) -> Floats:
        """Return its derivative by r2."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """exp(-r2) (Koch et al. 2011, eq. 4): very smooth responses.

    Notes
    -----
    Equation :eq:`gaussian-correlation` of the chapter :doc:`/method/index`.
    """

    name: str = "gaussian"

    def value(self, r2: Floats) -> Floats:
        """Return the correlation at squared distances r2 >= 0."""
        return np.exp(-r2)

    def slope(self, r2: Floats) -> Floats:
        """Return its derivative by r2."""
        return -np.exp(-r2)


@dataclass(frozen=True)
class Matern52:
    """(1 + s + s^2 / 3) exp(-s) with s = sqrt(5 r2): responses that are twice differentiable (Rasmussen, Williams 2006, 4.17).

    Notes
    -----
    Equation :eq:`matern-correlation` of the chapter :doc:`/method/index`.
    """

    name: str = "matern52"

    def value(self, r2: Floats) -> Floats:
        """Return the correlation at squared distances r2 >= 0."""
        s = np.sqrt(5.0 * r2)
        return (1.0 + s + s * s / 3.0) * np.exp(-s)

    def slope(self, r2: Floats) -> Floats:
        """Return its derivative by r2."""
        s = np.sqrt(5.0 * r2)
        return -(5.0 / 6.0) * (1.0 + s) * np.exp(-s)


CORRELATIONS: dict[str, Correlation] = {c.name: c for c in (Gaussian(), Matern52())}


def get_correlation(name: str) -> Correlation:
    """Return the correlation function of a name; SurrogateError if the name is unknown."""
    if name not in CORRELATIONS:
        raise SurrogateError(f"correlation={name!r} is unknown; use one of {', '.join(sorted(CORRELATIONS))}")
    return CORRELATIONS[name]


def is_matern(correlation: Correlation) -> bool:
    """Return True for Matern 5/2 and False for Gaussian, as the compiled functions expect."""
    return correlation.name == "matern52"
