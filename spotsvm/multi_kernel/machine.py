"""The base class of the multiple-kernel classifier and regressor: their kernels, and parameters inside of dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import validate_data

from spotsvm.common.targets import as_classes, as_numbers, check_sample_weight
from spotsvm.cross_validation.machines import SvmMachine, common_parameters, rounded_if_sound
from spotsvm.errors import ArgumentError, BudgetError, SolverError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svc import DualSVC
from spotsvm.estimators.dual.kernel_machine import KernelMachine, check_cache_size
from spotsvm.estimators.entry_parameters import EntryParametersMixin
from spotsvm.multi_kernel.models.base import KernelModel
from spotsvm.multi_kernel.models.column_groups import group_names, resolve_groups
from spotsvm.multi_kernel.models.families import AnisotropicRbfModel, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.models.settings import KernelSettings
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel
from spotsvm.solvers.kernels.matrices.gram import gram_matrix, kernel_blocks

if TYPE_CHECKING:
    from spotsvm.search_cv.spot_search_cv import SpotSearchCV


_OF_KERNELS = ("groups", "kernel", "gamma", "scales", "weights", "combine", "degree", "coef0")


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelMachine(EntryParametersMixin, KernelMachine):
    """Base class of MultiKernelSVC and MultiKernelSVR.

    The entries of the dicts `weights` and `gamma` are parameters too: `weights__<kernel>` and `gamma__<group>`. Setting an entry
    makes a new dict, in which the other entries are unchanged.
    """

    groups: Any = None
    kernel: Any = "rbf"
    gamma: Any = "scale"
    scales: Any = (1.0,)
    weights: Any = None
    combine: Literal["sum", "product"] = "sum"
    degree: int = 3
    coef0: float = 0.0
    C: float = 1.0
    tol: float = 1e-3
    cache_size: float = 200
    max_iter: int = -1
    tune: Any = None
    n_trials: Any = 100
    cv: Any = 5
    scoring: Any = None
    random_state: Any = None
    _calls_to_warn = 4
    _with_entries = ("weights", "gamma")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to training data; with `tune`, search the parameters of the kernels first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes, or targets.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, 0 or more. A row of weight 2 counts as two rows, one of weight 0 as none; only for gamma="scale" each
            row counts once, as in scikit-learn.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter or a weight is invalid, or a pair of numbers `n_trials` is too small for the search; a ValueError.
        SolverError
            If the kernel or the search raises it; a ValueError.
        """
        if self.tune is None:
            if hasattr(self, "tuning_"):
                del self.tuning_
            # the machine beside this class in a subclass's bases
            fitted: Self = cast("Any", super()).fit(X, y, sample_weight)
            return fitted

        search = self._search(X, y, sample_weight)
        for name, value in vars(search.best_estimator_).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        self.tuning_: SpotSearchCV = search
        return self

    @property
    def _settings(self) -> KernelSettings:
        return settings_of(self)

    def model_space(self) -> dict[str, Any]:
        """Return the search space of the richest nested model that the parameters define; `default_space` uses it.

        Returns
        -------
        dict
            Distributions by the names of parameters.
        """
        return kernel_models_of(self, None, None)[-1].space()

    def _search(self, X: Any, y: Any, sample_weight: Any) -> SpotSearchCV:
        """Search the parameters of the kernels by cross-validation, and refit the best."""
        y = (as_numbers if is_regressor(self) else as_classes)(y, type(self).__name__)
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=is_regressor(self))
        weights = None if sample_weight is None else check_sample_weight(sample_weight, len(rows))
        if isinstance(self, DualSVC):
            self._set_classes(y, check_sample_weight(weights, len(rows)))
        return tuned(self, rows, y, weights)

    def _replaced(self, parameter: str, entries: Mapping[str, Any]) -> dict[Any, Any]:
        whole = self._settings.named_weights() if parameter == "weights" else self._settings.named_gamma()
        unknown = next((inner for inner in entries if inner not in whole), None)
        if unknown is not None:
            raise ArgumentError(
                f"{parameter}__{unknown} is not a parameter; there are {', '.join(f'{parameter}__{name}' for name in whole)}"
            )
        return {**whole, **entries}

    def _set_kernel(self, X: Floats) -> None:
        settings = self._settings
        self.kernel_names_ = settings.kernel_names
        columns = settings.columns(X.shape[1], getattr(self, "feature_names_in_", None))
        self.groups_ = {name: np.array(chosen, dtype=np.intp) for name, chosen in columns.items()}
        self.gamma_ = settings.gammas(X, columns)
        self.weights_ = settings.weight_table(self._n_problems)
        bases = settings.bases(columns, self.gamma_)
        self.kernels_ = tuple(settings.combined(bases, row) for row in self.weights_)

    @property
    def _n_problems(self) -> int:
        classes = len(getattr(self, "classes_", ()))
        return max(classes * (classes - 1) // 2, 1)

    @property
    def _pairwise_data(self) -> bool:
        return False

    @property
    def _one_kernel(self) -> bool:
        return bool((self.weights_ == self.weights_[0]).all())

    def _gram(self, X: Floats, rows: NDArray[np.intp], problem: int = 0) -> Floats:
        return gram_matrix(self.kernels_[problem], X[rows], max_bytes=check_cache_size(self.cache_size))

    def _support_columns(self, X: Any, problem: int = 0) -> Iterator[tuple[slice, Floats]]:
        if not len(self.support_):
            yield slice(0, len(X)), np.empty((len(X), 0))
            return
        yield from kernel_blocks(self.kernels_[problem], X, self.support_vectors_, max_bytes=check_cache_size(self.cache_size))

    def _weighted(self, plain: Floats) -> Floats:
        """Return the weights of the features from those with the plain linear kernel: times their groups' weights."""
        factors = np.empty_like(plain)
        for k, name in enumerate(self.kernel_names_):
            factors[:, self.groups_[name]] = self.weights_[:, [k]]
        return plain * factors


#: share of the trials for the poorer model; 100 of 600 in section 3.3 is a sixth, but of larger budgets
_POORER = 1 / 3


def settings_of(machine: MultiKernelMachine) -> KernelSettings:
    """Return the settings of a machine's kernels."""
    return KernelSettings(**{name: getattr(machine, name) for name in _OF_KERNELS}, gamma_left_out="scale")


def kernel_models_of(machine: MultiKernelMachine, n_features: int | None, feature_names: Any) -> list[KernelModel]:
    """Return the nested models that a machine's parameters define: one C for all kernels, then a weight for each.

    For Gaussian kernels on one scale, a gamma of "scale" or "auto" is tuned as well: first a common gamma, then one for each
    group. A single kernel has a single model.
    """
    known = {"groups": machine.groups, "n_features": n_features, "feature_names": feature_names}
    one_group = len(group_names(machine.groups)) == 1
    widths = isinstance(machine.gamma, str) and machine.gamma in ("scale", "auto")
    if machine.combine == "product":
        if not widths:
            raise ArgumentError(f"gamma={machine.gamma!r} with combine='product' leaves nothing but C to tune; use gamma='scale'")
        whole = RbfModel(**known | {"groups": None})
        return [whole] if one_group else [whole, AnisotropicRbfModel(**known)]
    if widths and isinstance(machine.kernel, str) and machine.kernel == "rbf" and np.size(machine.scales) == 1:
        return [RbfModel(**known)] if one_group else [RbfModel(**known), TunedConicModel(**known)]
    gamma = settings_of(machine).named_gamma() if isinstance(machine.gamma, Mapping) else machine.gamma
    fixed = known | {"kernel": machine.kernel, "gamma": gamma, "scales": machine.scales}
    models: list[KernelModel] = [FixedKernelModel(**fixed), ConicModel(**fixed)]
    return models[: 1 if models[1].n_parameters == 1 else 2]


def tuned(machine: MultiKernelMachine, rows: Floats, y: NDArray[Any], weights: Floats | None) -> SpotSearchCV:
    """Return the search of a machine's kernels on checked data."""
    import pandas as pd

    from spotsvm.multi_kernel.nested import nested
    from spotsvm.search_cv.spot_search_cv import SpotSearchCV

    names = getattr(machine, "feature_names_in_", None)
    if not (isinstance(machine.tune, str) or callable(machine.tune)):
        raise ArgumentError(f"tune={machine.tune!r}; use the name of a search, such as 'vns', a callable that makes one, or None")
    if not (isinstance(machine.scoring, str | None) or callable(machine.scoring)):
        raise ArgumentError(f"scoring={machine.scoring!r}; use one score: a name, a callable, or None")
    resolve_groups(machine.groups, rows.shape[1], names)  # an error in the groups would occur in every trial
    models, counts = _within_budget(machine, kernel_models_of(machine, rows.shape[1], names))
    # the tuning's parameters go only to the search: folds may be an iterator, which cannot be copied
    plain = {"tune": None, "weights": None, "C": 1.0, "cv": 5, "scoring": None, "random_state": None}
    bare = clone(type(machine)(**{**machine.get_params(deep=False), **plain}))
    searching = nested(models, counts, machine.tune) if len(models) > 1 else machine.tune
    search = SpotSearchCV(
        bare,
        models[-1].space(),
        n_iter=sum(counts),
        search=searching,
        scoring=machine.scoring,
        cv=machine.cv,
        random_state=machine.random_state,
        sweep=None,  # C belongs to the models' own spaces
        start=[],
    )
    data = rows if names is None else pd.DataFrame(rows, columns=names)
    return search.fit(data, y) if weights is None else search.fit(data, y, sample_weight=weights)


def _within_budget(machine: MultiKernelMachine, models: list[KernelModel]) -> tuple[list[KernelModel], list[int]]:
    """Return the models to search, and the trials of each: only the poorest if the total is too small for all designs.

    Errors of the search are raised in terms of the machine's own arguments.
    """
    from spotsvm.multi_kernel.nested import nested
    from spotsvm.space.space import Space
    from spotsvm.study.bookkeeper import initial_trials
    from spotsvm.study.loop import check_budget

    counts = _trials(machine.n_trials, len(models))
    spaces = [Space(model.space()) for model in models]
    try:
        needed = [initial_trials(machine.tune, space, noise=False)[0] for space in spaces]
        if len(models) > 1 and isinstance(machine.n_trials, Integral):
            if any(count < need for count, need in zip(counts, needed, strict=True)):
                return models[:1], [sum(counts)]
        elif len(models) > 1:
            whole = initial_trials(nested(models, counts, machine.tune), spaces[-1], noise=False)
            check_budget(sum(counts), "n_trials", whole, spaces[-1].domain)
    except (SolverError, BudgetError) as error:
        raise ArgumentError(f"tune={machine.tune!r} with n_trials={machine.n_trials!r} cannot be used: {error}") from error
    return models, counts


def _trials(n_trials: Any, n_models: int) -> list[int]:
    """Return the trials of each model, from the total or from one number for each."""
    given = list(n_trials) if isinstance(n_trials, Sequence) and not isinstance(n_trials, str) else [n_trials]
    if not given or not all(isinstance(m, Integral) and not isinstance(m, bool) and int(m) >= 1 for m in given):
        raise ArgumentError(f"n_trials={n_trials!r} is not a number of trials; use 1 or more, or two such numbers")
    counts = [int(m) for m in given]
    if len(counts) == 1 and n_models > 1 and isinstance(n_trials, Integral):
        poorer = max(round(_POORER * counts[0]), 1)
        return [poorer, counts[0] - poorer]
    if len(counts) != n_models:
        raise ArgumentError(f"n_trials={n_trials!r} for {n_models} nested models; give their sum, or one number for each")
    return counts


@dataclass(frozen=True)
class MultiMachine(SvmMachine):
    """The parameters of a multiple-kernel machine; two machines are compared by their kernels, without the settings."""

    settings: KernelSettings = field(default_factory=KernelSettings, compare=False)

    def kernel_on(self, X: Floats, names: Sequence[str] | None = None) -> MultiKernel:
        """Return the combined kernel for some training rows, or raise a SpotSVMError."""
        columns = self.settings.columns(X.shape[1], names)
        weights = self.settings.weight_table(1)
        kernel = self.settings.combined(self.settings.bases(columns, self.settings.gammas(X, columns)), weights[0])
        if not kernel.positive_semidefinite:
            raise ArgumentError(f"{kernel.label} may be indefinite: its solutions need not be unique")
        return kernel

    @property
    def kernel_depends_on_rows(self) -> bool:
        """Whether the kernel depends on the training rows."""
        return any(isinstance(gamma, str) and gamma == "scale" for gamma in self.settings.named_gamma().values())


def read_multi_machine(p: Mapping[str, Any]) -> SvmMachine | None:
    """Return a machine from the parameters of a multiple-kernel machine; None where the work cannot be shared."""
    if p["tune"] is not None:
        return None
    regression = "epsilon" in p
    settings = KernelSettings(**{name: p[name] for name in _OF_KERNELS}, gamma_left_out="scale")
    try:
        settings.named_gamma()
    except ArgumentError:
        return None
    usual: dict[str, Any] = {"kernel": "several", "gamma": 1.0, "degree": 3, "coef0": 0.0}
    return rounded_if_sound(MultiMachine(regression, **usual, settings=settings, **common_parameters(p, regression)))
