"""C times Gaussian kernels with one gamma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.kernel_models.base import KernelModel, Range
from spotsvm.kernel_models.columns import KnownColumns
from spotsvm.kernel_models.terms import Term, make_terms
from spotsvm.kernel_settings import KernelSettings


@dataclass(frozen=True, eq=False, repr=False)
class RbfModel(KernelModel):
    """C times the sum over groups of Gaussian kernels with one gamma; its parameters are "C" and "gamma".

    Without groups these are the parameters of scikit-learn's SVC, too.

    Parameters
    ----------
    groups : dict, sequence or None, default=None
        Groups of columns, as in `MultiKernelSVC`.
    n_features : int, optional
        The number of columns of the data, where something depends on it that `groups` does not say.
    feature_names : sequence of str, optional
        Their names.

    Raises
    ------
    ArgumentError
        If the groups make no sense; a ValueError.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 6, and the inner class of section 3.3.3.

    Examples
    --------
    >>> from spotsvm.kernel_models import FixedKernelModel
    >>> model = RbfModel(n_features=4)
    >>> model.embed(FixedKernelModel(kernel="rbf"), {"C": 3.0})
    {'C': 3.0, 'gamma': 0.25}
    """

    groups: Any = None
    n_features: int | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        self._terms(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return ("C", "gamma")

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        return KernelSettings(self.groups, "rbf", params.get("gamma", "auto")), params.get("C", 1.0)

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        entries = self._settings({})[0].entries
        count = len(entries)
        return make_terms(entries, known.groups(self.groups), ["C"] * count, ["gamma"] * count)

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        alone = self.groups is None and self._known.n_features is None
        sizes = [1] if alone else list(self._sizes().values())
        low, high = gamma[0] / min(sizes), gamma[1] / max(sizes)
        if not low < high:
            sizes_shown = f"groups of {min(sizes)} and of {max(sizes)} columns"
            raise ArgumentError(f"gamma={gamma!r}: no gamma is in the ranges of {sizes_shown} both; use a wider one")
        return {"gamma": (low, high)}
