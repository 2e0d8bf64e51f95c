"""The weights of rows and of classes that a candidate is fitted with: they move its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.metadata_routing import process_routing

from spotsvm.common.targets import with_mean_1
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.class_entries import class_factors
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier, machine_prefix
from spotsvm.luck.scores import as_vector

Codes = NDArray[np.intp]
#: classifiers whose "balanced" counts a row for its weight; that of all others counts rows
_COUNT_WEIGHTS = (LogisticRegression, LinearSVC, RandomForestClassifier, ExtraTreesClassifier)
#: classifiers whose predictions are not those of their decisions
_THRESHOLDS = (FixedThresholdClassifier, TunedThresholdClassifierCV)


def machine_of(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def row_weights(estimator: Any, fit_params: Mapping[str, Any], n: int) -> Floats:
    """Return the weights of rows that a fit gives to an estimator's machine, with mean 1; ones if it gives none."""
    given = _given(estimator, fit_params)
    return np.ones(n) if given is None else with_mean_1(np.asarray(given, dtype=np.float64))


def _given(estimator: Any, fit_params: Mapping[str, Any]) -> Any:
    if isinstance(estimator, Pipeline) and get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return _given(last, process_routing(estimator, "fit", **fit_params)[name].fit) if fit_params else None
    return fit_params.get(f"{machine_prefix(estimator)}sample_weight")


def threshold_factors(estimator: Any, classes: NDArray[Any], codes: Codes, weights: Floats) -> Floats | None:
    """Return the factor of each class that has moved the threshold of a classifier, (k,).

    None if it is moved in another way than by `class_weight` or priors: by cutoffs, or by an estimator inside another.
    """
    machine = machine_of(estimator)
    params = machine.get_params(deep=False)
    if (priors := _priors(machine, len(classes))) is not None:
        shares = np.bincount(codes, weights=weights, minlength=len(classes)) / weights.sum()
        return np.asarray(priors / shares) if (priors > 0).all() and (shares > 0).all() else None
    if "class_weight" in params and not isinstance(machine, CutoffClassifier):
        try:
            return _factors(machine, params["class_weight"], classes, codes, weights)
        except ArgumentError:
            return None
    moved = ("class_weight", "cutoff", "weight_unit", "priors", "class_prior")
    deep = {name: value for name, value in machine.get_params(deep=True).items() if value is not None}
    inside = any(
        name.rpartition("__")[2] in moved or (name.endswith("__fit_prior") and not value) or isinstance(value, ComplementNB)
        for name, value in deep.items()
    )
    return None if inside else np.ones(len(classes))


def _priors(machine: Any, n_classes: int) -> Floats | None:
    """Return the shares that a classifier takes for those of the classes; None if it takes those of its rows."""
    params = machine.get_params(deep=False)
    given = params.get("priors", params.get("class_prior"))
    if isinstance(machine, ComplementNB) or (given is None and params.get("fit_prior") is False):
        return np.full(n_classes, 1.0 / n_classes)
    return None if given is None else np.asarray(given, dtype=np.float64)


def _factors(machine: Any, given: Any, classes: NDArray[Any], codes: Codes, weights: Floats) -> Floats:
    given = "balanced" if isinstance(given, str) and given == "balanced_subsample" else given
    return class_factors(given, classes, codes, weights if isinstance(machine, _COUNT_WEIGHTS) else None)


def fixed_weights(estimator: Any, classes: NDArray[Any], codes: Codes, weights: Floats) -> dict[str, Any]:
    """Return the parameters with which "balanced" stands for the weights of all rows, in each fold as in the final fit.

    A fold's own numbers show which class the rows left out have: where one row is left out, its class weighs more by just as
    much as makes the sums of both classes equal, and their rounding error decides for or against it.
    """
    machine, prefix = machine_of(estimator), machine_prefix(estimator)
    params = machine.get_params(deep=False)
    names: Any = classes.tolist()
    fixed: dict[str, Any] = {}
    if isinstance(machine, CutoffClassifier):
        inner = machine.get_params(deep=True)["estimator"] or None
        if params["weight_unit"] == "balanced":
            unit = class_factors("balanced", classes, codes, weights)
            numbers = unit * class_factors(params["class_weight"], classes, codes)
            fixed = {f"{prefix}weight_unit": None, f"{prefix}class_weight": dict(zip(names, numbers.tolist(), strict=True))}
        if inner is not None:  # its classes are the numbers of these
            inside = fixed_weights(inner, np.arange(len(classes)), codes, weights)
            fixed |= {f"{prefix}estimator__{name}": value for name, value in inside.items()}
    given = params.get("class_weight")
    if isinstance(given, str) and given == "balanced":
        numbers = _factors(machine, given, classes, codes, weights)
        fixed[f"{prefix}class_weight"] = dict(zip(names, numbers.tolist(), strict=True))
    return fixed


def with_fixed_weights(
    estimator: Any, params: Sequence[Mapping[str, Any]], y: Any, fit_params: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the parameters of candidates with the class weights of all rows in place of "balanced"; see `fixed_weights`."""
    target = as_vector(np.asarray(y))
    if not is_classifier(estimator) or target.ndim > 1:
        return [dict(one) for one in params]
    classes, code = np.unique(target, return_inverse=True)
    weights = row_weights(estimator, fit_params, len(code))

    def fixed(one: Mapping[str, Any]) -> dict[str, Any]:
        candidate = clone(estimator).set_params(**clone(dict(one), safe=False))
        return fixed_weights(candidate, classes, code, weights)

    return [{**one, **fixed(one)} for one in params]


def check_decides(estimator: Any) -> None:
    """Raise ArgumentError if the predictions of a classifier are not those of its decisions, which a calibration keeps."""
    if isinstance(machine := machine_of(estimator), _THRESHOLDS):
        raise ArgumentError(
            f"calibrate=True makes probabilities of decisions, and would undo the threshold of {type(machine).__name__}; "
            "use calibrate=False, or search its estimator and put the threshold on the result"
        )
