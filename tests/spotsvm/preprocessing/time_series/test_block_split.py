import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from spotsvm import BlockSplit
from spotsvm.errors import ArgumentError, DataError

X = pd.DataFrame({"rain": np.arange(20.0)}, index=pd.date_range("1987-01-01", periods=20, freq="D"))
SETS = {"set 1": slice(0, 5), "set 2": slice(5, 10), "set 3": slice(10, 15), "set 4": slice(15, 20)}


def spans(splitter, data=X):
    return [(train.min(), train.max(), test.min(), test.max()) for train, test in splitter.split(data)]


@pytest.mark.parametrize("blocks", [4, SETS, {k: slice(X.index[s.start], X.index[s.stop - 1]) for k, s in SETS.items()}])
def test_a_split_for_each_test_block(blocks):
    splitter = BlockSplit(blocks, train="set 2", test=["set 4", "set 1"])
    assert splitter.get_n_splits() == splitter.get_n_splits(X) == 2
    assert spans(splitter) == [(5, 9, 15, 19), (5, 9, 0, 4)]
    assert [len(train) for train, _ in splitter.split(X)] == [5, 5]


def test_every_other_block_is_tested_on():
    splitter = BlockSplit(SETS, train=["set 3", "set 1"])
    assert splitter.get_n_splits() == 2
    assert [(train.tolist(), test.tolist()) for train, test in splitter.split(X)] == [
        ([0, 1, 2, 3, 4, 10, 11, 12, 13, 14], [5, 6, 7, 8, 9]),
        ([0, 1, 2, 3, 4, 10, 11, 12, 13, 14], [15, 16, 17, 18, 19]),
    ]


def test_ranges_of_time_as_texts_and_open_ends():
    splitter = BlockSplit({"early": slice(None, "1987-01-07"), "late": slice("1987-01-15", None)}, train="early")
    assert spans(splitter) == [(0, 6, 14, 19)]
    open_ended = BlockSplit({"early": slice(None, 7), "late": slice(-6, None)}, train="early", test="late")
    assert spans(open_ended) == spans(open_ended, X.to_numpy()) == [(0, 6, 14, 19)]


def test_it_is_a_splitter_for_scikit_learn():
    scores = cross_val_score(LinearRegression(), X, X["rain"], cv=BlockSplit(4, "set 2"))
    np.testing.assert_allclose(scores, [1.0, 1.0, 1.0])
    assert repr(BlockSplit(4, "set 2")) == "BlockSplit(blocks=4, test=None, train='set 2')"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, "set 1"), ArgumentError, "blocks=1; use a dict from names to slices, or a whole number of parts, 2 or more"),
        (({}, "set 1"), ArgumentError, r"blocks=\{\}; use a dict"),
        ((21, "set 1"), DataError, "blocks=21 is more than the number of rows, 20"),
        ((SETS, "set 5"), ArgumentError, "train='set 5': there is no block 'set 5'; there are 'set 1', 'set 2'"),
        ((SETS, "set 1", ["set 0"]), ArgumentError, r"test=\['set 0'\]: there is no block 'set 0'"),
        ((SETS, None), ArgumentError, "train=None; use one or several of the blocks 'set 1'"),
        ((SETS, []), ArgumentError, r"train=\[\]; use one or several"),
        ((2, ["set 1", "set 2"]), ArgumentError, "test=None; use one or several"),
        (({"a": slice(0, 5), "b": slice(4, 9)}, "a"), DataError, "the block 'b' has 1 rows in common .*, first row 4"),
        (({"a": slice(0, 5), "b": slice(15, 25)}, "a"), DataError, "the block 'b', 15 to 25, goes past the end of the 20 rows"),
        (({"a": slice(0, 5), "b": slice(-25, -1)}, "a"), DataError, "the block 'b', -25 to -1, goes past the end of the 20 rows"),
        (({"a": slice(0, 5), "b": slice(9, 9)}, "a"), DataError, "the block 'b', 9 to 9, has none of the 20 rows"),
        (
            ({"a": slice(0, 5), "b": slice("1988", "1989")}, "a"),
            DataError,
            "the block 'b', 1988 to 1989, has none of the 20 rows",
        ),
        (({"a": slice(0, 5), "b": slice("soon", None)}, "a"), ArgumentError, r"blocks\['b'\]: 'soon' to None is no range of X's"),
        (({"a": slice(0, 5), "b": [6, 7]}, "a"), ArgumentError, r"blocks\['b'\]=\[6, 7\]; use a slice of positions or of time"),
    ],
)
def test_what_makes_no_sense(arguments, error, message):
    with pytest.raises(error, match=message):
        list(BlockSplit(*arguments).split(X))


def test_ranges_of_time_need_rows_in_order_of_time():
    splitter = BlockSplit({"early": slice(None, "1987-01-07"), "late": slice("1987-01-15", None)}, train="early")
    with pytest.raises(DataError, match="X has no index of time stamps; pass a DataFrame"):
        list(splitter.split(X.to_numpy()))
    with pytest.raises(DataError, match="X's rows are not in order of time"):
        list(splitter.split(X.iloc[::-1]))
