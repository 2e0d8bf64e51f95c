"""The base class of kernel models: parameters and their space, the kernel matrix, the machine, and nested models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.multi_kernel.models.column_groups import KnownColumns, column_names, group_names
from spotsvm.multi_kernel.models.matrices import KernelMatrices
from spotsvm.multi_kernel.models.settings import KernelSettings
from spotsvm.multi_kernel.models.terms import FixedGamma, ParameterMap, Term, parameter_map
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel
from spotsvm.solvers.kernels.matrices.gram import check_columns, check_rows, gram_matrix, kernel_matrix

Range = tuple[float, float]

#: the grid -12, ..., 12 of the logarithm of C or of a weight, section 1 and 3
WEIGHTS: Range = (2.0**-12, 2.0**12)
#: the range -8 to 8 of the logarithm of sigma in section 3.2; here it is relative to 1 / gamma = the number of columns
GAMMA: Range = (2.0**-8, 2.0**8)

#: MultiKernelSVC as "classifier" and MultiKernelSVR as "regressor"; their files, which import this one, enter them
MACHINES: dict[str, type[Any]] = {}


class KernelModel:
    """Base class of the kernel models.

    A model is a family of kernels with positive parameters: "C" or weights ("weights__<kernel>"), which carry C, so that the
    SVM is one with C = 1 and the kernel C K; and gammas, "gamma" or "gamma__<group>". The names are those that
    `MultiKernelSVC.set_params` takes.

    Parameters
    ----------
    groups : dict, sequence or None
        Groups of columns, as in `MultiKernelSVC`.
    n_features : int, optional
        The number of columns of the data, if it is needed and does not follow from `groups`.
    feature_names : sequence of str, optional
        Their names.

    Raises
    ------
    ArgumentError, SolverError
        If groups or kernels are invalid; ValueErrors.

    See Also
    --------
    nested : Searches models one after the other.
    RbfModel : One of them.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
    eq. 3 to 8.

    Examples
    --------
    >>> from spotsvm.kernels import RbfModel
    >>> model = RbfModel({"left": [0, 1], "right": [2]})
    >>> model.names
    ('C', 'gamma')
    >>> model.estimator({"C": 2.0, "gamma": 0.5})
    MultiKernelSVC(C=2.0, gamma=0.5, groups={'left': [0, 1], 'right': [2]})
    """

    groups: Any
    n_features: int | None
    feature_names: Any
    kernel: Any = "rbf"
    gamma: Any = "auto"
    scales: Any = (1.0,)
    # attributes that identify a model: its weights, its gammas, and whether its kernels are added or multiplied
    _weights: Literal["one", "each"] = "one"
    _gammas: Literal["fixed", "one", "each"] = "fixed"
    _product = False

    def __post_init__(self) -> None:
        self._terms(self._known)

    def __repr__(self) -> str:
        groups = "" if self.groups is None else f"groups {', '.join(group_names(self.groups))}"
        return f"{type(self).__name__}({groups})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters: "C" or the weights, then the gammas."""
        weights = ["C"] if self._weights == "one" else [f"weights__{name}" for name in self._settings({})[0].kernel_names]
        gammas = {"fixed": [], "one": ["gamma"], "each": [f"gamma__{group}" for group in group_names(self._groups)]}
        return (*weights, *gammas[self._gammas])

    @property
    def _groups(self) -> Any:
        """The groups of columns, as `MultiKernelSVC` takes them."""
        return self.groups

    def _settings(self, params: Mapping[str, float]) -> tuple[KernelSettings, float]:
        """Return the machine's kernel parameters for given parameters, and C."""
        weights, gammas = (
            {name.removeprefix(kind): value for name, value in params.items() if name.startswith(kind)}
            for kind in ("weights__", "gamma__")
        )
        gamma = gammas or params.get("gamma", self.gamma)
        combine = "product" if self._product else "sum"
        return KernelSettings(self._groups, self.kernel, gamma, self.scales, weights or None, combine), params.get("C", 1.0)

    def _terms(self, known: KnownColumns) -> tuple[Term, ...]:
        """Return the terms of the model."""
        settings, names = self._settings({})[0], self.names
        rules, columns = settings.named_gamma(), known.groups(self._groups)
        terms = []
        for entry in settings.entries:
            weight = next(name for name in (f"weights__{entry.name}", "C") if name in names)
            rule = rules[entry.group]
            fixed = FixedGamma(rule if isinstance(rule, str) else float(rule), entry.scale)
            gamma = next((name for name in (f"gamma__{entry.group}", "gamma") if name in names), fixed)
            terms.append(Term(entry.name, columns[entry.group], entry.kernel, weight, gamma))
        return tuple(terms)

    def _gamma_ranges(self, gamma: Range) -> dict[str, Range]:
        """Return the range of each gamma that is a parameter; `gamma` is in units of 1 / (number of columns)."""
        if self._gammas == "fixed":
            return {}
        if self._gammas == "one":
            sizes = {} if self.groups is None and self._known.n_features is None else self._sizes()
            least, most = min(sizes.values(), default=1), max(sizes.values(), default=1)
            low, high = gamma[0] / least, gamma[1] / most
            if not low < high:
                shown = f"groups of {least} and of {most} columns"
                raise ArgumentError(f"gamma={gamma!r}: no gamma is in the ranges of {shown} both; use a wider one")
            return {"gamma": (low, high)}
        if self._product:
            sizes = dict.fromkeys(group_names(self._groups), self._known.n_features or sum(self._sizes().values()))
        else:
            sizes = self._sizes()
        return {f"gamma__{group}": (gamma[0] / size, gamma[1] / size) for group, size in sizes.items()}

    @property
    def n_parameters(self) -> int:
        """The number of parameters."""
        return len(self.names)

    def space(self, weights: Range = WEIGHTS, gamma: Range = GAMMA) -> dict[str, Any]:
        """Return the search space: each parameter on a logarithmic scale.

        With the same ranges, a point embedded from a poorer model lies in the richer model's space, unless a gamma was fixed at a
        number outside.

        Parameters
        ----------
        weights : tuple of float, default=(2**-12, 2**12)
            Smallest and largest C or weight.
        gamma : tuple of float, default=(2**-8, 2**8)
            Smallest and largest gamma, in units of 1 / (number of columns of the group), as sigma = 1 / gamma is in section 3.3.
            Where groups have a gamma in common, it is between the largest lower and the smallest upper end. In a product the
            unit is that of all columns. For `RbfModel()` without a number of columns the unit is 1.

        Returns
        -------
        dict of str to scipy.stats distribution
            For `SpotSearchCV`, `RandomizedSearchCV`, `Study`.

        Raises
        ------
        ArgumentError
            If a range is invalid, or the number of columns of a group is not known; a ValueError.
        """
        from scipy.stats import loguniform

        ranges = dict.fromkeys(self.names, _checked_range("weights", weights))
        ranges |= self._gamma_ranges(_checked_range("gamma", gamma))
        return {name: loguniform(*ranges[name]) for name in self.names}

    def estimator(self, params: Mapping[str, float] | None = None, regression: bool = False, **more: Any) -> Any:
        """Return the SVM with this kernel.

        Parameters
        ----------
        params : dict, optional
            The parameters; None leaves them to be set later, as in a search.
        regression : bool, default=False
            Whether it is a MultiKernelSVR.
        **more : dict
            Further parameters of the SVM.

        Returns
        -------
        MultiKernelSVC or MultiKernelSVR
            The SVM, not fitted.

        Raises
        ------
        ArgumentError
            If the names are not the model's, or a value is not positive; a ValueError.
        """
        settings, C = self._settings({} if params is None else self._checked(params))
        kernels = {name: getattr(settings, name) for name in ("groups", "kernel", "gamma", "scales", "weights", "combine")}
        if isinstance(settings.gamma, Mapping):
            kernels["gamma"] = settings.named_gamma()
        return MACHINES["regressor" if regression else "classifier"](**{**kernels, "C": C, **more})

    def gram(self, X: Any, params: Mapping[str, float], Z: Any = None) -> Floats:
        """Compute the kernel matrix, C or the weights included.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows; gamma="scale" is computed from them.
        params : dict
            The parameters.
        Z : array-like of shape (m, d), optional
            Other rows; by default X itself.

        Returns
        -------
        ndarray of shape (n, n) or (n, m)
            The matrix.

        Raises
        ------
        ArgumentError, SolverError
            If the parameters or the data are invalid; ValueErrors.
        """
        rows = check_rows(X)
        kernel, C = self.combined(rows, column_names(X), params)
        if Z is None:
            return np.asarray(gram_matrix(kernel, rows) * C)
        return np.asarray(kernel_matrix(kernel, rows, check_columns(kernel, check_rows(Z, "Z"))) * C)

    def matrices(self, X: Any) -> KernelMatrices:
        """Return the kernel matrices of some rows for any parameters; shared parts are computed once.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        KernelMatrices
            `matrices(X).gram(params)` is `gram(X, params)`, but faster from the second call on.

        Raises
        ------
        SolverError
            If the data are invalid; a ValueError.
        """
        return KernelMatrices(self, X)

    def combined(self, rows: Floats, names: list[str] | None, params: Mapping[str, float]) -> tuple[MultiKernel, float]:
        """Return the combined kernel for some rows, and C.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            Checked rows; gamma="scale" is computed from them.
        names : list of str or None
            The names of their columns; None for those of the model.
        params : dict
            The parameters.

        Returns
        -------
        MultiKernel
            The kernel.
        float
            C.
        """
        settings, C = self._settings(self._checked(params))
        columns = settings.columns(rows.shape[1], names or self.feature_names)
        bases = settings.bases(columns, settings.gammas(rows, columns))
        return settings.combined(bases, settings.weight_table(1)[0]), C

    def contains(self, poorer: KernelModel) -> bool:
        """Return whether this model has every kernel of another model.

        Parameters
        ----------
        poorer : KernelModel
            The other model.

        Returns
        -------
        bool
            True if it has.
        """
        try:
            self._map(poorer)
        except ArgumentError:
            return False
        return True

    def embed(self, poorer: KernelModel, params: Mapping[str, float]) -> dict[str, float]:
        """Return the parameters with which this model has the same kernel as a poorer one.

        Parameters
        ----------
        poorer : KernelModel
            A model that this one contains.
        params : dict
            Its parameters.

        Returns
        -------
        dict of str to float
            The parameters of this model.

        Raises
        ------
        ArgumentError
            If this model does not contain the other, with the reason, or the parameters are not the other's; a ValueError.
        """
        sources, given = self._map(poorer), poorer._checked(params)
        return {name: given[source] if isinstance(source, str) else source for name, source in sources.items()}

    def restrict(self, poorer: KernelModel, params: Mapping[str, float]) -> dict[str, float]:
        """Return the parameters of a poorer model whose embedding these parameters are.

        Parameters
        ----------
        poorer : KernelModel
            A model that this one contains.
        params : dict
            Parameters of this model.

        Returns
        -------
        dict of str to float
            The parameters of the poorer model.

        Raises
        ------
        ArgumentError
            If this model does not contain the other, or its kernel is not one of the other's; a ValueError.
        """
        sources, given = self._map(poorer), self._checked(params)
        found = {source: given[name] for name, source in reversed(sources.items()) if isinstance(source, str)}
        found = {name: found[name] for name in poorer.names}
        again = self.embed(poorer, found)
        wrong = next((name for name in self.names if not np.isclose(again[name], given[name], rtol=1e-9, atol=0.0)), None)
        if wrong is not None:
            raise ArgumentError(
                f"params does not give a kernel of {poorer!r}: {wrong} would have to be {again[wrong]!r}, not {given[wrong]!r}"
            )
        return found

    def _map(self, poorer: KernelModel) -> ParameterMap:
        if not isinstance(poorer, KernelModel):
            raise ArgumentError(f"{poorer!r} is not a kernel model")
        try:
            known = self._known.joined(poorer._known)
            found = parameter_map(self._terms(known), poorer._terms(known), (self._product, poorer._product))
        except ArgumentError as error:
            raise ArgumentError(f"{self!r} does not contain {poorer!r}: {error}") from error
        return {name: found[name] for name in self.names}

    @property
    def _known(self) -> KnownColumns:
        return KnownColumns.of(self.groups, self.n_features, self.feature_names)

    def _sizes(self) -> dict[str, int]:
        """Return the number of columns of each group, or raise ArgumentError where one is not known."""
        sizes = {}
        for name, columns in self._known.groups(self.groups).items():
            if not isinstance(columns, tuple):
                raise ArgumentError(f"the number of columns of the group {name!r} is not known; give n_features to {self!r}")
            sizes[name] = len(columns)
        return sizes

    def _checked(self, params: Mapping[str, float]) -> dict[str, float]:
        """Return parameters as floats, or raise ArgumentError."""
        if not isinstance(params, Mapping) or set(params) != set(self.names):
            shown = sorted(map(str, params)) if isinstance(params, Mapping) else params
            raise ArgumentError(f"params has {shown}; the parameters of {self!r} are {list(self.names)}")
        numbers = {name: as_float(params[name]) for name in self.names}
        for name, number in numbers.items():
            if not 0 < number < np.inf:
                raise ArgumentError(f"{name}={params[name]!r}; use a positive, finite number")
        return numbers


def _checked_range(name: str, given: Any) -> Range:
    try:
        low, high = (as_float(end) for end in given)
    except (TypeError, ValueError):
        low = high = np.nan
    if not 0 < low < high < np.inf:
        raise ArgumentError(f"{name}={given!r}; use the smallest and the largest value, both positive")
    return low, high
