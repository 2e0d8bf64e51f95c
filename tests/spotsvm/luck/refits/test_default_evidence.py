"""The default is the estimator as it was given."""

import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict

from spotsvm import expected_score, tuning_verdict
from spotsvm.luck.refits.search_rows import search_evidence

X, Y = make_classification(90, 5, n_informative=3, random_state=0)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "balanced_accuracy", "f1", "average_precision"])
def test_the_default_is_the_estimator_as_it_was_given(scoring):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 10.0]}, cv=folds, scoring=scoring).fit(X, Y)
    (tuned, default, constant), metric = search_evidence(search, X, Y)
    p = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="predict_proba")[:, 1]
    if scoring == "accuracy":
        assert default.value == pytest.approx(((p > 0.5) == Y).mean(), abs=0.01)
    assert metric == scoring
    assert (tuned.n_rows, default.kind) == (90, "out of fold")
    assert constant.value < default.value
    assert tuning_verdict(search, X, Y).value == pytest.approx(tuned.value - default.value)
    assert expected_score(search, X, Y).value == pytest.approx(tuned.value)
