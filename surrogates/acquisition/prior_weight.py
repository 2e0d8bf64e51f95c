"""An acquisition function times a power of the user's prior density of the optimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.maximize_acquisition import pattern_search

Floats = NDArray[np.float64]


class Weighable(Protocol):
    """A criterion that can be weighted."""

    def value(self, points: Floats) -> Floats:
        """Return the values at points of shape (m, d); shape (m,)."""
        ...

    def weighted(self, values: Floats, log_weights: Floats) -> Floats:
        """Return values of the criterion, weighted; the weights are given as logarithms."""
        ...


class PriorWeighted:
    """A criterion, weighted with a power of a prior of the optimum.

    Parameters
    ----------
    criterion : AveragedImprovement or PointwiseAcquisition
        The criterion.
    log_density : callable
        Returns ln of the density at canonical points.
    power : float
        Power of the density; a search sets it to beta / n after n evaluations.

    Notes
    -----
    Equation :eq:`prior-weight` of the chapter :doc:`/method/index`.

    References
    ----------
    Hvarfner, Stoll, Souza, Lindauer, Hutter, Nardi 2022, "piBO: Augmenting Acquisition Functions with User Beliefs for Bayesian
    Optimization", equation 6.
    """

    def __init__(self, criterion: Weighable, log_density: Callable[[Floats], Floats], power: float):
        self._criterion, self._log_density, self._power = criterion, log_density, power

    def value(self, points: Floats) -> Floats:
        """Return the weighted criterion at canonical points; shape (m,)."""
        return self._criterion.weighted(self._criterion.value(points), self._power * self._log_density(points))

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some of the continuous coordinates, shape (d,), and the weighted criterion there."""
        return pattern_search(self.value, point, free, evaluations)
