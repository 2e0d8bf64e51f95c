"""An acquisition function of the predicted mean and standard deviation of any model, on the unit cube."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.surrogates.acquisition.acquisition import log_expected_improvement
from spotsvm.surrogates.acquisition.chance import Chance
from spotsvm.surrogates.acquisition.maximize_acquisition import pattern_search
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.embedding import Embedding

Floats = NDArray[np.float64]
AcquisitionFunction = Callable[..., Any]

_LEAST = 1e-300  # smallest chance, and largest size of a log weight, so that all values are finite
_LARGEST = 600.0


class Predictor(Protocol):
    """The interface that the criterion needs of a model."""

    @property
    def embedding(self) -> Embedding:
        """Map from model inputs to the space of the chances."""
        ...

    @property
    def unit(self) -> float:
        """A unit of the response."""
        ...

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the predicted response at model inputs, and its standard error; shapes (m,)."""
        ...

    def believe(self, inputs: Floats) -> Self:
        """Return the model with its own predictions at further model inputs added as data."""
        ...


class PointwiseAcquisition:
    """An acquisition function of a model's predictions, weighted with each chance and saving; see `AveragedImprovement`.

    An acquisition function that takes `best` is an improvement: larger is better. A function of the mean and the standard
    deviation alone is a bound of the response: smaller is better, and the criterion is `best` minus the bound. Chances multiply
    the criterion where it is positive, and divide it where it is negative; to the logarithm of the expected improvement their
    logarithms are added.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    models : Predictor
        The fitted model.
    acquisition : callable
        A function such as those of `spotsvm.acquisition`.
    best : float
        The response to improve on.
    chances : sequence of Chance
        The chance of success, if some evaluations have failed, and of each bound that must hold.
    bounded : bool
        Whether there are bounds; if so, `best` is not updated by predictions at pending points.
    savings : sequence of Chance
        Models of the savings of an evaluation, made by `saving`.
    """

    def __init__(
        self,
        domain: Domain,
        models: Predictor,
        acquisition: AcquisitionFunction,
        best: float,
        chances: Sequence[Chance] = (),
        bounded: bool = False,
        savings: Sequence[Chance] = (),
    ):
        self._domain, self._models, self._acquisition, self._best = domain, models, acquisition, best
        self._chances, self._bounded, self._savings = tuple(chances), bounded, tuple(savings)
        self._improves = takes_best(acquisition)
        self._is_log = _function(acquisition) is log_expected_improvement

    def believe(self, inputs: Floats) -> PointwiseAcquisition:
        """Return the criterion with the model's own predictions at pending points added as data (Kriging believer)."""
        best = self._best if self._bounded else min(self._best, float(np.min(self._models.predict(inputs)[0])))
        return self._changed(_models=self._models.believe(inputs), _best=best)

    def whatever_it_costs(self) -> PointwiseAcquisition:
        """Return the criterion without savings."""
        return self._changed(_savings=()) if self._savings else self

    def _changed(self, **parts: Any) -> PointwiseAcquisition:
        new = copy(self)
        new.__dict__.update(parts)
        return new

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        inputs = self._domain.model_inputs(points)
        mean, error = self._models.predict(inputs)
        if self._improves:
            values = np.asarray(self._acquisition(mean, error, self._best), dtype=float)
        else:
            values = self._best - np.asarray(self._acquisition(mean, error), dtype=float)
        if values.shape != mean.shape:
            raise SolverError(f"acquisition={self._acquisition!r} returned shape {values.shape}; return one value for each mean")
        values = np.where(np.isnan(values), -np.inf, values)
        return self._with_chances(values, inputs) if self._chances or self._savings else values

    def _with_chances(self, values: Floats, inputs: Floats) -> Floats:
        embedded = self._models.embedding.transform(inputs)
        weight = np.zeros(len(values))
        for chance in self._chances:
            weight += chance.power * np.log(np.maximum(chance.at(embedded), _LEAST))
        for saving in self._savings:
            weight += saving.mean(embedded)
        return self.weighted(values, weight)

    def weighted(self, values: Floats, log_weights: Floats) -> Floats:
        """Return values of the criterion, weighted; the weights are given as logarithms."""
        if self._is_log:
            return np.asarray(values + log_weights)
        exponents = np.clip(np.where(values > 0, log_weights, -log_weights), -_LARGEST, _LARGEST)
        return np.asarray(values * np.exp(exponents))

    def log_gain(self, point: Floats) -> float:
        """Return ln of the expected improvement at a canonical point, in units of the model, for every criterion."""
        mean, error = self._models.predict(self._domain.model_inputs(point[None]))
        return float(log_expected_improvement(mean, error, self._best)[0] - np.log(self._models.unit))

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some of the continuous coordinates, shape (d,), and the criterion there."""
        return pattern_search(self.value, point, free, evaluations)


def takes_best(acquisition: AcquisitionFunction) -> bool:
    """Return whether an acquisition function has a parameter `best`, the response to improve on."""
    return "best" in inspect.signature(acquisition).parameters


def _function(acquisition: Any) -> Any:
    while isinstance(acquisition, partial):
        acquisition = acquisition.func
    return acquisition
