"""What is done with the columns of a table before the machine sees them, by their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, PowerTransformer, StandardScaler

from spotsvm.tuning.tables.kinds import Kinds

#: levels of a categorical column, all rare ones counting as one, and the share of the rows below which a level is rare
MOST_LEVELS, RARE = 20, 0.01
_YEAR, _WEEK, _DAY = 365.2425, 7.0, 1.0
#: how numbers are scaled
Scale = Literal["standard", "power"]


def column_transformer(kinds: Kinds, scale: Scale = "standard") -> Any:
    """Return a transformer of columns of several kinds, to be fitted within each fold; plain numbers are only scaled.

    A missing number is replaced by the column's median, and another column says where it was missing. Yes and no are 0 and 1,
    scaled as numbers. A category has a column for each of at most 20 levels, a missing value being one; levels in less than 1 %
    of the rows are taken together, also with levels that are new in later rows. Dates become `calendar_parts`. Numbers are scaled
    to mean 0 and variance 1, with scale="power" also by `power_scaler`.
    """
    scaler = power_scaler if scale == "power" else StandardScaler
    if kinds.plain:
        return scaler()
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
    levels = OneHotEncoder(
        min_frequency=RARE, max_categories=MOST_LEVELS, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    calendar = FunctionTransformer(calendar_parts, kw_args={"formats": dict(kinds.dates)})
    parts = [
        ("numbers", make_pipeline(_filled(), scaler()), list(kinds.numeric)),
        ("yes_no", make_pipeline(OrdinalEncoder(**unknown), _filled(), StandardScaler()), list(kinds.yes_no)),
        ("levels", levels, list(kinds.categorical)),
        ("dates", make_pipeline(calendar, _filled(), StandardScaler()), list(kinds.dates)),
    ]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


def power_scaler() -> Any:
    """Return a transformer that makes columns nearly normal, by the Yeo-Johnson transformation.

    Columns are standardised first: in units of their own, exponents become very large for columns with little spread.
    """
    return make_pipeline(StandardScaler(), PowerTransformer())


def _filled() -> SimpleImputer:
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def calendar_parts(X: pd.DataFrame, formats: Mapping[str, str]) -> NDArray[np.float64]:
    """Return numbers for columns of dates: the day since 1970, and sine and cosine of the time of year and of the week.

    Where a format has hours, those of the time of day are added. A date that is missing or unreadable gives nan.

    Examples
    --------
    >>> calendar_parts(pd.DataFrame({"when": ["1970-01-02", None]}), {"when": "%Y-%m-%d"}).round(2).tolist()[0]
    [1.0, 0.02, 1.0, 0.78, 0.62]
    """
    found = []
    for name, written in formats.items():
        times = pd.to_datetime(X[name], format=written, errors="coerce")
        days = ((times - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy(dtype=float)
        found.append(days)
        for period in (_YEAR, _WEEK, _DAY) if "%H" in written else (_YEAR, _WEEK):
            angle = 2 * np.pi * days / period
            found += [np.sin(angle), np.cos(angle)]
    return np.column_stack(found)
