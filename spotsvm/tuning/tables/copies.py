"""Rows of a table that are copies of each other."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: the name of the groups whose rows are copies of each other
COPIES = "copies of a row"
#: equal rows are copies if so many rows are different
_LEAST = 20


def copies_of(X: pd.DataFrame, y: pd.Series) -> pd.Series | None:
    """Return a group for each row, in which its copies are; None if there are no copies, or equal rows are to be expected.

    They are to be expected where there are more rows than combinations of the columns' values: new rows will be equal to some.

    Examples
    --------
    >>> X = pd.DataFrame({"a": [*range(20), 3], "b": [*range(20), 3], "c": 1})
    >>> copies_of(X, X["b"] > 9).tolist()[-2:], copies_of(X[["c"]], X["c"])
    ([19, 3], None)
    """
    groups = equal_rows(X, y)
    n, different = len(groups), groups.nunique()
    if different == n or different < _LEAST:
        return None
    combinations = np.log([*X.nunique(dropna=False), y.nunique()]).sum()
    return groups if combinations > np.log(n) else None


def equal_rows(X: pd.DataFrame, y: pd.Series) -> pd.Series:
    """Return a number for each row, which equal ones share."""
    columns = [pd.factorize(X.iloc[:, k], use_na_sentinel=False)[0] for k in range(X.shape[1])]
    columns.append(pd.factorize(y, use_na_sentinel=False)[0])
    keys = pd.util.hash_pandas_object(pd.DataFrame(dict(enumerate(columns))), index=False)
    return pd.Series(pd.factorize(keys)[0], index=X.index, name=COPIES)
