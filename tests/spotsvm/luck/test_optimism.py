import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from spotsvm import Optimism
from spotsvm.errors import ArgumentError
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.sentences import number

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
    expected = Estimate(0.88, (0.85, 0.91), metric="accuracy", how="nested")
    return Optimism(
        0.03, (0.01, 0.05), metric="accuracy", how="nested", tuned_score=0.91, expected_score=expected, n_trials=20,
        variance="jackknife", rows=ROWS, points=POINTS,
    )  # fmt: skip


def test_json_and_back_and_the_frame(found):
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Optimism.from_dict(json.loads(text))
    assert again.to_dict() == found.to_dict()
    assert again.rows == found.rows
    assert np.isnan(again.curve()["low"][0])
    with pytest.raises(ArgumentError, match="found has no 'expected_score'"):
        Optimism.from_dict({})
    rows = ({"fold": np.int64(0), "tuned": np.float64(0.5), "params": {"kernel": np.array([1, 2])}},)
    plain = '[{"fold": 0, "tuned": 0.5, "params": {"kernel": [1, 2]}}]'
    assert json.dumps(replace(found, rows=rows, points=()).to_dict()["rows"]) == plain
    frame = found.frame()
    assert list(frame.columns) == ["fold", "tuned", "outer", "optimism", "param_C", "param_kernel", "param_gamma"]
    assert frame["param_C"].tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.01, 0.05), "The tuned score is too optimistic."),
        ((-0.01, 0.05), "This difference can be explained by chance."),
        ((-0.05, -0.01), "The tuned score is not too optimistic: the scores on new data are better"),
        ((float("nan"), float("nan")), "The uncertainty of this estimate is unknown."),
    ],
)
def test_the_summary_says_how_sure_it_is(found, interval, words):
    summary = replace(found, interval=interval).summary()
    assert words in summary
    assert "expect about 0.880 (0.850 to 0.910)" in summary
    assert ("95 % interval" in summary) == np.isfinite(interval[0])


@pytest.mark.parametrize("method", ["nested", "folds"])
def test_the_summary_says_what_the_method_does_not_cover(found, method):
    summary = replace(found, how=method, notes=("A note.",)).summary()
    limits = {
        "nested": "does not cover new data that differ",
        "folds": "rough",
    }
    for name, words in limits.items():
        assert (words in summary) == (name == method)
    assert "A note." in summary.splitlines()


def test_the_picture_is_the_curve_or_the_rows(found):
    ax = found.plot(Figure().subplots())
    assert [line.get_ydata()[-1] for line in ax.lines] == [0.91, 0.88]
    assert ax.get_xlabel() == "trials spent (mean of 2 outer folds)"
    cheap = replace(found, how="folds", points=())
    assert (len(cheap.curve()), "optimism" in cheap.curve()) == (0, True)
    ax = cheap.plot(Figure().subplots())
    assert ax.lines[0].get_ydata().tolist() == [0.92, 0.90]
    assert ax.get_ylabel() == "accuracy"
    with pytest.raises(ArgumentError, match="how='draws' is no method of oversearching; use one of nested, folds"):
        replace(found, how="draws")
    with pytest.raises(ArgumentError, match="how='bootstrap' is unknown; use one of draws, rows"):
        replace(found, how="bootstrap")


def test_an_estimate_of_a_method_of_0_2_0_names_the_version(found):
    for given in (found.to_dict() | {"how": "repeats"}, found.to_dict() | {"expected_score": {"how": "fresh"}}):
        with pytest.raises(ArgumentError, match=r"is a method of version 0\.2\.0, which this version does not have"):
            Optimism.from_dict(given)


def told(optimism, interval, tuned, outer, outer_interval, metric="accuracy", method="nested", variance="jackknife"):
    rows = tuple({"fold": k} for k in range(5))
    expected = Estimate(outer, outer_interval, metric=metric, how=method)
    return Optimism(
        optimism, interval, metric=metric, how=method, tuned_score=tuned, expected_score=expected, n_trials=20,
        variance=variance, rows=rows,
    ).summary()  # fmt: skip


def test_the_answer_comes_first_with_as_many_digits_as_the_interval_has():
    said = told(0.002353, (-0.0301, 0.0348), 0.98777, 0.98542, (0.97123, 1.0))
    assert said.startswith(
        "The tuned accuracy of 0.988 is probably 0.002 (95 % interval -0.030 to 0.035) too high; on new data expect about 0.985 "
        "(0.971 to 1, the maximum).\nThis difference can be explained by chance.\nMethod: nested resampling. In each of 5 outer "
        "folds the whole search of 20 trials was repeated"
    )
    assert "a jackknife over the outer folds" in said


def test_no_minus_and_no_error_below_0():
    said = told(0.1142, (-10.59, 10.82), -57.93, -58.05, (-89.8, -26.3), "neg_root_mean_squared_error", variance="nadeau-bengio")
    # half the interval is 11, of which two digits are whole numbers
    assert "The tuned RMSE of 58 shows no optimism (0, 95 % interval -11 to 11);" in said
    assert "on new data expect about 58 (26 to 90)." in said
    much = told(9.142, (-1.59, 19.82), -57.93, -67.05, (-89.8, -26.3), "neg_root_mean_squared_error")
    assert "The tuned RMSE of 58 is probably 9 (95 % interval -2 to 20) too low;" in much
    assert "that of Nadeau and Bengio, corrected for rows that resamples share" in said
    assert "(0, the minimum, to 2.50)" in told(0.4, (-0.5, 0.9), -0.6, -1.0, (-2.5, 0.0), "neg_mean_absolute_error")


def test_no_optimism_and_no_interval_are_called_that_and_numbers_keep_their_size():
    for optimism in (0.0, -0.012):
        said = told(optimism, (-0.05, 0.04), 0.9, 0.9 - optimism, (0.8, 0.97))
        assert said.startswith(f"The tuned accuracy of 0.900 shows no optimism ({optimism:.3f}, 95 % interval -0.050 to 0.040);")
    said = told(0.0, (0.0, 0.0), 0.97, 0.97, (0.97, 0.97), method="folds", variance="nadeau-bengio")
    assert said.startswith(
        "The tuned accuracy of 0.970 shows no optimism (0.000); on new data expect about 0.970.\nMethod: fold scores"
    )
    assert "interval" not in said
    assert told(1234.5, (1000.0, 1469.0), 98765.4, 97530.9, (9e4, 1e5), "profit").startswith(
        "The tuned profit of 98765 is probably 1234 (95 % interval 1000 to 1469) too high; on new data expect about 97531 "
    )
    assert "0.0000123" in told(1.23e-5, (1.0e-5, 1.4e-5), 1e-4, 8.8e-5, (1e-5, 2e-4), "r2")
    assert number(-0.0004, 3) == "0.000"


def test_a_single_candidate_and_trial_are_named_in_the_singular(found):
    assert "the whole search of 1 trial was repeated" in replace(found, n_trials=1).summary()
    assert "the best of 1 candidate in that fold" in replace(found, how="folds", n_trials=1).summary()


def test_rounding_is_no_optimism(found):
    assert replace(found, value=1.1e-16).optimism == 0.0
    assert replace(found, value=-1e-9).optimism == -1e-9
