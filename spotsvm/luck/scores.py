"""Scores of decisions, by the names of scikit-learn's scorers: exact scores with row weights, and the contribution of each row.

Decisions of classifiers have the shape (..., n, 1) for two classes, the log odds of the second, and (..., n, k) for k classes,
their log probabilities. Decisions of regressors are predictions of shape (..., n, 1). `y` is the code of the class or the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from spotsvm.errors import ArgumentError

Array = NDArray[Any]


@dataclass(frozen=True)
class Score:
    """A score, larger is better.

    Attributes
    ----------
    name : str
        scikit-learn's name for it.
    kind : {"labels", "ranks", "probabilities", "values"}
        The part of a decision that the score depends on.
    range : tuple of float
        The worst and the best value.
    values : callable
        (decisions (b, n, k), y, weights (b, n)) -> (b,): the score for each row of weights; nan if it is undefined.
    gains : callable
        (decisions (m, n, k), y, weights (n,)) -> (m, n): contributions of rows, whose weighted mean is the score. With other
        weights the mean approximates the score to first order (the influence function), so draws of many candidates cost one
        matrix product. For functions of the squared error, the gains are minus this error, which ranks candidates equally.
    """

    name: str
    kind: Literal["labels", "ranks", "probabilities", "values"]
    range: tuple[float, float]
    values: Callable[[Array, Array, Array], Array]
    gains: Callable[[Array, Array, Array], Array]


def labels_of(decisions: Array) -> Array:
    """Return the class code that each decision predicts."""
    return (decisions[..., 0] > 0).astype(np.intp) if decisions.shape[-1] == 1 else decisions.argmax(axis=-1)


def as_vector(column: Array) -> Array:
    """Return a single column as a vector, as scikit-learn's metrics do; a column and a vector would be compared pair by pair."""
    return column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column


def probabilities_of(decisions: Array) -> Array:
    """Return the probabilities of all classes, (..., n, k), two columns for two classes.

    Examples
    --------
    >>> probabilities_of(np.array([[0.0], [np.log(3.0)]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if decisions.shape[-1] == 1:
        return np.concatenate([expit(-decisions), expit(decisions)], axis=-1)
    p: Array = np.exp(log_softmax(decisions, axis=-1))
    return p


def score_called(name: Any, names: tuple[str, ...]) -> Score:
    """Return a score by its name, one of `names`, or raise ArgumentError."""
    if isinstance(name, str) and name in names:
        return _SCORES[name]
    near = get_close_matches(str(name), names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"scoring={name!r}; use {', '.join(map(repr, names[:-1]))} or {names[-1]!r}{hint}")


def weighted_mean(values: Array, weights: Array) -> Array:
    """Return weighted means over the last axis; nan if all weights are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Array = (values * weights).sum(axis=-1) / weights.sum(axis=-1)
    return mean


_SHARE, _LOSS = (0.0, 1.0), (-np.inf, 0.0)


def _of_rows(name: str, kind: Any, range: tuple[float, float], rows: Callable[[Array, Array], Array]) -> Score:
    """Return a score that is the mean of one number per row."""
    return Score(name, kind, range, lambda d, y, w: weighted_mean(rows(d, y), w), lambda d, y, w: rows(d, y))


def _hits(d: Array, y: Array) -> Array:
    return np.asarray(labels_of(d) == y, dtype=np.float32)


def _log_likelihood(d: Array, y: Array) -> Array:
    if d.shape[-1] == 1:
        return np.asarray(log_expit(np.where(y == 1, d[..., 0], -d[..., 0])))
    chosen: Array = np.take_along_axis(log_softmax(d, axis=-1), np.broadcast_to(y[:, None], (*d.shape[:-1], 1)), axis=-1)[..., 0]
    return chosen


def _brier(d: Array, y: Array) -> Array:
    """Return minus the squared distance to the class; half of it for two classes, as in scikit-learn."""
    p = probabilities_of(d)
    error: Array = ((p - np.eye(p.shape[-1])[y]) ** 2).sum(axis=-1)
    return -error / (2.0 if d.shape[-1] == 1 else 1.0)


def _recall_values(d: Array, y: Array, w: Array) -> Array:
    hits = _hits(d, y)
    recalls = np.stack([weighted_mean(hits, w * (y == c)) for c in np.unique(y)])
    known = np.isfinite(recalls)
    return np.asarray(np.where(known, recalls, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _recall_gains(d: Array, y: Array, w: Array) -> Array:
    hits, classes = _hits(d, y), np.unique(y)
    gains = np.repeat(_recall_values(d, y, np.broadcast_to(w, hits.shape))[:, None], len(y), axis=1)
    for c in classes:
        of_class = y == c
        share = w[of_class].sum() / w.sum()
        recall = weighted_mean(hits[:, of_class], w[of_class])
        gains[:, of_class] += (hits[:, of_class] - recall[:, None]) / (share * len(classes))
    return gains


def _f1(macro: bool) -> Score:
    """Return the F1 score of the second class, or the mean over classes."""

    def parts(d: Array, y: Array) -> list[tuple[Array, Array]]:
        labels = labels_of(d)
        chosen = np.unique(y) if macro else [1]
        return [(2.0 * ((labels == c) & (y == c)), 1.0 * (labels == c) + (y == c)) for c in chosen]

    def ratio(top: Array, below: Array) -> Array:
        return np.asarray(np.divide(top, below, out=np.zeros_like(top), where=below > 0))

    def values(d: Array, y: Array, w: Array) -> Array:
        return np.asarray(np.mean([ratio((w * top).sum(-1), (w * below).sum(-1)) for top, below in parts(d, y)], axis=0))

    def gains(d: Array, y: Array, w: Array) -> Array:
        total: Any = 0.0
        of = parts(d, y)
        for top, below in of:
            size = weighted_mean(below, w)[:, None]
            f = ratio(weighted_mean(top, w)[:, None], size)
            total = total + f + ratio(top - f * below, np.broadcast_to(size, top.shape))
        return np.asarray(total) / len(of)

    return Score("f1_macro" if macro else "f1", "labels", _SHARE, values, gains)


def _auc(d: Array, positive: Array, w: Array) -> tuple[float, Array]:
    """Return the area under the curve of one decision, and for each row the share of the other class ranked correctly."""
    _, place = np.unique(d, return_inverse=True)
    up, down = np.bincount(place, w * positive), np.bincount(place, w * ~positive)
    p, n = up.sum(), down.sum()
    if not (p > 0 and n > 0):
        return np.nan, np.full(len(d), np.nan)
    below = (np.cumsum(down) - 0.5 * down) / n
    above = 1.0 - (np.cumsum(up) - 0.5 * up) / p
    right = np.where(positive, below[place], above[place])
    return float((w * right)[positive].sum() / p), right


def _one_against_rest(d: Array, y: Array) -> list[tuple[Array, Array]]:
    """Return for each class its ranking, (..., n), and a mask of its rows; for two classes only the second class."""
    if d.shape[-1] == 1:
        return [(d[..., 0], y == 1)]
    return [(d[..., c], y == c) for c in range(d.shape[-1])]


def _auc_values(d: Array, y: Array, w: Array) -> Array:
    of = [
        [_auc(one, positive, weights)[0] for one, weights in zip(ranks, w, strict=True)]
        for ranks, positive in _one_against_rest(d, y)
    ]
    found = np.array(of)
    known = np.isfinite(found)
    count = known.sum(axis=0)
    return np.where(count > 0, np.where(known, found, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _auc_gains(d: Array, y: Array, w: Array) -> Array:
    total = np.zeros(d.shape[:2])
    classes = 0
    for ranks, positive in _one_against_rest(d, y):
        share = w[positive].sum() / w.sum()
        if not 0.0 < share < 1.0:
            continue
        classes += 1
        for k, one in enumerate(ranks):
            area, right = _auc(one, positive, w)
            total[k] += area + (right - area) / np.where(positive, share, 1.0 - share)
    return total / max(classes, 1)


def _squared(d: Array, y: Array) -> Array:
    return -((np.asarray(d[..., 0], dtype=np.float64) - y) ** 2)


def _r2(d: Array, y: Array, w: Array) -> Array:
    mean = weighted_mean(y, w)[:, None]
    spread = weighted_mean((y - mean) ** 2, w)
    error = -weighted_mean(_squared(d, y), w)
    return np.asarray(1.0 - np.divide(error, spread, out=np.full_like(error, np.nan), where=spread > 0))


_SCORES = {
    score.name: score
    for score in (
        _of_rows("accuracy", "labels", _SHARE, _hits),
        Score("balanced_accuracy", "labels", _SHARE, _recall_values, _recall_gains),
        _f1(False),
        _f1(True),
        Score("roc_auc", "ranks", _SHARE, _auc_values, _auc_gains),
        Score("roc_auc_ovr", "ranks", _SHARE, _auc_values, _auc_gains),
        _of_rows("neg_log_loss", "probabilities", _LOSS, _log_likelihood),
        _of_rows("neg_brier_score", "probabilities", _LOSS, _brier),
        Score("r2", "values", (-np.inf, 1.0), _r2, lambda d, y, w: _squared(d, y)),
        _of_rows("neg_mean_squared_error", "values", _LOSS, _squared),
        Score(
            "neg_root_mean_squared_error",
            "values",
            _LOSS,
            lambda d, y, w: -np.sqrt(-weighted_mean(_squared(d, y), w)),
            lambda d, y, w: _squared(d, y),
        ),
        _of_rows("neg_mean_absolute_error", "values", _LOSS, lambda d, y: -np.abs(np.asarray(d[..., 0], dtype=np.float64) - y)),
    )
}


def known_score(name: Any, n_classes: int) -> Score | None:
    """Return the score by scikit-learn's name, or None if it is unknown for this number of classes (0 in regression)."""
    score = _SCORES.get(name) if isinstance(name, str) else None
    if score is None or (score.kind == "values") != (n_classes == 0) or (score.name in ("f1", "roc_auc") and n_classes > 2):
        return None
    return score
