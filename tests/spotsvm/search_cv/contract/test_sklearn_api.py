import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from spotsvm import SpotSearchCV

X = np.random.default_rng(0).normal(size=(45, 4))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
METHODS = "predict predict_proba predict_log_proba decision_function score_samples transform inverse_transform".split()


def search(estimator, space, **options):
    return SpotSearchCV(estimator, space, **{"n_iter": 2, "search": "random", "cv": 3, "random_state": 0} | options)


SEARCHES = {
    "logistic": search(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}),
    "svc": search(SVC(), {"C": [0.1, 1.0, 10.0]}),
    "ridge": search(Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
    "pca": search(PCA(), {"n_components": [1, 2, 3]}),
    "outliers": search(LocalOutlierFactor(novelty=True), {"n_neighbors": [3, 5]}, scoring="accuracy"),
    "pipeline": search(make_pipeline(StandardScaler(), PCA()), {"pca__n_components": [1, 2, 3]}),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_what_the_estimator_can_the_search_can(name):
    unfitted = clone(SEARCHES[name])
    fitted = clone(unfitted).fit(X, Y)
    with pytest.raises(NotFittedError):
        unfitted.score(X, Y)
    for method in METHODS:
        there = hasattr(unfitted.estimator, method)
        assert hasattr(unfitted, method) == hasattr(fitted, method) == there
        if there:
            given = fitted.transform(X) if method == "inverse_transform" else X
            assert np.array_equal(getattr(fitted, method)(given), getattr(fitted.best_estimator_, method)(given))
            with pytest.raises(NotFittedError, match="SpotSearchCV instance is not fitted"):
                getattr(unfitted, method)(given)
        else:
            with pytest.raises(AttributeError, match=f"'SpotSearchCV' has no attribute '{method}'") as raised:
                getattr(fitted, method)
            assert f"no attribute '{method}'" in str(raised.value.__cause__) or "probability" in str(raised.value.__cause__)


def test_without_refit_it_says_why_there_is_no_method():
    fitted = clone(SEARCHES["logistic"]).set_params(refit=False).fit(X, Y)
    for method in METHODS:
        with pytest.raises(AttributeError, match=f"'SpotSearchCV' has no attribute '{method}'") as raised:
            getattr(fitted, method)
        assert f"initialized with `refit=False`. {method} is available only after refitting" in str(raised.value.__cause__)
    with pytest.raises(AttributeError, match="`refit=False`. score is available only after refitting"):
        fitted.score(X, Y)
    for attribute in ("classes_", "n_features_in_", "feature_names_in_", "best_estimator_"):
        assert not hasattr(fitted, attribute)


def test_classes_and_features():
    unfitted = clone(SEARCHES["logistic"])
    assert not hasattr(unfitted, "classes_")
    names = np.array(["no", "yes"])[Y]
    fitted = unfitted.fit(X, names)
    assert fitted.classes_ is fitted.best_estimator_.classes_
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert not hasattr(clone(SEARCHES["ridge"]).fit(X, Y), "classes_")
    unfitted = clone(SEARCHES["svc"])
    assert not hasattr(unfitted, "n_features_in_")
    assert not hasattr(unfitted, "feature_names_in_")
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = unfitted.fit(frame, Y)
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (4, list("abcd"))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[list("dcba")])


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(SVC(), "classifier"), (SVR(), "regressor"), (LocalOutlierFactor(novelty=True), "outlier_detector"), (PCA(), None)],
)
def test_its_kind_is_the_estimators(estimator, kind):
    one = search(estimator, {"C": [1, 2]})
    assert get_tags(one).estimator_type == kind
    assert [is_classifier(one), is_regressor(one), is_outlier_detector(one)] == [
        kind == k for k in ("classifier", "regressor", "outlier_detector")
    ]


@pytest.mark.parametrize("pairwise", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_what_it_takes_is_what_the_estimator_takes(pairwise, sparse):
    class Tagged(BaseEstimator):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.pairwise, tags.input_tags.sparse = pairwise, sparse
            tags.target_tags.multi_output = sparse
            return tags

    tags = get_tags(search(Tagged(), {"a": [1, 2]}))
    assert (tags.input_tags.pairwise, tags.input_tags.sparse, tags.target_tags.multi_output) == (pairwise, sparse, sparse)
