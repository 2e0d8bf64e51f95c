"""Sequential search with a Kriging model: design, fit, look where improvement is expected, evaluate, again."""

from __future__ import annotations

import logging
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError
from solvers.search.base import Noise, Search, Suggestion
from solvers.search.ocba import ocba_next
from surrogates.averaged_improvement import AveragedImprovement, Criterion
from surrogates.design import initial_design
from surrogates.domain import Domain
from surrogates.ensemble import Inference, KrigingEnsemble, Models
from surrogates.errors import NotPositiveDefiniteError
from surrogates.feasibility import Feasibility
from surrogates.maximize_acquisition import maximize_acquisition
from surrogates.noise import Verdict, judge_noise, needs_second_look
from surrogates.one_thread import one_blas_thread
from surrogates.replicates import aggregate

Floats = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_SECOND_LOOK = 20


class KrigingSearch(Search):
    """Sequential parameter optimisation (Koch et al. 2011, Algorithm 1) with Kriging.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of one point may differ. "auto" finds out: the best point of the initial design is
        evaluated once more.
    n_initial : int, default=6
        Points of the initial design: the centre and a Latin hypercube. Points that are assumed before the first own one,
        such as those at which a study starts, take the place of as many of them.
    correlation : {"matern52", "gaussian"}, default="matern52"
        The correlation function.
    inference : {"sampled", "mle", "mle-cmaes"}, default="sampled"
        Expected improvement averaged over sampled hyperparameters, or at those of the largest likelihood.
    n_members : int, default=4
        Number of sampled sets.
    nugget_bounds : (float, float), default=(1e-8, 10)
        Where maximum likelihood seeks the nugget; equal bounds fix it.
    warped : "auto" or bool, default="auto"
        Whether the response's warp is among what is sampled; "auto" warps a response known to be deterministic.
    criterion : {"auto", "reinterpolation", "plain"}, default="auto"
        What improvement means; "auto" is "plain" for a response known to be deterministic, else "reinterpolation".
    repeat_below : float, default=0.1
        Under noise, the expected improvement, in standard errors of the incumbent's predicted mean, below which one of the
        five best predicted points is evaluated once more instead; OCBA says which. 0 for no repeats.
    centre : bool, default=True
        Whether the design begins with the centre.

    Notes
    -----
    A point that failed never enters the model of the response; a second model steers away from failures.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels".
    Jones, Schonlau, Welch 1998, "Efficient Global Optimization of Expensive Black-Box Functions".

    Examples
    --------
    >>> search = KrigingSearch(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(12):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - 0.3) ** 2).sum()))
    >>> bool(search.values.min() < 0.01)
    True
    """

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        noise: Noise = "auto",
        n_initial: int = 6,
        correlation: str = "matern52",
        inference: Inference = "sampled",
        n_members: int = 4,
        nugget_bounds: tuple[float, float] = (1e-8, 10.0),
        warped: bool | Literal["auto"] = "auto",
        criterion: Criterion | Literal["auto"] = "auto",
        repeat_below: float = 0.1,
        centre: bool = True,
    ):
        super().__init__(domain, seed)
        if n_initial < 2:
            raise SolverError(f"n_initial={n_initial} is too few points for a model; use 2 or more")
        if not repeat_below >= 0:
            raise SolverError(f"repeat_below={repeat_below} is negative; use 0 for no repeats, or more")
        self.noise = noise
        self.n_initial = n_initial
        self.criterion = criterion
        self.warped = warped
        self.repeat_below = repeat_below
        self._design = initial_design(domain, n_initial, np.random.default_rng([self.seed, 1 << 40]), centre=centre)
        self._ensemble = KrigingEnsemble(
            domain, correlation=correlation, inference=inference, n_members=n_members, nugget_bounds=nugget_bounds
        )

    def _suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point: from the design, as a replicate, or where improvement is expected."""
        if self.n_asked < self.n_initial:
            point = self._design[self.n_asked]
            return Suggestion(point, "design") if self.is_new(point) else Suggestion(self.new_point(rng), "random")
        modelled = self._modelled()
        ok = np.isfinite(modelled)
        if not ok.any():
            return Suggestion(self.new_point(rng), "random", "no evaluation has succeeded yet")
        points, values = self.points[ok], modelled[ok]
        noise = self._judge_noise(points, values)
        if self._should_probe(points, values, noise):
            return Suggestion(points[np.argmin(values)], "replicate", "to find out whether the objective is noisy")
        self._ensemble.warped = noise == "deterministic" if self.warped == "auto" else self.warped
        try:
            with one_blas_thread():
                models = self._ensemble.fit(points, values, rng)
                return self._improve(points, values, models, noise, rng)
        except NotPositiveDefiniteError as error:
            _LOG.warning("suggestion %d is random: %s", self.n_asked, error)
            return Suggestion(self.new_point(rng), "random", f"the model failed: {error}")

    def _modelled(self) -> Floats:
        """Give the response to model at each point told, nan where the evaluation failed; shape (n,)."""
        return self.values

    def _improve(self, points: Floats, values: Floats, models: Models, noise: Verdict, rng: np.random.Generator) -> Suggestion:
        """Maximise expected improvement, with pending points believed and failures avoided."""
        notes = []
        feasibility = None
        if failed := len(self.points) - len(points):
            succeeded = np.isfinite(self._modelled())
            feasibility = Feasibility(models.embedding, self.domain.model_inputs(self.points), succeeded)
            notes.append(f"{failed} of {len(succeeded)} evaluations failed and are avoided")
        if not np.ptp(values) > 0:
            notes.append("all responses are equal: exploring")
        predicted, errors = models.predict_evaluated()
        anchors = points[np.argsort(predicted, kind="stable")[:5]]
        seen = models.believe(self.domain.model_inputs(np.unique(self.pending, axis=0))) if self.pending else models
        criterion: Criterion = "plain" if noise == "deterministic" else "reinterpolation"
        if self.criterion != "auto":
            criterion = self.criterion
        acquisition = AveragedImprovement(self.domain, seen, criterion, feasibility)
        found = maximize_acquisition(self.domain, acquisition, anchors, rng, allowed=self.is_new)
        if found is None:
            return Suggestion(self.new_point(rng), "random", "; ".join([*notes, "every candidate had been asked for"]))
        if noise == "noisy" and np.exp(found[1]) < self.repeat_below * errors[np.argmin(predicted)] / models.unit:
            again = self._replicate(points, values, models)
            if again is not None:
                return Suggestion(again, "replicate", "to tell the best points apart")
        return Suggestion(found[0], "improvement", "; ".join(notes))

    def _replicate(self, points: Floats, values: Floats, models: Models) -> Floats | None:
        """Choose by OCBA which of the five best predicted points to evaluate once more; none that is pending."""
        data = aggregate(points, values)
        first = np.unique(data.index, return_index=True)[1]
        mean = models.predict_evaluated()[0][first]
        best = np.argsort(mean, kind="stable")[:5]
        if self.pending:
            best = best[[not (np.array(self.pending) == x).all(axis=1).any() for x in data.X[best]]]
        if not len(best):
            return None
        gap = (mean[best] - mean[best[0]]) / max(models.noise, np.finfo(float).tiny)
        chosen: Floats = data.X[best[ocba_next(gap, np.ones(len(best)), data.count[best])]]
        return chosen

    def _judge_noise(self, points: Floats, values: Floats) -> Verdict:
        if self.noise != "auto":
            return "noisy" if self.noise else "deterministic"
        return judge_noise(points, values)

    def _should_probe(self, points: Floats, values: Floats, noise: Verdict) -> bool:
        """Tell whether to evaluate the best point once more, only to see whether the response is the same."""
        if self.noise != "auto" or any(np.array_equal(points[np.argmin(values)], waiting) for waiting in self.pending):
            return False
        if noise == "deterministic":
            return self.n_asked >= _SECOND_LOOK and needs_second_look(points, values)
        return noise == "unknown"

    def state(self) -> dict[str, Any]:
        """Give the chains, which a search that goes on needs and cannot compute from the history alone."""
        return {} if self._ensemble.chains is None else {"chains": self._ensemble.chains.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take the chains back."""
        if state:
            self._ensemble.chains = np.array(state["chains"], dtype=float)
