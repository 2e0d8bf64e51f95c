"""The terms of a kernel model, and the parameters of a richer model that reproduce a poorer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.multi_kernel.models.column_groups import Columns, UnknownColumns

#: for each parameter of the richer model, the equal parameter of the poorer model, or a number
ParameterMap = dict[str, str | float]


@dataclass(frozen=True)
class FixedGamma:
    """A gamma that is not a parameter: a number, "auto" or "scale", with a factor of sigma = 1 / gamma."""

    rule: float | str
    factor: float = 1.0

    def number(self, columns: Columns) -> float:
        """Return gamma for a group of columns, or raise ArgumentError if it depends on the data."""
        if isinstance(self.rule, float):
            return self.rule / self.factor
        if self.rule == "auto" and isinstance(columns, tuple):
            return 1.0 / len(columns) / self.factor
        why = "the number of columns, give n_features" if self.rule == "auto" else "the data"
        raise ArgumentError(f"gamma={self.rule!r} depends on {why}")


@dataclass(frozen=True)
class Term:
    """A kernel on a group of columns, with the parameters that are its weight and its gamma."""

    name: str
    columns: Columns
    kernel: Any
    weight: str
    gamma: str | FixedGamma

    @property
    def has_gamma(self) -> bool:
        """Whether gamma has an effect that the kernel does not include already."""
        return isinstance(self.kernel, str) and self.kernel != "linear"


def parameter_map(richer: Sequence[Term], poorer: Sequence[Term], products: tuple[bool, bool]) -> ParameterMap:
    """Return for each parameter of a richer model a poorer one's, or a number; raise ArgumentError if it does not contain it.

    `products` says for each of the two models whether it is a product of its terms.
    """
    several = len(richer) > 1 and products[0], len(poorer) > 1 and products[1]
    if several[0]:
        pairs = _factors(richer, poorer, several[1])
    elif several[1]:
        raise ArgumentError("it is a sum of kernels, and the other is a product")
    else:
        pairs = _summands(richer, poorer)
    found: ParameterMap = {}
    for own, other in pairs:
        _enter(found, own.weight, other.weight)
        if not own.has_gamma:
            continue
        if isinstance(own.gamma, FixedGamma):
            if not _equal(own, other):
                raise ArgumentError(f"its kernel {own.name!r} has another gamma, which is fixed")
        else:
            _enter(found, own.gamma, other.gamma if isinstance(other.gamma, str) else other.gamma.number(other.columns))
    return found


def _factors(richer: Sequence[Term], poorer: Sequence[Term], product: bool) -> list[tuple[Term, Term]]:
    """Pair the factors of a product with those of a coarser one; a single Gaussian kernel is the coarsest."""
    if not product and len(poorer) > 1:
        raise ArgumentError("it is a product of kernels, and the other is a sum")
    if any(term.kernel != "rbf" for term in poorer):
        raise ArgumentError("it is a product of kernels 'rbf', and the other has other kernels")
    pairs = []
    for own in richer:
        holds = [other for other in poorer if _within(own.columns, other.columns)]
        if not holds:
            raise ArgumentError(f"its group {own.name!r} is not within one group of the other")
        pairs.append((own, holds[0]))
    covered = {other.name for _, other in pairs}
    left = next((term.name for term in poorer if term.name not in covered), None)
    if left is not None:
        raise ArgumentError(f"the other's group {left!r} is not made of groups of its own")
    return pairs


def _summands(richer: Sequence[Term], poorer: Sequence[Term]) -> list[tuple[Term, Term]]:
    """Pair the terms of a sum with those of another that has the same kernels."""
    free, pairs = list(richer), []
    for other in poorer:
        alike = [t for t in free if t.columns == other.columns and (t.kernel is other.kernel or t.kernel == other.kernel)]
        fitting = [t for t in alike if isinstance(t.gamma, str) or not t.has_gamma or _equal(t, other)]
        if not fitting:
            what = "with that gamma, which is fixed" if alike else "on those columns"
            raise ArgumentError(f"it has no kernel like the other's {other.name!r} {what}")
        pairs.append((fitting[0], other))
        free.remove(fitting[0])
    if free:
        raise ArgumentError(f"the other lacks its kernel {free[0].name!r}, whose weight cannot be 0")
    return pairs


def _within(own: Columns, other: Columns) -> bool:
    if isinstance(own, UnknownColumns) or isinstance(other, UnknownColumns):
        return own == other or (other == UnknownColumns())
    return set(own) <= set(other)


def _equal(own: Term, other: Term) -> bool:
    """Return whether two gammas are fixed and the same."""
    if not (isinstance(own.gamma, FixedGamma) and isinstance(other.gamma, FixedGamma)):
        return False
    if own.gamma == other.gamma:
        return True
    try:
        return own.gamma.number(own.columns) == other.gamma.number(other.columns)
    except ArgumentError:
        return False


def _enter(found: ParameterMap, name: str, value: str | float) -> None:
    if found.setdefault(name, value) != value:
        raise ArgumentError(f"its {name} is one for all, and the other has both {found[name]} and {value}")
