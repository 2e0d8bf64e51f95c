"""What an estimator cannot take is named before a candidate is scored; what it can take is not refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV
from spotsvm.errors import DataError

Y = np.tile([0, 1], 15)
X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)) + Y[:, None], columns=["a", "b", "c"])
GAP = X.assign(b=X["b"].where(X.index != 7))
TEXT = X.assign(kind=["x", "y"] * 15)
C, SVC_C = {"C": [0.5, 1.0]}, {"svc__C": [0.5, 1.0]}
SCALED = make_pipeline(StandardScaler(), SVC())
ENCODED = make_pipeline(make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"), SVC())


def search(estimator, space, **options):
    return SpotSearchCV(estimator, space, **{"n_iter": 2, "cv": 3, "search": "random"} | options)


@pytest.mark.parametrize(
    ("estimator", "space", "given", "said"),
    [
        (SVC(), C, (X, None), r"^y is missing; SVC needs a target, as in fit\(X, y\)"),
        (SVC(), C, (GAP, Y), r"^X has nan in column 'b', row 7 \(counted from 0\), which SVC cannot take; leave the row out"),
        (SVC(), C, (GAP.to_numpy(), Y), "^X has nan in column 1, row 7 "),
        (SVC(), C, (GAP.to_numpy().tolist(), Y), "^X has nan in column 1, row 7 "),
        (SVC(), C, (csr_array(GAP.to_numpy()), Y), "^X has nan in column 1, row 7 "),
        (SVC(), C, (X.replace({X.iloc[4, 2]: np.inf}), Y), "^X has inf in column 'c', row 4 "),
        (SCALED, SVC_C, (GAP, Y), "^X has nan in column 'b', row 7 .*, which Pipeline with SVC cannot take"),
        (SVC(), C, (TEXT, Y), "^X has 'x' in column 'kind', row 0 .* leave column 'kind' out, or encode it"),
        (SVC(), C, (X, np.where(np.arange(30) == 3, np.nan, Y)), "^y has nan in row 3 "),
        (SVR(), C, (X, np.where(Y == 1, "up", "down")), "^y has 'down' in row 0 .*, which SVR cannot take as a target"),
    ],
)
def test_the_cell_is_named_and_nothing_is_scored(estimator, space, given, said):
    told = []
    with pytest.raises(DataError, match=said) as caught:
        search(estimator, space, callback=lambda study, trial: told.append(trial)).fit(*given)
    assert told == []
    found_by_the_estimator = not said.startswith("^y has nan")
    assert (caught.value.__cause__ is not None) == found_by_the_estimator
    assert "\n" not in str(caught.value)


class OwnGaps(ClassifierMixin, BaseEstimator):
    """An estimator of a user's, which takes gaps and text although its tags are those by default."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("estimator", "space", "rows"),
    [
        (make_pipeline(SimpleImputer(), SVC()), SVC_C, GAP),
        (ENCODED, SVC_C, TEXT),
        (HistGradientBoostingClassifier(max_iter=2), {"max_leaf_nodes": [2, 3]}, GAP),
        (OwnGaps(), C, GAP),
        (OwnGaps(), C, TEXT),
        (make_pipeline(TfidfVectorizer(), MultinomialNB()), {"multinomialnb__alpha": [0.5, 1.0]}, ["one two", "two"] * 15),
    ],
)
def test_what_the_estimator_takes_is_not_refused(estimator, space, rows):
    assert np.isfinite(search(estimator, space).fit(rows, Y).best_score_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_step_of_the_space_may_fill_the_gaps():
    space = {"fill": ["passthrough", SimpleImputer()]}
    pipeline = make_pipeline(SimpleImputer(), SVC()).set_params(steps=[("fill", "passthrough"), ("svc", SVC())])
    assert isinstance(search(pipeline, space).fit(GAP, Y).best_params_["fill"], SimpleImputer)


@pytest.mark.parametrize("y", [Y.tolist(), np.where(Y == 1, "up", "down"), pd.Series(Y).astype("category"), Y.astype(bool)])
def test_targets_of_any_kind_are_taken_by_a_classifier(y):
    assert search(SVC(), C).fit(X, y).n_splits_ == 3
