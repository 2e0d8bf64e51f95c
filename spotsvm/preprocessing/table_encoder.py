"""Encode the columns of any table as numbers: numbers, yes/no, categories, texts and dates, with or without gaps."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice
from spotsvm.common.compat import check_feature_names_in
from spotsvm.common.notices import Notice, tell
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.cells.column_reading import Given, counted
from spotsvm.preprocessing.cells.findings import Finding, notices, sentence
from spotsvm.preprocessing.cells.levels import is_repeated
from spotsvm.preprocessing.cells.table_reading import TableReading
from spotsvm.preprocessing.cells.words import form, number_text
from spotsvm.preprocessing.frames import as_frame
from spotsvm.preprocessing.kept_digits import (
    ends,
    has_large,
    has_large_integers,
    lost_digits,
    stored,
    units,
    varies,
    whole_numbers,
)
from spotsvm.preprocessing.missing_codes import column_codes

#: a text is an identifier if more than this number of values, and more than this share, are different and single words
_MANY_LEVELS, _NEARLY_ALL = 20, 0.9
#: maximum number of 0/1 columns of a category that the user names; the rarest levels share the last column
_MOST_COLUMNS = 256
#: name of a date column for its encoder, and prefix of the names of its numbers
_DATE = "date_"
#: number of columns whose treatment an error names, and examples of an identifier
_CAUSES, _EXAMPLES = 5, 3


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table with columns of any kind as an array of floats.

    The kind of each column is decided by the training rows:

    - *number*: kept. A column has numbers if at least 95 % of its cells with a value are numbers, booleans or durations, also
      written as text: all in one notation, such as "1,5", "1,234.50", "$ 12", "12 %", "12 mg", "12:30". A unit is left out, and a
      time is in seconds. Other cells, such as "n.a.", are gaps;
    - *date*: the days since 1970, the year, and sine and cosine of the month, of its day, of the weekday and, if there are times,
      of the hour, by skrub's `DatetimeEncoder`. 95 % of the cells have to be dates in one format, such as "Jan 1 2000";
    - *yes/no* (a text with two values): 0 or 1, in alphabetical order;
    - *category* (a text with at most 40 values, or with at most `max_levels` values that occur 4 times on average): a 0/1 column
      for each level; a gap is a level of its own;
    - *text* (any other): `n_components` components of its sequences of letters, by skrub's `StringEncoder`: values with similar
      spelling are near each other. All components together have the variance of one standardised column;
    - *constant*: left out;
    - *identifier* (a text with more than 20 different values in over 90 % of its rows, most of them single words): left out.

    Gaps in numbers, yes/no and dates are filled with the median, and a 0/1 column marks them. A gap in a column that had none in
    the training rows is filled only. An array of numbers keeps all its columns, constant or not, and is not copied if it has no
    gaps. A value that may be a code for missing values, as it is frequent and far from all others, is reported and kept.

    In later rows, equal values in another form are the same values: 1.0 is the level "1", " YES " is "yes", True is "True" and
    "0,5" is 0.5, unless the training rows have both forms as different levels. An unseen level is 0 in all columns of its
    category.

    Numbers whose digits would be lost have another origin or unit, which `columns_` names: numbers with a range below 1e-8 of the
    largest, such as time stamps in nanoseconds, are kept less the smallest, and numbers beyond 1e-140 or 1e140 times a power of
    two. Numbers that differ by at most four units of their last binary digit count as constant, but not by 1 or more below 2^53.

    `fit` and `transform` warn once, by a `DataWarning`, of columns that are left out, of cells that count as gaps although they
    have a value, of notations that are guessed, and of unseen levels.

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
    missing : iterable of str or number, default=()
        Further values that mean a missing value, in all columns, such as -999 or "k.A.".
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers written as text, where the column alone does not show it: "1,234" is 1234 or 1.234.

    Attributes
    ----------
    columns_ : DataFrame
        A row for each input column: `column`, `kind`, `treatment` in words, `n_outputs`, `levels`, the number of different values
        of a text (NaN for other kinds), and `gaps`, the number of rows without a value.
    notices_ : tuple of Notice
        What the fit reported by a `DataWarning`: `code`, `sentence`, `column`, and `share` of the rows.
    reading_ : TableReading
        How the cells of each column are read.
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
        missing: Iterable[str] = (),
        decimal: str | None = None,
    ):
        self.categorical = categorical
        self.max_levels = max_levels
        self.n_components = n_components
        self.scaler = scaler
        self.random_state = random_state
        self.missing = missing
        self.decimal = decimal

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide the kind of each column and learn its levels, components and medians.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table: a frame of pandas, polars or pyarrow, an array or lists.
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
            If no column has anything to learn from, or a column has a type that cannot be used.
        """
        table, names = self._checked(X, reset=True), self._names()
        is_frame = isinstance(table, pd.DataFrame)
        self._encoders: dict[int, Any] = {}  # encoders of the columns that are not numbers, by position
        self._n_levels: dict[int, int] = {}  # number of different texts
        self._kinds = ["number"] * table.shape[1]
        self.reading_ = TableReading(names, self._said())
        read: dict[int, Any] = {}
        found: dict[int, list[Finding]] = {}
        if is_frame:
            forced = self._forced(names)
            read, found = self.reading_.fit(table, forced)
            for k, column in read.items():
                self._kinds[k] = self._fitted_kind(k, column, table.dtypes.iloc[k], k in forced)
        self._dates = {k for k, kind in enumerate(self._kinds) if kind == "date"}
        self._units: dict[int, tuple[float, float]] = {}  # origin and factor of numbers, by position
        given, self._owners = self._floats(table, read)
        self._units = units(given, lambda k: self._exact(table, given, k)[0])
        values = self._in_units(table, given)
        first = np.diff(self._owners, prepend=-1) != 0  # the numbers of a date have the same gaps
        missing = np.isnan(values)
        some, known = missing.any(axis=0), ~missing.all(axis=0)
        self._gaps = np.flatnonzero(some & known & first)
        self._used = np.flatnonzero(varies(*ends(values))) if is_frame else np.arange(values.shape[1])
        self._fill = np.zeros(values.shape[1])
        for columns, median in ((~some, np.median), (some & known, np.nanmedian)):  # nanmedian is slow
            if columns.any():
                self._fill[columns] = median(values[:, columns], axis=0)
        numbers = self._filled(values, missing)
        self.scaler_ = None if self.scaler is None or not numbers.shape[1] else clone(self.scaler).fit(numbers)
        findings = self._settled(read, found, values, missing)
        days = {k for k in np.flatnonzero(first).tolist() if self._owners[k] in self._dates}
        looked_at = {k: names[j] for k, j in enumerate(self._owners.tolist()) if k in days or j not in self._encoders}
        lost = self._lost_digits(table, given, values)
        self.notices_ = (*notices(findings), *lost, *column_codes(given, looked_at, days))
        if not self._n_outputs.any():
            causes = [f"column {name!r} is {treatment}" for name, _, treatment, *_ in self._report[:_CAUSES]]
            more = f"; and {len(self._report) - _CAUSES} more" if len(self._report) > _CAUSES else ""
            raise DataError(f"there is nothing to learn from: {'; '.join(causes)}{more}; name a column as categorical to use it")
        encoded = self._joined(read, numbers, missing)
        tell(self.notices_)
        return encoded

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

        Raises
        ------
        DataError
            If ten or more rows have a value in a column of numbers or dates, and none of the values can be read.
        """
        check_is_fitted(self, "reading_")
        table = self._checked(X, reset=False)
        read, findings = self.reading_.read(table) if isinstance(table, pd.DataFrame) else ({}, [])
        values = self._in_units(table, self._floats(table, read)[0])
        missing = np.isnan(values)
        encoded = self._joined(read, self._filled(values, missing), missing)
        tell(notices(findings))
        return encoded

    @property
    def columns_(self) -> pd.DataFrame:
        """The treatment of each input column."""
        return pd.DataFrame(self._report, columns=["column", "kind", "treatment", "n_outputs", "levels", "gaps"])

    @property
    def sources_(self) -> NDArray[np.intp]:
        """The position of the input column of each output."""
        check_is_fitted(self, "reading_")
        blocks = [np.full(self._n_outputs[k], k) for k, _ in self._blocks()]
        return np.concatenate([self._owners[self._used], self._owners[self._gaps], *blocks]).astype(np.intp)

    @property
    def scaled_(self) -> NDArray[np.bool_]:
        """Which outputs a `scaler` scales: numbers, yes/no and dates."""
        return np.arange(len(self.sources_)) < len(self._used)

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
        check_is_fitted(self, "reading_")
        given = check_feature_names_in(self, input_features)
        names: list[str] = []
        for k in dict.fromkeys(self._owners.tolist()):
            if k in self._dates:
                parts = ["day", *(part.removeprefix(_DATE) for part in self._encoders[k].all_outputs_)]
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
        """Return a frame if X is a table with types, or an array of objects, else an array of floats."""
        X = as_frame(X)
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not all(X.shape):
                raise DataError(f"X has {X.shape[0]} rows and {X.shape[1]} columns; at least one of each is needed")
            return X
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        if array.dtype.kind in "biuf" and (reset or self.reading_.takes_plain):
            array = self._said().without(array)
            return array if has_large_integers(array) else array.astype(float, copy=False)
        return pd.DataFrame(array).infer_objects()

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{k}" for k in range(self.n_features_in_)] if names is None else list(map(str, names))

    def _said(self) -> Given:
        """Return what the arguments say about the cells; ArgumentError if this is unusable."""
        if self.decimal is not None:
            check_choice("decimal", self.decimal, (".", ","))
        words = [self.missing] if isinstance(self.missing, str | int | float) else list(self.missing)
        return Given(tuple(sorted({form(str(word)) for word in words})), self.decimal)

    def _forced(self, names: list[str]) -> set[int]:
        categorical = [self.categorical] if isinstance(self.categorical, str) else list(self.categorical)
        unknown = next((name for name in categorical if name not in names), None)
        if unknown is not None:
            raise ArgumentError(f"categorical={unknown!r} is not a column; there are {', '.join(map(repr, names[:8]))}")
        return {k for k, name in enumerate(names) if name in categorical}

    def _fitted_kind(self, k: int, column: Any, dtype: Any, forced: bool) -> str:
        """Fit the encoder of a column, unless it has numbers, and return the kind of the column."""
        holds = self.reading_.of(k).holds
        if holds == "numbers":
            return "number"
        if holds == "dates":
            from skrub import DatetimeEncoder  # on use: it takes a second

            # DatetimeEncoder has the time in single precision
            self._encoders[k] = DatetimeEncoder(add_weekday=True, add_total_seconds=False, periodic_encoding="circular")
            self._encoders[k].fit(column.rename("date"))
            return "date"
        kind = self._fitted_texts(k, column, forced, isinstance(dtype, pd.CategoricalDtype))
        if kind in ("category", "yes/no"):
            levels = sorted(set(column[pd.notna(column)]))
            self.reading_.columns[k] = replace(self.reading_.of(k), levels=tuple(levels))
        return kind

    def _fitted_texts(self, k: int, texts: NDArray[np.object_], forced: bool, declared: bool) -> str:
        """Fit the encoder of a column of texts, and return the kind of the column."""
        present = texts[pd.notna(texts)]
        n = self._n_levels[k] = len(set(present))
        if n == 0 or (not forced and n + (len(present) < len(texts)) < 2):
            return "constant"
        if not forced and is_identifier(present):
            return "identifier"
        if n == 2 and not forced:
            self._encoders[k] = sorted(set(present))
            return "yes/no"
        if forced or declared or (n <= self.max_levels and is_repeated(n, len(present))):
            self._encoders[k] = OneHotEncoder(
                handle_unknown="infrequent_if_exist", max_categories=_MOST_COLUMNS, sparse_output=False
            ).fit(texts[:, None])
            return "category"
        from skrub import StringEncoder  # on use: it takes a second

        self._encoders[k] = StringEncoder(self.n_components, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer sequences of letters than components
            self._encoders[k].fit(pd.Series(texts))
        return "text"

    def _in_units(self, table: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers less their origin and times their factor."""
        if self._units:
            values = values.copy()
            for k, unit in self._units.items():
                numbers, known = self._exact(table, values, k)
                values[known, k] = stored(numbers, unit)
        return values

    def _exact(self, table: Any, values: NDArray[np.float64], k: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the numbers of a column of `values`, whole numbers as such, without gaps, and a mask of their rows."""
        known, owner = ~np.isnan(values[:, k]), int(self._owners[k])
        if not isinstance(table, pd.DataFrame):
            numbers = table[known, owner]
        elif owner in self._encoders:
            numbers = values[known, k]
        else:
            numbers = whole_numbers(table.iloc[known, owner])
        return (numbers if numbers.dtype.kind in "iu" else values[known, k]), known

    def _lost_digits(self, table: Any, given: NDArray[Any], values: NDArray[Any]) -> list[Notice]:
        found = []
        changed = np.isin(np.arange(given.shape[1]), list(self._units))
        for k in np.flatnonzero(changed | has_large(given)).tolist():
            numbers, known = self._exact(table, given, k)
            found.append(lost_digits(self.reading_.names[self._owners[k]], numbers, values[known, k]))
        return [notice for notice in found if notice is not None]

    def _floats(self, table: Any, read: dict[int, Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the numbers, yes/no and dates with gaps as NaN, and the column of each."""
        if not isinstance(table, pd.DataFrame):
            return table.astype(float, copy=False), np.arange(table.shape[1])
        numbers = [k for k in range(table.shape[1]) if k not in self._encoders and k not in self._n_levels]
        part: Any = table.iloc[:, numbers] if len(numbers) < table.shape[1] else table
        if not read.keys().isdisjoint(numbers):
            part = pd.DataFrame({k: read[k] if k in read else table.iloc[:, k].array for k in numbers}, index=table.index)
        blocks, owners = [part.to_numpy(dtype=float, na_value=np.nan)], [numbers]
        if np.isinf(blocks[0]).any():
            k = int(np.argmax(np.isinf(blocks[0]).any(axis=0)))
            raise DataError(f"Input X contains infinity in column {table.columns[numbers[k]]!r}; correct the cell")
        for k, encoder in self._encoders.items():
            if self._kinds[k] == "yes/no":
                blocks.append(pd.Series(read[k]).map(dict(zip(encoder, (0.0, 1.0), strict=True))).to_numpy(float)[:, None])
            elif k in self._dates:  # one that is left out is not read, and keeps its place
                gap = np.full((len(table), 1 + len(encoder.all_outputs_)), np.nan)
                blocks.append(_calendar(read[k], encoder) if k in read else gap)
            else:
                continue
            owners.append([k] * blocks[-1].shape[1])
        return (blocks[0] if len(blocks) == 1 else np.hstack(blocks)), np.concatenate(owners).astype(np.intp)

    def _filled(self, values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the numbers that are used, with gaps filled by medians."""
        if missing.any():
            values = np.where(missing, self._fill, values)
        return values if len(self._used) == values.shape[1] else values[:, self._used]

    def _joined(self, read: dict[int, Any], numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return all outputs."""
        parts = [numbers if self.scaler_ is None else self.scaler_.transform(numbers)]
        parts += [missing[:, self._gaps].astype(float)] if len(self._gaps) else []
        for k, encoder in self._blocks():
            texts = read[k][:, None] if self._kinds[k] == "category" else pd.Series(read[k])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # unseen levels are allowed
                parts.append(np.asarray(encoder.transform(texts), dtype=float))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _blocks(self) -> list[tuple[int, Any]]:
        """Return the encoders of categories and texts with their columns."""
        return [(k, encoder) for k, encoder in self._encoders.items() if self._kinds[k] in ("category", "text")]

    def _settled(
        self, read: dict[int, Any], found: dict[int, list[Finding]], values: NDArray[np.float64], missing: NDArray[np.bool_]
    ) -> list[Finding]:
        """Store what becomes of each column, and return what is to be told."""
        n, names = len(values), self.reading_.names
        n_gaps = np.zeros(len(names), dtype=int)
        n_gaps[self._owners] = missing.sum(axis=0)
        for k in self._n_levels:
            n_gaps[k] = int(pd.isna(read[k]).sum())
        n_varying, gaps = np.zeros(len(names), dtype=int), np.zeros(len(names), dtype=int)
        np.add.at(n_varying, self._owners[self._used], 1)
        gaps[self._owners[self._gaps]] = 1
        counts = n_varying + gaps
        for k, encoder in self._blocks():
            counts[k] = encoder.n_components_ if self._kinds[k] == "text" else len(encoder.get_feature_names_out())
        for k in np.flatnonzero(counts == 0).tolist():
            self._kinds[k] = "identifier" if self._kinds[k] == "identifier" else "constant"
            self.reading_.columns[k] = replace(self.reading_.of(k), used=False)
        self._note_truths(values)
        told: list[Finding] = []
        self._n_outputs = counts
        self._report: list[tuple[Any, ...]] = []
        for k, (name, kind) in enumerate(zip(names, self._kinds, strict=True)):
            findings = [replace(one, about={**one.about, "kind": kind}) for one in found.get(k, [])]
            if (not counts[k] or (kind == "number" and not n_varying[k])) and not self._rounded(k):
                findings += self._left_out(name, kind, read.get(k), int(n_gaps[k]), n, findings)
            told += findings
            treatment = self._treatment(k, kind, int(counts[k]), bool(gaps[k]), findings)
            self._report.append((name, kind, treatment, int(counts[k]), self._n_levels.get(k, np.nan), int(n_gaps[k])))
        return told

    def _unit_of(self, k: int) -> str:
        """Return words for the origin and the factor of a number."""
        if self._rounded(k):
            return " as 0: varies by rounding alone"
        origin, factor = next((unit for j, unit in self._units.items() if self._owners[j] == k), (0.0, 1.0))
        return (f", less {number_text(origin)}" if origin else "") + (f", times {factor:.6g}" if factor != 1.0 else "")

    def _rounded(self, k: int) -> bool:
        """Return whether the numbers of a column vary by rounding alone."""
        return any(self._owners[j] == k and not factor for j, (_, factor) in self._units.items())

    @staticmethod
    def _left_out(name: str, kind: str, texts: Any, n_gaps: int, n: int, findings: Sequence[Finding]) -> list[Finding]:
        """Return why a column is left out, unless other findings say so."""
        if n_gaps == n:
            return [Finding("empty", name, n, n)]
        if kind != "identifier":
            return [Finding("constant", name, n, n, about={"gaps": n_gaps > 0})]
        if any(one.code in ("mixed", "units", "codes") for one in findings):
            return []
        return [Finding("identifier", name, n, n, counted(texts[pd.notna(texts)][:_EXAMPLES]))]

    def _note_truths(self, values: NDArray[np.float64]) -> None:
        """Note which columns of plain numbers have only 0 and 1: in later rows, these may be truth values in words."""
        may = np.isnan(values[0]) | (values[0] == 0.0) | (values[0] == 1.0)
        some = np.flatnonzero(may)
        truths = some[((values[:, some] == 0.0) | (values[:, some] == 1.0) | np.isnan(values[:, some])).all(axis=0)]
        for k in self._owners[truths].tolist():
            if self._kinds[k] == "number":
                self.reading_.columns[k] = replace(self.reading_.of(k), truth=True)

    def _treatment(self, k: int, kind: str, n: int, gaps: bool, findings: Sequence[Finding]) -> str:
        said = [sentence(one).removeprefix("is ") for one in findings]
        if n == 0:
            return "; ".join(said) or "left out: it varies by rounding alone"
        filled = ["gaps are filled with the median, and a 0/1 column says where"] if gaps else []
        if kind == "yes/no":
            said.insert(0, f"{self._encoders[k][0]!r} is 0, {self._encoders[k][1]!r} is 1")
        elif kind == "category":
            every = f"a 0/1 column for each of {n} levels"
            return "; ".join([every if n < _MOST_COLUMNS else f"{n} 0/1 columns; rare levels share the last", *said])
        elif kind == "text":
            return "; ".join([f"{n} components of its sequences of letters", *said])
        elif kind == "date":
            written = self.reading_.of(k).written
            said.insert(
                0, f"{n - gaps} numbers of the calendar and the clock" + (f", as it is written like {written}" if written else "")
            )
        elif n > gaps:
            said.insert(0, f"kept{self._unit_of(k)}")
        return "; ".join([*said, *(filled if n > gaps else [])])


def is_identifier(texts: NDArray[np.object_]) -> bool:
    """Return whether nearly all texts are different and most are single words, so that nothing can be learnt from them."""
    many = len(set(texts)) > max(_MANY_LEVELS, _NEARLY_ALL * len(texts))
    return many and sum(" " in text.strip() for text in texts) < 0.5 * len(texts)


def _calendar(dates: pd.Series, encoder: Any) -> NDArray[np.float64]:
    times = dates.to_numpy()
    day = times.astype("datetime64[D]")
    days = day.astype(float) + (times - day) / np.timedelta64(1, "D")
    return np.column_stack([days, np.asarray(encoder.transform(dates.rename("date")), dtype=float)])
