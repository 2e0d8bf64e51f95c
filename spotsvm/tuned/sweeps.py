"""Sweeps: the common part of settings that share a kernel matrix, and a list of sweeps to score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.tuned.encodings import STANDARD
from spotsvm.tuned.families import FAMILIES


@dataclass(frozen=True)
class Sweep:
    """The common parameters of the settings of a sweep: all except C; for the `encoding` see `encodings_of`.

    `log_gamma` is log2 of gamma in 1 / the typical distance, `epsilon` in standard deviations of the target. Factors of columns,
    and of the C of classes, are empty for none; `searched` are the parameters of the user's space.
    """

    family: str
    log_gamma: float
    epsilon: float = 0.0
    exponent: float = 1.0
    column_factors: tuple[float, ...] = ()
    class_factors: tuple[float, ...] = ()
    searched: tuple[tuple[str, float], ...] = ()
    encoding: str = STANDARD

    @property
    def columns(self) -> tuple[Any, ...]:
        """The parameters that the distances of rows depend on; sweeps with equal values share the distances."""
        family = FAMILIES[self.family]
        return self.encoding, family.columns, family.kernel, self.exponent, self.column_factors


@dataclass(frozen=True, kw_only=True)
class Setting(Sweep):
    """A sweep with a C; on many rows also the numbers of rows and of landmarks of the model (0 for an exact model).

    `power` says that the target is on a power scale.
    """

    C: float
    power: bool = False
    n_rows: int | None = None
    n_landmarks: int = 0


def sweep_of(setting: Sweep) -> Sweep:
    """Return the sweep of a setting, or of a sweep itself."""
    return Sweep(**{one.name: getattr(setting, one.name) for one in fields(Sweep)})


class Scored(NamedTuple):
    """A setting, its out-of-fold decisions, and its mean quality.

    Squared loss in regression may have a second column of decisions, for the target on a power scale; the quality is then that of
    the better one.
    """

    setting: Setting
    decisions: NDArray[np.float32]
    value: float


class Sweeps:
    """A list of sweeps, in the order in which they are scored."""

    def __init__(self, first: Iterable[Sweep]):
        self._first = list(first)
        #: the number of sweeps scored so far, and what is called after each with its scores
        self.n_scored = 0
        self.callbacks: list[Callable[[Sequence[Scored]], object]] = []

    @property
    def n_sweeps(self) -> int:
        """The number of sweeps to score."""
        return len(self._first)

    @property
    def families(self) -> set[str]:
        """The families that can occur."""
        return {sweep.family for sweep in self._first}

    @property
    def encodings(self) -> set[str]:
        """The encodings that can occur."""
        return {sweep.encoding for sweep in self._first}

    def recorded(self) -> list[list[Scored]]:
        """Return the sweeps scored by an earlier run."""
        return []

    def __iter__(self) -> Iterator[Sweep]:
        return iter(self._first)

    def tell(self, scored: Sequence[Scored]) -> None:
        """Report the scores of the sweep yielded last."""
        self.n_scored += 1
        for callback in self.callbacks:
            callback(scored)
