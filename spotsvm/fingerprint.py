"""Data and parameters in a form that is the same for the same values, whatever process or object holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import joblib
import pandas as pd
from scipy.sparse import issparse


def canonical(data: Any) -> Any:
    """Give sparse data in a form that does not depend on what was done with them; other data as they are."""
    if not issparse(data):
        return data
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    return rows.shape, rows.data, rows.indices, rows.indptr


def as_text(value: Any) -> str:
    """Give a text that is the same in another process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def whole(value: Any) -> Any:
    """Give a parameter of which the text leaves nothing out: frames, series and sparse data become a hash of their values.

    Examples
    --------
    >>> frames = [pd.DataFrame({"rain": range(100)}) for _ in range(3)]
    >>> frames[2].loc[50, "rain"] = 7
    >>> [repr(whole({"history": frame})) == repr(whole({"history": frames[0]})) for frame in frames]
    [True, True, False]
    """
    if isinstance(value, Mapping):
        return {key: whole(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(whole(one) for one in value)
    if issparse(value):
        return joblib.hash(canonical(value))
    if not isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return value
    names = list(value.columns) if isinstance(value, pd.DataFrame) else value.name
    try:
        # by values alone, not by how pandas has laid them out in memory
        return joblib.hash((names, pd.util.hash_pandas_object(value).to_numpy()))
    except TypeError:  # cells that have no hash, such as lists
        return joblib.hash(value)
