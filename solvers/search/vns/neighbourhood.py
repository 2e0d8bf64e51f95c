"""The neighbourhoods of a point in the unit cube: how large they are, and how to draw from one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.solvers.errors import SolverError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Norm = Literal["inf", "2", "1"]
Radii = Literal["linear", "doubling"] | Sequence[ArrayLike] | Callable[[int], ArrayLike]

_TRIES = 256
_SWEEPS = 30


def shake(domain: Domain, around: Floats, radius: Floats, norm: Norm, rng: np.random.Generator) -> Floats:
    """Draw a canonical point from the neighbourhood of a point, intersected with the cube.

    Numbers are drawn uniformly from where the norm of (point - around) / radius is at most 1, and integers are then put to
    the centre of their cell. A category has no distance: it is drawn anew, from all of its values, with probability
    min(radius, 1). A coordinate that counts for nothing at `around` is drawn from all of [0, 1]. So a radius of 1 or more in
    the maximum norm is the whole domain, and the draw uniform on it.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    around : ndarray of shape (d,)
        A canonical point: the middle of the neighbourhood.
    radius : ndarray of shape (d,)
        Radius in each coordinate, as a share of the cube, positive.
    norm : {"inf", "2", "1"}
        Maximum norm, Euclidean norm or sum of absolute values.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    ndarray of shape (d,)
        A canonical point of the domain.

    Examples
    --------
    >>> middle = np.array([0.5, 1.0])
    >>> point = shake(Domain.continuous(2), middle, np.array([0.1, 0.2]), "inf", np.random.default_rng(0))
    >>> bool(0.4 <= point[0] <= 0.6 and 0.8 <= point[1] <= 1.0)
    True
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

    In the maximum norm the part is a box. In the others a box is drawn from until the ball is hit; where that is hopeless, as
    it is in many dimensions, 30 sweeps of Gibbs sampling give a point that is uniform to a good approximation.

    Parameters
    ----------
    centre : ndarray of shape (d,)
        The ball's centre, a point of the cube.
    radius : ndarray of shape (d,)
        Radius in each coordinate, positive.
    norm : {"inf", "2", "1"}
        The norm of the ball.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    ndarray of shape (d,)
        A point of the cube.
    """
    low, high = np.maximum(-centre / radius, -1.0), np.minimum((1.0 - centre) / radius, 1.0)
    if norm == "inf":
        offset = rng.uniform(low, high)
    else:
        power = float(norm)
        candidates = rng.uniform(low, high, size=(_TRIES, len(centre)))
        inside = np.flatnonzero((np.abs(candidates) ** power).sum(axis=1) <= 1.0)
        offset = candidates[inside[0]] if len(inside) else _gibbs(low, high, power, rng)
    return np.clip(centre + radius * offset, 0.0, 1.0)


def _gibbs(low: Floats, high: Floats, power: float, rng: np.random.Generator) -> Floats:
    """Draw from box and unit ball: each coordinate in turn, uniformly from what the others leave of it."""
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
    """Return the radius of each neighbourhood in each coordinate, as a share of the cube.

    Parameters
    ----------
    radii : "doubling", "linear", sequence or callable
        2^(kappa - 1) step; kappa step; the radii themselves, one or d numbers each; or a function of kappa.
    step : float or array-like of shape (d,)
        The first radius.
    kappa_max : int or None
        Number of neighbourhoods; None is the number of radii of a sequence, else 6.
    dimension : int
        Number of coordinates, d.
    widths : float or ndarray of shape (d,), default=1
        Extent of the cube in the radii's unit.

    Returns
    -------
    ndarray of shape (kappa_max, d)
        Positive, and growing down each column.

    Raises
    ------
    SolverError
        If the radii are not positive or do not grow, or are not as many as kappa_max says.

    Examples
    --------
    >>> neighbourhood_radii("linear", [0.1, 0.2], 3, 2).round(3)
    array([[0.1, 0.2],
           [0.2, 0.4],
           [0.3, 0.6]])
    """
    if kappa_max is not None and (not isinstance(kappa_max, Integral) or isinstance(kappa_max, bool) or kappa_max < 1):
        raise SolverError(f"kappa_max={kappa_max!r} is not a number of neighbourhoods; use 1 or more")
    first = _radius(step, "step", dimension) / widths
    kappas = range(1, (6 if kappa_max is None else int(kappa_max)) + 1)
    if isinstance(radii, str):
        if radii not in ("linear", "doubling"):
            raise SolverError(
                f"radii={radii!r} is unknown; use 'doubling', 'linear', a sequence of radii, or a function of kappa"
            )
        return np.array([first * (kappa if radii == "linear" else 2.0 ** (kappa - 1)) for kappa in kappas])
    given = [radii(kappa) for kappa in kappas] if callable(radii) else list(radii)
    if not given or (kappa_max is not None and len(given) != kappa_max):
        raise SolverError(f"radii has {len(given)} entries for kappa_max={kappa_max}; use as many radii as neighbourhoods")
    out = np.array([_radius(r, f"radii[{k}]", dimension) for k, r in enumerate(given)]) / widths
    if not np.all(np.diff(out, axis=0) > 0):
        raise SolverError(f"radii={given!r} do not grow; use radii of which each is larger than the one before")
    return out


def _radius(value: ArrayLike, name: str, dimension: int) -> Floats:
    radius = np.asarray(value, dtype=float)
    if radius.shape not in ((), (dimension,)) or not np.all(np.isfinite(radius) & (radius > 0)):
        raise SolverError(f"{name}={value!r} is not a radius; use one positive number or {dimension}")
    return np.broadcast_to(radius, (dimension,))
