"""The unit cube: its coordinates (integer, categorical, conditional, integers on a log scale) and initial designs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SurrogateError

Floats = NDArray[np.float64]

#: beyond it neighbours are too close for the logarithm of a float to tell them apart
LARGEST = 10**12


@dataclass(frozen=True)
class LogIntegers:
    """The integers from `low` to `high` (at most 10**12), each with a share of [0, 1] on a log scale.

    The integer k has the share from log(k - 1/2) to log(k + 1/2); its position is log(k).
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low < self.high <= LARGEST:
            raise SurrogateError(
                f"low={self.low} and high={self.high} are no range on a log scale; use 1 <= low < high <= 10**12"
            )

    @property
    def count(self) -> int:
        """The number of integers."""
        return self.high - self.low + 1

    @property
    def _ends(self) -> tuple[float, float]:
        return float(np.log(self.low - 0.5)), float(np.log(self.high + 0.5))

    def number_at(self, places: ArrayLike) -> NDArray[np.int64]:
        """Return the integer whose share contains each position; outside the unit interval, `low` or `high`."""
        first, last = self._ends
        inside = np.clip(np.asarray(places, dtype=float), 0.0, 1.0)
        numbers = np.rint(np.exp(first + inside * (last - first)))
        return np.asarray(np.clip(numbers, self.low, self.high).astype(np.int64))

    def place_of(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Return the position of each integer."""
        first, last = self._ends
        return np.asarray((np.log(np.asarray(numbers, dtype=float)) - first) / (last - first))[()]


Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of the unit cube.

    Parameters
    ----------
    levels : int, default=0
        0 for a continuous coordinate; otherwise the number of values (at least 1). Each value has an equal share of [0, 1].
    categorical : bool, default=False
        Whether the values have no order. Only for `levels` > 0.
    parent : int, default=-1
        Index of the coordinate that decides whether this coordinate is active; -1 if it is always active.
    parent_levels : frozenset of int, default=frozenset()
        The levels of the parent at which this coordinate is active.
    width : float or None, default=None
        Extent of [0, 1] in a unit that the coordinate shares with others, positive; None if it shares no unit. Two coordinates
        that differ only in their width are equal.
    numbers : LogIntegers or None, default=None
        The integers of an integer coordinate on a log scale; its `levels` must be 0. The coordinate is searched like a continuous
        one, but canonical points lie at the positions of the integers.

    See Also
    --------
    Domain : The cube that coordinates make.

    Examples
    --------
    >>> from spotsvm.searches import Coordinate, Domain
    >>> kernel = Coordinate(levels=2, categorical=True)
    >>> degree = Coordinate(levels=3, parent=0, parent_levels=frozenset({1}))
    >>> Domain(
    ...     (kernel, degree)
    ... ).size  # the first kernel, and the second with three degrees
    4.0
    """

    levels: int = 0
    categorical: bool = False
    parent: int = -1
    parent_levels: frozenset[int] = frozenset()
    width: float | None = field(default=None, compare=False)
    numbers: LogIntegers | None = None

    @property
    def n_values(self) -> float:
        """The number of values, infinite if the coordinate is continuous."""
        return self.levels or (self.numbers.count if self.numbers is not None else math.inf)


@dataclass(frozen=True)
class Domain:
    """The unit cube with the meaning of its coordinates.

    Parameters
    ----------
    coordinates : tuple of Coordinate
        One entry for each dimension. The parent of a conditional coordinate must be discrete and unconditional.

    Raises
    ------
    SurrogateError
        If there is no coordinate, or a coordinate's levels, parent or width are invalid.

    See Also
    --------
    Coordinate : One of its coordinates.
    Search : Searches a domain.

    Examples
    --------
    >>> domain = Domain(
    ...     (
    ...         Coordinate(),
    ...         Coordinate(levels=4),
    ...         Coordinate(levels=3, categorical=True),
    ...     )
    ... )
    >>> domain.snap([[0.3, 0.3, 0.99]]).round(3)
    array([[0.3  , 0.375, 0.833]])
    """

    coordinates: tuple[Coordinate, ...]

    def __post_init__(self) -> None:
        if not self.coordinates:
            raise SurrogateError("coordinates is empty; a domain needs at least one coordinate")
        for j, c in enumerate(self.coordinates):
            if c.levels < 0:
                raise SurrogateError(f"coordinate {j} has levels={c.levels}; use 0 (continuous) or a positive number of values")
            if c.categorical and c.levels == 0:
                raise SurrogateError(f"coordinate {j} is categorical with levels=0; use the number of its values")
            if c.numbers is not None and c.levels:
                raise SurrogateError(f"coordinate {j} has numbers on a log scale and levels={c.levels}; use one of them")
            if c.width is not None and not 0 < c.width < math.inf:
                raise SurrogateError(f"coordinate {j} has width={c.width}; use a positive number, or None")
            if c.parent >= 0:
                self._check_parent(j, c)

    def _check_parent(self, j: int, c: Coordinate) -> None:
        if c.parent >= len(self.coordinates) or c.parent == j:
            raise SurrogateError(f"coordinate {j} has parent={c.parent}; there are {len(self.coordinates)} coordinates")
        parent = self.coordinates[c.parent]
        if parent.levels == 0 or parent.parent >= 0:
            raise SurrogateError(f"coordinate {j} has parent={c.parent}, which must be discrete and unconditional")
        if not c.parent_levels or not all(0 <= v < parent.levels for v in c.parent_levels):
            raise SurrogateError(
                f"coordinate {j} has parent_levels={sorted(c.parent_levels)}; use some of 0 to {parent.levels - 1}"
            )

    @classmethod
    def continuous(cls, dimension: int) -> Domain:
        """Make a domain of `dimension` continuous coordinates.

        Returns
        -------
        Domain
            The domain.
        """
        return cls((Coordinate(),) * dimension)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Number of values of each coordinate, 0 where continuous; shape (d,)."""
        return np.array([c.levels for c in self.coordinates], dtype=np.int64)

    @cached_property
    def discrete(self) -> Flags:
        """Which coordinates have finitely many values; shape (d,)."""
        return np.asarray(self.levels > 0)

    @cached_property
    def categorical(self) -> Flags:
        """Which coordinates have values without order; shape (d,)."""
        return np.array([c.categorical for c in self.coordinates], dtype=bool)

    @cached_property
    def widths(self) -> Floats:
        """Extent of each coordinate in the unit that it shares with others, nan where it shares no unit; shape (d,)."""
        return np.array([math.nan if c.width is None else c.width for c in self.coordinates])

    @cached_property
    def conditional(self) -> bool:
        """Whether any coordinate depends on another."""
        return any(c.parent >= 0 for c in self.coordinates)

    def level_of(self, points: ArrayLike) -> NDArray[np.int64]:
        """Return the level of each discrete coordinate (0 where continuous); shape (n, d).

        Returns
        -------
        ndarray of int
            The levels, in the shape of the points.
        """
        U = np.atleast_2d(np.asarray(points, dtype=float))
        cells = np.floor(np.clip(U, 0.0, 1.0) * self.levels).astype(np.int64)
        return np.asarray(np.minimum(cells, np.maximum(self.levels - 1, 0)))

    def active(self, points: ArrayLike) -> Flags:
        """Return which coordinates of each point are active; shape (n, d).

        Returns
        -------
        ndarray of bool of shape (n, dimension)
            True where the coordinate is active.
        """
        U = np.atleast_2d(np.asarray(points, dtype=float))
        out = np.ones(U.shape, dtype=bool)
        if self.conditional:
            cells = self.level_of(U)
            for j, c in enumerate(self.coordinates):
                if c.parent >= 0:
                    out[:, j] = np.isin(cells[:, c.parent], list(c.parent_levels))
        return out

    def snap(self, points: ArrayLike) -> Floats:
        """Move points to the canonical ones: clipped to the cube, discrete values to their cell's centre, inactive ones to 0.5.

        Two points of the same configuration have bit-identical canonical points.

        Returns
        -------
        ndarray of shape (n, dimension)
            The canonical points.

        Raises
        ------
        SurrogateError
            If the number of columns of the points differs from the number of coordinates.
        """
        U: Floats = np.clip(np.atleast_2d(np.asarray(points, dtype=float)), 0.0, 1.0) + 0.0  # -0.0 is 0.0
        if U.shape[1] != self.dimension:
            raise SurrogateError(f"points has {U.shape[1]} columns; the domain has {self.dimension} coordinates")
        if self.discrete.any():
            centres = (self.level_of(U) + 0.5) / np.maximum(self.levels, 1)
            U = np.where(self.discrete, centres, U)
        for j, numbers in self._log_integers:
            U[:, j] = numbers.place_of(numbers.number_at(U[:, j]))
        if self.conditional:
            U = np.where(self.active(U), U, 0.5)
        return U

    def cell(self, indices: ArrayLike) -> Floats:
        """Return the canonical point with the given level in each coordinate of a finite domain; shape (d,).

        Returns
        -------
        ndarray of shape (dimension,)
            The point.
        """
        at = np.asarray(indices, dtype=np.int64)
        point = (at + 0.5) / np.maximum(self.levels, 1)
        for j, numbers in self._log_integers:
            point[j] = numbers.place_of(numbers.low + at[j])
        return self.snap_one(point)

    @cached_property
    def _log_integers(self) -> list[tuple[int, LogIntegers]]:
        return [(j, c.numbers) for j, c in enumerate(self.coordinates) if c.numbers is not None]

    def snap_one(self, point: ArrayLike) -> Floats:
        """Return the canonical form of a single point; shape (d,).

        Returns
        -------
        ndarray of shape (dimension,)
            The canonical point.
        """
        canonical: Floats = self.snap(np.ravel(np.asarray(point, dtype=float)))[0]
        return canonical

    def model_inputs(self, points: ArrayLike) -> Floats:
        """Return canonical points as a surrogate's inputs: categorical coordinates as levels, -1 where inactive; shape (n, d).

        Returns
        -------
        ndarray of shape (n, n_inputs)
            The inputs.
        """
        U = np.atleast_2d(np.asarray(points, dtype=float))
        if not self.categorical.any():
            return U
        return np.where(self.categorical, np.where(self.active(U), self.level_of(U), -1), U)

    @cached_property
    def size(self) -> float:
        """The number of configurations: `inf` where an active coordinate can be continuous."""
        parents = sorted({c.parent for c in self.coordinates if c.parent >= 0})
        if not parents:
            return math.prod(c.n_values for c in self.coordinates)
        total = 0.0
        for cell in np.ndindex(*(self.coordinates[p].levels for p in parents)):
            at = dict(zip(parents, cell, strict=True))
            total += math.prod(
                c.n_values
                for j, c in enumerate(self.coordinates)
                if j not in at and (c.parent < 0 or at[c.parent] in c.parent_levels)
            )
        return total


def initial_design(domain: Domain, n: int, rng: np.random.Generator, *, centre: bool = True) -> Floats:
    """Return n canonical points of a Latin hypercube, of which the first is the centre of the cube by default.

    In a small discrete domain some may be equal.
    """
    from scipy.stats import qmc  # on use: worker processes, which need no design, would take thrice as long to start

    if n < 1:
        raise ValueError(f"n={n} is not a number of points; use 1 or more")
    first = np.full((int(centre), domain.dimension), 0.5)
    return domain.snap(np.vstack([first, qmc.LatinHypercube(domain.dimension, rng=rng).random(n - int(centre))]))
