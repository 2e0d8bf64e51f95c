"""The share of the votes that each class has, from whatever a fitted classifier can say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from spotsvm.errors import ArgumentError
from spotsvm.one_vs_one import one_vs_rest, pairs

Floats = NDArray[np.float64]

RESPONSES = ("auto", "votes", "soft_votes", "predict_proba", "decision_function")


def check_response(method: Any) -> None:
    """Raise ArgumentError if there is no such response."""
    if not (isinstance(method, str) and method in RESPONSES):
        raise ArgumentError(f"response_method={method!r}; use one of {', '.join(map(repr, RESPONSES))}")


def chosen_response(method: str, estimator: Any, one_vs_one: bool) -> str:
    """Give the response that is used.

    Parameters
    ----------
    method : str
        One of `RESPONSES`; "auto" is the first that the estimator has of votes, probabilities and decision values.
    estimator : estimator
        The classifier.
    one_vs_one : bool
        Whether it decides by pairs of classes.

    Raises
    ------
    ArgumentError
        If the estimator does not have it; a ValueError.
    """
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
        raise ArgumentError(f"response_method={method!r}: {type(estimator).__name__} has no such response, but {has}")
    return found


def two_shares(decisions: Floats) -> Floats:
    """Give the shares of two classes, (n, 2), from the decision values for the second one: by the logistic function."""
    return np.column_stack([expit(-decisions), expit(decisions)])


def shares_of_votes(decisions: Floats, n_classes: int, soft: bool) -> Floats:
    """Give the shares of votes from the decisions of all pairs of classes.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_pairs)
        Positive for the first class of a pair.
    n_classes : int
        Number of classes, 3 or more.
    soft : bool
        Whether a pair divides its vote by the logistic function of its decision, or gives all of it to one class; then the sum
        of a class's decisions, squashed to a third of a vote, breaks ties.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The shares; they sum to 1.

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
    """Give the shares of the classes of a fitted classifier.

    Parameters
    ----------
    response : str
        As `chosen_response` gives it. A classifier of pairs has decision_function_shape="ovo".
    estimator : estimator
        The fitted classifier.
    X : array-like of shape (n_samples, n_features)
        New data.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The shares; they sum to 1.
    """
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
