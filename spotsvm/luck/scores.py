"""Scores of many settings and of many weights of rows at once, as scikit-learn's scorers compute them for one.

Decisions of classifiers have the shape (..., n, 1) for two classes, the log odds of the second, and (..., n, k) for k classes,
their log probabilities. Decisions of regressors are predictions of shape (..., n, 1). `y` is the code of the class or the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax
from sklearn.metrics import get_scorer, get_scorer_names

from spotsvm.common.compat import ScorerParts, scorer_parts
from spotsvm.errors import ArgumentError
from spotsvm.luck.known_metrics import Classes, Kind, Metric, metric_of
from spotsvm.trials.metrics import mean_class_accuracy_scorer

Array = NDArray[Any]


@dataclass(frozen=True)
class Score:
    """A score, larger is better, of answers by kind: "labels" codes (..., n), "values" predictions (..., n).

    "ranks" are decisions or probabilities (..., n, k), k = 1 for two classes (for `positive`); "probabilities" have both.
    """

    name: str
    metric: Metric
    sign: int = 1
    positive: int = 1

    @property
    def kind(self) -> Kind:
        """The part of a decision that the score depends on."""
        return self.metric.kind

    def of(self, answers: Array, y: Array, weights: Array, strict: bool = False) -> Array:
        """Return the score of each setting with each row of weights (..., n); nan if it is undefined.

        With `strict` it is nan as well wherever scikit-learn warns or raises an error.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            found = self.sign * self.metric.of(answers, y, weights, strict)
        return np.where(np.isfinite(found), found, np.nan)

    def values(self, decisions: Array, y: Array, weights: Array) -> Array:
        """Return the scores (b,) of decisions (b, n, k) with weights of rows (b, n)."""
        return self.of(self.answers(decisions), y, weights)

    @property
    def has_gains(self) -> bool:
        """Whether the contributions of rows are known."""
        return self.metric.influence is not None

    def gains(self, decisions: Array, y: Array, weights: Array) -> Array:
        """Return the contributions (m, n) of rows to the scores of decisions (m, n, k); their weighted mean is the score.

        With other weights the mean approximates the score to first order (the influence function), so draws of many candidates
        cost one matrix product. For functions of the squared error, the gains are minus this error, which ranks candidates alike.
        """
        assert self.metric.influence is not None
        return np.asarray(self.sign * self.metric.influence(self.answers(decisions), y, weights))

    def answers(self, decisions: Array) -> Array:
        """Return the answers that decisions give."""
        if self.kind == "labels":
            return labels_of(decisions)
        if self.kind == "probabilities":
            return probabilities_of(np.asarray(decisions, dtype=np.float64))
        if self.kind == "values":
            return np.asarray(decisions[..., 0], dtype=np.float64)
        return -decisions if decisions.shape[-1] == 1 and self.positive == 0 else decisions


def labels_of(decisions: Array) -> Array:
    """Return the class code that each decision predicts."""
    return (decisions[..., 0] > 0).astype(np.intp) if decisions.shape[-1] == 1 else decisions.argmax(axis=-1)


def by_class(decisions: Array) -> Array:
    """Return decisions with a column for each class, the larger the more certain; two for two classes."""
    return np.concatenate([-decisions, decisions], axis=-1) if decisions.shape[-1] == 1 else decisions


def as_vector(column: Array) -> Array:
    """Return a single column as a vector, as scikit-learn's metrics do; a column and a vector would be compared pair by pair."""
    return column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column


def probabilities_of(decisions: Array) -> Array:
    """Return the probabilities of all classes, (..., n, k), two columns for two classes."""
    if decisions.shape[-1] == 1:
        return np.concatenate([expit(-decisions), expit(decisions)], axis=-1)
    p: Array = np.exp(log_softmax(decisions, axis=-1))
    return p


def score_called(name: Any, names: tuple[str, ...]) -> Score:
    """Return the score of class codes or predictions by its name, one of `names`, or raise ArgumentError."""
    if isinstance(name, str) and name in names:
        return _called(name)
    near = get_close_matches(str(name), names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"scoring={name!r}; use {', '.join(map(repr, names[:-1]))} or {names[-1]!r}{hint}")


def has_positive(score: Score) -> bool:
    """Return whether a score of two classes depends on which of them is positive."""
    parts = _parts_called(score.name)
    return parts is not None and parts.positive is not None


def of_class(score: Score, positive: int) -> Score:
    """Return a score of two classes with this class, by its code, as the positive one; other scores as they are."""
    parts = _parts_called(score.name)
    if parts is None or parts.positive is None:
        return score
    made = _score(replace(parts, kwargs={**parts.kwargs, "pos_label": positive}), Classes())
    assert made is not None
    return replace(made, name=score.name)


def score_of(scoring: Any, labels: Array | None) -> Score | None:
    """Return the score that a scorer, or the scorer of this name, computes for sorted classes; None stands for regression.

    There is none for a scorer that is not known here, or that scikit-learn refuses for these classes.
    """
    parts = _parts_called(scoring) if isinstance(scoring, str) else scorer_parts(scoring)
    return None if parts is None else _score(parts, None if labels is None else Classes(labels))


def _score(parts: ScorerParts, classes: Classes | None) -> Score | None:
    metric = metric_of(parts, classes)
    if metric is None:
        return None
    return Score(_name(parts), metric, parts.sign, 1 if classes is None else max(classes.positive(parts.positive), 0))


@cache
def _called(name: str) -> Score:
    parts = _parts_called(name)
    assert parts is not None, name
    score = _score(parts, Classes()) or _score(parts, None)
    assert score is not None, name
    return score


@cache
def _parts_called(name: str) -> ScorerParts | None:
    if name == "mean_class_accuracy":
        return scorer_parts(mean_class_accuracy_scorer)
    return scorer_parts(get_scorer(name)) if name in get_scorer_names() else None


def _name(parts: ScorerParts) -> str:
    """Return scikit-learn's name of a score, or else that of its function."""
    names = ["mean_class_accuracy", *get_scorer_names()]
    return next((name for name in names if _parts_called(name) == parts), parts.name)
