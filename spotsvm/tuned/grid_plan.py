"""The plan of the grid: sweeps of families, widths and encodings, each with its values of C."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from spotsvm.common.checks import check_choice
from spotsvm.errors import ArgumentError
from spotsvm.tuned.encodings import encodings_for
from spotsvm.tuned.families import FAMILIES, SPARSE_FAMILIES
from spotsvm.tuned.sweeps import Sweep

#: squared loss with all widths, and support vectors with the first one
_DEFAULT_FAMILIES = (
    *("squared_rbf", "squared_laplacian", "squared_relevance_rbf", "squared_relevance_laplacian", "squared_linear"),
    *("rbf", "laplacian", "relevance_rbf", "relevance_laplacian"),
)


@dataclass(frozen=True)
class GridPlan:
    """The families, or "auto", with log2 of gamma and of C, which differs for squared loss."""

    families: Any
    log_gammas: Sequence[float]
    log_costs: Sequence[float]
    log_costs_squared: Sequence[float]

    @property
    def _all_families(self) -> bool:
        return isinstance(self.families, str) and self.families == "auto"

    def check(self) -> None:
        """Raise ArgumentError for families that there are not."""
        if self._all_families:
            return
        if isinstance(self.families, str) or not len(self.families):
            raise ArgumentError(f"families={self.families!r}; use 'auto' or a list of {', '.join(map(repr, FAMILIES))}")
        for name in self.families:
            check_choice("families", name, tuple(FAMILIES))

    def sweeps(self, sparse: bool, epsilon: float, encodings: Collection[str]) -> list[Sweep]:
        """Return the sweeps, all families with one width first."""
        families = list(_DEFAULT_FAMILIES if self._all_families else dict.fromkeys(self.families))
        if sparse:
            if self._all_families:
                families = list(SPARSE_FAMILIES)
            elif unfit := [name for name in families if name not in SPARSE_FAMILIES]:
                raise ArgumentError(f"families={self.families!r} and sparse rows, for which {unfit[0]!r} would fill the zeros; "
                                    f"use {' or '.join(map(repr, SPARSE_FAMILIES))}, or X.toarray()")  # fmt: skip
        first = self.log_gammas[0]

        def has(width: float, name: str) -> bool:
            alone = FAMILIES[name].kernel == "linear" or (self._all_families and not FAMILIES[name].squared)
            return width == first or not alone

        return [
            Sweep(name, width, 0.0 if FAMILIES[name].squared else epsilon, encoding=encoding)
            for width in self.log_gammas
            for encoding in encodings
            for name in families
            if has(width, name) and encoding in encodings_for(FAMILIES[name].squared, encodings)
        ]

    def costs(self, sweep: Sweep) -> list[float]:
        """Return the values of C of a sweep, ascending."""
        return [2.0**c for c in (self.log_costs_squared if FAMILIES[sweep.family].squared else self.log_costs)]


def by_columns(sweeps: Sequence[Sweep]) -> list[Sweep]:
    """Return sweeps in order of their columns, so that those with equal distances are adjacent."""
    families = list(dict.fromkeys(sweep.family for sweep in sweeps))
    columns = list(dict.fromkeys(sweep.columns for sweep in sweeps))
    return sorted(sweeps, key=lambda one: (columns.index(one.columns), families.index(one.family), one.log_gamma))
