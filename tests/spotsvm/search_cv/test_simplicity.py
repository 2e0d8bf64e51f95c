"""The order of simplicity."""

import numpy as np
import pytest

from spotsvm.search_cv.simplest import simplest, simplicity


def results(params, folds):
    folds = np.asarray(folds, dtype=float)
    columns = {f"split{k}_test_score": folds[:, k] for k in range(folds.shape[1])}
    return {"params": params, "mean_test_score": folds.mean(axis=1), **columns}


# standard deviation 0.04 and so a standard error of 0.02 for four folds
SPREAD = 0.04 * np.array([-1, -1, 1, 1]) * np.sqrt(3 / 4)


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
