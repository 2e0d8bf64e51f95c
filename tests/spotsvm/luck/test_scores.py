"""Scores of many settings at once, each against scikit-learn's scorer, and rows' contributions by their definition."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer, make_scorer

from spotsvm.common.compat import scorer_parts
from spotsvm.errors import ArgumentError
from spotsvm.luck.scores import has_positive, of_class, probabilities_of, score_called, score_of
from spotsvm.trials.metrics import named_scorer

SEEDS = st.integers(0, 2**32 - 1)
RATIOS = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "jaccard": metrics.jaccard_score,
}
VALUES = [
    "r2",
    "explained_variance",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_median_absolute_error",
    "neg_max_error",
]
DECISIONS = ("decision_function", "predict_proba")


class Answers(ClassifierMixin, BaseEstimator):
    """A classifier of one setting, whose answers are known."""

    def __init__(self, classes, labels, decisions, probabilities):
        self.classes_, self.labels, self.decisions, self.probabilities = classes, labels, decisions, probabilities

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.labels

    def decision_function(self, X):
        return self.decisions

    def predict_proba(self, X):
        return self.probabilities


class Numbers(RegressorMixin, BaseEstimator):
    def __init__(self, values):
        self.values = values

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.values


def scorers_for(classes):
    """Return scorers by name and with arguments, some of which scikit-learn refuses for these classes."""
    found = {name: named_scorer(name) for name in ["accuracy", "balanced_accuracy", "mean_class_accuracy", *RATIOS]}
    for name, function in RATIOS.items():
        found |= {f"{name}_{average}": get_scorer(f"{name}_{average}") for average in ("macro", "micro", "weighted")}
        found |= {f"{name} of {label}": make_scorer(function, pos_label=label) for label in classes[:2].tolist()}
        for average in ("macro", "micro", "weighted"):
            some = make_scorer(function, average=average, labels=classes[-1:].tolist(), pos_label=None)
            found |= {f"{name}_{average} of the last class": some}
    found["zeros count as one"] = make_scorer(metrics.f1_score, average="macro", pos_label=None, zero_division=1)
    found["F2"] = make_scorer(metrics.fbeta_score, average="macro", pos_label=None, beta=2)
    for average in ("macro", "micro", "weighted"):
        for methods in (DECISIONS, "predict_proba"):
            found[f"precision {average} {methods}"] = make_scorer(
                metrics.average_precision_score, average=average, response_method=methods
            )
        found[f"ovr {average}"] = make_scorer(
            metrics.roc_auc_score, average=average, multi_class="ovr", response_method="predict_proba"
        )
    first = {"pos_label": classes[0].item()}
    found["precision of the first"] = make_scorer(metrics.average_precision_score, response_method=DECISIONS, **first)
    found["brier of the first"] = make_scorer(
        metrics.brier_score_loss, response_method="predict_proba", greater_is_better=False, **first
    )
    names = ("roc_auc", "roc_auc_ovo", "roc_auc_ovo_weighted", "neg_log_loss", "neg_brier_score", "average_precision")
    return found | {name: get_scorer(name) for name in names}


def sklearns(scorer, model, y, weights):
    """Return scikit-learn's score, nan for an error, and whether it warns or fails."""
    given = {} if (weights == 1.0).all() else {"sample_weight": weights}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            score = float(scorer(model, np.zeros((len(y), 1)), y, **given))
        except ValueError:
            return np.nan, True
    return score, bool(told) or not np.isfinite(score)


def answers_of(score, scorer, labels, decisions, probabilities):
    if score.kind == "labels":
        return labels
    if score.kind == "probabilities":
        return probabilities
    if "decision_function" in scorer_parts(scorer).methods:
        return score.answers(decisions)
    return probabilities[..., [score.positive]] if decisions.shape[-1] == 1 else probabilities


@given(SEEDS)
def test_scores_of_classes_are_those_of_scikit_learns_scorers(seed):
    """With ties, absent classes, few rows, weights and labels of several types."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 25)), int(rng.integers(2, 5))
    classes = [
        np.arange(k),
        np.arange(k) + 1,
        np.array(["a", "bb", "c", "d"][:k]),
        np.array([-1, 1] if k == 2 else [3, 5, 7, 9][:k]),
    ]
    classes = classes[rng.integers(4)]
    code = rng.integers(rng.integers(1, k + 1), size=n)
    decisions = rng.normal(size=(2, n, k if k > 2 else 1)).round(int(rng.integers(3)))
    probabilities = probabilities_of(decisions)
    labels = np.where(rng.random((2, n)) < 0.5, code, rng.integers(rng.integers(1, k + 1), size=(2, n)))
    weights = np.stack([np.ones(n), rng.random(n) + 0.1]) if seed % 2 else np.stack([np.ones(n), rng.integers(1, 4, n) * 1.0])
    scorers = scorers_for(classes)
    for name in rng.choice(list(scorers), size=5, replace=False).tolist():
        scorer, score = scorers[name], score_of(scorers[name], classes)
        # scikit-learn takes a single class for the positive one
        if score is None or (name.startswith(("neg_brier", "brier")) and len(np.unique(code)) == 1):
            continue
        answers = answers_of(score, scorer, labels, decisions, probabilities)
        pairs = score.of(answers, code, weights), score.of(answers, code, weights, strict=True)
        for setting, (found, strict) in enumerate(zip(*pairs, strict=True)):
            if "ovo" in name and k > 2 and setting:
                continue  # scikit-learn takes no weights there
            d, p = decisions[setting], probabilities[setting]
            model = Answers(classes, classes[labels[setting]], d[:, 0] if k == 2 else d, p)
            expected, told = sklearns(scorer, model, classes[code], weights[setting])
            assert np.isnan(strict) if told else abs(strict - expected) <= 1e-12, name
            if np.isfinite(expected):
                assert abs(found - expected) <= 1e-12, name
            elif score.kind != "probabilities":  # absent classes are known here
                assert np.isnan(found), name


@given(SEEDS)
def test_scores_of_numbers_are_those_of_scikit_learns_scorers(seed):
    """With ties, targets without variance, few rows and weights; a target of unsigned numbers does not wrap round."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    y = [rng.normal(size=n).round(1), np.full(n, 0.5), rng.integers(0, 4, size=n).astype(np.uint8)][rng.integers(3)]
    predicted = np.stack([y + rng.normal(size=n).round(1), y]).astype(float)
    weights = [np.ones(n), rng.random(n) + 0.1]
    for name in rng.choice(VALUES, size=3, replace=False).tolist():
        for w in weights[: 1 if name == "neg_max_error" else 2]:  # which has no weights
            found, strict = (score_of(name, None).of(predicted, y.astype(float), w, one) for one in (False, True))
            for setting in range(2):
                expected, told = sklearns(get_scorer(name), Numbers(predicted[setting]), y, w)
                assert np.isnan(strict[setting]) if told else strict[setting] == pytest.approx(expected, rel=1e-12, abs=1e-12)
                if name in ("r2", "explained_variance") and len(np.unique(y)) == 1:
                    expected = np.nan  # where scikit-learn has the convention 0 or 1
                assert found[setting] == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@given(
    SEEDS,
    st.sampled_from(
        [
            "balanced_accuracy",
            "f1_macro",
            "precision_weighted",
            "roc_auc_ovo",
            "roc_auc_ovr_weighted",
            "average_precision",
            "r2",
            "neg_median_absolute_error",
        ]
    ),
)
def test_weights_are_numbers_of_rows_and_rows_of_weight_0_do_not_count(seed, name):
    rng = np.random.default_rng(seed)
    n, k = 20, int(rng.integers(2, 4))
    counts = rng.integers(0, 3, size=(3, n))
    rows = [np.repeat(np.arange(n), often) for often in counts]
    y = rng.integers(k, size=n) if name not in VALUES else rng.normal(size=n).round(1)
    score = score_of(name, None if name in VALUES else np.arange(k))
    answers = {"labels": rng.integers(k, size=n), "values": rng.normal(size=n).round(1)}.get(score.kind)
    if answers is None:
        answers = rng.normal(size=(n, 1 if k == 2 else k)).round(1)
    once = [score.of(answers[some], y[some], np.ones(len(some))) for some in rows]
    np.testing.assert_allclose(score.of(answers, y, counts), once, rtol=0, atol=1e-12)
    # settings and weights are broadcast
    several = np.stack([answers, answers[::-1]])[:, None]
    np.testing.assert_allclose(score.of(several, y, counts)[0], once, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["accuracy", "f1", "roc_auc", "average_precision", "neg_log_loss", "r2", "neg_max_error"])
def test_what_is_not_finite_has_no_score(name):
    y = np.arange(6) % 2
    score = score_of(name, None if name in VALUES else np.arange(2))
    answers = {"labels": y, "ranks": y[:, None] * 1.0, "probabilities": np.full((6, 2), 0.5), "values": y + 0.5}[score.kind]
    assert np.isnan(score.of(answers, y, np.zeros(6)))
    for bad in (np.nan, np.inf) if score.kind != "labels" else ():
        broken = answers.astype(float)
        broken[2] = bad
        assert np.isnan(score.of(broken, y, np.ones(6), strict=True))


def test_r2_without_a_spread_of_the_target():
    """scikit-learn has a convention, 0 or 1, or divides by a rounding error; an estimate has no value."""
    y, predicted = np.array([0.1, 0.1, 0.1, 0.7]), np.array([0.2, 0.1, 0.1, 0.6])
    weights = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    for name in ("r2", "explained_variance"):
        constant, other = score_of(name, None).of(predicted, y, weights)
        assert np.isnan(constant)
        assert other == pytest.approx(get_scorer(name)(Numbers(predicted), y[:, None], y))


def test_scorers_that_are_left_to_scikit_learn():
    two, three, texts = np.arange(2), np.arange(3), np.array(["no", "yes"])
    assert score_of("f1", texts) is None, "there is no class 1"
    assert score_of(make_scorer(metrics.f1_score, average="macro"), texts) is None, "whose positive class is 1, by default"
    assert score_of("neg_brier_score", texts) is None, "scikit-learn asks for the positive class"
    assert score_of("f1", three) is score_of("roc_auc", three) is score_of("r2", two) is score_of("accuracy", None) is None
    others = [
        make_scorer(metrics.accuracy_score, normalize=False),
        make_scorer(metrics.balanced_accuracy_score, adjusted=True),
        make_scorer(metrics.f1_score, average="macro", pos_label=0),
        make_scorer(metrics.f1_score, zero_division=np.nan),
        make_scorer(metrics.roc_auc_score, max_fpr=0.5, response_method=DECISIONS),
        make_scorer(metrics.roc_auc_score),
        make_scorer(metrics.log_loss, response_method="predict_proba", labels=[0, 1]),
        make_scorer(partial(metrics.accuracy_score, normalize=False)),
        check_scoring(Answers(two, two, two, two), None),
        get_scorer("matthews_corrcoef"),
        lambda estimator, X, y: 1.0,
        "acuracy",
    ]
    assert [score_of(scorer, two) for scorer in others] == [None] * len(others)
    assert score_of(make_scorer(metrics.r2_score, force_finite=False), None) is None
    named = {name: score_of(name, two).name for name in ("f1", "accuracy", "roc_auc", "neg_log_loss", "mean_class_accuracy")}
    assert list(named) == list(named.values())
    assert score_of(make_scorer(metrics.f1_score, pos_label="yes"), texts).name == "f1_score"


CASES = [
    (name, k)
    for k in (2, 3)
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "precision_weighted", "jaccard_macro")
]
CASES += [
    (name, k)
    for k in (2, 3)
    for name in ("roc_auc_ovr", "roc_auc_ovr_weighted", "average_precision", "neg_log_loss", "neg_brier_score")
]
CASES += [("f1", 2), ("recall", 2), ("roc_auc", 2), ("ovr micro", 3), ("precision weighted", 3), ("precision micro", 3)]
CASES += [("neg_mean_squared_error", 0), ("neg_mean_absolute_error", 0)]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_contributions_of_rows_add_up_to_the_score_and_to_its_changes(name, k):
    """Their mean is the score, and a small change of weights changes both alike."""
    rng = np.random.default_rng(0)
    n = 120
    y = np.arange(n) % k if k else rng.normal(size=n)
    d = rng.normal(size=(4, n, k if k > 2 else 1)).round(1)
    d += 2 * np.eye(k)[y] if k > 2 else (2 * y if k else y)[:, None]
    given = {
        "ovr micro": make_scorer(metrics.roc_auc_score, average="micro", multi_class="ovr", response_method="predict_proba"),
        "precision weighted": make_scorer(metrics.average_precision_score, average="weighted", response_method=DECISIONS),
        "precision micro": make_scorer(metrics.average_precision_score, average="micro", response_method=DECISIONS),
    }
    score, w = score_of(given.get(name, name), np.arange(k) if k else None), rng.integers(1, 3, size=n) + 0.5
    gains = score.gains(d, y, w)
    change = 1e-6 * rng.normal(size=n)
    now, after = (score.values(d, y, np.tile(v, (len(d), 1))) for v in (w, w + change))
    assert gains @ w / w.sum() == pytest.approx(now)
    expected = gains @ (w + change) / (w + change).sum() - gains @ w / w.sum()
    assert after - now == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_gains_of_squared_errors_and_of_a_positive_class_that_is_the_first():
    y, d = np.array([1.0, 2.0, 3.0]), np.array([[[1.5], [2.0], [2.0]]])
    for name in ("r2", "neg_root_mean_squared_error"):
        np.testing.assert_array_equal(abs(score_of(name, None).gains(d, y, np.ones(3))), [[0.25, 0.0, 1.0]])
    assert not score_of("neg_max_error", None).has_gains
    code, ones = np.array([0, 0, 1]), np.ones((1, 3))
    first = score_of(make_scorer(metrics.average_precision_score, pos_label="a", response_method=DECISIONS), np.array(["a", "b"]))
    assert first.positive == 0
    assert first.values(np.array([[[-1.0], [-2.0], [3.0]]]), code, ones) == 1.0
    assert first.values(np.array([[[1.0], [2.0], [-3.0]]]), code, ones) == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_the_positive_class_by_its_code():
    rng = np.random.default_rng(0)
    y, d, w = rng.integers(2, size=30), rng.normal(size=(1, 30, 1)), np.ones((1, 30))
    for name in ("f1", "recall", "average_precision"):
        score = score_called(name, (name,))
        assert has_positive(score)
        assert of_class(score, 1).values(d, y, w) == score.values(d, y, w)
        assert of_class(score, 0).values(-d, 1 - y, w) == score.values(d, y, w)
        assert of_class(score, 0).name == name
    for name in ("accuracy", "f1_macro", "roc_auc", "neg_brier_score"):
        score = score_called(name, (name,))
        assert not has_positive(score)
        assert of_class(score, 0) is score


@pytest.mark.parametrize("name", ["f1", "average_precision"])
def test_the_first_class_may_be_the_positive_one(name):
    y, d = np.array([0, 1, 0, 1, 1]), np.array([[[-2.0], [1.0], [0.5], [-1.0], [2.0]]])
    first, labels = of_class(score_called(name, (name,)), 0), (d[0, :, 0] > 0).astype(int)
    expected = {
        "f1": metrics.f1_score(y, labels, pos_label=0),
        "average_precision": metrics.average_precision_score(y, -d[0, :, 0], pos_label=0),
    }
    assert first.values(d, y, np.ones((1, 5)))[0] == pytest.approx(expected[name])
    assert first.gains(d, y, np.ones(5)).mean() == pytest.approx(expected[name])


def test_a_name_among_some_names():
    assert score_called("f1", ("r2", "f1")).name == "f1"
    with pytest.raises(ArgumentError, match=r"scoring='acuracy'; use 'r2' or 'accuracy'; did you mean 'accuracy'\?$"):
        score_called("acuracy", ("r2", "accuracy"))
