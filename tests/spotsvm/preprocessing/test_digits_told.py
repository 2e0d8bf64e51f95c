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


STAMP = 1_700_000_000_000_000_000
FORMS = {
    "1e13": 1e13 + X,
    "1e15": 1e15 + X / 8,
    "nanoseconds": STAMP + X * 10**6,
    "neighbouring nanoseconds": STAMP + X,
    "unsigned": np.uint64(2**63) + X.astype(np.int64).astype(np.uint64),
    "float32": (2**22 + X).astype(np.float32),
    "1e-300": X * 2.0**-997,
    "denormal": X * 2.0**-1040,
    "1e300": X * 2.0**997,
    "small and narrow": (2.0**43 + X) * 2.0**-1040,
    "mixed": np.column_stack([X[:, 0] + 1e14, X[:, 1], X[:, 2] * 2.0**-900]),
    "objects": (STAMP + X).astype(object),
    "frame": pd.DataFrame({"a": STAMP + X[:, 0], "b": [f"{STAMP + x}" for x in X[:, 1]], "c": X[:, 2] * 2.0**-900}),
    "nullable": pd.DataFrame(STAMP + X).astype("Int64"),
    "dates": pd.DataFrame(X * 10**4 + STAMP).apply(pd.to_datetime),
    "durations": pd.DataFrame(X * 10**9 + STAMP).apply(pd.to_timedelta),
}


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
