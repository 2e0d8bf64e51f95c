import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from spotsvm.common.errors import ArgumentError
from spotsvm.trials.scores.optimism import Optimism

ROWS = (
    {"fold": 0, "tuned": 0.92, "outer": 0.88, "optimism": 0.04, "params": {"C": 2.0, "kernel": "rbf", "gamma": None}},
    {"fold": 1, "tuned": 0.90, "outer": 0.88, "optimism": 0.02, "params": {"C": 4.0}},
)
POINTS = (
    {"n_trials": 1, "tuned": 0.8, "outer": 0.81, "optimism": -0.01, "low": float("nan"), "high": float("nan")},
    {"n_trials": 20, "tuned": 0.91, "outer": 0.88, "optimism": 0.03, "low": 0.01, "high": 0.05},
)


@pytest.fixture
def found():
    return Optimism(0.03, (0.01, 0.05), 0.95, "nested", "jackknife", 0.91, 0.88, (0.85, 0.91), 20, "accuracy", ROWS, POINTS)


def test_json_and_back(found):
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Optimism.from_dict(json.loads(text))
    assert again.to_dict() == found.to_dict()
    assert again.rows == found.rows
    assert np.isnan(again.curve()["low"][0])
    with pytest.raises(ArgumentError, match="found has no 'optimism'"):
        Optimism.from_dict({})


def test_numbers_of_numpy_and_estimators_become_plain(found):
    rows = (
        {"fold": np.int64(0), "tuned": np.float64(0.5), "outer": 0.5, "optimism": 0.0, "params": {"kernel": np.array([1, 2])}},
    )
    assert json.dumps(replace(found, rows=rows, points=()).to_dict()["rows"]) == (
        '[{"fold": 0, "tuned": 0.5, "outer": 0.5, "optimism": 0.0, "params": {"kernel": [1, 2]}}]'
    )


def test_the_frame_has_a_column_a_parameter(found):
    frame = found.frame()
    assert list(frame.columns) == ["fold", "tuned", "outer", "optimism", "param_C", "param_kernel", "param_gamma"]
    assert frame["param_C"].tolist() == [2.0, 4.0]


def test_the_curve_of_the_cheap_methods_is_empty(found):
    curve = replace(found, method="folds", points=()).curve()
    assert len(curve) == 0
    assert "optimism" in curve


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.01, 0.05), "The tuned score is too optimistic."),
        ((-0.01, 0.05), "This difference can be explained by chance."),
        (
            (-0.05, -0.01),
            "The tuned score is not too optimistic: the scores on new data are better",
        ),
        ((float("nan"), float("nan")), "The uncertainty of this estimate is unknown."),
    ],
)
def test_the_summary_says_how_sure_it_is(found, interval, words):
    summary = replace(found, interval=interval).summary()
    assert words in summary
    assert "expect about 0.880 (0.850 to 0.910)" in summary
    assert ("95 % interval" in summary) == np.isfinite(interval[0])


@pytest.mark.parametrize("method", ["nested", "repeats", "folds"])
def test_the_summary_says_what_the_method_does_not_cover(found, method):
    summary = replace(found, method=method, notes=("A note.",)).summary()
    limits = {"nested": "does not cover new data that differ", "repeats": "does not cover the luck of the rows", "folds": "rough"}
    for name, words in limits.items():
        assert (words in summary) == (name == method)
    assert "A note." in summary


def test_an_unknown_method(found):
    with pytest.raises(ArgumentError, match="method='bootstrap' is unknown; use one of nested, repeats, folds"):
        replace(found, method="bootstrap")


def test_the_picture_is_the_curve_or_the_rows(found):
    ax = found.plot(Figure().subplots())
    assert [line.get_ydata()[-1] for line in ax.lines] == [0.91, 0.88]
    assert ax.get_xlabel() == "trials spent (mean of 2 outer folds)"
    ax = replace(found, method="folds", points=()).plot(Figure().subplots())
    assert ax.lines[0].get_ydata().tolist() == [0.92, 0.90]
    assert ax.get_ylabel() == "accuracy"
