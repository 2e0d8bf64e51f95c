"""Log expected improvement averaged over the members of an ensemble, as a function on the unit cube."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.acquisition import log_expected_improvement, log_expected_improvement_gradient
from spotsvm.surrogates.acquisition.feasibility import Feasibility
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.embedding import Embedding
from spotsvm.surrogates.kriging.ensemble import Models
from spotsvm.surrogates.kriging.process import Process

Floats = NDArray[np.float64]
Criterion = Literal["reinterpolation", "plain"]

_TINY = 1e-90  # a standard deviation below it counts as none: its inverse cubed is still a number


@dataclass(frozen=True)
class _Term:
    """One member's part: a process, what it is to improve on, and ln of the response per warped response there."""

    process: Process
    best: float
    log_unit: float


class AveragedImprovement:
    """ln of the mean over members of the expected improvement, in units of the warp, plus ln of the chance of success.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    models : Models
        The fitted ensemble.
    criterion : {"reinterpolation", "plain"}
        For noisy responses, the improvement of the interpolating process on its best prediction at an evaluated point
        (Forrester, Sobester, Keane 2008); for deterministic ones, of the process itself on the best response seen.
    feasibility : Feasibility or None
        Model of the chance that an evaluation succeeds, where some have failed.
    """

    def __init__(self, domain: Domain, models: Models, criterion: Criterion, feasibility: Feasibility | None = None):
        self._domain = domain
        self._embedding: Embedding = models.embedding
        self._numeric = np.array(models.embedding.numeric, dtype=np.intp)
        self._feasibility = feasibility
        self._terms: list[_Term] = []
        for member in models.members:
            noisy = criterion == "reinterpolation"
            process = member.process.reinterpolate() if noisy else member.process
            best = float(np.min(process.fitted if noisy else member.response.mean))
            if not process.sigma2 > 0:  # the model sees noise alone: its error still says where it knows least
                process = process.with_variance(1.0)
            self._terms.append(_Term(process, best, float(member.log_slope(np.asarray(best)))))
        self._sum_up()

    def _sum_up(self) -> None:
        self._best = np.array([term.best for term in self._terms])
        self._log_unit = np.array([term.log_unit for term in self._terms])

    def believe(self, inputs: Floats) -> AveragedImprovement:
        """Return the criterion for models that have seen their own predictions at pending points come true (Kriging believer).

        Parameters
        ----------
        inputs : ndarray of shape (q, d)
            Model inputs of points that are being evaluated, all different, and none of them evaluated before.

        Raises
        ------
        NotPositiveDefiniteError
            If the points are too close to each other for the model.

        References
        ----------
        Ginsbourger, Le Riche, Carraro 2010, "Kriging is well-suited to parallelize optimization".
        """
        further = self._embedding.transform(inputs)
        new = copy(self)
        new._terms = []
        for term in self._terms:
            process = term.process.believe(further)
            best = min(term.best, float(np.min(process.fitted[-len(further) :])))
            new._terms.append(replace(term, process=process, best=best))
        new._sum_up()
        return new

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        embedded = self._embedding.transform(self._domain.model_inputs(points))
        logs = []
        for term in self._terms:
            mean, variance = term.process.predict(embedded)
            sd = np.maximum(np.sqrt(variance), _TINY)
            logs.append(term.log_unit + log_expected_improvement(mean, sd, term.best))
        total = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
        return np.asarray(total if self._feasibility is None else total + self._feasibility.log_chance(embedded))

    def value_and_gradient(self, point: Floats) -> tuple[float, Floats]:
        """Return the criterion at one point and its gradient in the numeric coordinates (0 in the categorical ones)."""
        embedded = self._embedding.transform(self._domain.model_inputs(point))[0]
        parts = [term.process.predict_with_gradient(embedded) for term in self._terms]
        mean, sd = np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
        value, by_mean, by_sd = log_expected_improvement_gradient(mean, np.maximum(sd, _TINY), self._best)
        logs = self._log_unit + value
        total = float(np.logaddexp.reduce(logs))
        if total == -np.inf:  # on an evaluated point of a model without error
            return -np.finfo(float).max, np.zeros(self._domain.dimension)
        weights = np.exp(logs - total)
        along = sum(w * (m * p[2] + s * p[3]) for w, m, s, p in zip(weights, by_mean, by_sd, parts, strict=True))
        value_here = total - float(np.log(len(parts)))
        if self._feasibility is not None:
            chance, by_chance = self._feasibility.log_chance_with_gradient(embedded)
            value_here, along = value_here + chance, along + by_chance
        out = np.zeros(self._domain.dimension)
        out[self._numeric] = along[: len(self._numeric)]
        return value_here, out
