"""The contract of every search: `ask` for a point of the unit cube, `tell` its value, smaller being better; and baselines."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

#: an objective's noise: whether two evaluations of a point may differ, or "auto" to detect it
Noise = Literal["auto"] | bool


#: maximum number of random draws to find a point that satisfies the constraints
MOST_DRAWS = 10_000


@dataclass(frozen=True)
class Suggestion:
    """A point to evaluate.

    Attributes
    ----------
    point : ndarray of shape (d,)
        A canonical point of the domain.
    origin : str
        Source of the point: "design", "improvement", "replicate", "random"; CMA-ES's "generation"; L-BFGS-B's "step" and
        "difference"; "cost" and "width" of Keerthi and Lin's two lines.
    note : str
        An unusual circumstance, empty if there was none.
    fit_seconds, acquisition_seconds : float or None
        Time of fitting the model, and of maximising the acquisition function; None if the search has no model.

    Examples
    --------
    >>> from spotsvm.searches import Domain, RandomSearch
    >>> suggestion = RandomSearch(Domain.continuous(2), seed=0).ask()
    >>> suggestion.origin, suggestion.point.shape
    ('random', (2,))
    """

    point: Floats
    origin: str
    note: str = ""
    fit_seconds: float | None = field(default=None, compare=False, repr=False)
    acquisition_seconds: float | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Capabilities:
    """What a search can do and needs, for its callers; `make_search` checks the declaration.

    Attributes
    ----------
    n_initial : int, default=1
        Evaluations that the search needs before its method begins.
    initial_name : str, default="initial design"
        Name of these evaluations in messages.
    max_given : float, default=inf
        Maximum number of points supplied by the user that count towards `n_initial`.
    follows_given : bool, default=False
        Whether the first point that the search chooses depends on the values of points supplied by the user.
    respects_constraints : bool, default=False
        Whether all suggestions satisfy `Search.allows`; suggestions of other searches are checked.
    models_bounds : bool, default=False
        Whether the search uses `take_margins`; to other searches a violated bound is reported as a failure.
    models_seconds : bool, default=False
        Whether the search uses `take_seconds`.
    follows_prior : bool, default=False
        Whether the search uses `take_prior`; a study with a prior refuses other searches.
    needs_space : bool, default=False
        Whether the search needs `take_space`, as its method is one of parameters by name; it is then for spaces alone.

    Examples
    --------
    >>> from spotsvm.searches import CmaesSearch, Domain
    >>> (
    ...     CmaesSearch.capabilities.initial_name,
    ...     CmaesSearch(Domain.continuous(2)).capabilities.n_initial,
    ... )
    ('first generation', 6)
    """

    n_initial: int = 1
    initial_name: str = "initial design"
    max_given: float = math.inf
    follows_given: bool = False
    respects_constraints: bool = False
    models_bounds: bool = False
    models_seconds: bool = False
    follows_prior: bool = False
    needs_space: bool = False


class SearchSpace(Protocol):
    """The parameters behind the coordinates of a domain, as a `Space` has them."""

    @property
    def domain(self) -> Domain:
        """The unit cube."""
        ...

    def describe(self) -> list[dict[str, Any]]:
        """Return the descriptions of the parameters, by name, of each dictionary of the space."""
        ...

    def centres(self) -> list[Floats]:
        """Return the centre of each dictionary's part of the cube."""
        ...

    def decode(self, point: Floats, /) -> dict[str, Any]:
        """Return the parameters that a point stands for."""
        ...

    def encode(self, params: Mapping[str, Any], /) -> Floats:
        """Return the canonical point of parameters."""
        ...


class PointPrior(Protocol):
    """A prior density of the optimum."""

    def log_density(self, points: Floats) -> Floats:
        """Return ln of the density at canonical points of shape (m, d), scaled to a maximum of 0; shape (m,)."""
        ...

    def modes(self) -> list[Floats]:
        """Return the points of the largest density, one point for each region of the space."""
        ...


@runtime_checkable
class AskTell(Protocol):
    """The interface that a study needs of a search, also of a user's own object.

    See Also
    --------
    Search : The base class of the library's searches.
    spotsvm.Study : Takes such an object as `search`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> class Grid:
    ...     def __init__(self):
    ...         self.points = iter(np.linspace(0, 1, 5)[:, None])
    ...
    ...     def ask(self):
    ...         return next(self.points)
    ...
    ...     def tell(self, point, value):
    ...         pass
    >>> Study({"x": uniform(0, 1)}, Grid()).run(
    ...     lambda p: abs(p["x"] - 0.7), n_trials=5
    ... ).best_params
    {'x': 0.75}
    """

    def ask(self) -> Suggestion | ArrayLike:
        """Suggest a point of the unit cube.

        Returns
        -------
        Suggestion or array-like of shape (dimension,)
            The point.
        """
        ...

    def tell(self, point: Floats, value: float) -> None:
        """Report the value at a point, smaller being better; nan for an evaluation that failed."""
        ...


@runtime_checkable
class FarSighted(AskTell, Protocol):
    """A search that says how many of its next points no report can change, so that they are evaluated together."""

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result still to be reported; at least 1."""
        ...


class Search(ABC):
    """Base class of the library's searches: stores the history and avoids duplicates; a subclass chooses the next point.

    A suggestion is a function of the seed, of the reported values in their order, and of the pending points. Points are canonical
    (`Domain.snap`). A point that was asked for and not yet reported is pending; it is never suggested again except as a
    replicate.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.

    See Also
    --------
    Suggestion : The result of `ask`.
    register_search : Gives a search a name.
    MultiObjectiveSearch : The base class for several objectives.

    Examples
    --------
    A subclass has a method `suggest`, which gets a generator of random numbers:

    >>> import numpy as np
    >>> from spotsvm.searches import Domain, Search, Suggestion
    >>> class Around(Search):
    ...     def suggest(self, rng):
    ...         centre = (
    ...             self.points[np.argmin(self.values)]
    ...             if len(self.points)
    ...             else np.full(self.domain.dimension, 0.5)
    ...         )
    ...         return Suggestion(
    ...             self.domain.snap_one(rng.normal(centre, 0.2)), "around"
    ...         )
    >>> search = Around(Domain.continuous(1), seed=0)
    >>> for _ in range(20):
    ...     point = search.ask().point
    ...     search.tell(point, (point[0] - 0.9) ** 2)
    >>> bool(search.values.min() < 0.01)
    True
    """

    #: declared capabilities; an instance may replace those of its class, depending on its arguments
    capabilities: Capabilities = Capabilities()
    #: condition that each canonical point must satisfy to be new; None for no condition. Set by the caller that makes the search
    allows: Callable[[NDArray[np.float64]], bool] | None = None

    def __init__(self, domain: Domain, seed: int = 0):
        self.domain = domain
        self.seed = int(seed)
        self.n_asked = 0
        self.pending: list[Floats] = []
        self._points: list[Floats] = []
        self._values: list[float] = []
        self._seen: set[bytes] = set()
        self._told_keys: set[bytes] = set()
        self._stacked = np.empty((0, domain.dimension))

    def ask(self) -> Suggestion:
        """Suggest the next point.

        Returns
        -------
        Suggestion
            The point, with its origin.

        Raises
        ------
        SearchExhaustedError
            If the space is finite and all its configurations have been asked for.
        """
        suggestion = self.suggest(np.random.default_rng([self.seed, self.n_asked]))
        self.assume(suggestion.point)
        return suggestion

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for, without computing a suggestion, to replay the record of an earlier run.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        given : bool, default=False
            True if the user supplied the point as a start.
        """
        canonical = self.domain.snap_one(point)
        self.n_asked += 1
        self.pending.append(canonical)
        self._seen.add(canonical.tobytes())

    def tell(self, point: ArrayLike, value: float) -> None:
        """Report the value at a point, whether it was asked for or not.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        value : float
            The response, smaller being better; nan or infinite if the evaluation failed.

        Raises
        ------
        SolverError
            If the point is not in the unit cube, or the value is not a single number.
        """
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise SolverError(
                f"value={value!r} is not one number, and {type(self).__name__} has one objective; "
                "use a search of several objectives, such as 'nsga2' or 'parego'"
            ) from error
        self._take(point)
        self._values.append(number)

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the point reported last; called if the search declares `models_bounds`.

        Parameters
        ----------
        margins : sequence of float
            Margin of each bound, negative where the bound is violated; nan where unknown.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no models_bounds, and has no take_margins")

    def take_seconds(self, seconds: float) -> None:
        """Take the duration of the evaluation reported last; called if the search declares `models_seconds`.

        Parameters
        ----------
        seconds : float
            Duration of the evaluation.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no models_seconds, and has no take_seconds")

    def take_prior(self, prior: PointPrior) -> None:
        """Take the prior of the optimum, before the first `ask`; called if the search declares `follows_prior`.

        Parameters
        ----------
        prior : PointPrior
            The prior.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no follows_prior, and has no take_prior")

    def take_space(self, space: SearchSpace) -> None:
        """Take the parameters behind the coordinates, before the first `ask`; called if the search declares `needs_space`.

        Parameters
        ----------
        space : SearchSpace
            The space, whose domain is the search's.

        Raises
        ------
        SolverError
            If the space lacks what the search needs.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no needs_space, and has no take_space")

    def _take(self, point: ArrayLike) -> Floats:
        """Add a reported point to the history, without its value; return its canonical point."""
        place = np.asarray(point, dtype=float).ravel()
        if place.shape != (self.domain.dimension,) or not np.all(np.isfinite(place)):
            raise SolverError(f"point={place!r} is not a point of the unit cube of dimension {self.domain.dimension}")
        canonical = self.domain.snap_one(place)
        key = canonical.tobytes()
        for k, waiting in enumerate(self.pending):
            if waiting.tobytes() == key:
                del self.pending[k]
                break
        self._seen.add(key)
        self._told_keys.add(key)
        self._points.append(canonical)
        return canonical

    def state(self) -> dict[str, Any]:
        """Return the state that the next suggestion depends on besides seed and history, in JSON's types; empty if none.

        Returns
        -------
        dict
            The state by name.
        """
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the result of `state`, after `assume` and `tell` have replayed the history.

        Raises
        ------
        SolverError
            If the state belongs to another search.
        """
        if state:
            raise SolverError(f"state={str(state)[:100]!r} is not of this search, which remembers nothing beyond its history")

    @abstractmethod
    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point, without marking it as asked for; `ask` calls this method.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random numbers for this suggestion; they depend on the seed and on the number of points asked for.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result still to be reported; at least 1."""
        return 1

    @property
    def is_exhausted(self) -> bool:
        """Whether the domain is finite, and every configuration has been asked for or reported."""
        return len(self._seen) >= self.domain.size

    def exclude(self, point: ArrayLike) -> None:
        """Suggest a point no more, as if it had been asked for; it does not count as one that was.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        """
        self._seen.add(self.domain.snap_one(point).tobytes())

    @property
    def points(self) -> Floats:
        """The reported points, in order; shape (n, d)."""
        if len(self._stacked) < len(self._points):
            self._stacked = np.vstack([self._stacked, *self._points[len(self._stacked) :]])
        return self._stacked.copy()

    @property
    def values(self) -> Floats:
        """The reported values, nan where the evaluation failed; shape (n,)."""
        values = np.array(self._values, dtype=float)
        return np.asarray(np.where(np.isfinite(values), values, np.nan))

    def is_new(self, point: Floats) -> bool:
        """Return whether a canonical point is allowed and has neither been asked for nor reported.

        Returns
        -------
        bool
            True if the point is new.
        """
        return point.tobytes() not in self._seen and (self.allows is None or self.allows(point))

    def is_told(self, point: Floats) -> bool:
        """Return whether a canonical point has been reported.

        Returns
        -------
        bool
            True if the point has been reported.
        """
        return point.tobytes() in self._told_keys

    def is_pending(self, point: Floats) -> bool:
        """Return whether a canonical point was asked for and is not yet reported.

        Returns
        -------
        bool
            True if the point is pending.
        """
        return any(np.array_equal(point, waiting) for waiting in self.pending)

    def new_point(self, rng: np.random.Generator) -> Floats:
        """Draw uniformly a point that has not been asked for.

        Returns
        -------
        ndarray of shape (dimension,)
            The canonical point.

        Raises
        ------
        SearchExhaustedError
            If no point is left, or none satisfies the constraints.
        """
        if not self.is_exhausted:
            for _ in range(64 if self.allows is None else MOST_DRAWS):
                point = self.domain.snap_one(rng.random(self.domain.dimension))
                if self.is_new(point):
                    return point
            for point in self._enumerate(rng):
                if self.is_new(point):
                    return point
        if self.allows is not None and math.isinf(self.domain.size):
            raise SearchExhaustedError(f"none of {MOST_DRAWS} random configurations satisfies the constraints; widen them")
        which = f"{self.domain.size:.0f} configurations of the space"
        if self.allows is not None:
            which = "the configurations of the space that satisfy the constraints"
        raise SearchExhaustedError(f"all {which} have been asked for")

    def _enumerate(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield the configurations of a finite space in a random order: each combination of the coordinates' values once."""
        if math.isinf(self.domain.size):
            return
        counts = [int(c.n_values) for c in self.domain.coordinates]
        start = [int(rng.integers(k)) for k in counts]
        for cell in np.ndindex(*counts):
            yield self.domain.cell((np.array(cell) + start) % counts)


class RandomSearch(Search):
    """Points drawn uniformly from the unit cube: the baseline (Bergstra and Bengio 2012).

    Examples
    --------
    >>> from spotsvm.searches import Domain
    >>> RandomSearch(Domain.continuous(2), seed=1).ask().point.shape
    (2,)
    """

    capabilities = Capabilities(respects_constraints=True)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Draw a new point uniformly.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        return Suggestion(self.new_point(rng), "random")

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: all."""
        return 1 << 30


class LatinHypercubeSearch(Search):
    """Points of Latin hypercubes of `size` points each: each hypercube visits every slice of every coordinate once.

    A search does not know the study's budget, so the hypercubes have a fixed size; set `size` to the budget for a single
    hypercube.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of the designs.
    size : int, default=25
        Points of each hypercube, at least 1.

    References
    ----------
    McKay, Beckman, Conover 1979, "A comparison of three methods for selecting values of input variables".

    Examples
    --------
    >>> search = LatinHypercubeSearch(Domain.continuous(1), seed=0, size=4)
    >>> sorted(int(4 * search.ask().point[0]) for _ in range(4))
    [0, 1, 2, 3]
    """

    capabilities = Capabilities(respects_constraints=True)

    def __init__(self, domain: Domain, seed: int = 0, size: int = 25):
        super().__init__(domain, seed)
        if size < 1:
            raise ValueError(f"size={size} is not a number of points; use 1 or more")
        self.size = size

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the next point of the current hypercube, or a random point if it is not new.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        block, position = divmod(self.n_asked, self.size)
        design = qmc.LatinHypercube(self.domain.dimension, rng=np.random.default_rng([self.seed, 1, block])).random(self.size)
        point = self.domain.snap_one(design[position])
        if self.is_new(point):
            return Suggestion(point, "design")
        return Suggestion(self.new_point(rng), "random", "the design's point had been asked for")

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: all."""
        return 1 << 30
