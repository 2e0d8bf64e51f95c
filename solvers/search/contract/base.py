"""The contract of every search: `ask` for a point of the unit cube, `tell` what it was worth. Smaller is better."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
#: what is known of an objective's noise: whether two evaluations of one point may differ, or that it is to be found out
Noise = Literal["auto"] | bool


#: random points among which one that satisfies constraints is sought
MOST_DRAWS = 10_000


@dataclass(frozen=True)
class Suggestion:
    """A point to evaluate.

    Attributes
    ----------
    point : ndarray of shape (d,)
        A canonical point of the domain.
    origin : str
        Where it comes from: "design", "improvement", "replicate", "random"; CMA-ES's "generation"; L-BFGS-B's "step" and
        "difference".
    note : str
        What was out of the ordinary, empty if nothing was.
    fit_seconds, acquisition_seconds : float or None
        Time that a model took to fit, and the search for the point at which it promises most; None of a search without one.

    See Also
    --------
    Search : What makes it.

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
    """What a search declares to those who run it; `make_search` checks it.

    Attributes
    ----------
    n_initial : int, default=1
        Evaluations that the search needs before its method begins.
    initial_name : str, default="initial design"
        What those evaluations are, for messages.
    max_given : float, default=inf
        Maximum number of points supplied by the user that count towards `n_initial`.
    follows_given : bool, default=False
        Whether its first own point depends on the values of the points supplied by the user.
    respects_constraints : bool, default=False
        Whether all its suggestions satisfy `Search.allows`; those of other searches are checked.
    models_bounds : bool, default=False
        Whether it uses `take_margins`; other searches are told a failure where a bound does not hold.
    models_seconds : bool, default=False
        Whether it uses `take_seconds`.
    follows_prior : bool, default=False
        Whether it uses `take_prior`; a study with a prior refuses other searches.

    Examples
    --------
    >>> from spotsvm.searches import CmaesSearch, Domain
    >>> CmaesSearch.capabilities.initial_name, CmaesSearch(Domain.continuous(2)).capabilities.n_initial
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


class PointPrior(Protocol):
    """Where the optimum is believed to be."""

    def log_density(self, points: Floats) -> Floats:
        """Return ln of a density at canonical points of shape (m, d), the largest being 0; shape (m,)."""
        ...

    def modes(self) -> list[Floats]:
        """Return the points of the largest density, one for each region of the space."""
        ...


@runtime_checkable
class AskTell(Protocol):
    """What a study needs of a search; a user's own object needs no more.

    See Also
    --------
    Search : The base class of the searches here.
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
    >>> Study({"x": uniform(0, 1)}, Grid()).run(lambda p: abs(p["x"] - 0.7), n_trials=5).best_params
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
        """Take the value at a point, smaller being better; nan for an evaluation that failed."""
        ...


class Search(ABC):
    """Base of the library's searches: keeps the history and refuses duplicates; a subclass says where to look next.

    What a search suggests is a function of its seed, of what it was told in the order told, and of the points still
    pending. Points are canonical (`Domain.snap`); a point that was asked for and not yet told is pending, and is never
    suggested again unless as a replicate.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.

    See Also
    --------
    Suggestion : What it suggests.
    register_search : Gives it a name.
    MultiObjectiveSearch : The base class for several objectives.

    Examples
    --------
    A subclass has a method `suggest`, which is given a generator of random numbers:

    >>> import numpy as np
    >>> from spotsvm.searches import Domain, Search, Suggestion
    >>> class Around(Search):
    ...     def suggest(self, rng):
    ...         centre = self.points[np.argmin(self.values)] if len(self.points) else np.full(self.domain.dimension, 0.5)
    ...         return Suggestion(self.domain.snap_one(rng.normal(centre, 0.2)), "around")
    >>> search = Around(Domain.continuous(1), seed=0)
    >>> for _ in range(20):
    ...     point = search.ask().point
    ...     search.tell(point, (point[0] - 0.9) ** 2)
    >>> bool(search.values.min() < 0.01)
    True
    """

    #: what the search declares to those who run it; an instance whose arguments decide about them replaces the class's own
    capabilities: Capabilities = Capabilities()
    #: condition that each canonical point must satisfy to be new; None for no condition. Set by whoever makes the search
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
            If the space is finite and each of its configurations has been asked for.
        """
        suggestion = self.suggest(np.random.default_rng([self.seed, self.n_asked]))
        self.assume(suggestion.point)
        return suggestion

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Take `point` as asked for, without computing a suggestion: what a record of an earlier run says was asked.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        given : bool, default=False
            True if the user supplied the point, as a start.
        """
        canonical = self.domain.snap_one(point)
        self.n_asked += 1
        self.pending.append(canonical)
        self._seen.add(canonical.tobytes())

    def tell(self, point: ArrayLike, value: float) -> None:
        """Take the value at a point, whether it was asked for or not.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        value : float
            The response, smaller being better; nan or infinite if the evaluation failed.

        Raises
        ------
        SolverError
            If the point is none of the unit cube, or the value is not one number.
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
        """Take by how much each bound was held at the point told last; called if the search declares `models_bounds`.

        Parameters
        ----------
        margins : sequence of float
            A number for each bound, negative where it was not held; nan where it is not known.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no models_bounds, and has no take_margins")

    def take_seconds(self, seconds: float) -> None:
        """Take how long the evaluation told last took; called if the search declares `models_seconds`.

        Parameters
        ----------
        seconds : float
            Duration of the evaluation.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no models_seconds, and has no take_seconds")

    def take_prior(self, prior: PointPrior) -> None:
        """Take where the optimum is believed to be, before anything is asked; called if the search declares `follows_prior`.

        Parameters
        ----------
        prior : PointPrior
            The belief.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no follows_prior, and has no take_prior")

    def _take(self, point: ArrayLike) -> Floats:
        """Note that a point is told, whose value follows; return its canonical point."""
        given = np.asarray(point, dtype=float).ravel()
        if given.shape != (self.domain.dimension,) or not np.all(np.isfinite(given)):
            raise SolverError(f"point={given!r} is not a point of the unit cube of dimension {self.domain.dimension}")
        canonical = self.domain.snap_one(given)
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
        """Return, in JSON's types, what the next suggestion depends on beyond seed and history; empty if nothing.

        Returns
        -------
        dict
            The state by name.
        """
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave, after the history has been replayed by `assume` and `tell`.

        Raises
        ------
        SolverError
            If the state is not of this search.
        """
        if state:
            raise SolverError(f"state={str(state)[:100]!r} is not of this search, which remembers nothing beyond its history")

    @abstractmethod
    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point, without noting that it is asked for; `ask` calls it.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random numbers of this suggestion, which depend on the seed and on how many points were asked for.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result still to be told; at least 1."""
        return 1

    @property
    def points(self) -> Floats:
        """The points told, in order; shape (n, d)."""
        if len(self._stacked) < len(self._points):
            self._stacked = np.vstack([self._stacked, *self._points[len(self._stacked) :]])
        return self._stacked.copy()

    @property
    def values(self) -> Floats:
        """The values told, nan where the evaluation failed; shape (n,)."""
        values = np.array(self._values, dtype=float)
        return np.asarray(np.where(np.isfinite(values), values, np.nan))

    def is_new(self, point: Floats) -> bool:
        """Return whether a canonical point has neither been asked for nor told, and is allowed.

        Returns
        -------
        bool
            True if the point is new.
        """
        return point.tobytes() not in self._seen and (self.allows is None or self.allows(point))

    def is_told(self, point: Floats) -> bool:
        """Return whether a canonical point has been told.

        Returns
        -------
        bool
            True if the point has been told.
        """
        return point.tobytes() in self._told_keys

    def new_point(self, rng: np.random.Generator) -> Floats:
        """Draw a point that has not been asked for, uniformly; SearchExhaustedError if there is none.

        Returns
        -------
        ndarray of shape (dimension,)
            The canonical point.

        Raises
        ------
        SearchExhaustedError
            If no point is left, or none satisfies the constraints.
        """
        if len(self._seen) < self.domain.size:
            for _ in range(64 if self.allows is None else MOST_DRAWS):
                point = self.domain.snap_one(rng.random(self.domain.dimension))
                if self.is_new(point):
                    return point
            for point in self._enumerate(rng):
                if self.is_new(point):
                    return point
        if self.allows is not None and math.isinf(self.domain.size):
            raise SearchExhaustedError(f"none of {MOST_DRAWS} random configurations satisfies the constraints; widen them")
        which = "" if self.allows is None else " that satisfy the constraints"
        count = "the" if self.allows is not None else f"{self.domain.size:.0f}"
        raise SearchExhaustedError(f"all {count} configurations of the space{which} have been asked for")

    def _enumerate(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Go through the configurations of a finite space in a random order that holds each value of each coordinate."""
        if math.isinf(self.domain.size):
            return
        counts = [int(c.n_values) for c in self.domain.coordinates]
        start = [int(rng.integers(k)) for k in counts]
        for cell in np.ndindex(*counts):
            yield self.domain.cell((np.array(cell) + start) % counts)
