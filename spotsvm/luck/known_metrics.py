"""Which of scikit-learn's metrics are computed by `score_functions`, and with which of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from spotsvm.common.compat import ScorerParts
from spotsvm.luck import score_functions as functions
from spotsvm.luck.score_functions import LabelRatio
from spotsvm.trials.metrics import mean_class_accuracy

Array = NDArray[Any]
Kind = Literal["labels", "ranks", "probabilities", "values"]


@dataclass(frozen=True)
class Metric:
    """A metric of answers of a kind: `of(answers, y, weights, strict)`, and the influence of rows on it if it is known."""

    kind: Kind
    of: Callable[[Array, Array, Array, bool], Array]
    influence: Callable[[Array, Array, Array], Array] | None = None


@dataclass(frozen=True)
class Classes:
    """The classes of a target, sorted; None if classes are known by their codes only, and may be two or more."""

    labels: Array | None = None

    @property
    def are_two(self) -> bool:
        """Whether there are two classes, or may be."""
        return self.labels is None or len(self.labels) == 2

    @property
    def are_more(self) -> bool:
        """Whether there are known to be more than two classes."""
        return self.labels is not None and len(self.labels) > 2

    @property
    def are_texts(self) -> bool:
        """Whether the classes are texts or objects."""
        return self.labels is not None and self.labels.dtype.kind in "OUST"

    def code(self, label: Any) -> int:
        """Return the code of a class; -1 if there is no such class."""
        known = [0, 1] if self.labels is None else self.labels.tolist()
        return known.index(label) if label in known else -1

    def positive(self, label: Any) -> int:
        """Return the code of the positive class of two; None stands for the second."""
        return 1 if label is None else self.code(label)


def metric_of(parts: ScorerParts, classes: Classes | None) -> Metric | None:
    """Return the metric that a scorer computes, without its sign; `classes` are None in regression.

    There is none if the metric or an argument of it is not known here, or if scikit-learn refuses these classes.
    """
    function, kwargs = parts.function, dict(parts.kwargs)
    if not isinstance(function, Hashable):
        return None
    of_labels = parts.methods == ("predict",)
    if classes is None:
        return _OF_VALUES.get(function) if of_labels and not kwargs else None
    positive = classes.positive(parts.positive)
    if classes.are_two and positive < 0:
        return None
    if of_labels:
        if function in _RATIOS:
            return _label_ratio(_RATIOS[function], kwargs, classes, positive)
        return None if kwargs else _OF_LABELS.get(function)
    if function in _OF_RANKS and set(parts.methods) <= {"decision_function", "predict_proba"}:
        return _OF_RANKS[function](kwargs, classes, positive)
    if function in _OF_PROBABILITIES and parts.methods == ("predict_proba",) and kwargs.keys() <= {"pos_label"}:
        unnamed = function is metrics.brier_score_loss and classes.are_two and classes.are_texts and parts.positive is None
        return None if unnamed else _OF_PROBABILITIES[function]
    return None


def _label_ratio(part: Any, kwargs: dict[str, Any], classes: Classes, positive: int) -> Metric | None:
    """Return F-beta, precision, recall or the Jaccard index with scikit-learn's arguments."""
    average, label, beta = kwargs.pop("average", "binary"), kwargs.pop("pos_label", None), kwargs.pop("beta", 1.0)
    labels, otherwise = kwargs.pop("labels", None), kwargs.pop("zero_division", "warn")
    warns = isinstance(otherwise, str) and otherwise == "warn"
    if kwargs or average not in ("binary", "macro", "micro", "weighted") or not (warns or otherwise in (0, 1)):
        return None
    if average == "binary":
        if not classes.are_two:
            return None
        codes: Any = (positive,)
    else:
        if label not in (None, 1):
            return None  # of which scikit-learn warns
        codes = None if labels is None else tuple(classes.code(one) for one in labels)
    ratio = LabelRatio(part, average, codes, float(beta), 0.0 if warns else float(otherwise), warns)
    return Metric("labels", ratio.score, ratio.influence)


def _of_rankings(binary: Any, influence: Any, several: Any, several_influence: Any, positive: int) -> Metric:
    """Return a metric of answers (..., n, k); k is 1 for two classes: the answers for the positive one."""

    def of(answers: Array, y: Array, weights: Array, strict: bool) -> Array:
        if answers.shape[-1] == 1:
            return np.asarray(binary(answers[..., 0], y == positive, weights, strict))
        return np.asarray(several(answers, y, weights, strict))

    def influence_of(answers: Array, y: Array, weights: Array) -> Array:
        if answers.shape[-1] == 1:
            return np.asarray(influence(answers[..., 0], y == positive, weights))
        return np.asarray(several_influence(answers, y, weights))

    return Metric("ranks", of, influence_of if several_influence is not None else None)


def _roc_auc(kwargs: dict[str, Any], classes: Classes, positive: int) -> Metric | None:
    """Return the area under the ROC curve; of several classes each against the others, or each pair of them."""
    average, way = kwargs.pop("average", "macro"), kwargs.pop("multi_class", "raise")
    averages = {"ovr": ("macro", "weighted", "micro"), "ovo": ("macro", "weighted")}
    if kwargs or average not in averages["ovr"] or (not classes.are_two and average not in averages.get(way, ())):
        return None

    def several(answers: Array, y: Array, weights: Array, strict: bool) -> Array:
        if way == "ovo":
            found = functions.over_pairs(average, answers, y, weights)
        else:
            found = functions.over_classes(functions.roc_area, average, answers, y, weights)
        return np.where(functions.add_up_to_1(answers), found, np.nan) if strict else found

    influence = partial(functions.influence_over_classes, functions.roc_influence, average)
    known = influence if way != "ovo" or not classes.are_more else None
    return _of_rankings(functions.roc_area, functions.roc_influence, several, known, positive)


def _average_precision(kwargs: dict[str, Any], classes: Classes, positive: int) -> Metric | None:
    """Return the average precision; of several classes each against the others."""
    average, label = kwargs.pop("average", "macro"), kwargs.pop("pos_label", 1)
    if kwargs or average not in ("macro", "weighted", "micro") or (not classes.are_two and label != 1):
        return None

    def several(answers: Array, y: Array, weights: Array, strict: bool) -> Array:
        return functions.over_classes(functions.average_precision, average, answers, y, weights)

    influence = partial(functions.influence_over_classes, functions.precision_influence, average)
    return _of_rankings(functions.average_precision, functions.precision_influence, several, influence, positive)


def _of_probabilities(rows: Callable[[Array, Array], Array]) -> Metric:
    """Return the mean over rows of a function of probabilities (..., n, k) and class codes."""

    def of(answers: Array, y: Array, weights: Array, strict: bool) -> Array:
        found = functions.weighted_mean(rows(answers, y), weights)
        if not strict:
            return found
        fine = functions.add_up_to_1(answers, float(np.sqrt(np.finfo(answers.dtype).eps)))
        for c in range(answers.shape[-1]):
            fine = fine & (functions.weighted_mean(y == c, weights) > 0)
        return np.where(fine, found, np.nan)

    return Metric("probabilities", of, lambda answers, y, weights: rows(answers, y))


def _of_errors(rows: Callable[[Array], Array], of_mean: Callable[[Array], Array] = np.asarray) -> Metric:
    """Return the mean over rows of a function of the error, or a function of this mean."""
    return Metric(
        "values",
        lambda answers, y, weights, strict: of_mean(functions.weighted_mean(rows(y - answers), weights)),
        lambda answers, y, weights: rows(y - answers),
    )


def _of_values(of: Callable[[Array, Array, Array, bool], Array], by_squares: bool) -> Metric:
    """Return a function of predictions; minus the squared errors are the influence on those that depend on them."""
    return Metric("values", of, (lambda answers, y, weights: -((answers - y) ** 2)) if by_squares else None)


_BALANCED, _UNWARNED = (LabelRatio("recall", "balanced", warns=warns) for warns in (True, False))
_OF_LABELS: dict[Any, Metric] = {
    metrics.accuracy_score: Metric(
        "labels",
        lambda labels, y, weights, strict: functions.weighted_mean(functions.hits(labels, y), weights),
        lambda labels, y, weights: functions.hits(labels, y),
    ),
    metrics.balanced_accuracy_score: Metric("labels", _BALANCED.score, _BALANCED.influence),
    mean_class_accuracy: Metric("labels", _UNWARNED.score, _UNWARNED.influence),
}
_RATIOS: dict[Any, str] = {
    metrics.f1_score: "f",
    metrics.fbeta_score: "f",
    metrics.precision_score: "precision",
    metrics.recall_score: "recall",
    metrics.jaccard_score: "jaccard",
}
_OF_RANKS: dict[Any, Callable[..., Metric | None]] = {
    metrics.roc_auc_score: _roc_auc,
    metrics.average_precision_score: _average_precision,
}
_OF_PROBABILITIES: dict[Any, Metric] = {
    metrics.log_loss: _of_probabilities(lambda p, y: -functions.log_likelihood(p, y)),
    metrics.brier_score_loss: _of_probabilities(functions.squared_distance),
}
_OF_VALUES: dict[Any, Metric] = {
    metrics.r2_score: _of_values(functions.r2, by_squares=True),
    metrics.explained_variance_score: _of_values(functions.explained_variance, by_squares=True),
    metrics.mean_squared_error: _of_errors(np.square),
    metrics.root_mean_squared_error: _of_errors(np.square, np.sqrt),
    metrics.mean_absolute_error: _of_errors(np.abs),
    metrics.median_absolute_error: _of_values(functions.median_error, by_squares=False),
    metrics.max_error: _of_values(functions.max_error, by_squares=False),
}
