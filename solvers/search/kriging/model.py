"""The model of a Kriging search, and its criterion: from what was told to the improvement that is expected of further points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.surrogates.acquisition.acquisition import log_expected_improvement
from spotsvm.surrogates.acquisition.averaged_improvement import AveragedImprovement, Criterion
from spotsvm.surrogates.acquisition.chance import MOST_LABELS, Chance, caution
from spotsvm.surrogates.acquisition.cost import saving
from spotsvm.surrogates.acquisition.pointwise import AcquisitionFunction, PointwiseAcquisition, Predictor
from spotsvm.surrogates.acquisition.selection import select_evaluations, select_places
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble, Models
from spotsvm.surrogates.kriging.noise import Verdict

Floats = NDArray[np.float64]

_N_ANCHORS = 5
_MOVE_SHARE = 8
_MOST_SWEEPS = 4
_LARGEST = 300.0  # of a logarithm in a record, so that its exponential and the square of that are numbers
_MOST_CHAINS = 1_000_000


@dataclass(frozen=True)
class Evaluations:
    """What a search was told, in the order told.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (n,)
        The response to model at each, nan where the evaluation failed.
    margins : ndarray of shape (n, c) or None
        By how much each bound was held, nan where that is not known; None without bounds.
    seconds : ndarray of shape (n,) or None
        What each evaluation took, nan where that is not known; None for a search that ignores it.
    """

    points: Floats
    values: Floats
    margins: Floats | None = None
    seconds: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def succeeded(self) -> NDArray[np.bool_]:
        """Whether each evaluation gave a value."""
        return np.isfinite(self.values)


class Surrogate(Predictor, Protocol):
    """What a search asks of a fitted model: `Models`, or a `FittedRegressor`."""

    @property
    def index(self) -> NDArray[np.intp]:
        """The distinct point of each evaluation."""
        ...

    @property
    def noise(self) -> float:
        """The standard deviation of one response near the best prediction."""
        ...

    def mean_evaluated(self) -> Floats:
        """Return the predicted response at each evaluation's point; shape (N,)."""
        ...

    def error_evaluated(self, at: int | None = None) -> Floats:
        """Return the standard error of the predicted response at each evaluation's point, or at that of one evaluation alone."""
        ...


@dataclass(frozen=True)
class ModelFit:
    """A fitted model, and the N successful evaluations that it sees.

    Attributes
    ----------
    points : ndarray of shape (N, d)
        Their points.
    values : ndarray of shape (N,)
        Their responses.
    margins : ndarray of shape (N, c) or None
        By how much each bound was held there.
    models : Surrogate
        The model.
    """

    points: Floats
    values: Floats
    margins: Floats | None
    models: Surrogate


class SearchModel:
    """The model of a search: an ensemble whose chains of hyperparameters go on from fit to fit.

    Parameters
    ----------
    ensemble : KrigingEnsemble
        The ensemble.
    warped : bool or "auto"
        Whether the response is warped; "auto" warps a response known to be deterministic.
    max_points : int
        Maximum number of distinct points that a fit sees.
    """

    def __init__(self, ensemble: KrigingEnsemble, warped: bool | Literal["auto"], max_points: int):
        self.ensemble, self.warped, self.max_points = ensemble, warped, max_points
        self._moved_at: int | None = None  # number of values told when the chains moved last

    def sweeps_due(self, n_told: int, n_pending: int) -> int:
        """Return how many sweeps the chains of hyperparameters make.

        One for each value told since their last, and four at most, so that after a batch they are where they would be without.
        They wait until an eighth of those pending are told: the free workers of one moment share a fit, and hundreds of workers
        do not wait for a sweep each.
        """
        if self._moved_at is None or self.ensemble.chains is None:
            return 1
        since = n_told - self._moved_at
        return min(since, _MOST_SWEEPS) if since >= max(1, n_pending // _MOVE_SHARE) else 0

    def fit(self, told: Evaluations, noise: Verdict, rng: np.random.Generator, sweeps: int) -> ModelFit:
        """Fit the ensemble to the evaluations that gave a value, or to `max_points` of their points."""
        ok = told.succeeded
        points, values = told.points[ok], told.values[ok]
        self.ensemble.warped = noise == "deterministic" if self.warped == "auto" else self.warped
        rows = select_evaluations(self.ensemble.domain, points, values, noisy=noise != "deterministic", n=self.max_points)
        before = self.ensemble.chains
        models = self.ensemble.fit(points[rows], values[rows], rng, sweeps=sweeps)
        if self.ensemble.chains is not before:
            self._moved_at = len(told)
        return ModelFit(points[rows], values[rows], None if told.margins is None else told.margins[ok][rows], models)

    def state(self) -> dict[str, Any]:
        """Return the chains and when they moved, in JSON's types; empty before the first fit."""
        chains = self.ensemble.chains
        return {} if chains is None else {"chains": chains.tolist(), "moved_at": self._moved_at}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back what `state` gave, which a record may have damaged."""
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


@dataclass(frozen=True)
class Prospect:
    """What a fitted model expects of further points, whatever is pending.

    Attributes
    ----------
    fit : ModelFit
        The model.
    predicted : ndarray of shape (N,)
        The predicted response at each evaluation of the fit, infinite where a bound does not hold.
    improvement : AveragedImprovement or PointwiseAcquisition
        The criterion, nothing pending.
    notes : tuple of str
        What was out of the ordinary.
    """

    fit: ModelFit
    predicted: Floats
    improvement: AveragedImprovement | PointwiseAcquisition
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
    ) -> Prospect:
        """Weigh the criterion with the chances of success and of each bound, and with what an evaluation saves.

        Parameters
        ----------
        domain : Domain
            What the coordinates mean.
        fit : ModelFit
            The model of the response.
        told : Evaluations
            All that was told, failures included.
        criterion : {"reinterpolation", "plain"}
            What improvement means.
        max_points : int
            Maximum number of distinct points for the models of failures and of seconds, and no more than 300.
        acquisition : callable, optional
            An acquisition function; by default the expected improvement averaged over the members of an ensemble.
        """
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
                if (known := np.isfinite(margin)).any():
                    chances.append(Chance.of_bound(models.embedding, domain.model_inputs(fit.points[known]), margin[known]))
            held = np.bincount(models.index, weights=~(fit.margins >= 0).all(axis=1)) == 0
            notes.append(f"the bounds hold at {int(held.sum())} of {len(held)} points")
            if held.any():
                predicted = np.where(held[models.index], predicted, np.inf)
        if not np.ptp(fit.values) > 0:
            notes.append("all responses are equal: exploring")
        savings = []
        if told.seconds is not None:
            saved = saving(models.embedding, domain.model_inputs(told.points[rows]), told.seconds[rows])
            savings = [] if saved is None else [saved]
        if acquisition is None and isinstance(models, Models):
            averaged = AveragedImprovement(domain, models, criterion, chances, held, savings)
            return cls(fit, predicted, averaged, tuple(notes))
        known = fit.values if criterion == "plain" else models.mean_evaluated()
        if held is not None and held.any():
            known = known[held[models.index]]
        goal = float(known.max() if held is not None and not held.any() else known.min())
        seen = models.reinterpolate() if criterion == "reinterpolation" and isinstance(models, Models) else models
        pointwise = PointwiseAcquisition(
            domain, seen, acquisition or log_expected_improvement, goal, chances, held is not None, savings
        )
        return cls(fit, predicted, pointwise, tuple(notes))

    def anchors(self) -> Floats:
        """Return the five best predicted points, the best first, to look around."""
        return self.fit.points[np.argsort(self.predicted, kind="stable")[:_N_ANCHORS]]

    def incumbent_error(self) -> float:
        """Return the standard error of the response predicted at the best of them."""
        return float(self.fit.models.error_evaluated(int(np.argmin(self.predicted)))[0])
