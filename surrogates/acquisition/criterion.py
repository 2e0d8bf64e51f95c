"""The criteria that a search maximises over the unit cube: acquisition functions with chances, savings and a prior."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.surrogates.acquisition.acquisition import log_expected_improvement
from spotsvm.surrogates.acquisition.chance import Chance, stacked
from spotsvm.surrogates.acquisition.maximize_acquisition import pattern_search
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import Embedding, is_matern
from spotsvm.surrogates.kriging.ensemble import Models
from spotsvm.surrogates.kriging.process import Process

Floats = NDArray[np.float64]
Criterion = Literal["reinterpolation", "plain"]

_LEAST = 1e-300  # smallest chance, and largest size of a log weight, so that all values are finite
_LARGEST = 600.0


@dataclass(frozen=True)
class _Term:
    """One member's part: a process, the response to improve on, and ln of the slope of the inverse warp there."""

    process: Process
    best: float
    log_unit: float


class WeightedCriterion:
    """The common part of the criteria: copies with other parts, chances and savings, and a climb without a gradient."""

    _chances: tuple[Chance, ...] = ()
    _savings: tuple[Chance, ...] = ()

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        raise NotImplementedError

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some of the continuous coordinates, shape (d,), and the criterion there."""
        return pattern_search(self.value, point, free, evaluations)

    def weighted(self, values: Floats, log_weights: Floats) -> Floats:
        """Return values of the criterion, weighted; the weights are given as logarithms."""
        return values + log_weights

    def log_gain(self, point: Floats) -> float:
        """Return ln of the expected improvement at a canonical point, with the chances and without savings."""
        return float(self.cost_blind().value(point[None])[0])

    def believe(self, inputs: Floats) -> Self:
        """Return the criterion with the model's own predictions at pending points added as data (Kriging believer)."""
        raise NotImplementedError

    def cost_blind(self) -> Self:
        """Return the criterion without savings."""
        return self._changed(_savings=()) if self._savings else self

    def log_weights(self, embedded: Floats) -> Floats:
        """Return the sum of ln of each chance to its power and of the savings at embedded points; shape (m,)."""
        weight = np.zeros(len(embedded))
        for chance in self._chances:
            weight += chance.power * np.log(np.maximum(chance.at(embedded), _LEAST))
        for saving in self._savings:
            weight += saving.mean(embedded)
        return weight

    def _changed(self, **parts: Any) -> Self:
        new = copy(self)
        new.__dict__.update(parts)
        new.__dict__.pop("_compiled", None)
        return new


class AveragedImprovement(WeightedCriterion):
    """ln of the members' mean expected improvement, in units of the warp, plus ln of chances and savings (:eq:`criterion`).

    "reinterpolation" improves on the best prediction at a point (Forrester, Sobester, Keane 2008). `held` marks points where all
    bounds hold: it improves on their best, or on the worst response if there is none.
    """

    def __init__(
        self,
        domain: Domain,
        models: Models,
        criterion: Criterion,
        chances: Sequence[Chance] = (),
        held: NDArray[np.bool_] | None = None,
        savings: Sequence[Chance] = (),
    ):
        self._domain = domain
        self._embedding: Embedding = models.embedding
        self._numeric = np.array(models.embedding.numeric, dtype=np.intp)
        self._chances = tuple(chances)
        self._savings = tuple(savings)
        self._bounded = held is not None
        self._terms: list[_Term] = []
        for member in models.members:
            noisy = criterion == "reinterpolation"
            process = member.process.reinterpolate() if noisy else member.process
            responses = process.fitted if noisy else member.response.mean
            best = float(np.min(responses) if held is None else np.min(responses[held]) if held.any() else np.max(responses))
            if not process.sigma2 > 0:  # the model sees noise alone: its error still shows where it is least certain
                process = process.with_variance(1.0)
            self._terms.append(_Term(process, best, float(member.log_slope(np.asarray(best)))))

    @cached_property
    def _compiled(self) -> tuple[Any, ...]:
        """The arguments of the compiled functions in order; in one memory layout, so that they are compiled once."""
        processes = [term.process for term in self._terms]
        return (
            *stacked_processes(processes),
            np.array([term.best for term in self._terms]),
            np.array([term.log_unit for term in self._terms]),
            *stacked([*self._chances, *self._savings], processes[0].points.shape[1]),
            len(self._chances),
        )

    def believe(self, inputs: Floats) -> Self:
        """Return the criterion with the models' own predictions at pending points added as data (Kriging believer).

        Ginsbourger, Le Riche, Carraro 2010. The points differ from each other and from the data; NotPositiveDefiniteError if they
        are too close.
        """
        further = self._embedding.transform(inputs)
        terms = []
        for term in self._terms:
            process = term.process.believe(further)
            best = term.best if self._bounded else min(term.best, float(np.min(process.fitted[-len(further) :])))
            terms.append(replace(term, process=process, best=best))
        return self._changed(_terms=terms)

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        from spotsvm.surrogates.acquisition._improvement_kernels import improvements

        return np.asarray(improvements(self._compiled, self._embed(points)))

    def value_and_gradient(self, point: Floats) -> tuple[float, Floats]:
        """Return the criterion at one point and its gradient in the numeric coordinates (0 in the categorical ones)."""
        from spotsvm.surrogates.acquisition._improvement_kernels import improvement_with_gradient

        embedded = self._embed(point)[0]
        along = np.empty(len(embedded))
        value = improvement_with_gradient(self._compiled, embedded, along)
        out = np.zeros(self._domain.dimension)
        out[self._numeric] = along[: len(self._numeric)]
        return float(value), out

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some of the continuous coordinates, shape (d,), and the criterion there."""
        from spotsvm.surrogates.acquisition._improvement_kernels import climb

        embedded = self._embed(point)[0]
        columns = np.flatnonzero(free[self._numeric])
        value = climb(self._compiled, embedded, columns, evaluations)
        maximum = point.copy()
        maximum[self._numeric[columns]] = embedded[columns]
        return maximum, float(value)

    def _embed(self, points: Floats) -> Floats:
        return np.ascontiguousarray(self._embedding.transform(self._domain.model_inputs(points)))


def stacked_processes(processes: Sequence[Process]) -> tuple[Any, ...]:
    """Return the arguments of the compiled functions that describe processes of the same data."""
    return (
        is_matern(processes[0].correlation),
        np.ascontiguousarray(np.stack([p.points for p in processes])),
        np.stack([p.scale for p in processes]),
        np.stack([p.L.T for p in processes]),
        np.stack([p.a for p in processes]),
        np.stack([p.half_one for p in processes]),
        np.array([p.mu for p in processes]),
        np.array([p.sigma2 for p in processes]),
    )


AcquisitionFunction = Callable[..., Any]


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


class PointwiseAcquisition(WeightedCriterion):
    """An acquisition function of a model's predictions, weighted with each chance and saving; see `AveragedImprovement`.

    With `best` among its arguments it is an improvement; otherwise a bound, and the criterion is `best` minus it. Chances
    multiply it where it is positive, and divide it where it is negative.
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

    def believe(self, inputs: Floats) -> Self:
        """Return the criterion with the model's own predictions at pending points added as data (Kriging believer)."""
        best = self._best if self._bounded else min(self._best, float(np.min(self._models.predict(inputs)[0])))
        return self._changed(_models=self._models.believe(inputs), _best=best)

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
        if not (self._chances or self._savings):
            return values
        return self.weighted(values, self.log_weights(self._models.embedding.transform(inputs)))

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


def takes_best(acquisition: AcquisitionFunction) -> bool:
    """Return whether an acquisition function has a parameter `best`, the response to improve on."""
    return "best" in inspect.signature(acquisition).parameters


def _function(acquisition: Any) -> Any:
    while isinstance(acquisition, partial):
        acquisition = acquisition.func
    return acquisition


class PriorWeighted(WeightedCriterion):
    """A criterion, weighted with a power of a prior of the optimum (:eq:`prior-weight`; Hvarfner et al. 2022, piBO, eq. 6).

    A search sets the power to beta / n after n evaluations.
    """

    def __init__(self, criterion: WeightedCriterion, log_density: Callable[[Floats], Floats], power: float):
        self._criterion, self._log_density, self._power = criterion, log_density, power

    def value(self, points: Floats) -> Floats:
        """Return the weighted criterion at canonical points; shape (m,)."""
        return self._criterion.weighted(self._criterion.value(points), self._power * self._log_density(points))
