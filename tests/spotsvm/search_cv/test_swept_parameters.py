"""Searches with a swept cutoff, or epsilon: every value in a sweep has scikit-learn's scores."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import CutoffClassifier, SpotSearchCV
from spotsvm.errors import ArgumentError, SpaceError

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=0.8, size=X.shape)  # classes that overlap
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
CUTOFFS = {"cutoff__0": uniform(0.1, 0.8), "class_weight__0": loguniform(0.2, 5.0), "estimator__C": loguniform(0.1, 100)}


def check_against_sklearn(search, X, y, folds, rtol=0.0):
    """Check every row of a search's results against cross_validate, training scores too."""
    results = search.cv_results_
    for k, params in enumerate(results["params"]):
        expected = cross_validate(clone(search.estimator).set_params(**params), X, y, cv=folds, return_train_score=True)
        for side in ("test", "train"):
            own = [results[f"split{i}_{side}_score"][k] for i in range(folds.get_n_splits())]
            np.testing.assert_allclose(own, expected[f"{side}_score"], rtol=rtol, err_msg=str(params))


def test_the_path_of_a_cutoff_needs_one_fit_of_each_fold(monkeypatch):
    fits = []
    own_fit = CutoffClassifier.fit
    monkeypatch.setattr(CutoffClassifier, "fit", lambda *args, **kwargs: fits.append(1) or own_fit(*args, **kwargs))
    options = {"n_iter": 6, "sweep": "cutoff__0", "random_state": 0, "return_train_score": True}
    search = SpotSearchCV(CutoffClassifier(SVC()), CUTOFFS, cv=FOLDS, **options).fit(X, Y)
    assert len(fits) == 6 * 3 + 1
    results = search.cv_results_
    suggestions, counts = np.unique(results["sweep"], return_counts=True)
    assert counts.tolist() == [11] * 6
    for suggestion in suggestions:
        path = results["param_cutoff__0"][results["sweep"] == suggestion].astype(float)
        np.testing.assert_allclose(np.sort(path), np.linspace(0.1, 0.9, 11))
    check_against_sklearn(search, X, Y, FOLDS)
    assert search.best_score_ == max(results["mean_test_score"])
    assert search.best_estimator_.cutoff == {"0": search.best_params_["cutoff__0"]}
    assert len(set(results["mean_test_score"])) > 5


def test_a_cutoff_is_profiled_in_a_pipeline_and_paths_may_fail_in_part(tmp_path):
    estimator = make_pipeline(StandardScaler(), CutoffClassifier(SVC(), classes=[0, 1, 2]))
    name, other = (f"cutoffclassifier__cutoff__{k}" for k in (1, 2))
    space = {name: uniform(0.05, 0.9), other: uniform(0.05, 0.9), "cutoffclassifier__estimator__gamma": loguniform(0.01, 1.0)}

    def search(n_iter, **options):
        one = SpotSearchCV(estimator, space, n_iter=n_iter, search="random", cv=FOLDS, sweep=name, random_state=0, **options)
        with pytest.warns(FitFailedWarning, match=r"sums to .* use cutoffs that sum to"):
            return one.fit(X, Y)

    whole = search(5)
    sums = [params[name] + params[other] for params in whole.cv_results_["params"]]
    done = np.isfinite(whole.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(done, np.array(sums) < 1.0)
    assert 5 < done.sum() < len(done) == 55
    assert whole.best_score_ == np.nanmax(whole.cv_results_["mean_test_score"])
    search(3, path=tmp_path / "s.db")
    resumed = search(5, path=tmp_path / "s.db")
    assert resumed.cv_results_["params"] == whole.cv_results_["params"]
    np.testing.assert_array_equal(resumed.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("estimator", "space", "sweep", "options", "said"),
    [
        (
            CutoffClassifier(SVC()), CUTOFFS, "class_weight__0", {},
            "sweep='class_weight__0' needs work that candidates share: of a CutoffClassifier only cutoff__<class> needs no new "
            "fit; use sweep=None",
        ),
        (CutoffClassifier(SVC()), CUTOFFS, "estimator__C", {}, "only cutoff__<class> needs no new fit"),
        (CutoffClassifier(SVC()), CUTOFFS, "cutoff__0", {"engine": "sklearn"}, "engine='sklearn' shares none; use sweep=None"),
        (CutoffClassifier(SVC()), CUTOFFS, "cutoff__1", {}, "sweep='cutoff__1' is not a parameter with a range"),
        (
            CutoffClassifier(SVC(), classes=[0, 1, 2]), {"cutoff__7": uniform(0.1, 0.8), "estimator__C": [1, 2]}, "cutoff__7", {},
            "cutoff__7 is not a parameter; there are cutoff__0, cutoff__1, cutoff__2",
        ),
    ],
)  # fmt: skip
def test_what_needs_fits_is_refused(estimator, space, sweep, options, said):
    with pytest.raises((ArgumentError, SpaceError)) as raised:
        SpotSearchCV(estimator, space, n_iter=3, cv=3, sweep=sweep, **options).fit(X, Y)
    assert said in str(raised.value)


def test_no_cutoff_is_profiled_unless_it_is_named():
    search = SpotSearchCV(CutoffClassifier(SVC()), CUTOFFS, n_iter=3, search="random", cv=3, random_state=0).fit(X, Y)
    assert len(search.cv_results_["params"]) == 3
    assert "sweep" not in search.cv_results_


WEIGHTS = [None, "balanced", {0: 1.0, 1: 4.0, 2: 1.0}, {0: 1.0, 1: 1.0, 2: 4.0}]


@pytest.mark.parametrize("prefix", ["", "svc__"])
def test_the_path_of_class_weights_has_the_scores_of_sklearn(prefix, tmp_path):
    machine = SVC(tol=1e-6) if not prefix else make_pipeline(StandardScaler(), SVC(tol=1e-6))
    space = {"class_weight": WEIGHTS, "gamma": loguniform(0.01, 1.0), "C": loguniform(0.1, 10.0)}
    space = {prefix + name: values for name, values in space.items()}
    name = f"{prefix}class_weight"

    def search(n_iter, **options):
        return SpotSearchCV(
            machine, space, n_iter=n_iter, search="random", cv=FOLDS, sweep=name, random_state=0,
            scoring="balanced_accuracy", **options,
        ).fit(X, Y)  # fmt: skip

    whole = search(8)
    results = whole.cv_results_
    assert len(results["params"]) == 8 * len(WEIGHTS)
    for suggestion in set(results["sweep"]):
        rows = np.flatnonzero(results["sweep"] == suggestion)
        path = [results["params"][k] for k in rows]
        assert sorted(map(repr, (params[name] for params in path))) == sorted(map(repr, WEIGHTS))
        assert len({params[f"{prefix}C"] for params in path}) == 1
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        expected = cross_validate(clone(machine).set_params(**params), X, Y, cv=FOLDS, scoring="balanced_accuracy")
        assert score == pytest.approx(expected["test_score"].mean(), abs=1e-12)
    assert whole.best_score_ == max(results["mean_test_score"])
    search(3, path=tmp_path / "s.db")
    resumed = search(8, path=tmp_path / "s.db")
    assert resumed.cv_results_["params"] == results["params"]
    np.testing.assert_array_equal(resumed.cv_results_["mean_test_score"], results["mean_test_score"])


@pytest.mark.parametrize("prefix", ["", "svr__"])
def test_the_path_of_epsilon_has_the_scores_of_sklearn(prefix):
    rows, target = load_diabetes(return_X_y=True)
    rows, target = rows[:120] * 20, target[:120] / 80
    machine = SVR(tol=1e-6) if not prefix else make_pipeline(StandardScaler(), SVR(tol=1e-6))
    space = {"epsilon": uniform(0.0, 0.5), "gamma": loguniform(0.01, 1.0), "C": loguniform(0.1, 10.0)}
    folds = KFold(3, shuffle=True, random_state=0)
    space = {prefix + name: values for name, values in space.items()}
    options = {"n_iter": 4, "search": "random", "random_state": 0, "return_train_score": True}
    search = SpotSearchCV(machine, space, cv=folds, sweep=f"{prefix}epsilon", **options).fit(rows, target)
    results = search.cv_results_
    _, counts = np.unique(results["sweep"], return_counts=True)
    assert len(counts) == 4
    assert counts.min() >= 7
    check_against_sklearn(search, rows, target, folds, rtol=1e-4)
    assert search.best_score_ == max(results["mean_test_score"])
    assert set(search.best_params_) == set(space)
