"""Variable neighbourhood search: shake the incumbent; move there if better, otherwise shake in a larger neighbourhood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_choice, is_count
from spotsvm.solvers.search.contract.base import Capabilities, Search, Suggestion
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Norm = Literal["inf", "2", "1"]
Radii = Literal["linear", "doubling"] | Sequence[ArrayLike] | Callable[[int], ArrayLike]

_DRAWS = 256
_SWEEPS = 30


def shake(domain: Domain, around: Floats, radius: Floats, norm: Norm, rng: np.random.Generator) -> Floats:
    """Draw a canonical point from the neighbourhood of a point, intersected with the cube: ||(point - around) / radius|| <= 1.

    Integers move to the centre of their cell; a category is redrawn with probability min(radius, 1); a coordinate inactive at
    `around` is uniform. So in the maximum norm a radius of 1 draws from the whole domain.
    """
    point = rng.random(domain.dimension)
    active = domain.active(around)[0]
    near = active & ~domain.categorical
    if near.any():
        point[near] = uniform_in_ball(around[near], radius[near], norm, rng)
    keep = active & domain.categorical & (rng.random(domain.dimension) >= radius)
    return domain.snap_one(np.where(keep, around, point))


def uniform_in_ball(centre: Floats, radius: Floats, norm: Norm, rng: np.random.Generator) -> Floats:
    """Draw uniformly from the part of a ball that lies in the unit cube.

    By rejection from a box; if that is hopeless, as in many dimensions, by 30 sweeps of Gibbs sampling, approximately uniform.
    """
    low, high = np.maximum(-centre / radius, -1.0), np.minimum((1.0 - centre) / radius, 1.0)
    if norm == "inf":
        offset = rng.uniform(low, high)
    else:
        power = float(norm)
        candidates = rng.uniform(low, high, size=(_DRAWS, len(centre)))
        inside = np.flatnonzero((np.abs(candidates) ** power).sum(axis=1) <= 1.0)
        offset = candidates[inside[0]] if len(inside) else _gibbs(low, high, power, rng)
    return np.clip(centre + radius * offset, 0.0, 1.0)


def _gibbs(low: Floats, high: Floats, power: float, rng: np.random.Generator) -> Floats:
    """Draw from the intersection of box and unit ball: each coordinate in turn, uniformly given the others."""
    offset = np.zeros(len(low))
    for _ in range(_SWEEPS):
        for j in range(len(low)):
            offset[j] = 0.0
            room = max(1.0 - float((np.abs(offset) ** power).sum()), 0.0) ** (1.0 / power)
            offset[j] = rng.uniform(max(low[j], -room), min(high[j], room))
    return offset


def neighbourhood_radii(
    radii: Radii, step: ArrayLike, kappa_max: int | None, dimension: int, widths: Floats | float = 1.0
) -> Floats:
    """Return the radius of each neighbourhood in each coordinate, (kappa_max, d), as a share of the cube; increasing in kappa.

    "doubling" is 2^(kappa - 1) step, "linear" kappa step. kappa_max is by default the number of given radii, else 6.
    """
    if kappa_max is not None and not is_count(kappa_max):
        raise SolverError(f"kappa_max={kappa_max!r} is not a number of neighbourhoods; use 1 or more")
    first = _radius(step, "step", dimension) / widths
    kappas = range(1, (6 if kappa_max is None else int(kappa_max)) + 1)
    if isinstance(radii, str):
        check_choice("radii", radii, ("doubling", "linear"), "a sequence of radii or a function of kappa")
        return np.array([first * (kappa if radii == "linear" else 2.0 ** (kappa - 1)) for kappa in kappas])
    values = [radii(kappa) for kappa in kappas] if callable(radii) else list(radii)
    if not values or (kappa_max is not None and len(values) != kappa_max):
        raise SolverError(f"radii has {len(values)} entries for kappa_max={kappa_max}; use as many radii as neighbourhoods")
    out = np.array([_radius(r, f"radii[{k}]", dimension) for k, r in enumerate(values)]) / widths
    if not np.all(np.diff(out, axis=0) > 0):
        raise SolverError(f"radii={values!r} do not grow; use increasing radii")
    return out


def _radius(value: ArrayLike, name: str, dimension: int) -> Floats:
    radius = np.asarray(value, dtype=float)
    if radius.shape not in ((), (dimension,)) or not np.all(np.isfinite(radius) & (radius > 0)):
        raise SolverError(f"{name}={value!r} is not a radius; use one positive number or {dimension}")
    return np.broadcast_to(radius, (dimension,))


_TRIES = 64
_OPENING = 10
_GRID = 24.0  # from -12 to 12


class VnsSearch(Search):
    """Basic variable neighbourhood search (Carrizosa et al. 2014, Algorithm 1).

    The search draws from the kappa-th neighbourhood of its incumbent, the points within r_kappa of it. A better point becomes the
    incumbent, and kappa is reset to 1. Otherwise kappa grows by 1, and returns to 1 after `kappa_max`.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    start : "centre", "random" or array-like of shape (d,), default="centre"
        The initial solution: the cube's centre, a point drawn uniformly, or a point of the cube. If values were reported before
        the first `ask`, the search starts from the best of them, and suggests its `start` only if this is a point.
    step : float or array-like of shape (d,), default=1/32
        The first radius r_1, positive.
    unit : {"cube", "axis"}, default="cube"
        Whether radii are shares of the cube, or in the axes' own unit (the domain's `widths`), so that a radius is the same step
        on axes of different extent. A coordinate without a width counts as 24 wide, like the paper's grid.
    radii : "doubling", "linear", sequence or callable, default="doubling"
        r_kappa: 2^(kappa - 1) step; kappa step; the radii themselves, one or `d` numbers each; or a function of kappa. They
        must grow with kappa.
    kappa_max : int or None, default=None
        Number of neighbourhoods, at least 1; None is the number of radii of a sequence, else 6.
    norm : {"inf", "2", "1"}, default="inf"
        The norm of a neighbourhood: maximum, Euclidean, or sum of absolute values.
    plateau : {"move", "stay"}, default="move"
        What to do at an equally good point: move there, or stay, as in the paper. In both cases kappa grows.
    opening : {"widest", "narrowest"}, default="widest"
        The first neighbourhood: the widest, for ten points or until a value better than the first is known; or kappa = 1, as in
        the paper. A start in a flat region learns nothing from its vicinity, and many searches would stay there.

    Attributes
    ----------
    incumbent : ndarray of shape (d,) or None
        The best point so far; None before the first success.
    kappa : int
        The neighbourhood that the next point comes from if nothing is pending.
    radii : ndarray of shape (kappa_max, d)
        The radius of each neighbourhood in each coordinate, as a share of the cube.

    Raises
    ------
    SolverError
        If a start is outside the cube, or another argument is invalid.

    Notes
    -----
    Points are drawn uniformly from the part of a neighbourhood inside the cube; `shake` explains integers, categories and
    conditional coordinates. If a discrete neighbourhood has no new point, the next neighbourhoods are tried.

    Each pending point counts as not better, so a batch goes through as many neighbourhoods of the incumbent as it has points. A
    reported value acts on the current incumbent and kappa. A point reported without being asked for can become the incumbent, but
    does not change kappa. A failure is never better.

    As printed, Algorithm 1 leaves its loop when kappa reaches kappa_max, so the last neighbourhood in its list would never be
    used. Here it is used.

    The paper's settings are `search="carrizosa2014"`: r_kappa = kappa in binary logarithms for any range of a parameter,
    kappa_max = 25, the maximum norm, a random start, and moves only to strictly better points. The defaults did better in 100
    evaluations of tuning tasks: a start at the centre of sensible ranges; six radii that double up to the whole cube, for both
    fine and wide search; and moves along the plateaus of error counts. Opening widely does better in the first 50 evaluations and
    slightly worse after 100; without it 3 of 120 runs on the twelve sets of the paper's Table 3 ended where they had begun.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines".
    Mladenovic, Hansen 1997, "Variable neighborhood search".

    Examples
    --------
    >>> search = VnsSearch(Domain.continuous(2), seed=0)
    >>> for _ in range(60):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - 0.3) ** 2).sum()))
    >>> bool(search.values.min() < 0.01)
    True
    """

    capabilities = Capabilities(follows_given=True)

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        start: Literal["centre", "random"] | ArrayLike = "centre",
        step: ArrayLike = 1 / 32,
        unit: Literal["cube", "axis"] = "cube",
        radii: Radii = "doubling",
        kappa_max: int | None = None,
        norm: Norm = "inf",
        plateau: Literal["move", "stay"] = "move",
        opening: Literal["widest", "narrowest"] = "widest",
    ):
        super().__init__(domain, seed)
        check_choice("norm", norm, get_args(Norm))
        check_choice("unit", unit, ("cube", "axis"))
        check_choice("plateau", plateau, ("stay", "move"))
        check_choice("opening", opening, ("widest", "narrowest"))
        self.norm: Norm = norm
        self.plateau = plateau
        self.start = self._starting_point(start)
        self._start_is_given = not isinstance(start, str)
        widths = np.where(np.isnan(domain.widths), _GRID, domain.widths) if unit == "axis" else 1.0
        self.radii = neighbourhood_radii(radii, step, kappa_max, domain.dimension, widths)
        self.incumbent: Floats | None = None
        self._opening = _OPENING if opening == "widest" else 0  # shakes left of the opening
        self.kappa = self.kappa_max if self._opening else 1
        self._value = np.inf
        self._shaken: set[bytes] = set()

    def _starting_point(self, start: Literal["centre", "random"] | ArrayLike) -> Floats:
        if isinstance(start, str):
            check_choice("start", start, ("centre", "random"), "a point of the unit cube")
            rng = np.random.default_rng([self.seed, 1 << 40])
            return self.domain.snap_one(rng.random(self.domain.dimension) if start == "random" else [0.5] * self.domain.dimension)
        try:
            point = np.asarray(start, dtype=float)
        except (TypeError, ValueError):
            point = np.array(np.nan)
        if point.shape != (self.domain.dimension,) or not np.all((point >= 0) & (point <= 1)):
            raise SolverError(
                f"start={start!r} is not in the box; use a point of the unit cube of dimension {self.domain.dimension}"
            )
        return self.domain.snap_one(point)

    @property
    def kappa_max(self) -> int:
        """The number of neighbourhoods."""
        return len(self.radii)

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for: drawn from a neighbourhood of the incumbent, unless the user supplied it."""
        super().assume(point, given=given)
        if self.incumbent is not None and not given:
            self._shaken.add(self.pending[-1].tobytes())

    def tell(self, point: ArrayLike, value: float) -> None:
        """Report the value at a point, and move there if it is better than the incumbent's; see `Search.tell`."""
        n_pending = len(self.pending)
        super().tell(point, value)
        here, value = self._points[-1], self._values[-1]
        asked = len(self.pending) < n_pending
        shaken = here.tobytes() in self._shaken
        self._shaken.discard(here.tobytes())
        better = np.isfinite(value) and value < self._value
        opened = better and np.isfinite(self._value)
        if better or (self.plateau == "move" and np.isfinite(value) and value == self._value):
            self.incumbent, self._value = here, value
        if self._opening:
            self._opening = 0 if opened else self._opening - shaken
            self.kappa = self.kappa if self._opening else 1
        elif better and asked:
            self.kappa = 1
        elif shaken:
            self.kappa = self._after(self.kappa)

    def _after(self, kappa: int, steps: int = 1) -> int:
        return (kappa - 1 + steps) % self.kappa_max + 1

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Shake the incumbent; before the first success, the starting point.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        if self.is_new(self.start) and (self.incumbent is None or (self._start_is_given and self.n_asked == 0)):
            return Suggestion(self.start, "initial")
        around = self.incumbent
        if around is None:
            if not self.is_pending(self.start):
                return Suggestion(self.new_point(rng), "random", "no evaluation has succeeded yet")
            around = self.start
        first = self.kappa if self._opening else self._after(self.kappa, len(self._shaken))
        for kappa in range(first, self.kappa_max + 1):
            for _ in range(_TRIES):
                point = shake(self.domain, around, self.radii[kappa - 1], self.norm, rng)
                if self.is_new(point):
                    note = "" if kappa == first else f"neighbourhood {kappa}, for {first} holds nothing new"
                    return Suggestion(point, "shake", note)
        return Suggestion(self.new_point(rng), "random", "no neighbourhood of the incumbent holds anything new")
