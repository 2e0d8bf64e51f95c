"""Scores of decisions against scikit-learn's metrics, and rows' shares in them against their definition."""

import warnings

import numpy as np
import pytest
from sklearn import metrics

from spotsvm.errors import ArgumentError
from spotsvm.luck.scores import _SCORES, labels_of, probabilities_of, score_called

CLASSES = {2: ["f1", "roc_auc"], 3: []}
BOTH = ["accuracy", "balanced_accuracy", "f1_macro", "roc_auc_ovr", "neg_log_loss", "neg_brier_score"]
VALUES = ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"]


def by_sklearn(name, d, y, w):
    p, labels = probabilities_of(d), labels_of(d)
    ranks = p[:, 1] if p.shape[1] == 2 else p
    if name == "balanced_accuracy":
        return metrics.balanced_accuracy_score(y, labels, sample_weight=w)
    if name.startswith("f1"):
        return metrics.f1_score(y, labels, sample_weight=w, average="macro" if name == "f1_macro" else "binary")
    if name == "roc_auc":
        return metrics.roc_auc_score(y, d[:, 0], sample_weight=w)
    if name == "roc_auc_ovr":  # scikit-learn's takes probabilities, which have other ties than their logarithms
        return np.mean([metrics.roc_auc_score(y == c, d[:, c], sample_weight=w) for c in range(3)])
    if name == "neg_log_loss":
        return -metrics.log_loss(y, p, sample_weight=w)
    if name == "neg_brier_score":
        return -metrics.brier_score_loss(y, ranks, sample_weight=w)
    if name == "accuracy":
        return metrics.accuracy_score(y, labels, sample_weight=w)
    function = {
        "r2": metrics.r2_score,
        "neg_mean_squared_error": metrics.mean_squared_error,
        "neg_root_mean_squared_error": metrics.root_mean_squared_error,
        "neg_mean_absolute_error": metrics.mean_absolute_error,
    }[name]
    return function(y, d[:, 0], sample_weight=w) * (1 if name == "r2" else -1)


def example(k, n=120, seed=0):
    """Decisions with ties, codes of classes or a target, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k if k else rng.normal(size=n)
    d = rng.normal(size=(4, n, k if k > 2 else 1)).round(1)
    d += 2 * np.eye(k)[y] if k > 2 else (2 * y if k else y)[:, None]
    if k > 2:
        d -= np.log(np.exp(d).sum(axis=-1, keepdims=True))
    return d, y, rng.integers(0, 3, size=n).astype(float)


CASES = [(name, k) for k in (2, 3) for name in BOTH + CLASSES[k] if (name, k) != ("roc_auc_ovr", 2)] + [(n, 0) for n in VALUES]
CASES = [(name, k) for name, k in CASES if (name, k) != ("neg_brier_score", 3) or hasattr(metrics, "d2_brier_score")]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_they_are_scikit_learns_with_row_weights(name, k):
    d, y, w = example(k)
    weights = np.stack([w, np.ones_like(w), w[::-1], w])
    found = _SCORES[name].values(d, y, weights)
    assert found == pytest.approx([by_sklearn(name, one, y, v) for one, v in zip(d, weights, strict=True)])


@pytest.mark.parametrize(("name", "k"), [case for case in CASES if case[0] not in ("r2", "neg_root_mean_squared_error")])
def test_shares_of_rows_add_up_to_the_score_and_to_its_changes(name, k):
    """The mean of the shares is the score, and a small change of weights changes both alike."""
    d, y, w = example(k)
    score, w = _SCORES[name], w + 0.5
    gains = score.gains(d, y, w)
    change = 1e-6 * np.random.default_rng(1).normal(size=len(y))
    now, after = (score.values(d, y, np.tile(v, (len(d), 1))) for v in (w, w + change))
    assert gains @ w / w.sum() == pytest.approx(now)
    expected = gains @ (w + change) / (w + change).sum() - gains @ w / w.sum()
    assert after - now == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_a_score_that_is_not_defined_is_nan():
    d, y, _ = example(2)
    alone = (y == 1)[None].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(_SCORES["roc_auc"].values(d[:1], y, alone)).all()
        assert np.isnan(_SCORES["accuracy"].values(d[:1], y, 0 * alone)).all()
        assert np.isnan(_SCORES["r2"].values(d[:1], np.ones(len(y)), alone)).all()
        assert _SCORES["balanced_accuracy"].values(d[:1], y, alone) == pytest.approx((labels_of(d[0]) == 1)[y == 1].mean())


def test_an_unknown_name():
    with pytest.raises(ArgumentError, match=r"scoring='acuracy'; use 'r2' or 'accuracy'; did you mean 'accuracy'\?$"):
        score_called("acuracy", ("r2", "accuracy"))
