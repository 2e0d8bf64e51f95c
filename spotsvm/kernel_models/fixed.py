"""C times a fixed kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotsvm.kernel_models.base import KernelModel
from spotsvm.kernel_models.columns import KnownColumns
from spotsvm.kernel_models.terms import Term, fixed_gammas, make_terms
from spotsvm.kernel_settings import KernelSettings


@dataclass(frozen=True, eq=False, repr=False)
class FixedKernelModel(KernelModel):
    """C times the sum of fixed base kernels; its parameter is "C".

    Parameters
    ----------
    groups : dict, sequence or None, default=None
        Groups of columns, as in `MultiKernelSVC`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is the linear kernel.
    n_features : int, optional
        The number of columns of the data, where something depends on it that `groups` does not say.
    feature_names : sequence of str, optional
        Their names.

    Raises
    ------
    ArgumentError, SolverError
        If groups or kernels make no sense; ValueErrors.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 5, 11 and 14.

    Examples
    --------
    >>> model = FixedKernelModel({"shape": [0, 1], "colour": [2]}, "rbf", scales=(0.25, 1, 4))
    >>> model.names
    ('C',)
    >>> model.gram([[0.0, 0.0, 1.0]], {"C": 2.0})
    array([[12.]])
    """

    groups: Any = None
    kernel: Any = "linear"
    gamma: Any = "auto"
    scales: Any = (1.0,)
    n_features: int | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        self._terms(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return ("C",)

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        return KernelSettings(self.groups, self.kernel, self.gamma, self.scales), params.get("C", 1.0)

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        settings, _ = self._settings({})
        gammas = fixed_gammas(settings)
        weights = ["C"] * len(settings.entries)
        return make_terms(settings.entries, known.groups(self.groups), weights, [gammas[e.name] for e in settings.entries])
