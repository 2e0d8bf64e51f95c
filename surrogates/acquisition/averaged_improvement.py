"""Log expected improvement averaged over the members of an ensemble, as a function on the unit cube."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.chance import Chance, stacked
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import is_matern
from spotsvm.surrogates.kriging.embedding import Embedding
from spotsvm.surrogates.kriging.ensemble import Models
from spotsvm.surrogates.kriging.process import Process

Floats = NDArray[np.float64]
Criterion = Literal["reinterpolation", "plain"]


@dataclass(frozen=True)
class _Term:
    """One member's part: a process, the response to improve on, and ln of the slope of the inverse warp there."""

    process: Process
    best: float
    log_unit: float


class AveragedImprovement:
    """ln of the mean over members of the expected improvement, in units of the warp, plus ln of each chance and saving.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    models : Models
        The fitted ensemble.
    criterion : {"reinterpolation", "plain"}
        For noisy responses, the improvement of the interpolating process on its best prediction at an evaluated point
        (Forrester, Sobester, Keane 2008); for deterministic ones, of the process itself on the best response seen.
    chances : sequence of Chance
        The chance of success, if some evaluations have failed, and of each bound that must hold.
    held : ndarray of bool, shape (n,), or None
        Distinct evaluated points at which all bounds hold. The criterion improves on the best of these points, or on the worst
        response if no point meets the bounds. None if there are no bounds.
    savings : sequence of Chance
        Models made by `saving`: the mean of each, times its power, is added.

    Notes
    -----
    Equation :eq:`criterion` of the chapter :doc:`/method/index`.
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
            known = process.fitted if noisy else member.response.mean
            best = float(np.min(known) if held is None else np.min(known[held]) if held.any() else np.max(known))
            if not process.sigma2 > 0:  # the model sees noise alone: its error still shows where it is least certain
                process = process.with_variance(1.0)
            self._terms.append(_Term(process, best, float(member.log_slope(np.asarray(best)))))

    @cached_property
    def _compiled(self) -> tuple[Any, ...]:
        """The arguments of the compiled functions in order; in one memory layout, so that they are compiled once."""
        processes = [term.process for term in self._terms]
        return (
            is_matern(processes[0].correlation),
            np.ascontiguousarray(np.stack([p.points for p in processes])),
            np.stack([p.scale for p in processes]),
            np.stack([p.L.T for p in processes]),
            np.stack([p.a for p in processes]),
            np.stack([p.half_one for p in processes]),
            np.array([p.mu for p in processes]),
            np.array([p.sigma2 for p in processes]),
            np.array([term.best for term in self._terms]),
            np.array([term.log_unit for term in self._terms]),
            *stacked([*self._chances, *self._savings], processes[0].points.shape[1]),
            len(self._chances),
        )

    def believe(self, inputs: Floats) -> AveragedImprovement:
        """Return the criterion with the models' own predictions at pending points added as data (Kriging believer).

        Parameters
        ----------
        inputs : ndarray of shape (q, d)
            Model inputs of pending points, all different and not evaluated before.

        Raises
        ------
        NotPositiveDefiniteError
            If the points are too close to each other for the model.

        References
        ----------
        Ginsbourger, Le Riche, Carraro 2010, "Kriging is well-suited to parallelize optimization".
        """
        further = self._embedding.transform(inputs)
        terms = []
        for term in self._terms:
            process = term.process.believe(further)
            best = term.best if self._bounded else min(term.best, float(np.min(process.fitted[-len(further) :])))
            terms.append(replace(term, process=process, best=best))
        return self._changed(_terms=terms)

    def whatever_it_costs(self) -> AveragedImprovement:
        """Return the criterion without savings."""
        return self._changed(_savings=()) if self._savings else self

    def _changed(self, **parts: Any) -> AveragedImprovement:
        new = copy(self)
        new.__dict__.update(parts)
        new.__dict__.pop("_compiled", None)
        return new

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        from spotsvm.surrogates.acquisition._improvement_kernels import improvements

        return np.asarray(improvements(self._compiled, self._embed(points)))

    @staticmethod
    def weighted(values: Floats, log_weights: Floats) -> Floats:
        """Return values of the criterion, weighted; the weights are given as logarithms."""
        return values + log_weights

    def log_gain(self, point: Floats) -> float:
        """Return ln of the expected improvement at a canonical point, with the chances and without savings."""
        return float(self.whatever_it_costs().value(point[None])[0])

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
        found = point.copy()
        found[self._numeric[columns]] = embedded[columns]
        return found, float(value)

    def _embed(self, points: Floats) -> Floats:
        return np.ascontiguousarray(self._embedding.transform(self._domain.model_inputs(points)))
