"""The kernel models: fixed kernels, conic combinations, and Gaussian kernels with one gamma or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spotsvm.common.errors import ArgumentError
from spotsvm.multi_kernel.models.base import KernelModel, Range
from spotsvm.multi_kernel.models.column_groups import group_names


@dataclass(frozen=True, eq=False, repr=False)
class FixedKernelModel(KernelModel):
    """C times the sum of fixed base kernels; its parameter is "C".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is the linear kernel.
        gamma is "auto" by default, and not "scale" as in `MultiKernelSVC`: the reference counts widths in units of the number of
        columns, and only a gamma that is known without the data is one of those that a richer model tunes.

    See Also
    --------
    ConicModel : A weight for each kernel.

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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters.

        See Also
        --------
        KernelModel.names : The order of all models' parameters.
        """
        return ("C",)


@dataclass(frozen=True, eq=False, repr=False)
class ConicModel(KernelModel):
    """A conic combination of fixed base kernels; its parameters are "weights__<kernel>".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is one Gaussian kernel for each group.
        gamma is "auto" by default, and not "scale" as in `MultiKernelSVC`: the reference counts widths in units of the number of
        columns, and only a gamma that is known without the data is one of those that a richer model tunes.

    See Also
    --------
    FixedKernelModel : One C for all kernels.
    TunedConicModel : A gamma for each group as well.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 7, 10 and 13.

    Examples
    --------
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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters.

        See Also
        --------
        KernelModel.names : The order of all models' parameters.
        """
        return tuple(f"weights__{name}" for name in self._settings({})[0].kernel_names)


@dataclass(frozen=True, eq=False, repr=False)
class RbfModel(KernelModel):
    """C times the sum over groups of Gaussian kernels with one gamma; its parameters are "C" and "gamma".

    Without groups these are the parameters of scikit-learn's SVC, too.

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.

    See Also
    --------
    AnisotropicRbfModel : A gamma for each group.
    TunedConicModel : A weight for each group as well.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 6, and the inner class of section 3.3.3.

    Examples
    --------
    >>> model = RbfModel(n_features=4)
    >>> model.embed(FixedKernelModel(kernel="rbf"), {"C": 3.0})
    {'C': 3.0, 'gamma': 0.25}
    """

    groups: Any = None
    n_features: int | None = None
    feature_names: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters.

        See Also
        --------
        KernelModel.names : The order of all models' parameters.
        """
        return ("C", "gamma")

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        alone = self.groups is None and self._known.n_features is None
        sizes = [1] if alone else list(self._sizes().values())
        low, high = gamma[0] / min(sizes), gamma[1] / max(sizes)
        if not low < high:
            sizes_shown = f"groups of {min(sizes)} and of {max(sizes)} columns"
            raise ArgumentError(f"gamma={gamma!r}: no gamma is in the ranges of {sizes_shown} both; use a wider one")
        return {"gamma": (low, high)}


@dataclass(frozen=True, eq=False, repr=False)
class TunedConicModel(KernelModel):
    """A conic combination of a Gaussian kernel for each group, with a gamma for each.

    Its parameters are "weights__<group>" and "gamma__<group>".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.

    See Also
    --------
    ConicModel : Weights alone.
    RbfModel : One gamma and one C.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 8 and section 3.3.3.

    Examples
    --------
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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters.

        See Also
        --------
        KernelModel.names : The order of all models' parameters.
        """
        groups = group_names(self.groups)
        return (*(f"weights__{group}" for group in groups), *(f"gamma__{group}" for group in groups))

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        return {f"gamma__{group}": (gamma[0] / size, gamma[1] / size) for group, size in self._sizes().items()}


@dataclass(frozen=True, eq=False, repr=False)
class AnisotropicRbfModel(KernelModel):
    """C times the anisotropic Gaussian kernel exp(-sum_t gamma_t d_t^2), d_t the distance in the columns of group t.

    Its parameters are "C" and "gamma__<group>".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`, but None is a group for each column, called by its name, or "0", "1", ...; `n_features` or
        `feature_names` is needed then.

    See Also
    --------
    RbfModel : One gamma for all columns.
    KernelModel : What every model has.

    References
    ----------
    Chapelle, Vapnik, Bousquet, Mukherjee 2002, "Choosing Multiple Parameters for Support Vector Machines"; Carrizosa,
    Martin-Barragan, Romero Morales 2014, after eq. 6.

    Examples
    --------
    >>> model = AnisotropicRbfModel(n_features=2)
    >>> model.embed(RbfModel(), {"C": 3.0, "gamma": 0.5})
    {'C': 3.0, 'gamma__0': 0.5, 'gamma__1': 0.5}
    """

    groups: Any = None
    n_features: int | None = None
    feature_names: Any = None
    _product = True

    def __post_init__(self) -> None:
        if self.groups is None and self._known.n_features is None:
            raise ArgumentError(
                "groups=None means a group for each column, but the number of columns is unknown; give n_features"
            )
        super().__post_init__()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters.

        See Also
        --------
        KernelModel.names : The order of all models' parameters.
        """
        return ("C", *(f"gamma__{group}" for group in group_names(self._groups)))

    @property
    def _groups(self) -> Any:
        """The groups, each column's where none are given."""
        if self.groups is not None:
            return self.groups
        names = self.feature_names if self.feature_names is not None else range(self._known.n_features or 0)
        return {str(name): [k] for k, name in enumerate(names)}

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        width = self._known.n_features or sum(self._sizes().values())
        return {name: (gamma[0] / width, gamma[1] / width) for name in self.names[1:]}
