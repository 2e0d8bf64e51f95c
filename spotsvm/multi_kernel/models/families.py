"""The kernel models: fixed kernels, conic combinations, and Gaussian kernels with one gamma or several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.multi_kernel.models.base import KernelModel


@dataclass(frozen=True, eq=False, repr=False)
class _FixedKernels(KernelModel):
    """Terms of the models with fixed base kernels."""

    groups: Any = None
    kernel: Any = "rbf"
    gamma: Any = "auto"
    scales: Any = (1.0,)
    n_features: int | None = None
    feature_names: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class _TunedGaussians(KernelModel):
    """Terms of the models of Gaussian kernels with tuned gammas."""

    groups: Any = None
    n_features: int | None = None
    feature_names: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class FixedKernelModel(_FixedKernels):
    """C times the sum of fixed base kernels; its parameter is "C".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is the linear kernel.
        gamma is "auto" by default, not "scale" as in `MultiKernelSVC`: the reference counts widths in units of the number of
        columns, and a richer model can only contain a gamma that is known without the data.

    See Also
    --------
    ConicModel : A weight for each kernel.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, eq. 5, 11 and 14.

    Examples
    --------
    >>> model = FixedKernelModel(
    ...     {"shape": [0, 1], "colour": [2]}, "rbf", scales=(0.25, 1, 4)
    ... )
    >>> model.names
    ('C',)
    >>> model.gram([[0.0, 0.0, 1.0]], {"C": 2.0})
    array([[12.]])
    """

    kernel: Any = "linear"


class ConicModel(_FixedKernels):
    """A conic combination of fixed base kernels; its parameters are "weights__<kernel>".

    Parameters
    ----------
    groups, n_features, feature_names
        As in `KernelModel`.
    kernel, gamma, scales
        The base kernels, as in `MultiKernelSVC`; the default is one Gaussian kernel for each group.
        gamma is "auto" by default, not "scale" as in `MultiKernelSVC`: the reference counts widths in units of the number of
        columns, and a richer model can only contain a gamma that is known without the data.

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
    >>> set(
    ...     model.embed(
    ...         FixedKernelModel(groups, "rbf", scales=(1, 4)), {"C": 3.0}
    ...     ).values()
    ... )
    {3.0}
    """

    _weights = "each"


class RbfModel(_TunedGaussians):
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

    _gammas = "one"


@dataclass(frozen=True, eq=False, repr=False)
class TunedConicModel(_TunedGaussians):
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

    groups: Any = field()
    _weights = "each"
    _gammas = "each"


class AnisotropicRbfModel(_TunedGaussians):
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
    KernelModel : The base class.

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

    _gammas = "each"
    _product = True

    def __post_init__(self) -> None:
        if self.groups is None and self._known.n_features is None:
            raise ArgumentError(
                "groups=None means a group for each column, but the number of columns is unknown; give n_features"
            )
        super().__post_init__()

    @property
    def _groups(self) -> Any:
        """The groups; by default one for each column."""
        if self.groups is not None:
            return self.groups
        names = self.feature_names if self.feature_names is not None else range(self._known.n_features or 0)
        return {str(name): [k] for k, name in enumerate(names)}
