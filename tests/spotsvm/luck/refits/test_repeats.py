import numpy as np
import pytest
from scipy.stats import loguniform
from scipy.stats import t as student
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.errors import DataError
from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.luck.refits.repeats import fresh_splits
from spotsvm.studies.common.plain_search import PLAIN

X, Y = make_classification(80, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-10, 2**2)}


def searched(**options):
    return SpotSearchCV(SVC(), SPACE, **(PLAIN | {"n_iter": 12, "search": "random", "cv": 4, "random_state": 0} | options))


def test_the_winner_and_runners_up_are_scored_on_fresh_splits():
    search = searched().fit(X, Y)
    found = oversearching(search, X, Y, method="repeats", n_candidates=3, n_repeats=2, random_state=7)
    splits = fresh_splits(search, X, Y, None, 2, 7)
    order = np.argsort(-search.cv_results_["mean_test_score"], kind="stable")[:3]
    for row, k in zip(found.rows, order, strict=True):
        scores = cross_val_score(SVC(**search.cv_results_["params"][k]), X, Y, cv=splits)
        tuned = search.cv_results_["mean_test_score"][k]
        assert (row["tuned"], row["outer"]) == pytest.approx((tuned, scores.mean()))
        assert (row["low"], row["high"]) == pytest.approx(nadeau_bengio(tuned - scores, 1 / 3))
    assert found.tuned_score == pytest.approx(search.best_score_)
    assert found.interval == (found.rows[0]["low"], found.rows[0]["high"])
    assert found.optimism - student.ppf(0.975, 7) * found.error == pytest.approx(found.interval[0])
    assert found.variance == "nadeau-bengio"
    assert found.frame()["candidate"].tolist() == list(order)


def test_a_search_that_has_not_searched_is_fitted_and_left_as_it_is():
    search = searched()
    found = oversearching(search, X, Y, method="repeats", random_state=3)
    assert not hasattr(search, "cv_results_")
    assert found.n_trials == 12
    # nan is not equal to itself
    assert found.to_dict() == oversearching(searched(), X, Y, method="repeats", random_state=3, n_jobs=2).to_dict()
    assert len(found.frame()) == 5


@pytest.mark.parametrize(
    "cv",
    [
        4,
        KFold(4),
        StratifiedKFold(4, shuffle=True, random_state=0),
        ShuffleSplit(4, random_state=0),
        RepeatedKFold(n_splits=4, n_repeats=1),
    ],
)
def test_fresh_splits_are_others_of_the_same_kind(cv):
    search = searched(cv=cv)
    splits = fresh_splits(search, X, Y, None, 3, 0)
    assert len(splits) == 12
    tests = {tuple(test) for _, test in splits}
    assert len(tests) == 12
    assert getattr(cv, "random_state", None) in (None, 0)


def test_candidates_of_like_parameters_are_one():
    grid = GridSearchCV(SVC(), [{"C": [1.0, 0.1]}, {"C": [1.0]}], cv=3).fit(X, Y)
    assert len(oversearching(grid, X, Y, method="repeats", random_state=0).frame()) == 2


def test_it_says_whether_a_runner_up_is_better():
    grid = GridSearchCV(SVC(), {"C": [1.0]}, cv=3).fit(X, Y)
    assert "There is no runner-up" in oversearching(grid, X, Y, method="repeats", random_state=0).summary()
    # the scores of the search are turned round, so that its winner is the worst by far
    swapped = GridSearchCV(SVC(), {"C": [1e-6, 1.0]}, cv=3).fit(X, np.where(Y == 1, 1, 0))
    swapped.cv_results_["mean_test_score"] = swapped.cv_results_["mean_test_score"][::-1].copy()
    swapped.best_index_ = 0
    summary = oversearching(swapped, X, Y, method="repeats", random_state=0).summary()
    assert "than the winner" in summary
    assert "more than can be explained by chance" in summary


def test_a_winner_that_fails_afresh():
    class Moody(SVC):
        def fit(self, X, y, sample_weight=None):
            if getattr(Moody, "moody", False):
                raise ValueError("not today")
            return super().fit(X, y)

    search = GridSearchCV(Moody(), {"C": [1.0]}, cv=3).fit(X, Y)
    Moody.moody = True
    with (
        pytest.warns(Warning, match="1 of 1 candidates failed.*not today"),
        pytest.raises(DataError, match="the winner failed on a fresh split"),
    ):
        oversearching(search, X, Y, method="repeats", random_state=0)
