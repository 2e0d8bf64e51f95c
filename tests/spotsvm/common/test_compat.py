from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import check_scoring, f1_score, get_scorer, get_scorer_names, make_scorer, mean_squared_error

from spotsvm.common.compat import ScorerParts, scorer_parts

Y, ANSWERS = np.array([0, 1, 1, 0]), np.array([0.25, 0.75, 0.5, 0.5])


class Fixed(DummyClassifier):
    """Answers that are known."""

    def predict(self, X):
        return (ANSWERS > 0.5).astype(int)

    def predict_proba(self, X):
        return np.column_stack([1 - ANSWERS, ANSWERS])


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "neg_log_loss", "roc_auc", "neg_mean_squared_error"])
def test_the_parts_of_a_scorer_make_its_score(name):
    parts, model = scorer_parts(get_scorer(name)), Fixed().fit(Y[:, None], Y)
    answer = model.predict(Y) if parts.methods == ("predict",) else model.predict_proba(Y)[:, 1]
    assert "predict_proba" in parts.methods or parts.methods == ("predict",)
    assert parts.sign * parts.function(Y, answer, **parts.kwargs) == get_scorer(name)(model, Y[:, None], Y)


def test_every_scorer_that_scikit_learn_has_comes_apart():
    assert all(isinstance(scorer_parts(get_scorer(name)), ScorerParts) for name in get_scorer_names())


def test_names_and_positive_classes():
    assert scorer_parts(get_scorer("neg_mean_squared_error")).name == "neg_mean_squared_error"
    assert scorer_parts(make_scorer(partial(mean_squared_error, multioutput=[1.0]))).name == "score"
    assert scorer_parts(get_scorer("f1")).positive == 1, "the default of f1_score"
    assert scorer_parts(make_scorer(f1_score, pos_label="yes")).positive == "yes"
    assert scorer_parts(get_scorer("f1_macro")).positive is None
    assert scorer_parts(get_scorer("accuracy")).positive is None


def test_the_estimators_own_score_and_what_is_no_scorer():
    own = scorer_parts(check_scoring(DummyClassifier(), None))
    assert (own.is_own_score, own.methods, own.name, own.positive) == (True, ("score",), "score", None)
    assert scorer_parts(lambda estimator, X, y: 1.0) is None
    assert scorer_parts("accuracy") is None
