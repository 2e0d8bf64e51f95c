"""NSGA-II on Kriging models of the objectives, and the hypervolume that they expect; or NSGA-II without models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import Noise, Suggestion
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch, without_penalties
from spotsvm.solvers.search.kriging.model import Conditions, Evaluations, FittedCriterion, ModelFit, ResponseModel, SearchModel
from spotsvm.solvers.search.multi_objective.front_improvement import FrontImprovement
from spotsvm.solvers.search.multi_objective.front_model import FittedFront, FrontModel, FrontModels
from spotsvm.solvers.search.multi_objective.generations import Generations
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.solvers.search.multi_objective.parego_search import augmented_tchebycheff
from spotsvm.surrogates.acquisition.criterion import Criterion
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.responses import Noisiness

Floats = NDArray[np.float64]

_GENERATIONS = 6  # of NSGA-II on the models, for each suggestion
_TRIES = 5  # of its mating to find new points
_EXTEND_EVERY = 5  # seek better ends of the front in every 5th suggestion, even far from its other points
_EVEN = math.log(2.0)  # a chance of success below a half counts as a violated bound
_FEW = 512  # configurations of a space that has no need of it


class Nsga2Search(MultiObjectiveSearch, KrigingSearch):
    """Several objectives in few evaluations: NSGA-II on Kriging models of them, and the largest expected hypervolume.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    n_objectives : int, default=2
        Number m of objectives, at least 2.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ; "auto" judges each objective by itself. See `KrigingSearch`.
    population : int, default=20
        Number of points in a generation of NSGA-II, at least 4.
    models : bool, default=True
        Whether NSGA-II works on models. If not, it evaluates its generations themselves (Deb et al. 2002), which needs thousands
        of evaluations.
    **arguments
        Other arguments of `KrigingSearch`, with models; `surrogate` and `acquisition` are not among them.

    Raises
    ------
    SolverError
        If an argument is invalid.

    See Also
    --------
    ParegoSearch : One model, of random weightings of the objectives; each suggestion takes a quarter of the time.

    Notes
    -----
    Equation :eq:`front-criterion` of the chapter :doc:`/method/index`.

    Each objective has its own Kriging models, fitted as in the Kriging search. NSGA-II searches the front of their predictions
    for a few generations, from the best evaluated points. Candidates are drawn all over the space, and around its last
    generation and the front of the evaluated points. The one with the largest expected gain in hypervolume is improved and
    suggested. The gain is exact for two objectives; with more, it is so up to the largest number of points on the front that is
    divided into a thousand boxes (43 points with three objectives, 16 with four), and of more points those farthest apart count.

    The hypervolume ends as far beyond the worst values of the front as these are from the best. In every fifth suggestion it ends
    at the worst values of all evaluations, so that a better end of a short front is found although its other value is far off.

    Everything else is the Kriging search: its design, the repeated evaluation that detects noise, the Kriging believer at pending
    points, the avoidance of failures, and bounds. With noise, the evaluated point whose standard errors stand for the largest
    hypervolume is evaluated again, if a new point is expected to gain less than `repeat_below` times as much.

    Without models, the first generation is a Latin hypercube. Points that were reported or pending before it replace as many of
    its points; points reported later without being asked for join the next selection. A failed point has no values and ranks
    behind all others, and a point that violates bounds behind all points that meet them, by its total violation (Deb's
    constrained domination). No point is repeated. If a whole generation is reported before the next `ask`, the points are exactly
    those of pymoo's algorithm.

    References
    ----------
    Emmerich, Giannakoglou, Naujoks 2006, "Single- and multiobjective evolutionary optimization assisted by Gaussian random field
    metamodels", IEEE Transactions on Evolutionary Computation 10(4).
    Chugh, Jin, Miettinen, Hakanen, Sindhya 2018, "A surrogate-assisted reference vector guided evolutionary algorithm for
    computationally expensive many-objective optimization", IEEE Transactions on Evolutionary Computation 22(1).
    Deb, Pratap, Agarwal, Meyarivan 2002, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Transactions on
    Evolutionary Computation 6(2).

    Examples
    --------
    >>> search = Nsga2Search(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(15):
    ...     point = search.ask().point
    ...     search.tell(
    ...         point, [((point - 0.2) ** 2).sum(), ((point - 0.8) ** 2).sum()]
    ...     )
    >>> bool(
    ...     (abs(search.points[8:, 0] - search.points[8:, 1]) < 0.2).mean() > 0.7
    ... )  # the front is part of the diagonal
    True

    Without models:

    >>> Nsga2Search(Domain.continuous(2), models=False).ask().origin
    'design'
    """

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        n_objectives: int = 2,
        noise: Noise = "auto",
        population: int = 20,
        models: bool = True,
        **arguments: Any,
    ):
        if not is_count(population, 4):
            raise SolverError(f"population={population!r} is not a size of generations; use a whole number, 4 or more")
        for name in arguments if not models else arguments.keys() & {"surrogate", "acquisition"}:
            instead = "ParegoSearch" if models else "models=True"
            raise SolverError(f"{name}={arguments[name]!r} is no setting of Nsga2Search(models={models}); use {instead} with it")
        super().__init__(domain, seed, n_objectives=n_objectives, noise=noise, **arguments)
        self.population, self.models = int(population), bool(models)
        self._generations: Generations | None = None
        if not models:
            self._generations = Generations(domain, seed, n_objectives=n_objectives, population=population)
            self.capabilities = self._generations.capabilities

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose a new point or a point to evaluate again; see `KrigingSearch.suggest`.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        if self._generations is None:
            return super().suggest(rng)
        self._generations.allows = self.allows
        return self._generations.suggest(rng)

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for; see `Search.assume`."""
        if self._generations is not None:
            self._generations.allows = self.allows
            self._generations.assume(point, given=given)
        super().assume(point, given=given)

    def exclude(self, point: ArrayLike) -> None:
        """Suggest a point no more; see `Search.exclude`."""
        if self._generations is not None:
            self._generations.exclude(point)
        super().exclude(point)

    def _told(self, point: Floats, vector: Floats) -> None:
        if self._generations is not None:
            self._generations.tell(point, vector)

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the point reported last; see `Search.take_margins`."""
        if self._generations is not None:
            self._generations.take_margins(margins)
        super().take_margins(margins)

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: of the design, or of the generation without models."""
        return super().n_foreseen if self._generations is None else self._generations.n_foreseen

    def _modelling(self, model: SearchModel) -> ResponseModel:
        return FrontModel(model, self.n_objectives, self.noise)

    def _evaluations(self) -> Evaluations:
        return replace(super()._evaluations(), objectives=self._responses())

    def _responses(self) -> Floats:
        """Return the objectives to model; shape (n, m)."""
        return np.column_stack([without_penalties(values) for values in self.values.T])

    def _modelled(self) -> Floats:
        """Return a response that ranks the evaluations: the norm of equal weights."""
        return augmented_tchebycheff(self._responses(), np.full(self.n_objectives, 1.0 / self.n_objectives))

    def _weigh(self, fit: ModelFit, told: Evaluations, criterion: Criterion) -> FittedCriterion:
        known, front = Conditions.of(self.domain, fit, told, self._model.max_points), cast("FrontModels", fit.models)
        improvement = FrontImprovement(
            self.domain, front.models, front.scale, front.criteria, known.chances, known.held, known.savings
        )
        return FittedFront(fit, known.predicted, improvement, known.notes, front)

    def _choose(self, fitted: FittedCriterion, noise: Noisiness, rng: np.random.Generator) -> Suggestion:
        if self.n_asked % _EXTEND_EVERY == 0:
            fitted = replace(fitted, improvement=cast("FrontImprovement", fitted.improvement).extending())
        return super()._choose(fitted, noise, rng)

    def _anchors(self, fitted: FittedCriterion, rng: np.random.Generator) -> Floats:
        """Return the evaluated points on the front, and the last generation of NSGA-II on the models."""
        anchors = fitted.anchors()
        if self.domain.size <= _FEW:
            return anchors
        from spotsvm.solvers.search.multi_objective.genetic_algorithm import GeneticAlgorithm  # on use: it imports pymoo

        improvement, models = cast("FrontImprovement", fitted.improvement), cast("FittedFront", fitted).front
        seed = int(rng.integers(2**31))
        algorithm = GeneticAlgorithm(self.domain, self.n_objectives, self.population, seed, self.is_new, _TRIES)
        places = np.linspace(0, len(anchors) - 1, min(len(anchors), self.population)).astype(int)
        further = rng.random((max(self.population - len(anchors), 0), self.domain.dimension))
        generation = [algorithm.individuals.of(point) for point in [*anchors[places], *self.domain.snap(further)]]
        for k in range(_GENERATIONS):
            points = np.array([algorithm.individuals.point(individual) for individual in generation])
            means, lacking = models.predict(self.domain.model_inputs(points)), -improvement.log_chance(points)
            algorithm.select(list(zip(generation, means, np.maximum(lacking - _EVEN, 0.0), strict=True)))
            generation = algorithm.children() if k < _GENERATIONS - 1 else []
            if not generation:
                break
        return np.vstack([anchors, algorithm.survivors])

    def _replicate(self, fitted: FittedCriterion) -> Floats | None:
        """Choose the evaluated point whose standard errors stand for the largest hypervolume; pending points are excluded."""
        errors = cast("FittedFront", fitted).errors()
        for k in np.argsort(-errors, kind="stable"):
            if errors[k] > 0 and not self.is_pending(fitted.fit.points[k]):
                return np.asarray(fitted.fit.points[k])
        return None
