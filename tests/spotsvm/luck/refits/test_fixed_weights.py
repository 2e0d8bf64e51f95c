"""Weights and folds that a refit is given."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.luck.refits.class_folds import folds_of_all_classes
from spotsvm.luck.refits.fit_weights import fixed_weights

X, Y = make_classification(160, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=0.7, random_state=0)


def test_folds_are_merged_only_where_each_tests_one_class():
    y = np.arange(40) % 2
    assert len(folds_of_all_classes(list(LeaveOneOut().split(X[:40])), y, 0)) == 10
    for train, test in folds_of_all_classes(list(LeaveOneOut().split(X[:40])), y, 0):
        assert y[test].mean() == 0.5
        assert len(train) + len(test) == 40
    groups, of_group = np.arange(40) // 4, (np.arange(40) // 4) % 2
    for _, test in folds_of_all_classes(list(LeaveOneGroupOut().split(X[:40], of_group, groups)), of_group, 0):
        assert set(np.bincount(groups[test])) <= {0, 4}
        assert set(of_group[test]) == {0, 1}
    for splits in (list(StratifiedKFold(4).split(X[:40], y)), list(KFold(2).split(X[:40], np.arange(40) // 20))):
        assert folds_of_all_classes(splits, y, 0) == splits


def test_balanced_weights_of_all_rows_are_those_that_the_final_fit_computes():
    codes, classes = np.repeat([0, 1, 2], [4, 6, 10]), np.array(["a", "b", "c"])
    weight = np.linspace(1.0, 3.0, 20)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    for machine in (SVC(class_weight="balanced"), make_pipeline(StandardScaler(), SVC(class_weight="balanced"))):
        (fixed,) = fixed_weights(machine, classes, codes, weight).values()
        last = SVC(class_weight="balanced").fit(rows, classes[codes], weight)
        assert list(fixed.values()) == pytest.approx(last.class_weight_.tolist())
    (fixed,) = fixed_weights(LogisticRegression(class_weight="balanced"), classes, codes, weight).values()
    sums = np.bincount(codes, weight)
    assert list(fixed.values()) == pytest.approx((sums.sum() / (3 * sums)).tolist())
    assert fixed_weights(SVC(class_weight={"a": 2.0}), classes, codes, weight) == {}
