"""Vote shares of the classes, computed from a fitted classifier's probabilities, votes or decision values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.one_vs_one import one_vs_rest, pairs

RESPONSES = ("auto", "votes", "soft_votes", "predict_proba", "decision_function")


def check_response(method: Any) -> None:
    """Raise ArgumentError if there is no such response."""
    if not (isinstance(method, str) and method in RESPONSES):
        raise ArgumentError(f"response_method={method!r}; use one of {', '.join(map(repr, RESPONSES))}")


def chosen_response(method: str, estimator: Any, one_vs_one: bool) -> str:
    """Return the response that is used: with "auto" the first available of votes, probabilities and decision values."""
    there = {
        "votes": one_vs_one,
        "soft_votes": one_vs_one,
        "predict_proba": hasattr(estimator, "predict_proba"),
        "decision_function": hasattr(estimator, "decision_function"),
    }
    wanted = ("votes", "predict_proba", "decision_function") if method == "auto" else (method,)
    found = next((name for name in wanted if there[name]), None)
    if found is None:
        has = ", ".join(repr(name) for name, has_it in there.items() if has_it) or "none of them"
        raise ArgumentError(f"response_method={method!r}: {type(estimator).__name__} does not have this response; it has {has}")
    return found


def two_shares(decisions: Floats) -> Floats:
    """Return the shares of two classes, (n, 2), from the decision values for the second one: by the logistic function."""
    return np.column_stack([expit(-decisions), expit(decisions)])


def shares_of_votes(decisions: Floats, n_classes: int, soft: bool) -> Floats:
    """Return the shares of votes, (n_samples, n_classes), from the decisions of all pairs of classes.

    With `soft` a pair divides its vote by the logistic function of its decision. Otherwise one class gets all of it, and the sum
    of a class's decisions, squashed to a third of a vote, breaks ties.

    Examples
    --------
    >>> shares_of_votes(np.array([[1.0, 1.0, 1.0]]), 3, soft=False).round(3)
    array([[0.69, 0.31, 0.  ]])
    """
    if soft:
        shares = np.zeros((len(decisions), n_classes))
        for k, (i, j) in enumerate(pairs(n_classes)):
            shares[:, i] += expit(decisions[:, k])
            shares[:, j] += expit(-decisions[:, k])
    else:
        shares = np.maximum(one_vs_rest(decisions, n_classes), 0.0)
    normed: Floats = shares / shares.sum(axis=1, keepdims=True)
    return normed


def shares_from(response: str, estimator: Any, X: Any) -> Floats:
    """Return the shares of the classes, which sum to 1; a classifier of pairs must have decision_function_shape="ovo"."""
    if response == "predict_proba":
        probabilities: Floats = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return probabilities
    decisions = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if decisions.ndim == 1:
        return two_shares(decisions)
    if response == "decision_function":
        normed: Floats = softmax(decisions, axis=1)
        return normed
    return shares_of_votes(decisions, len(estimator.classes_), response == "soft_votes")


def machine_prefix(estimator: Any) -> str:
    """Return the prefix of the parameters of an estimator's machine: none, or a pipeline's last steps.

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
    """Return fit's parameter name for row weights; with metadata routing a pipeline passes those that its steps request."""
    return "sample_weight" if get_config()["enable_metadata_routing"] else f"{machine_prefix(estimator)}sample_weight"


def weighted_fit(
    estimator: Any, X: Any, codes: NDArray[np.intp], weights: dict[int, float] | str | None, params: Mapping[str, Any]
) -> Any:
    """Fit an estimator, which is changed, with class weights; None stands for its own."""
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
