import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from spotsvm import SpotSearchCV

X, Y = make_classification(n_samples=60, n_features=4, flip_y=0.1, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
LEVELS = [0.01, 0.1, 1.0, 10.0]


def search(estimator=None, space=SPACE, **options):
    options = {"n_iter": 4, "search": "random", "cv": 3, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


def splits(fitted, side="test", metric="score"):
    """Scores, a row a candidate and a column a fold."""
    return np.array([fitted.cv_results_[f"split{i}_{side}_{metric}"] for i in range(fitted.n_splits_)]).T


class Probe(ClassifierMixin, BaseEstimator):
    """Scores its own parameter; `kind`, if given, is what data must be."""

    def __init__(self, level=0, kind=None):
        self.level, self.kind = level, kind

    def fit(self, X, y=None):
        assert not hasattr(self, "fitted_"), "fitted twice"
        assert self.kind is None or (isinstance(X, self.kind) and isinstance(y, self.kind))
        self.fitted_, self.shapes_ = True, (np.shape(X), np.shape(y))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        assert self.kind is None or isinstance(X, self.kind)
        return float(self.level >= 2)


@pytest.mark.parametrize("levels", [[1, 2, 3], range(1, 4), np.arange(1, 4)])
def test_of_equals_the_first_is_taken(levels):
    fitted = search(Probe(), {"level": levels}, n_iter=3).fit(X, Y)
    ranks = fitted.cv_results_["rank_test_score"]
    assert sorted(ranks) == [1, 1, 3]
    assert fitted.best_index_ == ranks.tolist().index(1)
    assert fitted.best_estimator_.level == fitted.cv_results_["param_level"][fitted.best_index_]


def test_folds_may_be_a_generator():
    class Once:
        """A splitter whose folds can be asked for only once."""

        def __init__(self):
            self.folds = iter(KFold(3, shuffle=True, random_state=0).split(X))

        def split(self, X=None, y=None, groups=None):
            yield from self.folds

        def get_n_splits(self, X=None, y=None, groups=None):
            return 3

    expected = splits(search(cv=KFold(3, shuffle=True, random_state=0)).fit(X, Y))
    for folds in (KFold(3, shuffle=True, random_state=0).split(X), Once()):
        assert np.array_equal(splits(search(cv=folds).fit(X, Y)), expected)


def test_a_precomputed_kernel_is_cut_in_both_directions():
    kernel = rbf_kernel(X, gamma=0.3)
    fitted = search(SVC(kernel="precomputed"), {"C": LEVELS}).fit(kernel, Y)
    other = search(SVC(gamma=0.3), {"C": LEVELS}).fit(X, Y)
    assert np.allclose(splits(fitted), splits(other))
    assert np.array_equal(fitted.predict(kernel[:9]), other.predict(X[:9]))
    assert fitted.__sklearn_tags__().input_tags.pairwise
    assert np.array_equal(cross_val_score(fitted, kernel, Y), cross_val_score(other, X, Y))
    with pytest.raises(ValueError, match="should be a square kernel matrix"):
        fitted.fit(kernel[:, :30], Y)
    with pytest.raises(ValueError, match="have to be passed as arrays or sparse matrices"):
        fitted.fit(kernel.tolist(), Y)


def test_frames_stay_frames():
    frame, series = pd.DataFrame(X, columns=list("abcd")), pd.Series(Y)
    kind = (pd.DataFrame, pd.Series)
    fitted = search(Probe(kind=kind), {"level": [1, 2]}, n_iter=2).fit(frame, series)
    assert fitted.predict(frame).shape == (60,)
    fitted = search().fit(frame, series)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(splits(fitted), splits(search().fit(X, Y)))


def test_unsupervised_with_and_without_answers():
    points, labels = make_blobs(n_samples=50, random_state=0)
    kmeans = KMeans(random_state=0, init="random", n_init=1)
    scoring = ["adjusted_rand_score", "fowlkes_mallows_score"]
    for refit in scoring:
        fitted = search(kmeans, {"n_clusters": [2, 3, 4]}, n_iter=3, scoring=scoring, refit=refit).fit(points, labels)
        assert fitted.best_params_ == {"n_clusters": 3}
    fitted = search(kmeans, {"n_clusters": [2, 3, 4]}, n_iter=3).fit(points)
    assert fitted.best_params_ == {"n_clusters": 4}
    assert fitted.transform(points).shape == (50, 4)
    assert fitted.score(points) == fitted.best_estimator_.score(points)


def test_whole_estimators_are_choices_and_stay_unfitted():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", None)])
    choices = {"scale": ["passthrough", StandardScaler(), None], "model": [LinearSVC(), SVC()], "model__C": [0.5, 2.0]}
    fitted = search(pipeline, choices, n_iter=8, scoring="accuracy").fit(X, Y)
    column = fitted.cv_results_["param_model"]
    assert {type(model) for model in column} == {LinearSVC, SVC}
    assert not any(hasattr(model, "classes_") for model in [*choices["model"], *column])
    assert [model.C for model in choices["model"]] == [1.0, 1.0]
    assert fitted.best_estimator_[-1].C == fitted.best_params_["model__C"]
    assert fitted.best_estimator_[-1] is not fitted.best_params_["model"]


def test_it_works_inside_and_outside_of_others():
    inside = make_pipeline(StandardScaler(), search())
    outside = search(make_pipeline(StandardScaler(), SVC()), {f"svc__{name}": law for name, law in SPACE.items()})
    scores = [cross_val_score(one, X, Y, cv=3, error_score="raise") for one in (inside, outside)]
    assert min(map(np.min, scores)) > 0.6
    assert inside.fit(X, Y).score(X, Y) == (inside.predict(X) == Y).mean()
    twice = search(search(space={"gamma": LEVELS}, n_iter=2), {"estimator__C": LEVELS}, n_iter=2).fit(X, Y)
    assert twice.best_estimator_.best_estimator_.C == twice.best_params_["estimator__C"]


def test_it_is_cloned_set_and_pickled(tmp_path):
    one = search(make_pipeline(StandardScaler(), SVC()), {"svc__C": LEVELS}, path=tmp_path / "search.db")
    assert one.get_params()["estimator__svc__C"] == 1.0
    assert one.set_params(estimator__svc__tol=1e-2, n_iter=3).estimator[-1].tol == 1e-2
    other = pickle.loads(pickle.dumps(clone(one))).fit(X, Y)
    assert np.array_equal(splits(other), splits(one.fit(X, Y)))
    again = pickle.loads(pickle.dumps(one))
    assert again.study_.path is None
    assert again.study_.trials == one.study_.trials
    assert np.array_equal(again.predict(X), one.predict(X))
    assert np.array_equal(splits(again.fit(X, Y)), splits(one))
