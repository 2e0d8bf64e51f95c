"""The fitted model of a Kriging search, valid until the next value is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.averaged_improvement import AveragedImprovement, Criterion
from spotsvm.surrogates.acquisition.chance import MOST_LABELS, Chance, caution
from spotsvm.surrogates.acquisition.cost import saving
from spotsvm.surrogates.acquisition.selection import select_places
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import Models

Floats = NDArray[np.float64]

N_ANCHORS = 5


@dataclass(frozen=True)
class KrigingFit:
    """A fitted model, and what follows from it whatever is pending.

    Attributes
    ----------
    points : ndarray of shape (N, d)
        The evaluations that the model sees; equal rows are replicates.
    values : ndarray of shape (N,)
        Their responses.
    models : Models
        The ensemble.
    predicted : ndarray of shape (N,)
        The predicted response at each, infinite where a bound does not hold.
    improvement : AveragedImprovement
        What is expected of further points, nothing pending.
    notes : tuple of str
        What was out of the ordinary.
    """

    points: Floats
    values: Floats
    models: Models
    predicted: Floats
    improvement: AveragedImprovement
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        domain: Domain,
        points: Floats,
        values: Floats,
        models: Models,
        criterion: Criterion,
        outcomes: tuple[Floats, NDArray[np.bool_]],
        max_points: int,
        margins: Floats | None = None,
        seconds: Floats | None = None,
    ) -> KrigingFit:
        """Return what follows from fitted models.

        Parameters
        ----------
        domain : Domain
            What the coordinates mean.
        points, values, models
            The evaluations that the models see, and the models.
        criterion : {"reinterpolation", "plain"}
            What improvement means.
        outcomes : (ndarray of shape (n, d), ndarray of bool, shape (n,))
            All points told, and whether they gave a value.
        max_points : int
            Distinct points at most for the models of failures and of seconds, and no more than 300.
        margins : ndarray of shape (N, c) or None, default=None
            By how much each bound was held at the evaluations that the models see, nan where that is not known.
        seconds : ndarray of shape (n,) or None, default=None
            What the evaluation of each point told took, nan where that is not known; None for improvement whatever it costs.
        """
        notes: list[str] = []
        chances: list[Chance] = []
        predicted = models.mean_evaluated()
        told, succeeded = outcomes
        failed = int((~succeeded).sum())
        if failed or seconds is not None:
            best = points[np.argsort(predicted, kind="stable")[:N_ANCHORS]]
            rows = select_places(domain, told, best, min(max_points, MOST_LABELS))
        if failed:
            chances.append(
                Chance.of_success(models.embedding, domain.model_inputs(told[rows]), succeeded[rows], caution(succeeded))
            )
            notes.append(f"{failed} of {len(succeeded)} evaluations failed and are avoided")
        held = None
        if margins is not None:
            for margin in margins.T:
                if (known := np.isfinite(margin)).any():
                    chances.append(Chance.of_bound(models.embedding, domain.model_inputs(points[known]), margin[known]))
            held = np.bincount(models.index, weights=~(margins >= 0).all(axis=1)) == 0
            notes.append(f"the bounds hold at {int(held.sum())} of {len(held)} points")
        if not np.ptp(values) > 0:
            notes.append("all responses are equal: exploring")
        saved = None if seconds is None else saving(models.embedding, domain.model_inputs(told[rows]), seconds[rows])
        improvement = AveragedImprovement(domain, models, criterion, chances, held, [] if saved is None else [saved])
        merit = predicted if held is None else np.where(held[models.index], predicted, np.inf)
        return cls(points, values, models, predicted if held is None or not held.any() else merit, improvement, tuple(notes))

    def anchors(self) -> Floats:
        """Return the five best predicted points, the best first, to look around."""
        return self.points[np.argsort(self.predicted, kind="stable")[:N_ANCHORS]]

    def incumbent_error(self) -> float:
        """Return the standard error of the response predicted at the best of them."""
        return float(self.models.error_evaluated(int(np.argmin(self.predicted)))[0])
