"""Class weights for whatever is last in a pipeline: as its own parameter, or as weights of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from spotsvm.errors import ArgumentError


def machine_prefix(estimator: Any) -> str:
    """Give what stands before the parameters of the machine that an estimator is, or ends in.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> machine_prefix(SVC()), machine_prefix(make_pipeline(StandardScaler(), SVC()))
    ('', 'svc__')
    """
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix


def row_weights_name(estimator: Any) -> str:
    """Give the name by which fit takes weights of rows: with metadata routing a pipeline takes those its steps ask for."""
    return "sample_weight" if get_config()["enable_metadata_routing"] else f"{machine_prefix(estimator)}sample_weight"


def weighted_fit(
    estimator: Any, X: Any, codes: NDArray[np.intp], weights: dict[int, float] | str | None, params: Mapping[str, Any]
) -> Any:
    """Fit an estimator with class weights.

    Parameters
    ----------
    estimator : classifier
        A classifier, or a pipeline that ends in one; it is changed.
    X : array-like of shape (n_samples, n_features)
        Training data.
    codes : ndarray of shape (n_samples,)
        The classes as numbers.
    weights : dict, "balanced" or None
        Their weights; None for those that the estimator has.
    params : dict
        Further arguments of fit.

    Returns
    -------
    classifier
        The fitted estimator.

    Raises
    ------
    ArgumentError
        If the machine can have no weights, or has its own; a ValueError.
    """
    if weights is None:
        return estimator.fit(X, codes, **params)
    prefix = machine_prefix(estimator)
    own = estimator.get_params(deep=True)
    if f"{prefix}class_weight" in own:
        if own[f"{prefix}class_weight"] is not None:
            raise ArgumentError(f"class_weight is given, but the estimator has its own {prefix}class_weight; use one of them")
        estimator.set_params(**{f"{prefix}class_weight": weights})
        return estimator.fit(X, codes, **params)
    machine = own[prefix.removesuffix("__")] if prefix else estimator
    if not has_fit_parameter(machine, "sample_weight"):
        raise ArgumentError(
            f"class_weight={weights!r}: {type(machine).__name__} has neither class_weight nor weights of rows; use None"
        )
    of_rows = compute_sample_weight(weights, codes)
    name = row_weights_name(estimator)
    if params.get(name) is not None:
        of_rows = of_rows * np.asarray(params[name])
    return estimator.fit(X, codes, **{**params, name: of_rows})
