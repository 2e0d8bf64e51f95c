"""calibrate=True keeps the weights of rows and classes, and cutoffs: what a search was told decides what it predicts."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, get_scorer
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from spotsvm import CutoffClassifier, ExactSVC, SpotSearchCV
from spotsvm.errors import ArgumentError

RARE = make_classification(2300, 8, n_informative=4, weights=[0.9], flip_y=0.02, class_sep=0.8, random_state=3)
THREE = make_classification(
    2300, 8, n_informative=5, n_classes=3, weights=[0.8, 0.12, 0.08], flip_y=0.02, class_sep=1.2, random_state=1
)
CV = StratifiedKFold(3, shuffle=True, random_state=0)
SCALED = make_pipeline(StandardScaler(), SVC(gamma=0.05))
C = {"svc__C": [0.5, 2.0, 8.0]}
BALANCED = SCALED.__sklearn_clone__().set_params(svc__class_weight="balanced")


def both(estimator, space, data=RARE, refit=True, fit_params=None, ways=(False, True), **options):
    """Two fitted searches, without and with calibration, or one of them."""
    X, y = data[0][:300], data[1][:300]
    options = {"n_iter": 2, "search": "random", "cv": CV, "random_state": 0, "scoring": "balanced_accuracy", **options}
    return [
        SpotSearchCV(estimator, space, refit=refit, calibrate=calibrate, **options).fit(X, y, **(fit_params or {}))
        for calibrate in ways
    ]


def on_new_rows(search, data=RARE):
    return balanced_accuracy_score(data[1][300:], search.predict(data[0][300:]))


@pytest.mark.parametrize(
    ("data", "refit"), [*((RARE, refit) for refit in (True, "average", "1se", lambda results: 0)), (THREE, "average")]
)
def test_balanced_weights_stay_in_force_whatever_is_refitted(data, refit):
    plain, calibrated = both(BALANCED, C, data, refit)
    (unweighted,) = both(SCALED, C, data, refit, ways=(False,))
    assert on_new_rows(calibrated, data) > on_new_rows(plain, data) - 0.03
    assert on_new_rows(calibrated, data) > on_new_rows(unweighted, data) + 0.05


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (SCALED, {**C, "svc__class_weight": ["balanced", {1: 8.0}]}),
        (ExactSVC(gamma=0.05), {"C": [0.5, 2.0], "class_weight": ["balanced", {0: 0.1}]}),
        (make_pipeline(StandardScaler(), SVC(class_weight={0: 100.0, 1: 900.0})), {"svc__C": [0.01, 0.1]}),
        (LinearSVC(class_weight="balanced"), {"C": [0.01, 0.1, 1.0]}),
        (LogisticRegression(class_weight={1: 9.0}), {"C": [0.01, 0.1, 1.0]}),
        (DecisionTreeClassifier(class_weight="balanced", random_state=0), {"max_depth": [2, 3, 5]}),
    ],
)
def test_weights_of_classes_wherever_they_stand(estimator, space):
    for refit in (True, "average"):
        plain, calibrated = both(estimator, space, refit=refit)
        assert on_new_rows(calibrated) > on_new_rows(plain) - 0.03


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (CutoffClassifier(SCALED), {"cutoff__1": [0.1, 0.2, 0.3]}),
        (CutoffClassifier(SCALED, weight_unit="balanced"), {"cutoff__1": [0.4, 0.5, 0.6]}),
        (OneVsRestClassifier(SVC(class_weight="balanced")), {"estimator__C": [0.5, 2.0]}),
        (CalibratedClassifierCV(SVC(class_weight="balanced"), cv=2), {"estimator__C": [0.5, 2.0]}),
    ],
)
def test_thresholds_that_are_moved_in_other_ways_stay_where_they_are(estimator, space):
    plain, calibrated = both(estimator, space)
    assert (plain.predict(RARE[0]) == calibrated.predict(RARE[0])).mean() > 0.99
    p = calibrated.predict_proba(RARE[0])
    assert (calibrated.classes_[p.argmax(axis=1)] == calibrated.predict(RARE[0])).all()


def test_a_threshold_that_calibration_would_undo_is_refused():
    class Own(LogisticRegression):
        def predict(self, X):
            return self.classes_[(self.predict_proba(X)[:, 1] > 0.1).astype(int)]

    for model, name, message in [
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.2), "estimator__C", "would undo the threshold of FixedThr"),
        (
            TunedThresholdClassifierCV(LogisticRegression()),
            "estimator__C",
            "would undo the threshold of TunedThr",
        ),
        (Own(), "C", r"in \d+% of rows they are for another class than the predictions of Own"),
    ]:
        search = SpotSearchCV(model, {name: [0.1, 1.0]}, n_iter=2, cv=CV, calibrate=True)
        with pytest.raises(ArgumentError, match=f"{message}.*; use calibrate=False"):
            search.fit(RARE[0][:300], RARE[1][:300])


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("refit", [True, "average"])
def test_weights_of_rows_stay_in_force(refit, routing):
    weight = compute_sample_weight("balanced", RARE[1][:300])
    with config_context(enable_metadata_routing=routing):
        estimator = (
            make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False), SVC(gamma=0.05).set_fit_request(sample_weight=True)
            )
            if routing
            else SCALED
        )
        name = "sample_weight" if routing else "svc__sample_weight"
        scorer = get_scorer("balanced_accuracy")
        scoring = scorer.set_score_request(sample_weight=False) if routing else scorer
        plain, calibrated = both(estimator, C, refit=refit, fit_params={name: weight}, scoring=scoring)
    (by_class,) = both(BALANCED, C, refit=refit, ways=(True,))
    assert on_new_rows(calibrated) > on_new_rows(plain) - 0.03
    assert on_new_rows(calibrated) == pytest.approx(on_new_rows(by_class), abs=0.03)
    # the probabilities are those of rows with these weights
    assert np.average(calibrated.oof_predict_proba_[:, 1], weights=weight) == pytest.approx(0.5, abs=0.03)


def test_a_constant_factor_of_all_weights_changes_no_probability():
    """Of a classifier that has no C: only calibration could see the factor."""
    X, y = RARE[0][:300], RARE[1][:300]
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 300)
    for refit in (True, "average"):
        found = [
            SpotSearchCV(
                GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, n_iter=3, cv=CV, refit=refit, calibrate=True, random_state=0
            )
            .fit(X, y, sample_weight=factor * weight)
            .predict_proba(RARE[0])
            for factor in (1.0, 1e-3, 1e6)
        ]
        assert found[1] == pytest.approx(found[0], abs=1e-6)
        assert found[2] == pytest.approx(found[0], abs=1e-6)


def shifted(n=4300):
    """Normal rows, of which those of the rare class are shifted in one column."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.12).astype(int)
    return rng.normal(size=(n, 4)) + 1.3 * np.outer(y, [1, 0, 0, 0]), y


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (LinearDiscriminantAnalysis("lsqr", priors=[0.5, 0.5]), {"shrinkage": [0.0, 0.1, 0.2]}),
        (make_pipeline(StandardScaler(), GaussianNB(priors=[0.5, 0.5])), {"gaussiannb__var_smoothing": [1e-9, 1e-6, 1e-3]}),
        (make_pipeline(FunctionTransformer(np.exp), MultinomialNB(fit_prior=False)), {"multinomialnb__alpha": [0.01, 0.1, 1.0]}),
        (make_pipeline(FunctionTransformer(np.exp), ComplementNB()), {"complementnb__alpha": [0.01, 0.1, 1.0]}),
        (VotingClassifier([("a", GaussianNB(priors=[0.5, 0.5]))], voting="soft"), {"a__var_smoothing": [1e-9, 1e-6, 1e-3]}),
    ],
)
def test_priors_stay_in_force(estimator, space):
    data = shifted()
    plain, calibrated = both(estimator, space, data)
    assert on_new_rows(calibrated, data) > max(on_new_rows(plain, data) - 0.04, 0.6)
