"""Tune the weights and widths of a multiple-kernel machine within its own fit."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from solvers.errors import SolverError
from spotsvm.column_groups import group_names, resolve_groups
from spotsvm.dual_svc import DualSVC
from spotsvm.errors import ArgumentError, BudgetError
from spotsvm.kernel_models.base import KernelModel
from spotsvm.kernel_models.families import AnisotropicRbfModel, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.svm_arguments import check_sample_weight

if TYPE_CHECKING:
    from spotsvm.multi_kernel_machine import MultiKernelMachine
    from spotsvm.spot_search_cv import SpotSearchCV

#: the share of the trials that the poorer model has: 100 of 600 in section 3.3 is a sixth, of budgets that are larger than ours
_POORER = 1 / 3


def kernel_models_of(machine: MultiKernelMachine, n_features: int, feature_names: Any) -> list[KernelModel]:
    """Return the nested models that a machine's parameters mean: one C for all kernels, then a weight for each.

    Gaussian kernels on one scale whose gamma is "auto" have that tuned as well: first a common one, then one for each group.
    Where there is one kernel, there is one model.
    """
    known = {"groups": machine.groups, "n_features": n_features, "feature_names": feature_names}
    one_group = len(group_names(machine.groups)) == 1
    widths = isinstance(machine.gamma, str) and machine.gamma == "auto"
    if machine.combine == "product":
        if not widths:
            raise ArgumentError(f"gamma={machine.gamma!r} with combine='product' leaves nothing but C to tune; use gamma='auto'")
        whole = RbfModel(**known | {"groups": None})
        return [whole] if one_group else [whole, AnisotropicRbfModel(**known)]
    if widths and isinstance(machine.kernel, str) and machine.kernel == "rbf" and np.size(machine.scales) == 1:
        return [RbfModel(**known)] if one_group else [RbfModel(**known), TunedConicModel(**known)]
    fixed = known | {"kernel": machine.kernel, "gamma": machine.gamma, "scales": machine.scales}
    richer = ConicModel(**fixed)
    return [FixedKernelModel(**fixed), richer][: 1 if richer.n_parameters == 1 else 2]


def tuned(machine: MultiKernelMachine, X: Any, y: Any, sample_weight: Any) -> SpotSearchCV:
    """Search the parameters of a machine's kernels by cross-validation, and refit the best.

    Raises
    ------
    ValueError
        If the data are not ones to fit to; an ArgumentError if `tune` is no search, `scoring` more than one score, or `n_trials`
        no budget, if groups make no sense, or there is nothing to tune.
    """
    import pandas as pd

    from spotsvm.nested_models import nested
    from spotsvm.spot_search_cv import SpotSearchCV

    rows, y = validate_data(machine, X, y, dtype=np.float64, order="C", y_numeric=is_regressor(machine))
    weights = None if sample_weight is None else check_sample_weight(sample_weight, len(rows))
    if isinstance(machine, DualSVC):
        check_classification_targets(y)
        machine._set_classes(y, check_sample_weight(weights, len(rows)))
    names = getattr(machine, "feature_names_in_", None)
    _check_tune(machine)
    resolve_groups(machine.groups, rows.shape[1], names)  # what is wrong with them is so in every trial
    models = kernel_models_of(machine, rows.shape[1], names)
    counts = _trials(machine.n_trials, len(models))
    # what is about the tuning goes to the search alone: folds may be an iterator, which cannot be copied
    plain = {"tune": None, "weights": None, "C": 1.0, "cv": 5, "scoring": None, "random_state": None}
    bare = clone(type(machine)(**{**machine.get_params(deep=False), **plain}))
    searching = nested(models, counts, machine.tune) if len(models) > 1 else machine.tune
    _check_budget(searching, models[-1].space(), sum(counts), machine)
    search = SpotSearchCV(
        bare,
        models[-1].space(),
        n_iter=sum(counts),
        search=searching,
        scoring=machine.scoring,
        cv=machine.cv,
        random_state=machine.random_state,
    )
    data = rows if names is None else pd.DataFrame(rows, columns=names)
    return search.fit(data, y) if weights is None else search.fit(data, y, sample_weight=weights)


def _check_tune(machine: MultiKernelMachine) -> None:
    """Raise ArgumentError unless there is a search, by a name or a callable, and one score."""
    if not (isinstance(machine.tune, str) or callable(machine.tune)):
        raise ArgumentError(f"tune={machine.tune!r}; use the name of a search, such as 'vns', a callable that makes one, or None")
    if not (machine.scoring is None or isinstance(machine.scoring, str) or callable(machine.scoring)):
        raise ArgumentError(f"scoring={machine.scoring!r}; use one score: a name, a callable, or None")


def _check_budget(search: Any, space: Any, budget: int, machine: MultiKernelMachine) -> None:
    """Raise in the words of the machine's own arguments what a search of this budget would raise."""
    from spotsvm.run_settings import check_budget
    from spotsvm.space import Space
    from spotsvm.study_search import initial_trials

    domain = Space(space).domain
    try:
        check_budget(budget, "n_trials", initial_trials(search, domain, noise=False), domain)
    except (SolverError, BudgetError) as error:
        raise ArgumentError(f"tune={machine.tune!r} with n_trials={machine.n_trials!r} cannot be used: {error}") from error


def _trials(n_trials: Any, n_models: int) -> list[int]:
    """Return the trials of each model, from their total or as they were given."""
    given = list(n_trials) if isinstance(n_trials, Sequence) and not isinstance(n_trials, str) else [n_trials]
    if not given or not all(isinstance(m, Integral) and not isinstance(m, bool) and int(m) >= 1 for m in given):
        raise ArgumentError(f"n_trials={n_trials!r} is not a number of trials; use 1 or more, or two such numbers")
    counts = [int(m) for m in given]
    if len(counts) == 1 and n_models > 1 and counts[0] > 1:
        poorer = max(round(_POORER * counts[0]), 1)
        return [poorer, counts[0] - poorer]
    if len(counts) != n_models:
        raise ArgumentError(f"n_trials={n_trials!r} for {n_models} nested models; give their sum, or one number for each")
    return counts


def take_fitted(machine: MultiKernelMachine, search: SpotSearchCV) -> None:
    """Copy the fitted attributes of a search's best machine to a machine."""
    for name, value in vars(search.best_estimator_).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(machine, name, value)
    machine.tuning_ = search
