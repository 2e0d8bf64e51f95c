"""A stage of a nested search: a model's cube, and how it lies in the richest model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.solvers.errors import SolverError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

#: how far a point may move on its way into another cube and back; what is farther off is another point
_TOLERANCE = 1e-9
_PROBES = 16


def _as_it_is(point: Floats) -> Floats:
    """Return a point back: the embedding of the richest model."""
    return point


@dataclass(frozen=True, repr=False)
class Stage:
    """A model of a nested sequence.

    Parameters
    ----------
    domain : Domain
        The cube of this model's parameters.
    n_trials : int
        Trials of this stage, at least 1: m_h of Algorithm 2. The last stage goes on as long as it is asked.
    embed : callable, default=identity
        Takes a point of this cube, an array of shape (d_h,), and gives the point of the richest model's cube, shape (d,),
        that means the same model.
    restrict : callable, default=identity
        The inverse of `embed` on its image: takes a point of the richest cube and gives one of this cube. Off the image
        it may give anything of that shape.
    name : str, default=""
        What this model is called. Two studies use the same nested search if names, dimensions and trials are the same, so
        give each model a name of its own.

    See Also
    --------
    NestedSearch : The search that goes through stages.

    Examples
    --------
    >>> Stage(Domain.continuous(1), 20, lambda u: np.repeat(u, 3), lambda u: u[:1], name="one width")
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
        """Return the canonical point of the richest cube that a point of this stage's cube means.

        Parameters
        ----------
        inside : ndarray of shape (d_h,)
            A point of this stage's cube.
        richest : Domain
            The richest model's cube.

        Raises
        ------
        SolverError
            If `embed` gives no point of that cube's dimension.

        See Also
        --------
        contains : The way back.
        """
        point = np.asarray(self.embed(inside.copy()), dtype=float)
        if point.shape != (richest.dimension,) or not np.all(np.isfinite(point)):
            raise SolverError(
                f"embed of {self!r} gives {point!r}; it must give a point of the richest cube, of dimension {richest.dimension}"
            )
        return richest.snap_one(point)

    def contains(self, point: Floats, richest: Domain) -> Floats | None:
        """Return the canonical point of this stage's cube that means a point of the richest cube, None if there is none.

        Parameters
        ----------
        point : ndarray of shape (d,)
            A canonical point of the richest cube.
        richest : Domain
            The richest model's cube.

        Raises
        ------
        SolverError
            If `restrict` gives no point of this stage's dimension.

        See Also
        --------
        embedded : The way back.
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
    """Check that stages are a nested sequence of models, as far as 16 points of each can tell.

    Parameters
    ----------
    stages : sequence of Stage
        Poorest first.
    richest : Domain
        The domain that the last one must have.

    Raises
    ------
    SolverError
        If they are none, or not nested, or one has no trials.
    """
    if not stages:
        raise SolverError("stages is empty; a nested search needs at least one Stage")
    for stage in stages:
        n = stage.n_trials
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise SolverError(f"{stage!r} has n_trials={n!r}, which is not a number of trials; use 1 or more")
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
