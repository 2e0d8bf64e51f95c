"""Scorers are tried before anything is fitted: by searches, scores of candidates and TunedSVC, and what the error says works."""

from collections import Counter

import numpy as np
import pytest
import sklearn.metrics
from scipy.stats import uniform
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, get_scorer, make_scorer, mean_tweedie_deviance

from spotsvm import SpotSearchCV, Study, TunedSVC, TunedSVR, cross_val_scores
from spotsvm.errors import ArgumentError, FirstTrialsFailedError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(48, 2))
SIGN = X[:, 0] + 0.3 * RNG.normal(size=48) > 0.4
LABELS = {
    "text": np.where(SIGN, "yes", "no"),
    "numbers": np.where(SIGN, 4, 2),
    "0 and 1": SIGN.astype(int),
    "1 and 2": SIGN + 1,
    "-1 and 1": np.where(SIGN, 1, -1),
    "truth": SIGN,
}
FITS = Counter()


class Counted(LogisticRegression):
    """It counts its fits."""

    def fit(self, X, y, sample_weight=None):
        FITS["all"] += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("name", ["f1", "average_precision"])
def test_one_rule_holds_for_searches_scores_studies_and_tuned_models(name):
    y, FITS["all"] = LABELS["text"], 0
    space = {"C": [0.1, 1.0]}
    message = rf"scoring='{name}' is of the class 1, and y has 'no' and 'yes'; pass make_scorer\({name}_score, pos_label='yes'"
    for scoring in (name, [name, "accuracy"], {"mine": name}):
        with pytest.raises(ArgumentError, match=message):
            SpotSearchCV(Counted(), space, n_iter=2, scoring=scoring, refit=False).fit(X, y)
    with pytest.raises(ArgumentError, match=message):
        cross_val_scores(Counted(), X, y, [{"C": 1.0}], scoring=name)
    with pytest.raises(FirstTrialsFailedError, match="pos_label='yes'"):
        Study({"C": uniform(0.1, 1.0)}, "random", 0).run(
            lambda params: cross_val_scores(Counted(), X, y, [params], scoring=name).mean(), 6
        )
    assert FITS["all"] == 0
    with pytest.raises(
        ArgumentError, match=f"scoring='{name}' is of the class 1, and y has 'no' and 'yes'; pass pos_label='yes' as"
    ):
        TunedSVC(budget=1, scoring=name).fit(X, y)
    with pytest.raises(ArgumentError, match="pos_label='maybe' is no class of y, which has 'no' and 'yes'"):
        TunedSVC(budget=1, scoring=name, pos_label="maybe").fit(X, y)
    with pytest.raises(ArgumentError, match=f"is a scorer; use its name, scoring='{name}' and pos_label='yes'"):
        TunedSVC(budget=1, scoring=make_scorer(getattr(sklearn.metrics, f"{name}_score"), pos_label="yes")).fit(X, y)
    with pytest.raises(ArgumentError, match="scoring='accuracy' of 2 classes has no positive class; leave it out"):
        TunedSVC(budget=1, pos_label="yes").fit(X, y)
    found = {}
    for positive in ("yes", "no"):
        model = TunedSVC(budget=1, scoring=name, pos_label=positive, random_state=0).fit(X, y)
        found[positive] = model.expected_score_.value
        scores = model.predict(X) if name == "f1" else model.decision_function(X) * (1 if positive == "yes" else -1)
        metric = getattr(sklearn.metrics, f"{name}_score")
        assert model.score(X, y) == pytest.approx(metric(y, scores, pos_label=positive))
        assert f"of the class '{positive}'" in model.methods_section().markdown()
    assert found["yes"] != found["no"]
    # without a class to name it is that of the label 1, wherever it stands
    first, second = (TunedSVC(budget=1, scoring=name, random_state=0).fit(X, labels) for labels in (1 + SIGN, 1 - 2 * SIGN))
    assert first.expected_score_.value == pytest.approx(second.expected_score_.value, abs=0.03)
    assert first.expected_score_.value == pytest.approx(found["no"], abs=0.03)


@pytest.mark.parametrize("scoring", ["f1_macro", "roc_auc", "neg_log_loss", None])
def test_score_follows_scoring(scoring):
    y = LABELS["0 and 1"]
    model = TunedSVC(budget=1, scoring=scoring, random_state=0).fit(X, y)
    weight = RNG.uniform(0.5, 2.0, 48)
    scorer = get_scorer(scoring or "accuracy")
    assert model.score(X, y) == scorer(model, X, y)
    assert model.score(X, y, weight) == scorer(model, X, y, sample_weight=weight)
    text = TunedSVC(budget=1, scoring=scoring, random_state=0).fit(X, LABELS["text"])
    assert text.score(X, LABELS["text"]) == pytest.approx(model.score(X, y), abs=1e-9)


@pytest.mark.parametrize("scoring", ["neg_root_mean_squared_error", None])
def test_score_of_a_regression_follows_scoring(scoring):
    model = TunedSVR(budget=1, scoring=scoring, random_state=0).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) == get_scorer(scoring or "r2")(model, X, X[:, 0])


@pytest.mark.parametrize(
    "scoring",
    ["neg_mean_poisson_deviance", make_scorer(d2_tweedie_score, power=1), make_scorer(mean_tweedie_deviance, power=1.5), "r2"],
)
def test_deviances_of_counts_with_zeros_are_scored(scoring):
    counts = np.random.default_rng(0).poisson(np.exp(0.5 * X[:, 0]))
    assert (counts == 0).any()
    search = SpotSearchCV(PoissonRegressor(), {"alpha": [0.1, 1.0]}, scoring=scoring, n_iter=2, cv=2).fit(X, counts)
    assert np.isfinite(search.best_score_)
    with pytest.raises(ArgumentError, match="scoring='neg_mean_gamma_deviance' can score no predictions of this target"):
        SpotSearchCV(PoissonRegressor(), {"alpha": [0.1, 1.0]}, scoring="neg_mean_gamma_deviance", n_iter=2, cv=2).fit(X, counts)


def test_a_positive_class_is_one_of_the_classes_as_they_are():
    model = TunedSVC(budget=1, scoring="f1", random_state=0).fit(X, SIGN)
    assert "F1 of the class True" in model.methods_section().markdown()
    for wrong in (["no"], np.array(["no", "yes"]), {"no"}):
        with pytest.raises(ArgumentError, match=r"pos_label=.* is no class of y, which has 'no' and 'yes'"):
            TunedSVC(budget=1, scoring="f1", pos_label=wrong).fit(X, LABELS["text"])
