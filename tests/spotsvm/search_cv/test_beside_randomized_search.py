"""What somebody who comes from RandomizedSearchCV or BayesSearchCV expects of SpotSearchCV."""

import inspect
import sys

import cloudpickle
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, RandomizedSearchCV
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study
from spotsvm.errors import ArgumentError

# worker processes cannot import the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
TWO_KERNELS = {"C": loguniform(1e-2, 1e2), "kernel": ["rbf", "linear"]}


def test_the_number_of_suggestions_is_that_of_scikit_learn():
    ours, theirs = (inspect.signature(one).parameters["n_iter"].default for one in (SpotSearchCV, RandomizedSearchCV))
    assert ours == theirs == 10


@pytest.mark.filterwarnings("ignore:The total space of parameters 1 is smaller")
@pytest.mark.parametrize("space", [{}, {"C": [2.0]}, {"C": [2.0], "kernel": ["linear"]}])
@pytest.mark.parametrize("search", ["kriging", "random", "cmaes"])
def test_a_space_of_one_configuration_is_evaluated_once(space, search):
    fitted = SpotSearchCV(SVC(), space, search=search, cv=3, random_state=0).fit(X, Y)
    assert fitted.cv_results_["params"] == [{name: values[0] for name, values in space.items()}]
    assert fitted.best_params_ == fitted.cv_results_["params"][0]


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_a_space_of_lists_is_evaluated_in_the_order_of_a_grid(search):
    space = {"gamma": [0.1, 1.0], "C": [1.0, 0.1, 10.0]}
    fitted = SpotSearchCV(SVC(), space, n_iter=6, search=search, cv=3, random_state=0).fit(X, Y)
    expected = [{"C": C, "gamma": gamma} for C in space["C"] for gamma in space["gamma"]]
    assert fitted.cv_results_["params"] == expected


@pytest.mark.parametrize("n_iter", [10, 40])
def test_the_budget_refines_the_sweeps_once_the_other_parameters_are_exhausted(n_iter):
    fitted = SpotSearchCV(SVC(), TWO_KERNELS, n_iter=n_iter, cv=3, random_state=0).fit(X, Y)
    frame = fitted.study_.frame()
    counts = frame.groupby("param_kernel").size()
    assert fitted.study_.n_finished == 2
    # as many values as suggestions come on each kernel, but for neighbours that lie outside the range
    assert (counts >= max(n_iter // 2 - 1, 7)).all()
    assert (counts <= max(n_iter // 2, 8) + 1).all()
    for _, sweep in frame.groupby("param_kernel"):
        values = np.sort(np.log10(sweep["param_C"]))
        assert (values[0], values[-1]) == pytest.approx((-2.0, 2.0))
        assert np.diff(values).max() <= 4.0 / max(n_iter // 2 - 3, 5) + 1e-9


def test_a_column_marks_the_chosen_row():
    for seed in range(3):
        fitted = SpotSearchCV(SVC(), SPACE, n_iter=5, cv=3, random_state=seed).fit(X, Y)
        results = fitted.cv_results_
        assert np.flatnonzero(results["chosen"]).tolist() == [fitted.best_index_]
        assert results["params"][int(np.argmax(results["chosen"]))] == fitted.best_params_
        of_folds = [name for name in results if name.endswith("_test_score") and not name.startswith("split")]
        assert sorted(of_folds) == ["mean_test_score", "rank_test_score", "std_test_score"]
    bare = SpotSearchCV(SVC(), SPACE, n_iter=3, cv=3, scoring=["accuracy", "f1_macro"], refit=False).fit(X, Y)
    assert "chosen" not in bare.cv_results_
    own = SpotSearchCV(SVC(), SPACE, n_iter=3, cv=3, refit=lambda results: 2).fit(X, Y)
    assert np.flatnonzero(own.cv_results_["chosen"]).tolist() == [2]


class Quiet(ClassifierMixin, BaseEstimator):
    """An estimator whose fit returns None."""

    def __init__(self, level=0):
        self.level = level

    def fit(self, X, y, callback=None):
        self.classes_, self.callback_ = np.unique(y), callback

    def predict(self, X):
        return np.full(len(X), self.level)


def test_an_estimator_whose_fit_returns_none_is_refitted():
    search = SpotSearchCV(Quiet(), {"level": [0, 1]}, n_iter=2, cv=3).fit(X, Y)
    assert set(search.predict(X)) == {search.best_params_["level"]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_trials": 3}, r"^SpotSearchCV\(\) has no argument 'n_trials'; did you mean 'n_iter'\?"),
        ({"search_spaces": {}}, "did you mean 'space'"),
        ({"scorng": "f1"}, "did you mean 'scoring'"),
    ],
)
def test_an_argument_of_another_name_is_named(given, said):
    with pytest.raises(TypeError, match=said):
        SpotSearchCV(SVC(), SPACE, **given)
    search = SpotSearchCV(SVC(), SPACE, n_iter=3)
    assert clone(search).get_params()["n_iter"] == 3
    assert "n_iter" in inspect.signature(SpotSearchCV).parameters
    with pytest.raises(TypeError, match=r"^Study.run\(\) has no argument 'n_iter'; did you mean 'n_trials'\?"):
        Study({"x": [1, 2]}).run(lambda p: p["x"], n_iter=3)


def test_a_callback_belongs_to_the_search_unless_the_estimator_takes_one():
    with pytest.raises(ArgumentError, match=r"fit\(\) has no argument callback; pass it to the search"):
        SpotSearchCV(SVC(), SPACE).fit(X, Y, callback=print)
    search = SpotSearchCV(Quiet(), {"level": [0, 1]}, n_iter=2, cv=3).fit(X, Y, callback=print)
    assert search.best_estimator_.callback_ is print


@pytest.mark.parametrize("refit", ["f1", 1, None])
def test_a_refit_that_says_nothing_is_refused(refit):
    said = r"^refit=.*; use True, False, 'average', '1se', the name of a metric of scoring, or a callable"
    with pytest.raises(ArgumentError, match=said):
        SpotSearchCV(SVC(), SPACE, scoring="accuracy", refit=refit).fit(X, Y)


def test_folds_that_contradict_each_other_are_refused():
    class Broken(KFold):
        def get_n_splits(self, *args, **kwargs):
            return 1

    with pytest.raises(ArgumentError, match="inconsistent results. Expected 1 splits, got 3"):
        SpotSearchCV(SVC(), SPACE, cv=Broken(3)).fit(X, Y)
    with pytest.raises(ArgumentError, match="Was the CV iterator empty"):
        SpotSearchCV(SVC(), SPACE, cv=iter([])).fit(X, Y)


def test_several_objectives_take_parego_by_themselves():
    study = Study({"x": (0.0, 1.0)}, seed=0, direction=["minimize", "maximize"])
    assert study.about["search"] == Study({"x": (0.0, 1.0)}, "parego", 0, direction=["minimize"] * 2).about["search"]
    assert len(study.run(lambda p: [p["x"], p["x"] ** 2], n_trials=3).pareto()) >= 1
    assert Study({"x": (0.0, 1.0)}).about["search"] == Study({"x": (0.0, 1.0)}, "kriging").about["search"]
