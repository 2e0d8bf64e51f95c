import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.tables import Table, held_out
from spotsvm.tuning.tables.split import possible_folds


def table(counts, groups=None):
    y = pd.Series(np.repeat(list("abcdefghij")[: len(counts)], counts), name="y")
    return Table(pd.DataFrame({"a": np.arange(float(len(y)))}), y, "classification", groups=groups)


@pytest.mark.parametrize(("counts", "folds"), [([20, 20], 5), ([20, 5], 4), ([20, 3], 2), ([20, 20, 2], 2)])
def test_folds_suit_the_smallest_class(counts, folds):
    cv, why = possible_folds(table(counts), 5, seed=0)
    assert cv == folds
    assert ("has only" in why) == (folds < 5)
    train, test = held_out(table(counts), cv, seed=0)
    assert len(train.y) + len(test.y) == sum(counts)
    assert train.y.value_counts().min() == folds or folds == 5


def test_folds_suit_the_groups():
    groups = pd.Series(np.arange(40) % 4)
    cv, why = possible_folds(table([20, 20], groups), 5, seed=0)
    assert cv == 3
    assert why == "the training rows have only 3 groups"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([9, 9, 1], "^class 'c' has only 1 row, .* leave its rows out by --drop-classes c$"),
        ([9, 9, 1, 1], "^2 classes, such as 'c', each have only 1 row, .* leave their rows out by --drop-classes c,d$"),
        ([9, 1], "^class 'b' has only 1 row, .* give more rows of it$"),
    ],
)
def test_a_class_of_one_row_is_refused_with_a_remedy(counts, said):
    with pytest.raises(DataError, match=said):
        possible_folds(table(counts), 5, seed=0)


def test_folds_that_the_training_rows_would_not_allow_are_not_named():
    with pytest.raises(DataError, match=r"^--cv 50 needs at least 50 rows, but there are 40; use fewer folds \(a smaller --cv\)"):
        held_out(table([20, 20]), 50, seed=0)
