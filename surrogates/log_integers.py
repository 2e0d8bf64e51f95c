"""Whole numbers on a logarithmic scale, as places in the unit interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.surrogates.errors import SurrogateError

#: beyond it neighbours are too close for the logarithm of a float to tell them apart
LARGEST = 10**12


@dataclass(frozen=True)
class LogIntegers:
    """The whole numbers from `low` to `high`, each with a share of [0, 1] by the logarithm.

    The number k has the share from log(k - 1/2) to log(k + 1/2), and log(k) is its place.

    Parameters
    ----------
    low, high : int
        The first and the last number, 1 <= low < high <= 10**12.

    Raises
    ------
    SurrogateError
        If the bounds are others.

    Examples
    --------
    >>> numbers = LogIntegers(1, 1000)
    >>> numbers.number_at([0.0, 0.5, 1.0]).tolist(), numbers.place_of(22).round(3)
    ([1, 22, 1000], np.float64(0.498))
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
        """How many numbers there are."""
        return self.high - self.low + 1

    @property
    def _ends(self) -> tuple[float, float]:
        return float(np.log(self.low - 0.5)), float(np.log(self.high + 0.5))

    def number_at(self, places: ArrayLike) -> NDArray[np.int64]:
        """Return the number whose share contains each place; the first or the last one outside the unit interval."""
        first, last = self._ends
        inside = np.clip(np.asarray(places, dtype=float), 0.0, 1.0)
        numbers = np.rint(np.exp(first + inside * (last - first)))
        return np.asarray(np.clip(numbers, self.low, self.high).astype(np.int64))

    def place_of(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Return the place of each number."""
        first, last = self._ends
        return np.asarray((np.log(np.asarray(numbers, dtype=float)) - first) / (last - first))[()]
