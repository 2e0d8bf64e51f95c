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
