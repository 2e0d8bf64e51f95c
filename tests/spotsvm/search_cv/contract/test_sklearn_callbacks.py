"""The callbacks of scikit-learn 1.9 (`set_callbacks`)."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

pytest.importorskip("sklearn.callback", reason="scikit-learn is older than 1.9")
X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**2)}


class Told:
    """A callback that notes the tasks it is told of."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(f"begin {context.task_name} of {context.max_subtasks}")

    def on_fit_task_end(self, estimator, context):
        self.tasks.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")


def search(**options):
    return SpotSearchCV(SVC(), SPACE, **{"n_iter": 3, "search": "random", "cv": 2, "random_state": 0, "start": []} | options)


def test_they_are_told_of_each_fold_and_the_refit():
    told = Told()
    fitted = search().set_callbacks(told).fit(X, Y)
    fold = ["begin fold of a suggestion of 0", "end fold of a suggestion"]
    path = ["begin search of 6", *6 * fold, "end search"]
    assert told.tasks == ["setup", "begin fit of 2", *path, "begin refit of 0", "end refit", "end fit", "teardown"]
    assert np.array_equal(fitted.decision_function(X), search().fit(X, Y).decision_function(X))
    del told.tasks[:]
    clone(fitted).set_params(refit=False).fit(X, Y)
    assert told.tasks[:2] == ["setup", "begin fit of 1"], "a copy of a search has its callbacks"


def test_they_are_ended_if_the_search_fails():
    told = Told()
    with pytest.raises(ValueError, match="nonsense"):
        search(scoring="nonsense").set_callbacks(told).fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        search().set_callbacks(told).fit(X, Y[:-1])

    def fail(study, trial):
        raise RuntimeError("here")

    with pytest.raises(RuntimeError, match="here"):
        search(callback=fail).set_callbacks(told).fit(X, Y)
    assert told.tasks[0] == "setup"
    assert told.tasks[-1] == "teardown"


def test_the_progress_bar_of_scikit_learn_follows_the_suggestions(capsys):
    pytest.importorskip("rich", reason="ProgressBar needs rich: pip install rich")
    from sklearn.callback import ProgressBar

    search().set_callbacks(ProgressBar()).fit(X, Y)
    assert "SpotSearchCV - search" in capsys.readouterr().out
