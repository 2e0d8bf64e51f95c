"""A conic combination of fixed kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotsvm.kernel_models.base import KernelModel
from spotsvm.kernel_models.columns import KnownColumns
from spotsvm.kernel_models.terms import Term, fixed_gammas, make_terms
from spotsvm.kernel_settings import KernelSettings


@dataclass(frozen=True, eq=False, repr=False)
class ConicModel(KernelModel):
    """A conic combination of fixed base kernels; its parameters are "weights__<kernel>".

    Parameters
    ----------
    groups : dict, sequence or None, default=None
        Groups of columns, as in `MultiKernelSVC`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is one Gaussian kernel for each group.
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
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 7, 10 and 13.

    Examples
    --------
    >>> from spotsvm.kernel_models import FixedKernelModel
    >>> groups = {"shape": [0, 1], "colour": [2]}
    >>> model = ConicModel(groups, scales=(1, 4))
    >>> model.names
    ('weights__shape/1', 'weights__shape/4', 'weights__colour/1', 'weights__colour/4')
    >>> set(model.embed(FixedKernelModel(groups, "rbf", scales=(1, 4)), {"C": 3.0}).values())
    {3.0}
    """

    groups: Any = None
    kernel: Any = "rbf"
    gamma: Any = "auto"
    scales: Any = (1.0,)
    n_features: int | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        self._terms(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        settings, _ = self._settings({})
        return tuple(f"weights__{name}" for name in settings.kernel_names)

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        weights = {name.removeprefix("weights__"): weight for name, weight in params.items()} or None
        return KernelSettings(self.groups, self.kernel, self.gamma, self.scales, weights), 1.0

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        settings, _ = self._settings({})
        gammas = fixed_gammas(settings)
        return make_terms(settings.entries, known.groups(self.groups), self.names, [gammas[e.name] for e in settings.entries])
