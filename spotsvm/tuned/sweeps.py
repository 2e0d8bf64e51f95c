"""Sweeps: what the settings that share a kernel matrix have in common, and a list of sweeps to score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sweep:
    """What the settings of a sweep have in common: all but C.

    Attributes
    ----------
    family : str
        The family of kernels.
    log_gamma : float
        The binary logarithm of gamma in units of 1 / the typical distance.
    epsilon : float
        Of regressions, in standard deviations of the target.
    exponent : float
        Of the relevance of columns.
    column_factors, class_factors : tuple of float
        Factors of the input columns, and of the C of classes; empty for none.
    searched : tuple of (str, float)
        The parameters that the user has asked to search.
    """

    family: str
    log_gamma: float
    epsilon: float = 0.0
    exponent: float = 1.0
    column_factors: tuple[float, ...] = ()
    class_factors: tuple[float, ...] = ()
    searched: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> tuple[Any, ...]:
        """What the distances of rows depend on, which sweeps share."""
        return self.family, self.exponent, self.column_factors


@dataclass(frozen=True, kw_only=True)
class Setting(Sweep):
    """A sweep with one of its C; on many rows also the number of rows of the model, and of landmarks, 0 for an exact one."""

    C: float
    n_rows: int | None = None
    n_landmarks: int = 0


def sweep_of(setting: Setting) -> Sweep:
    """Return what the settings of a sweep have in common."""
    return Sweep(**{one.name: getattr(setting, one.name) for one in fields(Sweep)})


class Scored(NamedTuple):
    """A setting, its out-of-fold decisions, and its mean quality."""

    setting: Setting
    decisions: NDArray[np.float32]
    value: float


class Sweeps:
    """A list of sweeps, in the order in which they are scored.

    Parameters
    ----------
    first : iterable of Sweep
        The sweeps.
    """

    def __init__(self, first: Iterable[Sweep]):
        self._first = list(first)

    @property
    def families(self) -> set[str]:
        """The families that can occur."""
        return {sweep.family for sweep in self._first}

    def recorded(self) -> list[list[Scored]]:
        """Return the sweeps that an earlier run has scored."""
        return []

    def __iter__(self) -> Iterator[Sweep]:
        return iter(self._first)

    def tell(self, scored: Sequence[Scored]) -> None:
        """Take the scores of the sweep that was given last."""
