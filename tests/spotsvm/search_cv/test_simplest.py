import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.simplest import simplest, simplicity

X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}


def results(params, folds):
    folds = np.asarray(folds, dtype=float)
    columns = {f"split{k}_test_score": folds[:, k] for k in range(folds.shape[1])}
    return {"params": params, "mean_test_score": folds.mean(axis=1), **columns}


# standard deviation 0.04 and so a standard error of 0.02 for four folds
SPREAD = 0.04 * np.array([-1, -1, 1, 1]) * np.sqrt(3 / 4)


@pytest.mark.parametrize("options", [{}, {"sweep": None}, {"noise": True}])
def test_a_search_takes_it_and_is_otherwise_the_same(options):
    X, y = (part[:200] for part in load_breast_cancer(return_X_y=True))
    space = {f"svc__{name}": law for name, law in SPACE.items()}
    estimator = make_pipeline(StandardScaler(), SVC())
    fitted = [
        SpotSearchCV(estimator, space, n_iter=8, cv=4, random_state=0, refit=refit, **options).fit(X, y)
        for refit in (True, "1se")
    ]
    best, simple = fitted
    np.testing.assert_array_equal(best.cv_results_["mean_test_score"], simple.cv_results_["mean_test_score"])
    assert simple.best_params_ == simple.cv_results_["params"][simple.best_index_]
    assert simple.best_score_ == simple.cv_results_["mean_test_score"][simple.best_index_]
    assert simple.best_estimator_.get_params()["svc__C"] == simple.best_params_["svc__C"]
    assert simple.best_params_["svc__gamma"] <= best.best_params_["svc__gamma"]
    if options == {}:
        folds = np.array([best.cv_results_[f"split{k}_test_score"][best.best_index_] for k in range(4)])
        limit = best.best_score_ - folds.std(ddof=1) / 2 - 1e-12
        near = [k for k, mean in enumerate(best.cv_results_["mean_test_score"]) if mean >= limit]
        pairs = [(best.cv_results_["params"][k]["svc__gamma"], best.cv_results_["params"][k]["svc__C"]) for k in near]
        assert (simple.best_params_["svc__gamma"], simple.best_params_["svc__C"]) == min(pairs)
        assert simple.best_index_ != best.best_index_
    assert simple.score(X, y) > 0.9


def test_what_has_no_simplest_candidate():
    with pytest.raises(
        ArgumentError, match="refit='1se' takes the candidate with the smallest gamma, .* the space has only alpha"
    ):
        SpotSearchCV(Ridge(), {"alpha": loguniform(0.1, 10)}, refit="1se").fit(X, Y)
    with pytest.raises(ArgumentError, match="refit must be set to a scorer key"):
        SpotSearchCV(SVC(), SPACE, scoring=["accuracy", "f1_macro"], refit="1se").fit(X, Y)


@pytest.mark.parametrize(
    ("params", "means", "chosen"),
    [
        ([{"C": 9.0}, {"C": 1.0}, {"C": 0.1}], [0.9, 0.881, 0.879], 1),
        ([{"C": 9.0}, {"C": 10.0}], [0.9, 0.899], 0),
        ([{"C": 9.0, "gamma": 2.0}, {"C": 1.0, "gamma": 1.0}, {"C": 1.0, "gamma": 0.5}], [0.9, 0.899, 0.885], 2),
        ([{"C": 1.0, "gamma": 2.0}, {"C": 8.0, "gamma": 0.5}], [0.9, 0.885], 1),
        ([{"C": 1.0, "gamma": 2.0}, {"C": 1.0}, {"C": 2.0}], [0.9, 0.885, 0.895], 1),
        ([{"C": 0.1, "gamma": 0.001}, {"C": 9.0}], [0.9, 0.9], 1),
        ([{"C": 1.0, "gamma": "scale"}, {"C": 1.0, "gamma": 0.001}], [0.9, 0.9], 1),
        ([{"s__k": 9, "m__C": 1.0}, {"s__k": 3, "m__C": 1.0}, {"s__k": 1, "m__C": 2.0}], [0.9, 0.895, 0.9], 1),
        ([{"C": 1.0}, {"C": 0.5}, {"C": 0.5}], [0.9, 0.885, 0.89], 2),
        ([{"C": 1.0}, {"C": 0.5}], [0.9, np.nan], 0),
    ],
)
def test_the_smallest_of_those_within_a_standard_error(params, means, chosen):
    assert simplest(results(params, np.array(means)[:, None] + SPREAD), "score", 0) == chosen


def test_gamma_comes_before_c_and_both_before_other_numbers():
    names = ["svc__gamma", "pca__n_components", "svc__C", "svc__kernel"]
    assert simplicity(names) == ["svc__gamma", "svc__C", "pca__n_components"]
