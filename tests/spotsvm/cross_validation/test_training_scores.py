"""Scores of the training rows."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import (
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spotsvm.cross_validation.fold_scorer import FoldScorer


def standard(loader):
    X, y = loader(return_X_y=True)
    return StandardScaler().fit_transform(X), y


class TwoWays(StandardScaler):
    """Transforms training rows otherwise when it is fitted on them, as TargetEncoder does."""

    def fit_transform(self, X, y=None, **params):
        return self.fit(X, y).transform(X) + np.arange(len(X))[:, None]


#: few rows of one class, at a cost so small that the bias of some folds is open
SKEWED = make_classification(60, 30, n_informative=3, n_redundant=0, weights=[0.75], flip_y=0.1, class_sep=0.8, random_state=2)


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVC(C=0.5), standard(load_wine)),
        (make_pipeline(TwoWays(), SVC()), standard(load_wine)),
        (SVC(C=1 / 32, gamma=1 / 64, class_weight="balanced"), (scale(SKEWED[0]), SKEWED[1])),
    ],
    ids=["shared", "rows apart", "open bias"],
)
def test_training_scores(machine, data):
    X, y = data
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    ours, theirs = (
        FoldScorer(machine, X, y, splits, {}, engine=e, return_train_score=True).score([{}])[0].numbers
        for e in ("auto", "sklearn")
    )
    assert {k: v for k, v in ours.items() if "split" in k} == {k: v for k, v in theirs.items() if "split" in k}
    assert set(ours) == set(theirs)
