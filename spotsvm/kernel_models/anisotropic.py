"""C times one Gaussian kernel with a gamma for each group of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotsvm.column_groups import group_names
from spotsvm.errors import ArgumentError
from spotsvm.kernel_models.base import KernelModel, Range
from spotsvm.kernel_models.columns import KnownColumns
from spotsvm.kernel_models.terms import Term, make_terms
from spotsvm.kernel_settings import KernelSettings


@dataclass(frozen=True, eq=False, repr=False)
class AnisotropicRbfModel(KernelModel):
    """C times the anisotropic Gaussian kernel exp(-sum_t gamma_t d_t^2), d_t the distance in the columns of group t.

    Its parameters are "C" and "gamma__<group>".

    Parameters
    ----------
    groups : dict, sequence or None, default=None
        Groups of columns, as in `MultiKernelSVC`; None is a group for each column, called by its name, or "0", "1", ...
    n_features : int, optional
        The number of columns of the data; it or `feature_names` is needed where `groups` is None.
    feature_names : sequence of str, optional
        Their names.

    Raises
    ------
    ArgumentError
        If the groups make no sense, or neither they nor the number of columns are given; a ValueError.

    References
    ----------
    Chapelle, Vapnik, Bousquet, Mukherjee 2002, "Choosing Multiple Parameters for Support Vector Machines"; Carrizosa,
    Martin-Barragan, Romero Morales 2014, after eq. 6.

    Examples
    --------
    >>> from spotsvm.kernel_models import RbfModel
    >>> model = AnisotropicRbfModel(n_features=2)
    >>> model.embed(RbfModel(), {"C": 3.0, "gamma": 0.5})
    {'C': 3.0, 'gamma__0': 0.5, 'gamma__1': 0.5}
    """

    groups: Any = None
    n_features: int | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        if self.groups is None and self._known.n_features is None:
            raise ArgumentError("groups=None is a group for each column, but how many there are is not known; give n_features")
        self._terms(self._known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return ("C", *(f"gamma__{group}" for group in group_names(self._groups)))

    @property
    def _groups(self) -> Any:
        """The groups, each column's where none are given."""
        if self.groups is not None:
            return self.groups
        names = self.feature_names if self.feature_names is not None else range(self._known.n_features or 0)
        return {str(name): [k] for k, name in enumerate(names)}

    @property
    def _product(self) -> bool:
        return True

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        gamma = {name.removeprefix("gamma__"): value for name, value in params.items() if name != "C"} or "auto"
        return KernelSettings(self._groups, "rbf", gamma, combine="product"), params.get("C", 1.0)

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        entries = self._settings({})[0].entries
        return make_terms(entries, known.groups(self._groups), ["C"] * len(entries), self.names[1:])

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        width = self._known.n_features or sum(self._sizes().values())
        return {name: (gamma[0] / width, gamma[1] / width) for name in self.names[1:]}
