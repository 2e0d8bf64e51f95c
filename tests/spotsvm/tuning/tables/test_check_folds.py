"""Tables too small for their folds are refused."""

import numpy as np
import pandas as pd
import pytest

from spotsvm.errors import DataError
from spotsvm.tables import Table
from spotsvm.tuning.tables.split import check_folds


def table(counts, task="classification", labels=(0, 1, 2)):
    y = pd.Series(np.repeat(labels[: len(counts)], counts), name="y")
    return Table(pd.DataFrame({"a": np.arange(float(len(y)))}), y, task)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (table([3, 2]), "^class 1 has only 2 of the training rows, fewer than --cv 3; use --cv 2, .* or use --task regression$"),
        (table([3, 2], labels=("x", "y")), "^class 'y' has only 2 .* --cv 3; use --cv 2, or give more rows of it$"),
        (table([9, 8, 1]), "^class 2 has only 1 of .* --cv 3; leave its rows out by --drop-classes 2, or use --task regression$"),
        (table([9, 1], labels=("x", "y")), "^class 'y' has only 1 of .* --cv 3; give more rows of it$"),
        (table([1, 1]), r"^--cv 3 needs at least 3 training rows, but there are 2; use fewer folds \(--cv 2\)"),
        (table([1, 1], "regression"), r"^--cv 3 needs at least 3 training rows, but there are 2"),
    ],
)
def test_folds_that_do_not_fit_are_refused(given, message):
    with pytest.raises(DataError, match=message):
        check_folds(given, 3, "training rows")
    check_folds(table([3, 3]), 3)
    check_folds(table([1] * 3, "regression"), 3)
