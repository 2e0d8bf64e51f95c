"""Raw tables in the forms that learners take: numbers alone, or columns whose categories are told by their type or their name."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

#: maximum number of 0/1 columns for the levels of a column; the rarest levels share one
_LEVELS = 30
#: maximum number of levels of HistGradientBoosting
_MOST_LEVELS = 254
_MISSING = "missing"


class Columns(NamedTuple):
    """The names of columns by kind."""

    numbers: list[str]
    dates: list[str]
    categories: list[str]


def columns_of(X: pd.DataFrame) -> Columns:
    """Return the columns of numbers, of dates, and of anything else."""
    names: list[Any] = list(X)
    dates = [name for name in names if pd.api.types.is_datetime64_any_dtype(X[name])]
    numbers = [name for name in names if pd.api.types.is_numeric_dtype(X[name])]
    return Columns(numbers, dates, [name for name in names if name not in {*dates, *numbers}])


def parts_of_dates(X: pd.DataFrame) -> pd.DataFrame:
    """Return year, month, day, weekday, hour, and the days since 1970 of each column."""
    parts: dict[str, Any] = {}
    for name in X:
        date = X[name].dt
        whole = {"year": date.year, "month": date.month, "day": date.day, "weekday": date.day_of_week, "hour": date.hour}
        parts |= {f"{name} {part}": values.astype(float) for part, values in whole.items()}
        parts[f"{name} days"] = (X[name] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return pd.DataFrame(parts, index=X.index)


def texts_of(X: pd.DataFrame) -> pd.DataFrame:
    """Return categories as texts, and gaps as a text of their own."""
    return pd.DataFrame({name: X[name].astype(object).where(X[name].notna(), _MISSING).map(str) for name in X}, index=X.index)


def _floats(X: pd.DataFrame) -> pd.DataFrame:
    return X.astype(float)


def numbers_alone(scaled: bool) -> Any:
    """Return a transformer: medians for gaps, 0/1 columns of levels, parts of dates; numbers `scaled` to variance 1 or not."""
    scaler = [StandardScaler()] if scaled else []
    steps = [
        (make_pipeline(FunctionTransformer(_floats), SimpleImputer(strategy="median"), *scaler), _named("numbers")),
        (make_pipeline(FunctionTransformer(parts_of_dates), SimpleImputer(strategy="median"), *scaler), _named("dates")),
    ]
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_LEVELS, sparse_output=False)
    steps.append((make_pipeline(FunctionTransformer(texts_of), levels), _named("categories")))
    return make_pipeline(make_column_transformer(*steps), VarianceThreshold())


class _named:
    """Select the columns of a kind."""

    def __init__(self, kind: str):
        self.kind = kind

    def __call__(self, X: pd.DataFrame) -> list[str]:
        return list(getattr(columns_of(X), self.kind))


class Typed(TransformerMixin, BaseEstimator):
    """Name columns x0, x1, ..., turn dates into numbers, and say which columns are categories by their type."""

    # texts: categories are texts, with gaps as a text of their own; otherwise they are of pandas' type, with at most 254 levels
    # of the training rows, and other levels are gaps. filled: gaps are medians of the training rows, or a level of their own
    def __init__(self, texts: bool = False, filled: bool = False):
        self.texts = texts
        self.filled = filled

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn levels and medians."""
        self.columns_ = columns_of(X)
        numbers = self._numbers(X)
        self.medians_ = numbers.median().fillna(0.0)
        found = self._texts(X)
        self.levels_ = {name: sorted(found[name].value_counts().index[:_MOST_LEVELS]) for name in found}
        #: the names of the columns of categories in what `transform` returns
        self.categories_ = [f"x{numbers.shape[1] + k}" for k in range(found.shape[1])]
        return self

    def _numbers(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([_floats(X[self.columns_.numbers]), parts_of_dates(X[self.columns_.dates])], axis=1)

    def _texts(self, X: pd.DataFrame) -> pd.DataFrame:
        texts = texts_of(X[self.columns_.categories])
        return texts if self.texts or self.filled else texts.where(X[self.columns_.categories].notna(), None)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the columns of numbers, then those of categories."""
        numbers, texts = self._numbers(X), self._texts(X)
        if self.filled:
            numbers = numbers.fillna(self.medians_)
        if not self.texts:
            known = {name: texts[name].where(texts[name].isin(self.levels_[name])) for name in texts}
            texts = pd.DataFrame({name: pd.Categorical(known[name], self.levels_[name]) for name in texts}, index=X.index)
        whole = pd.concat([numbers, texts], axis=1)
        return whole.set_axis([f"x{k}" for k in range(whole.shape[1])], axis=1)


def standard_numbers_first(X: pd.DataFrame) -> tuple[Any, list[int]]:
    """Return a fitted transformer of standardised numbers and then 0/1 columns of levels, and the numbers of levels."""
    columns = columns_of(X)
    parts: list[tuple[Any, list[str]]] = []
    for change, names in ((_floats, columns.numbers), (parts_of_dates, columns.dates)):
        filled = SimpleImputer(strategy="median", keep_empty_features=True)
        parts.append((make_pipeline(FunctionTransformer(change), filled, StandardScaler()), names))
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts.append((make_pipeline(FunctionTransformer(texts_of), levels), columns.categories))
    transformer = make_column_transformer(*parts).fit(X)
    if not columns.categories:
        return transformer, []
    return transformer, [len(found) for found in transformer.named_transformers_["pipeline-3"][-1].categories_]
