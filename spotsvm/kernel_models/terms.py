"""What a kernel model is a sum or product of, and which parameters each part depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.kernel_models.columns import Columns
from spotsvm.kernel_settings import Entry, KernelSettings


@dataclass(frozen=True)
class FixedGamma:
    """A gamma that is no parameter.

    Attributes
    ----------
    rule : float or str
        The number, or "auto" or "scale".
    factor : float
        What sigma = 1 / gamma is multiplied with.
    """

    rule: float | str
    factor: float = 1.0

    def number(self, columns: Columns) -> float:
        """Give it for a group of columns, or raise ArgumentError where it is not known without the data."""
        if isinstance(self.rule, float):
            return self.rule / self.factor
        if self.rule == "auto" and isinstance(columns, tuple):
            return 1.0 / len(columns) / self.factor
        why = "the number of columns, give n_features" if self.rule == "auto" else "the data"
        raise ArgumentError(f"gamma={self.rule!r} depends on {why}")


@dataclass(frozen=True)
class Term:
    """A kernel on a group of columns.

    Attributes
    ----------
    name : str
        Of the kernel.
    columns : tuple or UnknownColumns
        Its columns.
    kernel : object
        What kind of kernel it is, as `MultiKernelSVC` takes it.
    weight : str
        The parameter that is its weight.
    gamma : str or FixedGamma
        The parameter that is its gamma, or what it is.
    """

    name: str
    columns: Columns
    kernel: Any
    weight: str
    gamma: str | FixedGamma

    @property
    def has_gamma(self) -> bool:
        """Whether gamma makes a difference that is not in the kernel already."""
        return isinstance(self.kernel, str) and self.kernel != "linear"


def fixed_gammas(settings: KernelSettings) -> dict[str, FixedGamma]:
    """Give what gamma is for each kernel, by the kernel's name."""
    rules = {group: gamma if isinstance(gamma, str) else float(gamma) for group, gamma in settings.named_gamma().items()}
    return {entry.name: FixedGamma(rules[entry.group], entry.scale) for entry in settings.entries}


def make_terms(
    entries: Sequence[Entry], columns: Mapping[str, Columns], weights: Sequence[str], gammas: Sequence[str | FixedGamma]
) -> tuple[Term, ...]:
    """Make a term of each kernel, its weight and its gamma."""
    rows = zip(entries, weights, gammas, strict=True)
    return tuple(Term(e.name, columns[e.group], e.kernel, weight, gamma) for e, weight, gamma in rows)
