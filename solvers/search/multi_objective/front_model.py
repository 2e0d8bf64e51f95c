"""The models of a search of several objectives: a Kriging ensemble for each, fitted to the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.pareto import non_dominated
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.kriging.model import Evaluations, FittedCriterion, ModelFit, SearchModel, holding
from spotsvm.solvers.search.multi_objective.front_boxes import Boxes
from spotsvm.solvers.search.multi_objective.front_improvement import Scale
from spotsvm.surrogates.acquisition.criterion import Criterion
from spotsvm.surrogates.kriging.correlation import Embedding
from spotsvm.surrogates.kriging.ensemble import Models
from spotsvm.surrogates.responses import Noisiness, judge_noise

Floats = NDArray[np.float64]

_EDGE = 1.1  # of the volume that errors stand for: up to the reference, they would be repeated at the ends of the front alone


@dataclass(frozen=True)
class FrontModels:
    """The models of all objectives, of the same evaluations; its response is the distance behind the front.

    That is by how much a prediction would have to improve in every objective, in units of the front, to be on the front.
    `means` and `errors` are at the distinct points; `criteria` says for each objective which improvement counts.
    """

    models: tuple[Models, ...]
    criteria: tuple[Criterion, ...]
    scale: Scale
    means: Floats
    errors: Floats
    front: NDArray[np.intp]

    @classmethod
    def of(cls, models: Sequence[Models], criteria: Sequence[Criterion], held: NDArray[np.bool_] | None = None) -> FrontModels:
        """Combine models of the same distinct points; only points where the bounds are `held` are on the front."""
        first = np.unique(models[0].index, return_index=True)[1]
        means = np.column_stack([one.mean_evaluated()[first] for one in models])
        errors = np.column_stack([one.error_evaluated()[first] for one in models])
        rows = np.arange(len(means)) if held is None or not held.any() else np.flatnonzero(held)
        front = rows[non_dominated(means[rows])]
        low, span = means[front].min(axis=0), np.ptp(means[front], axis=0)
        span = np.where(span > 0, span, [one.unit for one in models])
        scale = Scale(low, span, means.max(axis=0))
        return cls(tuple(models), tuple(criteria), scale, scale.of(means), errors / span, front)

    @property
    def embedding(self) -> Embedding:
        """Map from model inputs to the space of the processes."""
        return self.models[0].embedding

    @property
    def index(self) -> NDArray[np.intp]:
        """Index of the distinct point of each evaluation."""
        return self.models[0].index

    @property
    def unit(self) -> float:
        """The unit of the response: that of the front."""
        return 1.0

    @property
    def noise(self) -> float:
        """The root mean square over the objectives of the standard deviation of the noise."""
        return float(np.sqrt(np.mean([(one.noise / span) ** 2 for one, span in zip(self.models, self.scale.span, strict=True)])))

    def predict(self, inputs: Floats) -> Floats:
        """Return the predicted objectives at model inputs, in units of the front; shape (k, m)."""
        return self.scale.of(np.column_stack([one.predict(inputs)[0] for one in self.models]))

    def mean_evaluated(self) -> Floats:
        """Return the distance behind the front at each evaluation's point; shape (N,)."""
        lag = (self.means[:, None, :] - self.means[self.front]).min(axis=2).max(axis=1)
        return np.asarray(np.maximum(lag, 0.0)[self.index])

    def error_evaluated(self, at: int | None = None) -> Floats:
        """Return the hypervolume that each evaluation's point would add if all its predictions were too high by their errors."""
        boxes = Boxes.of(self.means[self.front], np.full(len(self.models), _EDGE))
        error = boxes.added(self.means - self.errors)[self.index]
        return error if at is None else error[at : at + 1]


@dataclass(frozen=True)
class FittedFront(FittedCriterion):
    """A fitted criterion of a front."""

    front: FrontModels

    def anchors(self) -> Floats:
        """Return the points of the predicted front, by rising first objective."""
        first = np.unique(self.front.index, return_index=True)[1]
        return np.asarray(self.fit.points[first[self.front.front]])

    def incumbent_error(self) -> float:
        """Return the largest hypervolume that the standard errors of an evaluated point stand for."""
        return float(self.errors().max())

    def errors(self) -> Floats:
        """Return the hypervolume that the standard errors of each evaluation's point stand for, 0 where a bound is violated."""
        return np.where(np.isfinite(self.predicted), self.front.error_evaluated(), 0.0)


class FrontModel:
    """The model of a search of several objectives: a `SearchModel` for each."""

    def __init__(self, model: SearchModel, n_objectives: int, declared: Noise):
        self.models = tuple(deepcopy(model) for _ in range(n_objectives))
        self.declared, self.max_points = declared, model.max_points

    def sweeps_due(self, n_told: int, n_pending: int) -> int:
        """Return the number of sweeps of the chains; see `SearchModel.sweeps_due`."""
        return max(model.sweeps_due(n_told, n_pending) for model in self.models)

    def fit(self, told: Evaluations, noise: Noisiness, rng: np.random.Generator, sweeps: int) -> ModelFit:
        """Fit each objective to the successful evaluations, or to `max_points` of their points."""
        assert told.objectives is not None
        rows = told.rows(self.models[0].ensemble.domain, noise, self.max_points)
        fits: list[Models] = []
        criteria: list[Criterion] = []
        for model, values in zip(self.models, told.objectives.T, strict=True):
            own = judge_noise(told.points[rows], values[rows], self.declared)
            fits.append(model.fit_rows(replace(told, values=values), rows, own, rng, sweeps))
            criteria.append("plain" if own == "deterministic" else "reinterpolation")
        held = None if told.margins is None else holding(told.margins[rows], fits[0].index)
        return told.fitted(rows, FrontModels.of(fits, criteria, held))

    def state(self) -> dict[str, Any]:
        """Return the state of each model by its objective's number; empty before the first fit."""
        return {str(j): state for j, model in enumerate(self.models) if (state := model.state())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state`, and check it."""
        if set(state) != {str(j) for j in range(len(self.models))} or not all(isinstance(one, Mapping) for one in state.values()):
            raise SolverError(f"the search's state is not one of {len(self.models)} objectives; the record is damaged")
        for j, model in enumerate(self.models):
            model.restore(state[str(j)])
