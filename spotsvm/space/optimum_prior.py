"""A prior of the optimum: where in a space it is believed to be, parameter by parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from spotsvm.common.text import did_you_mean, shown_value
from spotsvm.errors import SpaceError
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space

Floats = NDArray[np.float64]

_KNOTS = 65  # of a density over a coordinate of the cube
_LEAST = -10.0  # ln of the density of a coordinate, the largest being 0
_FLOOR = -6.0  # ln of a constant added to the density of a point: nothing is ruled out
_DIGITS = 6  # of ln of a density, in a record
_UNIFORM, _NARROWEST = 0.25, 0.1  # share of the uniform density in a learned one, and its least bandwidth


class OptimumPrior:
    """The density with which the optimum is believed to be at a point of a space, as a product over coordinates.

    `tables` has ln of it, the largest 0, for each axis: a number for each category, else at 65 evenly spaced points; or None.
    """

    def __init__(self, space: Space, tables: Sequence[Sequence[float] | None]):
        self._domain = space.domain
        self._centres = space.centres()
        self._first = self._domain.dimension - len(space.axes)
        self._tables = [None if table is None else np.array(table, dtype=float) for table in tables]
        sizes = [axis.parameter.levels if axis.parameter.categorical else _KNOTS for axis in space.axes]
        given = [size if table is None else table.size for table, size in zip(self._tables, sizes, strict=False)]
        if (
            len(self._tables) != len(sizes)
            or given != sizes
            or not all(np.isfinite(t).all() for t in self._tables if t is not None)
        ):
            raise SpaceError("the recorded prior does not fit the space")

    @classmethod
    def of(cls, prior: Any, space: Space, names: Sequence[str]) -> Self:
        """Return the prior of some parameters, from frozen scipy.stats distributions of values; others are uniform on the cube.

        A list of values takes a mapping to weights, or a sequence of weights. `names` may have a swept parameter, without effect.
        """
        if isinstance(prior, cls):
            return prior
        if not isinstance(prior, Mapping):
            raise SpaceError(f"prior={shown_value(prior)} is not a dictionary from parameters to distributions")
        for name in prior:
            if name not in names:
                raise SpaceError(f"prior has {name!r}, which is not a parameter of the space{did_you_mean(str(name), names)}")
        return cls(space, [_table(axis.parameter, prior[axis.name]) if axis.name in prior else None for axis in space.axes])

    @classmethod
    def learned(cls, points: ArrayLike, space: Space) -> Self:
        """Return a prior learned from good points of other studies: a kernel density estimate mixed with the uniform density."""
        found = np.array(points, dtype=float).reshape(-1, space.domain.dimension)
        active = space.domain.active(found)
        first = space.domain.dimension - len(space.axes)
        tables = [
            _rounded(_estimated(axis.parameter, found[active[:, j], j])) if active[:, j].any() else None
            for j, axis in enumerate(space.axes, start=first)
        ]
        return cls(space, tables)

    def log_density(self, points: Floats) -> Floats:
        """Return ln of the density at canonical points, at most 0; shape (m,)."""
        active, levels = self._domain.active(points), self._domain.level_of(points)
        total = np.zeros(len(points))
        for j, table in enumerate(self._tables, start=self._first):
            if table is not None:
                categorical = self._domain.categorical[j]
                values = table[levels[:, j]] if categorical else np.interp(points[:, j], np.linspace(0, 1, _KNOTS), table)
                total += np.where(active[:, j], values, 0.0)
        return np.asarray(np.logaddexp(total, _FLOOR))

    def modes(self) -> list[Floats]:
        """Return the point of the largest density in each dictionary's part of the cube."""
        points = np.array(self._centres)
        for j, table in enumerate(self._tables, start=self._first):
            if table is not None:
                categorical = self._domain.categorical[j]
                best = np.flatnonzero(table == table.max())
                points[:, j] = (best[0] + 0.5) / len(table) if categorical else np.median(best) / (_KNOTS - 1)
        return list(self._domain.snap(points))

    def describe(self) -> list[list[float] | None]:
        """Return the tables in JSON's types."""
        return [None if table is None else table.tolist() for table in self._tables]


def _table(parameter: Parameter, belief: Any) -> list[float]:
    """Return ln of the density of a parameter's prior, on the coordinate that a search sees."""
    u = np.linspace(0.0, 1.0, _KNOTS)
    if parameter.listed and not hasattr(belief, "cdf"):
        weights = _weights(parameter, belief)
        return _rounded(weights if parameter.categorical else weights[[parameter.listed.index(parameter.decode(at)) for at in u]])
    if not hasattr(belief, "cdf") or not hasattr(belief, "support") or parameter.categorical:
        wanted = "a mapping from values to weights" if parameter.listed else "a frozen scipy.stats distribution"
        raise SpaceError(f"prior[{parameter.name!r}]={shown_value(belief)} does not fit the parameter; use {wanted}")
    density = parameter.density(belief, u)
    if not np.isfinite(density).all() or not density.max() > 0:
        raise SpaceError(f"prior[{parameter.name!r}] has no mass where the parameter is searched; use a distribution that has")
    return _rounded(density)


def _weights(parameter: Parameter, belief: Any) -> Floats:
    """Return the weight of each value of a list."""
    refusal = SpaceError(
        f"prior[{parameter.name!r}]={shown_value(belief)} does not fit the list {shown_value(list(parameter.listed))}; "
        "use a mapping from its values to weights of 0 or more, or a weight for each value in order"
    )
    if isinstance(belief, Mapping):
        weights = np.zeros(parameter.levels)
        for value, weight in belief.items():
            weights[int(parameter.encode(value) * parameter.levels)] = weight
    elif isinstance(belief, Sequence) and not isinstance(belief, str) and len(belief) == parameter.levels:
        weights = np.array(belief, dtype=float)
    else:
        raise refusal
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.max() > 0:
        raise refusal
    return weights


def _estimated(parameter: Parameter, places: Floats) -> Floats:
    """Return the density estimated from the coordinates of good points, on the coordinate that a search sees."""
    if parameter.categorical:
        counts = np.bincount((places * parameter.levels).astype(int), minlength=parameter.levels)
        return np.asarray(counts / len(places) * (1 - _UNIFORM) + _UNIFORM / parameter.levels)
    u = np.linspace(0.0, 1.0, _KNOTS)[:, None]
    width = max(_NARROWEST, 1.06 * float(np.std(places)) * len(places) ** -0.2)
    mass = norm.cdf((1.0 - places) / width) - norm.cdf(-places / width)  # of each kernel, inside the cube
    kernels = norm.pdf((u - places) / width) / width / mass
    return np.asarray(_UNIFORM + (1 - _UNIFORM) * kernels.mean(axis=1))


def _rounded(density: ArrayLike) -> list[float]:
    """Return ln of a density, the largest being 0, as a record stores it."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(density, dtype=float))
    return [float(one) for one in np.round(np.maximum(logs - logs.max(), _LEAST), _DIGITS)]
