import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from spotsvm.search_cv.results import search_results
from spotsvm.trials.trial import Trial


def trial(number, params, **extra):
    return Trial(number, params, (0.5,), state="ok" if extra else "failed", value=None, extra=extra)


def results(trials, metrics=("score",), n_splits=2, error_score=np.nan, return_train_score=False):
    return search_results(trials, metrics, n_splits, error_score=error_score, return_train_score=return_train_score)


def column(*values):
    """The column of a parameter that has these values."""
    return results([trial(k, {"a": value}) for k, value in enumerate(values)])["param_a"]


def ranked(*means):
    return results([trial(k, {}, split0_test_score=mean) for k, mean in enumerate(means)], n_splits=1)["rank_test_score"]


def test_the_columns_and_their_order():
    scores = {"split0_test_f1": 0.5, "split1_test_f1": 1.0, "split0_train_f1": 1.0, "split1_train_f1": 1.0}
    scores |= {name.replace("f1", "auc"): -value for name, value in scores.items()}
    clocks = {"mean_fit_time": 1.5, "std_fit_time": 0.1, "mean_score_time": 0.5, "std_score_time": 0.2}
    got = results([trial(0, {"b": 1, "a": 2}, **scores, **clocks)], ["f1", "auc"], return_train_score=True)
    assert list(got) == [
        *clocks, "param_b", "param_a", "params",
        "split0_test_f1", "split1_test_f1", "mean_test_f1", "std_test_f1", "rank_test_f1",
        "split0_train_f1", "split1_train_f1", "mean_train_f1", "std_train_f1",
        "split0_test_auc", "split1_test_auc", "mean_test_auc", "std_test_auc", "rank_test_auc",
        "split0_train_auc", "split1_train_auc", "mean_train_auc", "std_train_auc",
    ]  # fmt: skip
    assert {name: got[name].tolist() for name in clocks} == {name: [value] for name, value in clocks.items()}
    assert got["params"] == [{"b": 1, "a": 2}]
    assert (got["mean_test_f1"], got["std_test_f1"], got["mean_test_auc"]) == (0.75, 0.25, -0.75)
    kinds = {name: values.dtype.name for name, values in got.items() if not name.startswith("param")}
    assert kinds == {name: "int32" if name.startswith("rank") else "float64" for name in kinds}
    assert not any("train" in name for name in results([trial(0, {"a": 1})]))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([1, 0.5], np.float64),
        ([True, False], np.bool_),
        ([None, 1], object),
        (["a", 1], object),
        ([[1], [2, 3]], object),
        ([2**70, 1], object),
        ([OneHotEncoder(), "passthrough"], object),
        ([np.ones(2), np.ones(2)], object),
    ],
)
def test_a_parameters_column_has_the_type_of_its_values(values, dtype):
    got = column(*values)
    assert isinstance(got, np.ma.MaskedArray)
    assert (got.shape, got.dtype) == ((2,), np.dtype(dtype))
    assert not got.mask.any()
    assert all(mine is value or np.array_equal(mine, value) for mine, value in zip(got, values, strict=True))


def test_a_parameter_that_does_not_exist_is_masked_and_none_is_a_value():
    trials = [trial(0, {"a": 1, "b": None}), trial(1, {"c": "x"}), trial(2, {"a": 3, "c": "y"})]
    got = results(trials)
    assert {name: got[f"param_{name}"].mask.tolist() for name in "abc"} == {
        "a": [False, True, False],
        "b": [False, True, True],
        "c": [True, False, False],
    }
    assert got["param_a"].dtype == np.int64
    assert got["param_a"].tolist() == [1, None, 3]
    assert got["param_b"][0] is None
    assert got["params"] == [dict(t.params) for t in trials]


@pytest.mark.parametrize(
    ("means", "ranks"),
    [
        ([0.5, 0.9, 0.9], [3, 1, 1]),
        ([np.nan, 0.9, -0.5], [3, 1, 2]),
        ([np.nan, 0.9, np.nan], [2, 1, 2]),
        ([np.nan, np.nan], [1, 1]),
    ],
)
def test_ranks(means, ranks):
    assert ranked(*means).tolist() == ranks
    assert ranked(*means).dtype == np.int32


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_what_is_missing_has_the_error_score(error_score):
    trials = [trial(0, {"a": 1}, split0_test_score=1.0), trial(1, {"a": 2})]
    got = results(trials, error_score=error_score, return_train_score=True)
    assert np.array_equal(got["split0_test_score"], [1.0, error_score], equal_nan=True)
    assert np.array_equal(got["mean_test_score"], [0.5 + error_score, error_score], equal_nan=True)
    assert np.array_equal(got["split1_train_score"], [error_score] * 2, equal_nan=True)
    assert got["mean_fit_time"].tolist() == [0.0, 0.0]
