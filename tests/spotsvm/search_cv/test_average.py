"""refit="average" and calibrate=True: against averages made by hand, and as scikit-learn's estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from spotsvm import AverageClassifier, SpotSearchCV, expected_score
from spotsvm.errors import ArgumentError

CANCER, IRIS, DIABETES = (load(return_X_y=True) for load in (load_breast_cancer, load_iris, load_diabetes))
CV = StratifiedKFold(4, shuffle=True, random_state=0)
TREES = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 3, 9]}
RANGES = {"svc__C": loguniform(2**-5, 2**10), "svc__gamma": loguniform(2**-12, 2**1)}


def some_rows(data, n=150):
    X, y = data
    rows = np.random.default_rng(0).permutation(len(y))
    return X[rows[:n]], y[rows[:n]], X[rows[n:]], y[rows[n:]]


def averaged(estimator, space, **options):
    options = {"n_iter": 8, "cv": CV, "random_state": 0, "refit": "average", "search": "random"} | options
    return SpotSearchCV(estimator, space, **options)


def test_probabilities_are_the_weighted_means_of_the_members():
    X, y, new_X, _ = some_rows(CANCER)
    search = averaged(DecisionTreeClassifier(random_state=0), TREES).fit(X, y)
    weights = search.cv_results_["weight"]
    assert weights.sum() == pytest.approx(1.0)
    assert 2 <= np.count_nonzero(weights) <= 5
    total = 0.0
    for k in np.flatnonzero(weights):
        tree = DecisionTreeClassifier(random_state=0, **search.cv_results_["params"][k]).fit(X, y)
        total = total + weights[k] * tree.predict_proba(new_X)
    assert search.predict_proba(new_X) == pytest.approx(np.clip(total, 1e-6, 1 - 1e-6), abs=2e-6)
    assert (search.predict(new_X) == (total[:, 1] > 0.5)).all()
    assert search.decision_function(new_X) == pytest.approx(np.diff(search.predict_log_proba(new_X)).ravel(), abs=1e-6)
    # the best single one is still described
    best = DecisionTreeClassifier(random_state=0, **search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(best, X, y, cv=CV).mean())
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_score"])


def test_regression_averages_predictions_and_knows_the_score_to_expect():
    X, y, new_X, new_y = some_rows(DIABETES, 200)
    cv = KFold(4, shuffle=True, random_state=0)
    search = averaged(KNeighborsRegressor(), {"n_neighbors": (1, 40)}, cv=cv).fit(X, y)
    total = oof = 0.0
    for params, weight in zip(search.cv_results_["params"], search.cv_results_["weight"], strict=True):
        if weight > 0:
            model = KNeighborsRegressor(**params)
            total = total + weight * model.fit(X, y).predict(new_X)
            oof = oof + weight * cross_val_predict(model, X, y, cv=cv)
    assert search.predict(new_X) == pytest.approx(total)
    assert search.oof_predict_ == pytest.approx(oof)
    low, high = search.expected_score_.interval
    assert low < search.expected_score_.value < high
    assert low < search.score(new_X, new_y) < high
    found = expected_score(search, X, y)
    assert found.value == pytest.approx(search.expected_score_.value)
    assert not hasattr(search, "oof_predict_proba_")


def test_several_classes_strings_decisions_and_votes():
    X, y, new_X, new_y = some_rows(IRIS, 90)
    names = np.array(["setosa", "versicolor", "virginica"])
    pipeline = make_pipeline(StandardScaler(), SVC())
    for estimator, space, proba, decisions in [
        (pipeline, RANGES, False, True),
        (clone(pipeline).set_params(svc__decision_function_shape="ovo"), RANGES, False, True),
        (DecisionTreeClassifier(random_state=0), TREES, True, True),
    ]:
        search = averaged(estimator, space).fit(X, names[y])
        assert search.score(new_X, names[new_y]) > 0.8
        assert search.classes_.tolist() == names.tolist()
        assert hasattr(search, "predict_proba") == proba
        assert hasattr(search, "decision_function") == decisions
        if decisions:
            assert (names[search.decision_function(new_X).argmax(axis=1)] == search.predict(new_X)).all()


def test_sample_weights_groups_and_frames_reach_the_members():
    X, y, new_X, _ = some_rows(CANCER, 120)
    frame, new = (pd.DataFrame(rows, columns=[f"c{k}" for k in range(X.shape[1])]) for rows in (X, new_X))
    groups, weights, cv = np.arange(120) // 4, np.where(y == 1, 3.0, 1.0), GroupKFold(3)
    search = averaged(DecisionTreeClassifier(random_state=0), TREES, cv=cv).fit(frame, y, sample_weight=weights, groups=groups)
    member = search.best_estimator_.estimators_[0]
    alone = clone(member).fit(frame, y, sample_weight=weights)
    assert (alone.predict_proba(new) == member.predict_proba(new)).all()
    assert search.feature_names_in_.tolist() == list(frame.columns)
    assert search.n_features_in_ == 30
    splits = list(cv.split(X, y, groups))
    plain = averaged(DecisionTreeClassifier(random_state=0), TREES, cv=splits).fit(frame, y, sample_weight=weights)
    assert plain.cv_results_["mean_test_score"].tolist() == search.cv_results_["mean_test_score"].tolist()
    assert plain.expected_score_.interval != search.expected_score_.interval


def test_calibration_is_the_sigmoid_of_out_of_fold_decisions():
    X, y, new_X, new_y = some_rows(CANCER)
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = averaged(pipeline, RANGES, refit=True, calibrate=True).fit(X, y)
    assert len(search.best_estimator_.estimators_) == 1
    best = clone(pipeline).set_params(**search.best_params_)
    oof = cross_val_predict(best, X, y, cv=CV, method="decision_function")
    slope, offset = np.polyfit(oof, search.oof_decision_function_, 1)
    assert search.oof_decision_function_ == pytest.approx(slope * oof + offset, abs=0.02)
    assert search.oof_predict_proba_[:, 1] == pytest.approx(expit(search.oof_decision_function_))
    log_odds = slope * best.fit(X, y).decision_function(new_X) + offset
    assert search.predict_proba(new_X)[:, 1] == pytest.approx(expit(log_odds), abs=0.01)
    assert (search.predict(new_X) == (search.predict_proba(new_X)[:, 1] > 0.5)).all()
    assert log_loss(new_y, search.predict_proba(new_X)) < 0.25
    assert not hasattr(averaged(pipeline, RANGES, refit=True), "predict_proba")


@pytest.mark.parametrize("refit", [True, "average"])
def test_calibration_of_several_classes_and_of_probabilities(refit):
    X, y, new_X, new_y = some_rows(IRIS, 90)
    for estimator, space in [
        (LinearSVC(random_state=0), {"C": (1e-3, 1.0, "log")}),
        (KNeighborsClassifier(), {"n_neighbors": (1, 9)}),
    ]:
        search = averaged(estimator, space, refit=refit, calibrate=True, n_iter=5).fit(X, y)
        p = search.predict_proba(new_X)
        assert p.sum(axis=1) == pytest.approx(1.0)
        assert (p.argmax(axis=1) == search.predict(new_X)).all()
        assert log_loss(new_y, p) < 0.4


def test_a_target_of_several_columns_and_an_unknown_metric():
    X, y = DIABETES
    both = np.column_stack([y, -2.0 * y])
    search = averaged(Ridge(), {"alpha": (1e-3, 1e3, "log")}, cv=3).fit(X, both)
    assert search.predict(X[:4]).shape == (4, 2)
    assert search.predict(X[:4])[:, 1] == pytest.approx(-2.0 * search.predict(X[:4])[:, 0])
    assert not hasattr(search, "expected_score_")
    X, y, _, _ = some_rows(CANCER)
    other = averaged(DecisionTreeClassifier(random_state=0), TREES, scoring="matthews_corrcoef").fit(X, y)
    assert other.cv_results_["weight"].sum() == pytest.approx(1.0)
    assert not hasattr(other, "expected_score_")
    X, y, _, _ = some_rows(DIABETES)
    search = averaged(KNeighborsRegressor(), {"n_neighbors": (1, 40)}, cv=3, scoring="neg_median_absolute_error").fit(X, y)
    assert search.cv_results_["weight"].sum() == pytest.approx(1.0)
    assert not hasattr(search, "expected_score_")


def test_what_is_not_possible_is_an_error():
    X, y = CANCER
    with pytest.raises(
        ArgumentError, match=r"refit='average' is for one metric, and scoring=\['accuracy', 'roc_auc'\] has several"
    ):
        averaged(SVC(), {"C": [1, 2]}, scoring=["accuracy", "roc_auc"]).fit(X, y)
    with pytest.raises(ArgumentError, match="refit='average' is for classifiers and regressors, and estimator=KMeans"):
        averaged(KMeans(), {"n_clusters": [2, 3]}).fit(X)
    with pytest.raises(ArgumentError, match="calibrate=True is for classifiers with decision_function or predict_proba"):
        averaged(SVR(), {"C": [1, 2]}, calibrate=True).fit(X, y)
    several = np.column_stack([y, 1 - y])
    tree = DecisionTreeClassifier()
    with pytest.raises(ArgumentError, match="refit='average' is for one class for each row, and y has 2 columns"):
        averaged(tree, TREES).fit(X, several)
    with pytest.raises(ArgumentError, match="calibrate=True is for one class for each row, and y has 2 columns"):
        averaged(tree, TREES, refit=True, calibrate=True).fit(X, several)
    with pytest.raises(ArgumentError, match="calibrate=1"):
        averaged(SVC(), {"C": [1, 2]}, calibrate=1).fit(X, y)
    with pytest.raises(ArgumentError, match="weights has 1 numbers; use one for each of the 2 estimators"):
        AverageClassifier([SVC(), SVC()], weights=[1.0]).fit(X, y)


def test_classifiers_with_a_cut_off_are_averaged_by_votes():
    X, y, new_X, _ = some_rows(CANCER)
    cut = FixedThresholdClassifier(LogisticRegression(), threshold=0.999)
    pipeline = make_pipeline(StandardScaler(), cut)
    search = averaged(pipeline, {"fixedthresholdclassifier__estimator__C": (1e-2, 1.0, "log")}, n_iter=4).fit(X, y)
    members, weights = search.best_estimator_.estimators_, np.array(search.best_estimator_.weights)
    votes = weights @ [member.predict(new_X) for member in members]
    assert (search.predict(new_X) == (votes > 0.5 * weights.sum())).all()
    assert (search.predict(new_X) == 1).mean() < 0.5


def test_scales_are_those_of_decisions_and_weights_are_shares():
    X, y, new_X, _ = some_rows(CANCER)
    plain = AverageClassifier([GaussianNB()]).fit(X, y).predict_proba(new_X)
    assert (AverageClassifier([GaussianNB()], scales=[2.0]).fit(X, y).predict_proba(new_X) == plain).all()
    halved = AverageClassifier([RidgeClassifier()], scales=[2.0]).fit(X, y).decision_function(new_X)
    assert halved == pytest.approx(0.5 * RidgeClassifier().fit(X, y).decision_function(new_X))
    for weights in ([1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ArgumentError, match="use numbers of at least 0, one of which is above 0"):
            AverageClassifier([GaussianNB(), GaussianNB()], weights=weights).fit(X, y)
    with pytest.raises(ArgumentError, match="response='votes'; use None or one of 'predict_proba'"):
        AverageClassifier([GaussianNB()], response="votes").fit(X, y)
