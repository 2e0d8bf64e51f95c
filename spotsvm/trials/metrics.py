"""Scores of predictions: the mean class accuracy, scorers by name, and their names in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer, recall_score

from spotsvm.common.compat import ScorerParts, scorer_parts
from spotsvm.errors import ArgumentError


def mean_class_accuracy(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the mean, over the classes, of the share of correctly predicted rows.

    This is scikit-learn's balanced accuracy, without a warning for a class that only the predictions have. The mean is over the
    classes in `y_true`, because a small fold may lack a class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The classes.
    y_pred : array-like of shape (n_samples,)
        The predicted classes.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows; a class without any weight is left out.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    sklearn.metrics.balanced_accuracy_score : The same metric, with that warning.
    CutoffClassifier : Moves decisions between classes.

    Notes
    -----
    Eq. 16 as printed lacks the division by the number of classes, without which it is not an accuracy.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", eq. 16.

    Examples
    --------
    >>> mean_class_accuracy(["a", "a", "a", "b"], ["a", "a", "a", "c"])
    0.5
    """
    true = np.asarray(y_true)
    there = true if sample_weight is None else true[np.asarray(sample_weight) > 0]
    return float(
        recall_score(y_true, y_pred, labels=np.unique(there), average="macro", sample_weight=sample_weight, zero_division=0)
    )


#: scorer for `scoring` of SpotSearchCV and of scikit-learn
mean_class_accuracy_scorer = make_scorer(mean_class_accuracy)
_OURS = {"mean_class_accuracy": mean_class_accuracy_scorer}


def named_scorer(name: str) -> Any:
    """Return a scorer by its name, one of scikit-learn's or "mean_class_accuracy"; ArgumentError if there is none."""
    if name in _OURS:
        return _OURS[name]
    try:
        return get_scorer(name)
    except ValueError as error:
        known = [*get_scorer_names(), *_OURS]
        near = ", ".join(get_close_matches(name, known)) or "one of sklearn.metrics.get_scorer_names(), or mean_class_accuracy"
        raise ArgumentError(f"--scoring {name!r} is unknown; use {near}") from error


def scorer_name(parts: ScorerParts | None) -> str | None:
    """Return the name by which a scorer with these parts is passed as `scoring`; None if it has none."""
    return None if parts is None else next((name for name, its in _named_parts().items() if its == parts), None)


@cache
def _named_parts() -> dict[str, ScorerParts | None]:
    scorers = _OURS | {name: get_scorer(name) for name in get_scorer_names()}
    return {name: scorer_parts(scorer) for name, scorer in scorers.items()}


def metric_words(metric: str) -> str:
    """Return the name of a score as words."""
    words = re.sub("^neg_", "negative_", metric).replace("_", " ")
    return re.sub(r"\b(roc auc|f1|r2)\b", lambda found: found[0].upper(), words)


@dataclass(frozen=True)
class ScoreUnit:
    """How a score is shown: an error, which a scorer returns as a negative number, as a positive one in its own unit."""

    metric: str

    @property
    def is_error(self) -> bool:
        """Whether smaller values are better."""
        return self.metric.startswith("neg_")

    @property
    def title(self) -> str:
        """The name in words, without "negative"."""
        name = self.metric.removeprefix("neg_")
        return "RMSE" if name == "root_mean_squared_error" else metric_words(name)

    @property
    def better(self) -> str:
        """Which values are better, in words."""
        return "smaller is better" if self.is_error else "larger is better"

    @property
    def of_probabilities(self) -> bool:
        """Whether probabilities are scored, and not predicted classes or an order."""
        return "log_loss" in self.metric or "brier" in self.metric

    def value(self, score: float) -> float:
        """Return the scorer's value, or a difference of two, in its own unit."""
        return 0.0 - score if self.is_error else score  # no negative zero

    def interval(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of such a value in its own unit."""
        low, high = interval
        return (self.value(high), self.value(low)) if self.is_error else (low, high)
