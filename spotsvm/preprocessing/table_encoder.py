"""Encode the columns of any table as numbers: numbers, yes/no, categories, texts and dates, with or without gaps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_integer_dtype, is_numeric_dtype, is_timedelta64_dtype
from pandas.tseries.api import guess_datetime_format
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.compat import check_feature_names_in
from spotsvm.common.notices import Notice, tell
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.kept_digits import ends, has_large, has_large_integers, lost_digits, stored, units, varies
from spotsvm.preprocessing.missing_codes import column_codes

#: a text is an identifier if more than this number of values, and more than this share, are different and single words
_MANY_LEVELS, _NEARLY_ALL = 20, 0.9
#: a text is a category if it has at most this number of levels, or at least this number of rows per level on average
_FEW_LEVELS, _ROWS_OF_LEVEL = 40, 4
#: maximum number of 0/1 columns of a category that the user names; the rarest levels share the last column
_MOST_COLUMNS = 256
#: name of a date column for its encoder, and prefix of the names of its numbers
_DATE = "date_"
#: number of cells from which the format of dates is guessed
_DATES_SEEN = 30


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table with columns of any kind as an array of floats.

    The kind of each column is decided by the training rows:

    - *number* (also numbers, booleans and durations written as text): kept;
    - *yes/no* (a text with two values): 0 or 1, in alphabetical order;
    - *category* (a text with at most 40 values, or with at most `max_levels` values that occur 4 times on average): a 0/1 column
      for each level; a gap is a level of its own;
    - *text* (any other): `n_components` components of its sequences of letters, by skrub's `StringEncoder`: values with similar
      spelling are near each other. All components together have the variance of one standardised column;
    - *date*: the days since 1970, the year, and sine and cosine of the month, of its day, of the weekday and, if there are times,
      of the hour, by skrub's `DatetimeEncoder`. Dates may have any format that pandas can guess, such as "Jan 1 2000";
    - *constant*: left out;
    - *identifier* (a text with more than 20 different values in over 90 % of its rows, most of them single words): left out.

    Gaps in numbers, yes/no and dates are filled with the median, and a 0/1 column marks them. In later rows, an unseen level is 0
    in all columns of its category. A gap in a column that had none is filled with the median, and so is a cell that cannot be
    read as a number or date. An array of numbers keeps all its columns, constant or not, and is not copied if it has no gaps. A
    value that may be a code for missing values, as it is frequent and far from all others, is told and kept.

    Numbers whose digits would be lost have another origin or unit, which `columns_` names: numbers with a range below 1e-8 of the
    largest, such as time stamps in nanoseconds, are kept less the smallest, and numbers beyond 1e-140 or 1e140 times a power of
    two. Numbers that differ by at most four units of their last binary digit count as constant, but not by 1 or more below 2^53.

    Parameters
    ----------
    categorical : iterable of str, default=()
        Columns to treat as categories, even if they have numbers. The 255 most frequent levels have a column each; all others
        share one column.
    max_levels : int, default=255
        Maximum number of levels of a category that is not named in `categorical`.
    n_components : int, default=30
        Number of components of a text; fewer if its values have fewer sequences of 3 or 4 letters.
    scaler : transformer, default=None
        Scales numbers, yes/no and dates, such as ``StandardScaler()``. Levels, gaps and the components of texts already have a
        suitable scale. A `StandardScaler` for all columns would change it: a rare level would become large.
    random_state : int, default=0
        Seed of the components of texts.

    Attributes
    ----------
    columns_ : DataFrame
        A row for each input column: `column`, `kind`, `treatment` in words, `n_outputs`, and `levels`, the number of different
        values of a text, NaN for other kinds.
    notices_ : tuple of Notice
        What the fit told by a `DataWarning`: `code`, `sentence`, `column`, and `share` of the rows.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of str
        Names of the input columns, if the input is a frame whose column names are texts.

    Notes
    -----
    skrub's `TableVectorizer` encodes tables too, and its `StringEncoder` and `DatetimeEncoder` are used here. It leaves gaps in
    numbers and identifiers in the table, keeps numbers in single precision, and goes through columns of numbers one by one, which
    takes long for thousands of them in each fold.

    Examples
    --------
    >>> import pandas as pd
    >>> days = ["Jan 1 1970", "May 2 1970", None]
    >>> X = pd.DataFrame(
    ...     {
    ...         "size": [1.5, None, 2.5],
    ...         "colour": ["red", "blue", "green"],
    ...         "day": days,
    ...     }
    ... )
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.transform(X)[:, [0, 1, -3, -2, -1]]
    array([[  1.5,   0. ,   0. ,   0. ,   1. ],
           [  2. , 121. ,   1. ,   0. ,   0. ],
           [  2.5,  60.5,   0. ,   1. ,   0. ]])
    >>> encoder.columns_[["column", "kind", "n_outputs"]]
       column      kind  n_outputs
    0    size    number          2
    1  colour  category          3
    2     day      date          7
    """

    def __init__(
        self,
        categorical: Iterable[str] = (),
        *,
        max_levels: int = 255,
        n_components: int = 30,
        scaler: Any = None,
        random_state: int = 0,
    ):
        self.categorical = categorical
        self.max_levels = max_levels
        self.n_components = n_components
        self.scaler = scaler
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide the kind of each column and learn its levels, components and medians.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Fit to a table and return its numbers; see `fit` and `transform`.

        Returns
        -------
        ndarray of shape (n_rows, n_numbers)
            The numbers.

        Raises
        ------
        DataError
            If no column has anything to learn from.
        """
        table, names = self._checked(X, reset=True), self._input_names(X)
        is_frame = isinstance(table, pd.DataFrame)
        self._encoders: dict[int, Any] = {}  # encoders of the non-numeric columns, by position
        self._n_levels: dict[int, int] = {}
        self._kinds = ["number"] * table.shape[1]
        if is_frame:
            forced = self._forced(names)
            for k, dtype in enumerate(table.dtypes):
                if k in forced or not _is_number(dtype):
                    self._kinds[k] = self._fitted_kind(k, table.iloc[:, k], k in forced)
        self._units: dict[int, tuple[float, float]] = {}  # origin and factor of numbers, by position
        given, self._owners = self._values(table)
        self._units = units(given, lambda k: self._exact(table, given, k)[0])
        values = self._values(table)[0] if self._units else given
        first = np.diff(self._owners, prepend=-1) != 0  # the numbers of a date have the same gaps
        days = {k for k in np.flatnonzero(first).tolist() if self._kinds[self._owners[k]] == "date"}
        looked_at = {k: names[j] for k, j in enumerate(self._owners.tolist()) if k in days or j not in self._encoders}
        self.notices_ = (*self._lost_digits(table, given, values, names), *column_codes(given, looked_at, days))
        missing = np.isnan(values)
        some, known = missing.any(axis=0), ~missing.all(axis=0)
        self._gaps = np.flatnonzero(some & known & first)
        self._used = np.flatnonzero(varies(*ends(values))) if is_frame else np.arange(values.shape[1])
        with_output = set(self._owners[np.r_[self._used, self._gaps]].tolist())
        for k in set(self._owners.tolist()) - with_output:
            self._kinds[k] = "constant"
        self._fill = np.zeros(values.shape[1])
        for columns, median in ((~some, np.median), (some & known, np.nanmedian)):  # nanmedian is slow
            if columns.any():
                self._fill[columns] = median(values[:, columns], axis=0)
        numbers = self._filled(values, missing)
        self.scaler_ = None if self.scaler is None or not numbers.shape[1] else clone(self.scaler).fit(numbers)
        self._report = self._rows_of_report(names)
        if not self.columns_["n_outputs"].any():
            raise DataError(
                "each column has the same value in all rows or is an identifier, so there is nothing to learn from; name a "
                "column as categorical to use it"
            )
        tell(self.notices_)
        return self._joined(table, numbers, missing)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the table as numbers.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            A table with the columns of the fitted table.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Numbers, yes/no and dates first; then the 0/1 columns of gaps; then categories and texts.
        """
        check_is_fitted(self, "columns_")
        table = self._checked(X, reset=False)
        values, _ = self._values(table)
        missing = np.isnan(values)
        return self._joined(table, self._filled(values, missing), missing)

    @property
    def columns_(self) -> pd.DataFrame:
        """The treatment of each input column."""
        return pd.DataFrame(self._report, columns=["column", "kind", "treatment", "n_outputs", "levels"])

    @property
    def sources_(self) -> NDArray[np.intp]:
        """The position of the input column of each output."""
        check_is_fitted(self, "columns_")
        counts = self.columns_["n_outputs"]
        blocks = [np.full(counts[k], k) for k, _ in self._blocks()]
        return np.concatenate([self._owners[self._used], self._owners[self._gaps], *blocks]).astype(np.intp)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the outputs.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns, if the fitted table had none.

        Returns
        -------
        ndarray of str
            A name for each output.
        """
        check_is_fitted(self, "columns_")
        given = check_feature_names_in(self, input_features)
        names: list[str] = []
        for k in dict.fromkeys(self._owners.tolist()):
            if k in self._encoders and isinstance(self._encoders[k], tuple):
                parts = ["day", *(part.removeprefix(_DATE) for part in self._encoders[k][1].all_outputs_)]
                names += [f"{given[k]}_{part}" for part in parts]
            else:
                names.append(given[k])
        out = [names[k] for k in self._used] + [f"{given[k]}_missing" for k in self._owners[self._gaps]]
        for k, encoder in self._blocks():
            if self._kinds[k] == "category":
                out += encoder.get_feature_names_out([given[k]]).tolist()
            else:
                out += [f"{given[k]}_{i}" for i in range(encoder.n_components_)]
        return np.asarray(out, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        """Return a frame if X is a frame or an array of objects, else an array of floats."""
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not all(X.shape):
                raise DataError(f"X has {X.shape[0]} rows and {X.shape[1]} columns; at least one of each is needed")
            return X
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        if array.dtype.kind in "biuf" and (reset or not self._encoders):
            return array if has_large_integers(array) else array.astype(float, copy=False)
        return pd.DataFrame(array).infer_objects()

    def _input_names(self, X: Any) -> list[str]:
        return [str(name) for name in X.columns] if isinstance(X, pd.DataFrame) else [f"x{k}" for k in range(self.n_features_in_)]

    def _forced(self, names: list[str]) -> set[int]:
        categorical = [self.categorical] if isinstance(self.categorical, str) else list(self.categorical)
        unknown = next((name for name in categorical if name not in names), None)
        if unknown is not None:
            raise ArgumentError(f"categorical={unknown!r} is not a column; there are {', '.join(map(repr, names[:8]))}")
        return {k for k, name in enumerate(names) if name in categorical}

    def _fitted_kind(self, k: int, column: pd.Series, forced: bool) -> str:
        """Fit the encoder of a column without a numeric type, and return the kind of the column."""
        if not forced:
            if _are_numbers(column):
                return "number"
            written = date_format(column)
            if written is not None:
                from skrub import DatetimeEncoder  # on use: it takes a second

                # DatetimeEncoder has the time in single precision
                encoder = DatetimeEncoder(add_weekday=True, add_total_seconds=False, periodic_encoding="circular")
                encoder.fit(read_dates(column, written))
                self._encoders[k] = (written, encoder)
                return "date"
        texts = as_texts(column)
        n = self._n_levels[k] = int(texts.nunique())
        if n + texts.isna().any() < 2:
            return "constant"
        if not forced and is_identifier(texts):
            return "identifier"
        if n == 2 and not forced:
            self._encoders[k] = sorted(texts.dropna().unique())
            return "yes/no"
        repeated = n <= _FEW_LEVELS or n * _ROWS_OF_LEVEL <= texts.notna().sum()
        if forced or (n <= self.max_levels and repeated) or isinstance(column.dtype, pd.CategoricalDtype):
            self._encoders[k] = OneHotEncoder(
                handle_unknown="infrequent_if_exist", max_categories=_MOST_COLUMNS, sparse_output=False
            ).fit(_cells(texts))
            return "category"
        from skrub import StringEncoder

        self._encoders[k] = StringEncoder(self.n_components, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer sequences of letters than components
            self._encoders[k].fit(texts)
        return "text"

    def _values(self, table: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the numbers, yes/no and dates with gaps as NaN, and the column of each."""
        values, owners = self._floats(table)
        if self._units:
            values = values.copy()
            for k, unit in self._units.items():
                numbers, known = self._exact(table, values, k)
                values[known, k] = stored(numbers, unit)
        return values, owners

    def _exact(self, table: Any, values: NDArray[np.float64], k: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the numbers of a column of `values`, whole numbers as such, without gaps, and a mask of their rows."""
        known, owner = ~np.isnan(values[:, k]), int(self._owners[k])
        if not isinstance(table, pd.DataFrame):
            numbers = table[known, owner]
        elif owner in self._encoders:
            numbers = values[known, k]
        else:
            numbers = _whole_numbers(table.iloc[known, owner])
        return (numbers if numbers.dtype.kind in "iu" else values[known, k]), known

    def _lost_digits(self, table: Any, given: NDArray[Any], values: NDArray[Any], names: list[str]) -> tuple[Notice, ...]:
        found = []
        changed = np.isin(np.arange(given.shape[1]), list(self._units))
        for k in np.flatnonzero(changed | has_large(given)).tolist():
            numbers, known = self._exact(table, given, k)
            found.append(lost_digits(names[self._owners[k]], numbers, values[known, k]))
        return tuple(notice for notice in found if notice is not None)

    def _floats(self, table: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        if not isinstance(table, pd.DataFrame):
            return table.astype(float, copy=False), np.arange(table.shape[1])
        numbers = [k for k, kind in enumerate(self._kinds) if k not in self._encoders and k not in self._n_levels]
        part = table.iloc[:, numbers]
        if not all(map(is_numeric_dtype, part.dtypes)):
            part = pd.DataFrame({k: _as_numbers(table.iloc[:, k]) for k in numbers}, index=table.index)
        blocks, owners = [part.to_numpy(dtype=float, na_value=np.nan)], [numbers]
        if np.isinf(blocks[0]).any():
            k = int(np.argmax(np.isinf(blocks[0]).any(axis=0)))
            raise ValueError(f"Input X contains infinity in column {table.columns[numbers[k]]!r}; correct the cell")
        for k, encoder in self._encoders.items():
            if isinstance(encoder, list):
                blocks.append(
                    as_texts(table.iloc[:, k]).map(dict(zip(encoder, (0.0, 1.0), strict=True))).to_numpy(float)[:, None]
                )
            elif isinstance(encoder, tuple):
                blocks.append(_calendar(table.iloc[:, k], *encoder))
            else:
                continue
            owners.append([k] * blocks[-1].shape[1])
        return (blocks[0] if len(blocks) == 1 else np.hstack(blocks)), np.concatenate(owners).astype(np.intp)

    def _filled(self, values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the numbers that are used, with gaps filled by medians."""
        if missing.any():
            values = np.where(missing, self._fill, values)
        return values if len(self._used) == values.shape[1] else values[:, self._used]

    def _joined(self, table: Any, numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return all outputs."""
        parts = [numbers if self.scaler_ is None else self.scaler_.transform(numbers)]
        parts += [missing[:, self._gaps].astype(float)] if len(self._gaps) else []
        for k, encoder in self._blocks():
            texts = as_texts(table.iloc[:, k])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # unseen levels are allowed
                parts.append(np.asarray(encoder.transform(_cells(texts) if self._kinds[k] == "category" else texts), dtype=float))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _blocks(self) -> list[tuple[int, Any]]:
        """Return the encoders of categories and texts with their columns."""
        return [(k, encoder) for k, encoder in self._encoders.items() if self._kinds[k] in ("category", "text")]

    def _rows_of_report(self, names: list[str]) -> list[tuple[Any, ...]]:
        counts = np.zeros(len(names), dtype=int)
        np.add.at(counts, self._owners[self._used], 1)
        np.add.at(counts, self._owners[self._gaps], 1)
        for k, encoder in self._blocks():
            counts[k] = encoder.n_components_ if self._kinds[k] == "text" else len(encoder.get_feature_names_out())
        with_gaps = set(self._owners[self._gaps].tolist())
        return [
            (name, kind, self._treatment(k, kind, int(counts[k]), k in with_gaps), int(counts[k]), self._n_levels.get(k, np.nan))
            for k, (name, kind) in enumerate(zip(names, self._kinds, strict=True))
        ]

    def _treatment(self, k: int, kind: str, n: int, gaps: bool) -> str:
        filled = "; gaps are filled with the median, and a 0/1 column says where" if gaps else ""
        if kind == "yes/no":
            return f"{self._encoders[k][0]!r} is 0, {self._encoders[k][1]!r} is 1{filled}"
        if kind == "category":
            return f"a 0/1 column for each of {n} levels" if n < _MOST_COLUMNS else f"{n} 0/1 columns; rare levels share the last"
        said = {
            "number": f"kept{self._unit_of(k)}"
            if n > gaps
            else "left out but for its gaps: otherwise the same value in all rows",
            "date": f"{n - gaps} numbers of the calendar and the clock{self._written(k)}",
            "text": f"{n} components of its sequences of letters",
            "constant": f"left out: {'varies by rounding alone' if self._rounded(k) else 'the same value in all rows'}",
            "identifier": "left out: nearly every row has a different word, like an identifier",
        }
        return said[kind] + (filled if n > gaps else "")

    def _unit_of(self, k: int) -> str:
        """Return words for the origin and the factor of a number."""
        if self._rounded(k):
            return " as 0: varies by rounding alone"
        origin, factor = next((unit for j, unit in self._units.items() if self._owners[j] == k), (0.0, 1.0))
        return (f", less {_number_text(origin)}" if origin else "") + (f", times {factor:.6g}" if factor != 1.0 else "")

    def _rounded(self, k: int) -> bool:
        """Return whether the numbers of a column vary by rounding alone."""
        return any(self._owners[j] == k and not factor for j, (_, factor) in self._units.items())

    def _written(self, k: int) -> str:
        encoder = self._encoders.get(k)
        return f", as it is written like {encoder[0]}" if isinstance(encoder, tuple) and encoder[0] else ""


def _is_number(dtype: Any) -> bool:
    return is_numeric_dtype(dtype) or is_timedelta64_dtype(dtype)


def _are_numbers(column: pd.Series) -> bool:
    """Return whether all cells of a column of objects or texts are numbers or booleans."""
    present = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype) or is_datetime64_any_dtype(column.dtype):
        return False
    return bool(pd.to_numeric(present, errors="coerce").notna().all())


def _as_numbers(column: pd.Series) -> pd.Series:
    """Return a column as floats, with NaN for cells that are not numbers."""
    if is_timedelta64_dtype(column.dtype):
        return pd.Series(column.dt.total_seconds())
    if is_numeric_dtype(column.dtype):
        return column.astype("Float64" if pd.api.types.is_extension_array_dtype(column.dtype) else float)
    return pd.to_numeric(column.astype(object), errors="coerce").astype(float)


def _whole_numbers(column: pd.Series) -> NDArray[Any]:
    """Return the cells of a column of numbers without gaps, as integers if all are."""
    if is_timedelta64_dtype(column.dtype):
        column = _as_numbers(column)
    numbers = column if is_numeric_dtype(column.dtype) else pd.to_numeric(column.astype(object), errors="coerce")
    return np.array(numbers.tolist()) if is_integer_dtype(numbers.dtype) else numbers.to_numpy(dtype=float)


def as_texts(column: pd.Series) -> pd.Series:
    """Return a column as texts; whole numbers have no decimal point, and gaps stay gaps.

    Examples
    --------
    >>> as_texts(pd.Series([1.0, None, 2.5])).tolist()
    ['1', nan, '2.5']
    """
    gaps = column.isna()
    if is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype):
        column = column.astype(object).where(~gaps, None).map(_number_text, na_action="ignore")
    return column.astype(object).map(str, na_action="ignore").where(~gaps, np.nan)


def _number_text(value: Any) -> str:
    return str(int(value)) if math.isfinite(value) and float(value).is_integer() else str(value)


def _cells(texts: pd.Series) -> NDArray[np.object_]:
    return texts.to_numpy(dtype=object)[:, None]


def is_identifier(texts: pd.Series) -> bool:
    """Return whether nearly all texts are different and most are single words, so that nothing can be learnt from them."""
    present = texts.dropna()
    many = present.nunique() > max(_MANY_LEVELS, _NEARLY_ALL * len(present))
    return many and float(present.str.strip().str.contains(" ").mean()) < 0.5


def date_format(column: pd.Series) -> str | None:
    """Return the format of a column of dates, "" for time stamps instead of texts, and None if a cell is not a date.

    Formats are guessed by pandas from some of the cells. The first format that fits all cells is used, months before days.

    Examples
    --------
    >>> (
    ...     date_format(pd.Series(["Apr 1 2000", "May 1 2000"])),
    ...     date_format(pd.Series(["31/1/2024", "1/2/2024"])),
    ... )
    ('%b %d %Y', '%d/%m/%Y')
    """
    if is_datetime64_any_dtype(column.dtype):
        return ""
    present = pd.Series(column.dropna().unique(), dtype=object)
    if not len(present) or not present.map(lambda cell: isinstance(cell, str)).all():
        return None
    some = present.iloc[np.unique(np.linspace(0, len(present) - 1, _DATES_SEEN).astype(int))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a month is not before a day
        guessed = [guess_datetime_format(cell, dayfirst=days) for days in (False, True) for cell in some]
        # "May" is also a whole name of a month
        formats = [other for guess in guessed if guess for other in (guess.replace("%B", "%b"), guess)]
        for written in dict.fromkeys(formats):
            if pd.to_datetime(present, format=written, errors="coerce", utc="%z" in written).notna().all():
                return str(written)
    return None


def read_dates(column: pd.Series, written: str) -> pd.Series:
    """Return a column as time stamps without a zone; NaT for cells that are not dates."""
    dates = pd.to_datetime(
        column if is_datetime64_any_dtype(column.dtype) else as_texts(column),
        format=written or None,
        errors="coerce",
        utc="%z" in written or isinstance(column.dtype, pd.DatetimeTZDtype),
    )
    return dates.dt.tz_localize(None).rename("date")


def _calendar(column: pd.Series, written: str, encoder: Any) -> NDArray[np.float64]:
    dates = read_dates(column, written)
    times = dates.to_numpy()
    day = times.astype("datetime64[D]")
    days = day.astype("datetime64[D]").astype(float) + (times - day) / np.timedelta64(1, "D")
    return np.column_stack([days, np.asarray(encoder.transform(dates), dtype=float)])
