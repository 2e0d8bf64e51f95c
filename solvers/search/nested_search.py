"""Nested search: models of growing complexity, each a part of the richest model's cube, searched in stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import Capabilities, Noise, Search, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch
from spotsvm.solvers.search.registry import SearchFactory, make_search
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

#: maximum distance that a point may move on its way into another cube and back; beyond it, it is another point
_TOLERANCE = 1e-9
_PROBES = 16


def _as_it_is(point: Floats) -> Floats:
    """Return the point itself: the embedding of the richest model."""
    return point


@dataclass(frozen=True, repr=False)
class Stage:
    """A model in a sequence of nested models.

    Parameters
    ----------
    domain : Domain
        The cube of this model's parameters.
    n_trials : int
        Trials of this stage, at least 1: m_h of Algorithm 2. The last stage continues as long as points are asked for.
    embed : callable, default=identity
        Maps a point of this cube, an array of shape (d_h,), to the point of the same model in the richest model's cube, shape
        (d,).
    restrict : callable, default=identity
        The inverse of `embed` on its image: maps a point of the richest cube to a point of this cube. Outside the image it may
        return any array of this shape.
    name : str, default=""
        Name of this model. Two studies use the same nested search if names, dimensions and trials are the same, so give each
        model its own name.

    Examples
    --------
    >>> Stage(
    ...     Domain.continuous(1),
    ...     20,
    ...     lambda u: np.repeat(u, 3),
    ...     lambda u: u[:1],
    ...     name="one width",
    ... )
    Stage(name='one width', dimension=1, n_trials=20)
    """

    domain: Domain
    n_trials: int
    embed: Callable[[Floats], ArrayLike] = _as_it_is
    restrict: Callable[[Floats], ArrayLike] = _as_it_is
    name: str = ""

    def __repr__(self) -> str:
        return f"Stage(name={self.name!r}, dimension={self.domain.dimension}, n_trials={self.n_trials})"

    def embedded(self, inside: Floats, richest: Domain) -> Floats:
        """Return the canonical point of the richest cube for a point of this stage's cube.

        Parameters
        ----------
        inside : ndarray of shape (d_h,)
            A point of this stage's cube.
        richest : Domain
            The richest model's cube.

        Returns
        -------
        ndarray
            The canonical point.

        Raises
        ------
        SolverError
            If `embed` does not return a point of the richest cube's dimension.
        """
        point = np.asarray(self.embed(inside.copy()), dtype=float)
        if point.shape != (richest.dimension,) or not np.all(np.isfinite(point)):
            raise SolverError(
                f"embed of {self!r} gives {point!r}; it must give a point of the richest cube, of dimension {richest.dimension}"
            )
        return richest.snap_one(point)

    def contains(self, point: Floats, richest: Domain) -> Floats | None:
        """Return the canonical point of this stage's cube for a point of the richest cube; None if it has no such point.

        Parameters
        ----------
        point : ndarray of shape (d,)
            A canonical point of the richest cube.
        richest : Domain
            The richest model's cube.

        Returns
        -------
        ndarray or None
            The point of the stage's cube; None if the stage does not contain the point.

        Raises
        ------
        SolverError
            If `restrict` does not return a point of this stage's dimension.
        """
        inside = np.asarray(self.restrict(point.copy()), dtype=float)
        if inside.shape != (self.domain.dimension,):
            raise SolverError(
                f"restrict of {self!r} gives {inside!r}; it must give a point of its cube, of dimension {self.domain.dimension}"
            )
        if not np.all(np.isfinite(inside)):
            return None
        inside = self.domain.snap_one(inside)
        back = self.embedded(inside, richest)
        return inside if np.allclose(back, point, rtol=0.0, atol=_TOLERANCE) else None


def check_stages(stages: Sequence[Stage], richest: Domain) -> None:
    """Check that stages are a sequence of nested models, poorest first, by 16 points of each."""
    if not stages:
        raise SolverError("stages is empty; a nested search needs at least one Stage")
    for stage in stages:
        if not is_count(stage.n_trials):
            raise SolverError(f"{stage!r} has n_trials={stage.n_trials!r}, which is not a number of trials; use 1 or more")
    if stages[-1].domain != richest:
        raise SolverError(
            f"{stages[-1]!r} is the last stage, and its domain is not the one to search, of dimension {richest.dimension}; "
            "the last stage must be the richest model"
        )
    rng = np.random.default_rng(0)
    for h, stage in enumerate(stages):
        for inside in stage.domain.snap(rng.random((_PROBES, stage.domain.dimension))):
            point = stage.embedded(inside, richest)
            for other in stages[h:]:
                if other.contains(point, richest) is not None:
                    continue
                if other is stage:
                    raise SolverError(
                        f"restrict of {stage!r} is not the inverse of its embed, as the point {inside!r} of it shows"
                    )
                raise SolverError(
                    f"{other!r} does not contain {stage!r}: the point {inside!r} of the latter is not among its own"
                )


_TRIES = 64


class NestedSearch(Search):
    """A search of a sequence of nested models; each stage starts from the record of the earlier stages (Algorithm 2).

    Models that are special cases of one another, such as one kernel width for all features and one for each, are searched from
    the poorest to the richest. Every point is a point of the richest model's cube. A stage's search works only in its own model's
    cube. When its trials have been asked for, the next stage's search is made, and the record so far is reported to it as points
    that it never asked for: no evaluation is repeated. So variable neighbourhood search starts from the poorer model's best
    point, which is the paper's algorithm, and Kriging uses the poorer model's whole record.

    Parameters
    ----------
    domain : Domain
        The richest model's cube.
    seed : int, default=0
        Seed of every random choice; the stages' seeds are derived from it.
    stages : sequence of Stage
        The models, poorest first; the domain of the last is `domain`.
    inner : str or callable, default="vns"
        The search of each stage: a name of `SEARCHES`, or a callable that takes a domain and a seed and makes a `Search`.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ; for searches that use it.
    whole : bool, default=True
        Whether `capabilities.n_initial`, and therefore the smallest budget, covers all stages before the last and the initial
        design of the last. If False, it covers only the initial design of the first stage.

    Attributes
    ----------
    stage : int
        Index of the stage of the last point asked for, counted from 0.

    Raises
    ------
    SolverError
        If there are no stages, the last stage has another domain, a stage has fewer trials than its search's initial design, or a
        stage's model is not contained in the next model.

    See Also
    --------
    spotsvm.kernels.nested : Makes a nested search for kernel models.

    Notes
    -----
    A stage ends with the first `ask` after `n_trials` of its points, or all configurations of its model, were asked for, even if
    some are still pending. Values that arrive later are reported to the search of the current stage. A point that was reported
    without being asked for, or that the user supplied as a start, goes to the stages whose models contain it, and does not count
    as a trial.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
    Algorithm 2.

    Examples
    --------
    One number for both coordinates first, then one for each:

    >>> from functools import partial
    >>> square = Domain.continuous(2)
    >>> stages = [
    ...     Stage(
    ...         Domain.continuous(1),
    ...         15,
    ...         lambda u: np.repeat(u, 2),
    ...         lambda u: u[:1],
    ...         name="equal",
    ...     ),
    ...     Stage(square, 45, name="free"),
    ... ]
    >>> nested = partial(
    ...     NestedSearch, stages=stages
    ... )  # what `Study` takes as its `search`
    >>> search = nested(square, 0)
    >>> for _ in range(60):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - [0.3, 0.4]) ** 2).sum()))
    >>> bool(np.ptp(search.points[:15], axis=1).max() == 0)
    True
    >>> bool(search.values.min() < 0.01)
    True
    """

    capabilities = Capabilities(max_given=0)

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        stages: Sequence[Stage],
        inner: str | SearchFactory = "vns",
        noise: Noise = "auto",
        whole: bool = True,
    ):
        super().__init__(domain, seed)
        check_stages(stages, domain)
        self.stages = tuple(stages)
        self.stage = 0
        self._inners = [_make(inner, s, [self.seed, 1 << 40, h], noise) for h, s in enumerate(self.stages)]
        for s, search in zip(self.stages[:-1], self._inners[:-1], strict=True):
            n_initial, name = search.capabilities.n_initial, search.capabilities.initial_name
            if s.n_trials < min(n_initial, s.domain.size):
                raise SolverError(
                    f"{s!r} has n_trials={s.n_trials}, below the {name} of {n_initial} of its search; use at least that"
                )
        first, last = self._inners[0].capabilities, self._inners[-1].capabilities
        n_initial, name = first.n_initial, first.initial_name
        if whole and len(self.stages) > 1:
            n_initial = sum(s.n_trials for s in self.stages[:-1]) + last.n_initial
            name = f"trials of the stages before the last and its {last.initial_name}"
        self.capabilities = replace(
            self.capabilities,
            n_initial=n_initial,
            initial_name=name,
            follows_given=first.follows_given,
            models_bounds=all(search.capabilities.models_bounds for search in self._inners),
        )
        self._margins: dict[int, Sequence[float]] = {}
        self._n_asked_here = 0
        self._outer: dict[bytes, Floats] = {}
        self._inside: dict[bytes, Floats] = {}

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points of the current stage that do not depend on any result still to be reported; at least 1."""
        left = self.stages[self.stage].n_trials - self._n_asked_here
        return self._inner.n_foreseen if self._is_last else max(min(self._inner.n_foreseen, left), 1)

    @property
    def _inner(self) -> Search:
        return self._inners[self.stage]

    @property
    def _is_last(self) -> bool:
        return self.stage == len(self.stages) - 1

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for in the current stage; a point supplied by the user is not a trial of the stage."""
        self._enter_the_stage_that_is_due()
        super().assume(point, given=given)
        self._n_asked_here += not given
        inside = None if given else self._planned(self.pending[-1])
        if inside is None:
            inside = self._to_inner(self.pending[-1])
        if inside is not None:
            self._inner.assume(inside, given=given)

    def _planned(self, point: Floats) -> Floats | None:
        """Return the planned next point of the current stage's search; None without a plan, or if `point` is another point.

        A plan compares points bit by bit, and the last bits may change on the way into the richest cube and back.
        """
        inner = self._inner
        if not isinstance(inner, PlannedSearch):
            return None
        inside = inner.suggest(np.random.default_rng([inner.seed, inner.n_asked])).point
        if not np.array_equal(self._embed(inside), point):
            return None
        self._inside[point.tobytes()] = inside
        self._outer.setdefault(inside.tobytes(), point)
        return inside

    def tell(self, point: ArrayLike, value: float) -> None:
        """Report the value at a point of the richest cube, also to the current stage's search if its model contains the point."""
        super().tell(point, value)
        self._tell_inner(self._points[-1], self._values[-1])

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the point reported last, also for the searches of stages that contain the point."""
        self._margins[len(self._points) - 1] = tuple(margins)
        if self._to_inner(self._points[-1]) is not None:
            self._inner.take_margins(margins)

    def _tell_inner(self, point: Floats, value: float, margins: Sequence[float] | None = None) -> None:
        inside = self._to_inner(point)
        if inside is not None:
            self._inner.tell(inside, value)
            if margins is not None:
                self._inner.take_margins(margins)

    def _to_inner(self, point: Floats) -> Floats | None:
        """Return a point in the current stage's cube, None if its model does not contain the point."""
        inside = self._inside.get(point.tobytes())
        if inside is None:
            inside = self.stages[self.stage].contains(point, self.domain)
        if inside is not None:
            # a replicate must be bit-identical to the earlier point, although embed may change the last bits
            self._outer.setdefault(inside.tobytes(), point)
        return inside

    def _enter_the_stage_that_is_due(self) -> None:
        while not self._is_last and (self._n_asked_here >= self.stages[self.stage].n_trials or self._inner.is_exhausted):
            self.stage += 1
            self._n_asked_here = 0
            self._outer, self._inside = {}, {}
            for k, (point, value) in enumerate(zip(self._points, self._values, strict=True)):
                self._tell_inner(point, value, self._margins.get(k))
            for point in self.pending:
                inside = self._to_inner(point)
                if inside is not None:
                    self._inner.exclude(inside)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Ask the search of the current stage, and embed its suggestion.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        self._enter_the_stage_that_is_due()
        stage, inner = self.stages[self.stage], self._inner
        where = f"stage {self.stage + 1} of {len(self.stages)}" + (f", {stage.name}" if stage.name else "")
        suggestion = inner.suggest(np.random.default_rng([inner.seed, inner.n_asked]))
        point = self._embed(suggestion.point)
        if self.is_new(point) or suggestion.origin == "replicate":
            return replace(suggestion, point=point, note="; ".join(filter(None, [where, suggestion.note])))
        for _ in range(_TRIES):
            point = self._embed(inner.new_point(rng))
            if self.is_new(point):
                return Suggestion(point, "random", f"{where}; the point suggested had been asked for")
        return Suggestion(self.new_point(rng), "random", f"{where}; its model seems to hold nothing new")

    def _embed(self, inside: Floats) -> Floats:
        outer = self._outer.get(inside.tobytes())
        return self.stages[self.stage].embedded(inside, self.domain) if outer is None else outer

    def state(self) -> dict[str, Any]:
        """Return the state of the current stage's search; empty if it depends only on its history.

        Returns
        -------
        dict
            The state by name.
        """
        inner = self._inner.state()
        return {"stage": self.stage, "inner": inner} if inner else {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the result of `state`; the state of an earlier stage is out of date and ignored."""
        if state and state["stage"] == self.stage:
            self._inner.restore(state["inner"])


def _make(inner: str | SearchFactory, stage: Stage, entropy: list[int], noise: Noise) -> Search:
    """Make a stage's search; SolverError if it cannot be nested."""
    if not isinstance(inner, str) and not callable(inner):
        raise SolverError(f"inner={inner!r} cannot search every stage; use a name, or a callable that makes a search")
    seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    made = make_search(inner, stage.domain, seed, noise=noise)
    if not isinstance(made, Search):
        raise SolverError(
            f"inner={inner!r} made {made!r}, which cannot be nested; use what makes a spotsvm.solvers.search.Search"
        )
    return made
