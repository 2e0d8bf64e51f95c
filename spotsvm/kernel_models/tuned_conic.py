"""A conic combination of Gaussian kernels whose gammas are tuned as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotsvm.kernel_models.base import KernelModel, Range
from spotsvm.kernel_models.columns import KnownColumns
from spotsvm.kernel_models.terms import Term, make_terms
from spotsvm.kernel_settings import KernelSettings


@dataclass(frozen=True, eq=False, repr=False)
class TunedConicModel(KernelModel):
    """A conic combination of a Gaussian kernel for each group, with a gamma for each.

    Its parameters are "weights__<group>" and "gamma__<group>".

    Parameters
    ----------
    groups : dict, sequence or None
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
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 8 and section 3.3.3.

    Examples
    --------
    >>> from spotsvm.kernel_models import RbfModel
    >>> groups = {"shape": [0, 1], "colour": [2]}
    >>> model = TunedConicModel(groups)
    >>> model.embed(RbfModel(groups), {"C": 3.0, "gamma": 0.5})
    {'weights__shape': 3.0, 'weights__colour': 3.0, 'gamma__shape': 0.5, 'gamma__colour': 0.5}
    >>> [float(end) for end in model.space()["gamma__shape"].support()]
    [0.001953125, 128.0]
    """

    groups: Any
    n_features: int | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        self._terms(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        groups = self._groups
        return (*(f"weights__{group}" for group in groups), *(f"gamma__{group}" for group in groups))

    @property
    def _groups(self) -> tuple[str, ...]:
        return KernelSettings(self.groups).kernel_names

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        weights = {group: params[f"weights__{group}"] for group in self._groups} if params else None
        gamma = {group: params[f"gamma__{group}"] for group in self._groups} if params else "auto"
        return KernelSettings(self.groups, "rbf", gamma, weights=weights), 1.0

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        weights, gammas = self.names[: len(self._groups)], self.names[len(self._groups) :]
        return make_terms(self._settings({})[0].entries, known.groups(self.groups), weights, gammas)

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        return {f"gamma__{group}": (gamma[0] / size, gamma[1] / size) for group, size in self._sizes().items()}
