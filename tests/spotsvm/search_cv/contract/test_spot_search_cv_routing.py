import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


X, Y = make_classification(n_samples=60, n_features=4, flip_y=0.2, random_state=0)
WEIGHTS = np.random.default_rng(0).integers(1, 5, size=60).astype(float)
OTHER_WEIGHTS = np.random.default_rng(1).integers(1, 5, size=60).astype(float)
GROUPS = np.arange(60) % 6
SPACE = {"C": loguniform(1e-2, 1e2)}


def search(estimator=None, space=SPACE, **options):
    options = PLAIN | {"n_iter": 4, "search": "random", "cv": 3, "random_state": 0} | options
    return SpotSearchCV(SVC() if estimator is None else estimator, space, **options)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what its fit was given; its clones share the list."""

    seen = []

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y, sample_weight=None, label=None, groups=None):
        self.given_ = {"rows": len(X), "sample_weight": sample_weight, "label": label, "groups": groups}
        self.seen.append(self.given_)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture
def recorder(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    return Recorder()


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def same_scores(fitted, other):
    names = [name for name in other.cv_results_ if "_test_" in name]
    return all(np.array_equal(fitted.cv_results_[name], other.cv_results_[name]) for name in names)


def grid_of(fitted, **options):
    """scikit-learn's search of the same candidates."""
    candidates = [{name: [value] for name, value in params.items()} for params in fitted.cv_results_["params"]]
    return GridSearchCV(fitted.estimator, candidates, cv=fitted.cv, scoring=fitted.scoring, **options)


def test_weights_count_as_in_a_grid_search_and_are_cut_to_the_fold(recorder):
    fitted = search(recorder).fit(X, Y, sample_weight=WEIGHTS, label="whole")
    assert [given["rows"] for given in recorder.seen] == [40] * 12 + [60]
    assert all(len(given["sample_weight"]) == given["rows"] and given["label"] == "whole" for given in recorder.seen)
    assert np.array_equal(fitted.best_estimator_.given_["sample_weight"], WEIGHTS)
    fitted = search(scoring="accuracy").fit(X, Y, sample_weight=WEIGHTS)
    assert same_scores(fitted, grid_of(fitted).fit(X, Y, sample_weight=WEIGHTS))
    assert not same_scores(fitted, search(scoring="accuracy").fit(X, Y))
    alone = SVC(**fitted.best_params_).fit(X, Y, sample_weight=WEIGHTS)
    assert np.array_equal(fitted.best_estimator_.dual_coef_, alone.dual_coef_)
    blind = make_scorer(lambda y, predicted: float((y == predicted).mean()))
    with pytest.warns(UserWarning, match="does not support sample_weight"):
        search(scoring=blind).fit(X, Y, sample_weight=WEIGHTS)


def test_groups_go_to_the_splitter_alone_and_may_be_missing(recorder):
    fitted = search(recorder, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert fitted.n_splits_ == 3
    assert all(given["groups"] is None for given in recorder.seen)
    other = search(cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert same_scores(other, grid_of(other).fit(X, Y, groups=GROUPS))
    assert search(cv=LeaveOneGroupOut()).fit(X, Y, groups=GROUPS).n_splits_ == 6
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search(cv=GroupKFold(3)).fit(X, Y)
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        fitted = search(cv=StratifiedKFold(3)).fit(X, Y, groups=GROUPS)
    assert same_scores(fitted, search().fit(X, Y))


def test_what_is_not_taken_is_refused():
    with pytest.raises(TypeError, match="passed to fit: nonsense"):
        search().fit(X, Y, nonsense=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        search(error_score="raise").fit(X, Y, nonsense=1)
    fitted = search().fit(X, Y)
    with pytest.raises(ValueError, match="passing sample_weight to the scorer is only supported if metadata routing is enabled"):
        fitted.score(X, Y, sample_weight=WEIGHTS)


def test_each_asks_by_its_own_name(routing):
    estimator = SVC().set_fit_request(sample_weight="fit_weights")
    scoring = get_scorer("accuracy").set_score_request(sample_weight="score_weights")
    passed = {"fit_weights": WEIGHTS, "score_weights": OTHER_WEIGHTS}
    fitted = search(estimator, scoring=scoring).fit(X, Y, **passed)
    assert same_scores(fitted, grid_of(fitted).fit(X, Y, **passed))
    assert np.array_equal(
        fitted.best_estimator_.dual_coef_, SVC(**fitted.best_params_).fit(X, Y, sample_weight=WEIGHTS).dual_coef_
    )
    expected = np.average(fitted.predict(X) == Y, weights=OTHER_WEIGHTS)
    assert np.isclose(fitted.score(X, Y, score_weights=OTHER_WEIGHTS), expected)
    assert not np.isclose(fitted.score(X, Y), expected)


@pytest.mark.parametrize(("to_fit", "to_score"), [(True, False), (False, True), (True, True), (False, False)])
def test_weights_go_where_they_are_requested(routing, recorder, to_fit, to_score):
    recorder.set_fit_request(sample_weight=to_fit)
    scoring = get_scorer("accuracy").set_score_request(sample_weight=to_score)
    fitted = search(recorder, scoring=scoring)
    if not (to_fit or to_score):
        with pytest.raises(TypeError, match="unexpected argument.*sample_weight"):
            fitted.fit(X, Y, sample_weight=WEIGHTS)
        return
    fitted.fit(X, Y, sample_weight=WEIGHTS)
    assert all((given["sample_weight"] is not None) == to_fit for given in recorder.seen)
    plain = search(scoring="accuracy", estimator=Recorder()).fit(X, Y)
    assert same_scores(fitted, plain) != to_score


def test_several_scorers_ask_each_for_themselves(routing):
    scoring = {
        "weighing": get_scorer("accuracy").set_score_request(sample_weight=True),
        "plain": get_scorer("accuracy").set_score_request(sample_weight=False),
    }
    estimator = SVC().set_fit_request(sample_weight=False)
    fitted = search(estimator, scoring=scoring, refit="weighing").fit(X, Y, sample_weight=WEIGHTS)
    assert same_scores(fitted, grid_of(fitted, refit=False).fit(X, Y, sample_weight=WEIGHTS))
    plain = search(scoring="accuracy").fit(X, Y).cv_results_["mean_test_score"]
    assert np.array_equal(fitted.cv_results_["mean_test_plain"], plain)
    assert not np.allclose(fitted.cv_results_["mean_test_weighing"], plain)
    expected = np.average(fitted.predict(X) == Y, weights=WEIGHTS)
    assert np.isclose(fitted.score(X, Y, sample_weight=WEIGHTS), expected)


def test_metadata_that_nobody_asked_for_are_refused(routing):
    with pytest.raises(
        UnsetMetadataPassedError, match=r"(?s)\[sample_weight\] are passed .* SVC.fit, .* within SpotSearchCV.*\.fit"
    ):
        search().fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="unexpected argument.*nonsense"):
        search().fit(X, Y, nonsense=WEIGHTS)
    fitted = search(scoring="accuracy").fit(X, Y)
    # scikit-learn's scorers of a metric ask for weights from version 1.8 on
    asks = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
    with pytest.raises(UnsetMetadataPassedError if asks else TypeError, match="sample_weight"):
        fitted.score(X, Y, sample_weight=WEIGHTS)
