"""An acquisition function of the predicted mean and standard deviation, with any model that predicts them, on the unit cube."""

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

_LEAST = 1e-300  # of a chance, and of the logarithm of a weight the largest, so that all are numbers
_LARGEST = 600.0


class Predictor(Protocol):
    """What the criterion asks of a model."""

    @property
    def embedding(self) -> Embedding:
        """From model inputs to the space of the chances."""
        ...

    @property
    def unit(self) -> float:
        """A unit of the response."""
        ...

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the predicted response at model inputs, and its standard error; shapes (m,)."""
        ...

    def believe(self, inputs: Floats) -> Self:
        """Return the model that has seen its own predictions at further model inputs come true."""
        ...


class PointwiseAcquisition:
    """An acquisition function of a model's predictions, weighted with each chance and saving; see `AveragedImprovement`.

    An acquisition function that takes `best` is an improvement, and larger is better. One that takes the mean and the standard
    deviation alone is a bound of the response, and smaller is better; the criterion is by how much the bound is below `best`.
    Chances multiply the criterion where it is positive, and divide it where it is negative; the logarithm of the expected
    improvement has theirs added.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    models : Predictor
        The fitted model.
    acquisition : callable
        Such as the functions of `spotsvm.acquisition`.
    best : float
        The response to improve on.
    chances : sequence of Chance
        Of success, where some evaluations have failed, and of what else must hold.
    bounded : bool
        Whether there are bounds, so that no prediction at a pending point is improved on.
    savings : sequence of Chance
        What an evaluation saves, as `saving` models it.
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
        """Return the criterion for a model that has seen its own predictions at pending points come true (Kriging believer)."""
        best = self._best if self._bounded else min(self._best, float(np.min(self._models.predict(inputs)[0])))
        return self._changed(_models=self._models.believe(inputs), _best=best)

    def whatever_it_costs(self) -> PointwiseAcquisition:
        """Return the criterion without what an evaluation saves."""
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
        """Return values of the criterion with weights, given as logarithms."""
        if self._is_log:
            return np.asarray(values + log_weights)
        exponents = np.clip(np.where(values > 0, log_weights, -log_weights), -_LARGEST, _LARGEST)
        return np.asarray(values * np.exp(exponents))

    def log_gain(self, point: Floats) -> float:
        """Return ln of the expected improvement at a canonical point, in units of the model, whatever the criterion is."""
        mean, error = self._models.predict(self._domain.model_inputs(point[None]))
        return float(log_expected_improvement(mean, error, self._best)[0] - np.log(self._models.unit))

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some of the continuous coordinates, shape (d,), and the criterion there."""
        return pattern_search(self.value, point, free, evaluations)


def takes_best(acquisition: AcquisitionFunction) -> bool:
    """Return whether an acquisition function takes the response to improve on, by the name `best`."""
    return "best" in inspect.signature(acquisition).parameters


def _function(acquisition: Any) -> Any:
    while isinstance(acquisition, partial):
        acquisition = acquisition.func
    return acquisition
