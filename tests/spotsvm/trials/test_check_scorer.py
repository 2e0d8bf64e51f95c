"""What scikit-learn cannot score is refused before the first fit."""

import re

import numpy as np
import pytest
import sklearn.metrics
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer, get_scorer_names, make_scorer
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.trials.scorer_trial import check_scorer

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


def fails(scorer, y):
    """Return whether scikit-learn's scorer fails for a fitted classifier."""
    with np.errstate(all="ignore"):
        try:
            scorer(LogisticRegression().fit(X, y), X, y)
        except Exception:
            return True
    return False


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_cannot_score_is_refused_before_the_first_fit_and_nothing_else(labels):
    y = LABELS[labels]
    for name in get_scorer_names():
        refused = False
        try:
            check_scorer(name, get_scorer(name), y, True)
        except ArgumentError as error:
            refused, said = True, str(error)
            if code := re.search(r"pass (make_scorer\(.*\))$", said):
                instead = eval(code[1], vars(sklearn.metrics).copy() | {"make_scorer": make_scorer})
                assert not fails(instead, y), said
                search = SpotSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=2, scoring=instead, cv=2).fit(X, y)
                assert np.isfinite(search.best_score_)
        assert refused == fails(get_scorer(name), y), name


def test_scorers_of_other_functions_are_not_tried_and_regressions_are():
    def odd(y, predicted):
        raise ZeroDivisionError

    check_scorer(None, make_scorer(odd), LABELS["text"], True)
    check_scorer(None, odd, LABELS["text"], True)
    with pytest.raises(ArgumentError, match="scoring='neg_mean_squared_log_error' can score no predictions of this target: M"):
        SpotSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, scoring="neg_mean_squared_log_error").fit(X, X[:, 0])
    with pytest.raises(ArgumentError, match="scoring='roc_auc' is for two classes, and y has 3; use 'roc_auc_ovr'"):
        SpotSearchCV(SVC(), {"C": [1.0, 2.0]}, scoring="roc_auc").fit(X, np.arange(48) % 3)
    with pytest.raises(ArgumentError, match=r"scoring=make_scorer\(f1_score.* is of the class 'y', and y has 'no' and 'yes'"):
        SpotSearchCV(SVC(), {"C": [1.0]}, scoring=make_scorer(f1_score, pos_label="y")).fit(X, LABELS["text"])
