"""The model of a Kriging search, and its criterion: from reported evaluations to the expected improvement at further points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.surrogates.acquisition.acquisition import log_expected_improvement
from spotsvm.surrogates.acquisition.chance import MOST_LABELS, Chance, caution, saving
from spotsvm.surrogates.acquisition.criterion import (
    AcquisitionFunction,
    AveragedImprovement,
    Criterion,
    PointwiseAcquisition,
    Predictor,
    WeightedCriterion,
)
from spotsvm.surrogates.acquisition.selection import select_evaluations, select_places
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import Embedding
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble, Models
from spotsvm.surrogates.responses import Noisiness

Floats = NDArray[np.float64]

_N_ANCHORS = 5
_MOVE_SHARE = 8
_MOST_SWEEPS = 4
_LARGEST = 300.0  # largest logarithm in a record, so that its exponential and the square of it are finite
_MOST_CHAINS = 1_000_000


@dataclass(frozen=True)
class Evaluations:
    """The evaluations reported to a search, in order; equal rows of `points` (canonical) are replicates.

    nan: a failed evaluation (`values`), an unknown margin or duration. `margins` is (n, c), None without bounds; `objectives` is
    (n, m), with a response for each of several objectives, where `values` only ranks the evaluations.
    """

    points: Floats
    values: Floats
    margins: Floats | None = None
    seconds: Floats | None = None
    objectives: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def succeeded(self) -> NDArray[np.bool_]:
        """Whether each evaluation gave a value."""
        return np.isfinite(self.values)

    def first(self, n: int) -> Evaluations:
        """Return the first n evaluations."""
        parts = (self.margins, self.seconds, self.objectives)
        return Evaluations(self.points[:n], self.values[:n], *(None if part is None else part[:n] for part in parts))

    def rows(self, domain: Domain, noise: Noisiness, n: int) -> NDArray[np.intp]:
        """Return the successful evaluations, or those at n of their points, for a model."""
        ok = np.flatnonzero(self.succeeded)
        chosen = select_evaluations(domain, self.points[ok], self.values[ok], noisy=noise != "deterministic", n=n)
        return np.asarray(ok[chosen])

    def fitted(self, rows: NDArray[np.intp], models: Evaluated) -> ModelFit:
        """Return the fit of models to some of the evaluations."""
        return ModelFit(self.points[rows], self.values[rows], None if self.margins is None else self.margins[rows], models)


class Evaluated(Protocol):
    """What the control of a search needs of a fitted model: predictions at the evaluated points."""

    @property
    def embedding(self) -> Embedding:
        """Map from model inputs to the space of the chances."""
        ...

    @property
    def unit(self) -> float:
        """A unit of the response."""
        ...

    @property
    def index(self) -> NDArray[np.intp]:
        """Index of the distinct point of each evaluation."""
        ...

    @property
    def noise(self) -> float:
        """The standard deviation of the noise near the best prediction."""
        ...

    def mean_evaluated(self) -> Floats:
        """Return the predicted response at each evaluation's point; shape (N,)."""
        ...

    def error_evaluated(self, at: int | None = None) -> Floats:
        """Return the standard error of the predicted response at each evaluation's point, or at that of a single evaluation."""
        ...


class Surrogate(Evaluated, Predictor, Protocol):
    """The interface of a fitted model of one response: `Models`, or a `FittedRegressor`."""


class ResponseModel(Protocol):
    """The interface of the model of a search, which is fitted anew as values are reported."""

    max_points: int

    def sweeps_due(self, n_told: int, n_pending: int) -> int:
        """Return the number of sweeps that the next fit makes; 0 to keep the last fit."""
        ...

    def fit(self, told: Evaluations, noise: Noisiness, rng: np.random.Generator, sweeps: int) -> ModelFit:
        """Fit to the successful evaluations, or to `max_points` of their points."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the state that the next fit depends on, in JSON's types."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state`, and check it."""
        ...


@dataclass(frozen=True)
class ModelFit:
    """A fitted model, and the N successful evaluations that it was fitted to."""

    points: Floats
    values: Floats
    margins: Floats | None
    models: Evaluated


class SearchModel:
    """The model of a search: an ensemble whose chains of hyperparameters continue from fit to fit.

    "auto" warps a response known to be deterministic; `max_points` counts distinct points.
    """

    def __init__(self, ensemble: KrigingEnsemble, warped: bool | Literal["auto"], max_points: int):
        self.ensemble, self.warped, self.max_points = ensemble, warped, max_points
        self._moved_at: int | None = None  # number of values reported when the chains moved last

    def sweeps_due(self, n_told: int, n_pending: int) -> int:
        """Return the number of sweeps of the chains: one for each value reported since their last, at most four.

        A batch gets the same sweeps as single points. The chains wait until an eighth of the pending points are reported, so that
        hundreds of workers do not wait for a sweep each.
        """
        if self._moved_at is None or self.ensemble.chains is None:
            return 1
        since = n_told - self._moved_at
        return min(since, _MOST_SWEEPS) if since >= max(1, n_pending // _MOVE_SHARE) else 0

    def fit(self, told: Evaluations, noise: Noisiness, rng: np.random.Generator, sweeps: int) -> ModelFit:
        """Fit the ensemble to the successful evaluations, or to `max_points` of their points."""
        rows = told.rows(self.ensemble.domain, noise, self.max_points)
        return told.fitted(rows, self.fit_rows(told, rows, noise, rng, sweeps))

    def fit_rows(
        self, told: Evaluations, rows: NDArray[np.intp], noise: Noisiness, rng: np.random.Generator, sweeps: int
    ) -> Models:
        """Fit the ensemble to some of the evaluations."""
        self.ensemble.warped = noise == "deterministic" if self.warped == "auto" else self.warped
        before = self.ensemble.chains
        models = self.ensemble.fit(told.points[rows], told.values[rows], rng, sweeps=sweeps)
        if self.ensemble.chains is not before:
            self._moved_at = len(told)
        return models

    def state(self) -> dict[str, Any]:
        """Return the chains and the time of their last moves, in JSON's types; empty before the first fit."""
        chains = self.ensemble.chains
        return {} if chains is None else {"chains": chains.tolist(), "moved_at": self._moved_at}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state`, and check it, since a record may be damaged."""
        try:
            chains = np.array(state.get("chains"), dtype=float)
        except (TypeError, ValueError, OverflowError):
            chains = np.empty(0)
        if chains.ndim != 2 or not 0 < chains.size <= _MOST_CHAINS or not np.all(np.abs(chains) <= _LARGEST):
            raise SolverError("the search's state holds no valid table of chains; the record is damaged")
        moved_at = state.get("moved_at")
        if moved_at is not None and (not isinstance(moved_at, int) or isinstance(moved_at, bool) or moved_at < 0):
            raise SolverError("the search's state holds an invalid number of trials; the record is damaged")
        self.ensemble.chains, self._moved_at = chains, moved_at


def holding(margins: Floats, index: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether all bounds hold at each distinct point, from the margins and the point of each evaluation."""
    return np.asarray(np.bincount(index, weights=~(margins >= 0).all(axis=1)) == 0)


@dataclass(frozen=True)
class Conditions:
    """What weighs the criterion besides the response: the chances of success and of each bound, and the savings.

    `predicted` is the response at each evaluation of the fit, infinite where a bound is violated; `held` whether all bounds hold
    at each distinct point, None without bounds.
    """

    chances: tuple[Chance, ...]
    held: NDArray[np.bool_] | None
    savings: tuple[Chance, ...]
    predicted: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, domain: Domain, fit: ModelFit, told: Evaluations, max_points: int) -> Conditions:
        """Model them; `told` has the failures too, and `max_points` limits the models of failures and of seconds to 300."""
        models, succeeded = fit.models, told.succeeded
        notes: list[str] = []
        chances: list[Chance] = []
        predicted = models.mean_evaluated()
        failed = int((~succeeded).sum())
        if failed or told.seconds is not None:
            best = fit.points[np.argsort(predicted, kind="stable")[:_N_ANCHORS]]
            rows = select_places(domain, told.points, best, min(max_points, MOST_LABELS))
        if failed:
            inputs = domain.model_inputs(told.points[rows])
            chances.append(Chance.of_success(models.embedding, inputs, succeeded[rows], caution(succeeded)))
            notes.append(f"{failed} of {len(succeeded)} evaluations failed and are avoided")
        held = None
        if fit.margins is not None:
            for margin in fit.margins.T:
                if (has_margin := np.isfinite(margin)).any():
                    inputs = domain.model_inputs(fit.points[has_margin])
                    chances.append(Chance.of_bound(models.embedding, inputs, margin[has_margin]))
            held = holding(fit.margins, models.index)
            notes.append(f"the bounds hold at {int(held.sum())} of {len(held)} points")
            if held.any():
                predicted = np.where(held[models.index], predicted, np.inf)
        if not np.ptp(fit.values) > 0:
            notes.append("all responses are equal: exploring")
        savings = []
        if told.seconds is not None:
            saved = saving(models.embedding, domain.model_inputs(told.points[rows]), told.seconds[rows])
            savings = [] if saved is None else [saved]
        return cls(tuple(chances), held, tuple(savings), predicted, tuple(notes))


@dataclass(frozen=True)
class FittedCriterion:
    """A fitted model with its criterion for further points, without pending points.

    `predicted` is the response at each evaluation of the fit, infinite where a bound is violated.
    """

    fit: ModelFit
    predicted: Floats
    improvement: WeightedCriterion
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        domain: Domain,
        fit: ModelFit,
        told: Evaluations,
        criterion: Criterion,
        max_points: int,
        acquisition: AcquisitionFunction | None = None,
    ) -> FittedCriterion:
        """Make the criterion of one response; see `Conditions`."""
        known, models = Conditions.of(domain, fit, told, max_points), cast("Surrogate", fit.models)
        chances, held, savings = known.chances, known.held, known.savings
        if acquisition is None and isinstance(models, Models):
            averaged = AveragedImprovement(domain, models, criterion, chances, held, savings)
            return cls(fit, known.predicted, averaged, known.notes)
        responses = fit.values if criterion == "plain" else models.mean_evaluated()
        if held is not None and held.any():
            responses = responses[held[models.index]]
        goal = float(responses.max() if held is not None and not held.any() else responses.min())
        seen = models.reinterpolate() if criterion == "reinterpolation" and isinstance(models, Models) else models
        pointwise = PointwiseAcquisition(
            domain, seen, acquisition or log_expected_improvement, goal, chances, held is not None, savings
        )
        return cls(fit, known.predicted, pointwise, known.notes)

    def anchors(self) -> Floats:
        """Return the five best predicted points, the best first; candidates are drawn around them."""
        return self.fit.points[np.argsort(self.predicted, kind="stable")[:_N_ANCHORS]]

    def incumbent_error(self) -> float:
        """Return the standard error of the predicted response at the best predicted point."""
        return float(self.fit.models.error_evaluated(int(np.argmin(self.predicted)))[0])
