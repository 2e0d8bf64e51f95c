"""The intervals of nested searches."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.luck.intervals import jackknife_variance, nadeau_bengio, t_interval
from spotsvm.luck.refits.nested import Incumbent, OuterFold, OuterSplits, outer_splits, sum_up

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}
X, Y = make_classification(120, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-10, 2**2)}
INNER = StratifiedKFold(3, shuffle=True, random_state=1)


def searched(**options):
    return SpotSearchCV(SVC(), SPACE, **(PLAIN | {"n_iter": 8, "search": "random", "cv": INNER} | options))


@pytest.fixture(scope="module")
def found():
    return oversearching(searched(), X, Y, random_state=0)


def test_the_interval_is_the_jackknifes(found):
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))
    without = np.empty((5, 5))
    for k, row in enumerate(found.rows):
        train = splits[k][0]
        for b in range(5):
            scores = []
            for fit, test in INNER.split(X[train], Y[train]):
                kept = test if b == k else test[~np.isin(train[test], splits[b][1])]
                machine = SVC(**row["params"]).fit(X[train][fit], Y[train][fit])
                scores.append(machine.score(X[train][kept], Y[train][kept]))
            without[k, b] = np.mean(scores)
    frame = found.frame()
    assert np.diag(without) == pytest.approx(frame["tuned"].to_numpy())
    variance = jackknife_variance(without, frame["outer"])
    assert found.variance == "jackknife"
    assert found.interval == pytest.approx(t_interval(found.optimism, variance, 4, 0.95))
    assert found.expected_score.interval == pytest.approx(nadeau_bengio(frame["outer"], 0.25))


def test_nadeau_and_bengio_by_name(found):
    plain = oversearching(searched(), X, Y, random_state=0, variance="nadeau-bengio", confidence=0.8)
    assert plain.variance == "nadeau-bengio"
    assert plain.interval == pytest.approx(nadeau_bengio(found.frame()["optimism"], 0.25, 0.8))
    assert plain.rows == found.rows
    assert not plain.notes


@pytest.mark.parametrize("outer", [TimeSeriesSplit(3), ShuffleSplit(3, random_state=0), 2])
def test_where_folds_are_not_all_rows_the_interval_is_nadeau_and_bengios(outer):
    found = oversearching(searched(n_iter=2), X, Y, outer, random_state=0)
    assert found.variance == "nadeau-bengio"
    assert "rather wide" in found.summary()
    sizes = found.frame()
    ratio = (sizes["n_test"] / sizes["n_train"]).mean()
    # no two accuracies differ by more than 1
    assert found.interval == pytest.approx(np.clip(nadeau_bengio(sizes["optimism"], ratio), -1.0, 1.0))


def test_under_noise_the_recommended_trial_counts():
    incumbents = (Incumbent(1, 0.7, 0.7), Incumbent(4, 0.9, 0.6))
    folds = [
        OuterFold(k, 30, 15, 0.8, 0.7 + 0.01 * k, {}, 3, 5, incumbents, np.full(3, 0.8), "accuracy") for k in range(3)
    ]  # fmt: skip
    splits = list(KFold(3).split(X[:45]))
    found = sum_up(folds, OuterSplits(splits, [[0, 1, 2]]), 0.95, "auto")
    assert (found.tuned_score, found.optimism) == pytest.approx((0.8, 0.09))
    assert found.curve()["tuned"].tolist() == pytest.approx([0.7, 0.9, 0.9])
    assert "the search recommends a trial by its model of the noise" in found.summary()


def test_folds_of_a_regression_are_not_stratified():
    assert outer_splits(4, X, X[:, 0], None, classifier=False, seed=0).repeats == [[0, 1, 2, 3]]
