"""Digits that cannot be kept are told."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification

from spotsvm import TableEncoder, TunedSVC
from spotsvm.errors import DataWarning
from spotsvm.tables import make_table
from spotsvm.tuning.tables.suspicions import suspicions

X, Y = make_classification(160, 3, n_informative=3, n_redundant=0, flip_y=0.05, random_state=0)
X = np.round(X * 256).astype(int)  # whole, so that an offset is exact


def test_what_cannot_be_kept_is_told():
    noise = np.where(X[:, 0] > 0, 0.1 + 0.2, 0.3)
    merged = np.where(X[:, 0] > 0, 2**60 + X[:, 1], X[:, 1] - 2**60)
    table = pd.DataFrame({"x": X[:, 0], "noise": noise, "merged": merged})
    for fit in (TableEncoder().fit, TableEncoder().fit_transform, lambda Z: TunedSVC(budget=1, random_state=0).fit(Z, Y)):
        with pytest.warns(DataWarning) as told:
            fit(table)
        (warning,) = told
        sentence = "the values of column 'noise' differ by rounding alone: taken as constant"
        assert str(warning.message).startswith(f"{sentence}; column 'merged' has whole numbers beyond 2^53: ")
        assert [(notice.code, notice.column) for notice in warning.message.notices] == [("digits", "noise"), ("digits", "merged")]
    with pytest.warns(DataWarning, match="column 'x1' differ by rounding"):
        encoded = TableEncoder().fit_transform(np.column_stack([X[:, 0], noise]))
    assert not encoded[:, 1].any()
    with pytest.warns(DataWarning, match="column 'x0' differ by rounding"):
        TunedSVC(budget=1, random_state=0).fit(csr_matrix(np.column_stack([noise, X])), Y)
    told = [notice.sentence for notice in suspicions(make_table(table, pd.Series(Y, name="y"))) if notice.code == "digits"]
    assert told[0] == sentence
    assert len(told) == 2
