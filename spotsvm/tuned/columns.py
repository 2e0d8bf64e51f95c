"""The columns of kernels, fitted on the training rows.

A table is encoded as numbers (`TableEncoder`) in one or more ways (`encodings`). In each the columns are standardised
("standard"); made closer to normal by a Yeo-Johnson power first ("power"); or these, multiplied by a relevance that is learned
from the target ("relevance"): the root mean square gradient of a kernel ridge regression in each column.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from spotsvm.common.notices import Notice, tell, untold
from spotsvm.preprocessing.cells.findings import Finding, notices
from spotsvm.preprocessing.kept_digits import ends, factors, rounding_alone, varies
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.preprocessing.typed_table import typed_table
from spotsvm.tuned.encodings import LEVELS, STANDARD, Encoding
from spotsvm.tuned.families import FAMILIES
from spotsvm.tuned.powers import best_powers, yeo_johnson
from spotsvm.tuned.relevance import gradient_relevance
from spotsvm.tuned.sweeps import Sweep

Floats = NDArray[np.float64]
Views = dict[str, dict[str, Any]]

_FAR = 50.0  # standard deviations at which values are clipped


class Columns:
    """The columns of kernels by encoding and kind, fitted on the training rows.

    `kinds` are those required among "standard", "power" and "relevance"; `categorical` columns are categories, whatever their
    cells are. The encodings "standard" and "levels", of the default model, are always there.
    """

    def __init__(self, kinds: Collection[str], categorical: Any = (), encodings: Mapping[str, Encoding] | None = None):
        self.kinds, self.categorical = tuple(kinds), categorical
        self.encodings = {STANDARD: Encoding(scaled=True), LEVELS: Encoding(), **(encodings or {})}

    def fit(self, X: Any, target: Floats) -> Self:
        """Fit on rows; `target` has a column for each class, or is the target of a regression."""
        self.notices: list[Notice] = []
        self.numbers: dict[str, Numbers] = {}
        self.scaled: dict[str, Scaled] = {}
        if issparse(X):
            low, high = (part.toarray().ravel() for part in (X.min(axis=0), X.max(axis=0)))
            self.notices = [rounding_alone(f"x{k}") for k in np.flatnonzero((low < high) & ~varies(low, high))]
            # a column without zeros is dense, and stays so less its mean; a power of two keeps squares within floats
            mean = np.clip(np.asarray((X / X.shape[0]).sum(axis=0)).ravel(), low, high)
            self.origin = np.where((low > 0) | (high < 0), mean, 0.0) * varies(low, high)
            self.unit = factors(np.maximum(np.abs(low - self.origin), np.abs(high - self.origin)))
            self.scale = _inverse(_sparse_deviation(self._moved(X)), varies(low, high))
            return self
        self.encoder = TableEncoder(self.categorical)
        with untold():  # the model tells, once
            E = self.encoder.fit_transform(X)
        of_reading: dict[Any, Numbers] = {}
        for name, encoding in self.encodings.items():
            if encoding.reading not in of_reading:
                of_reading[encoding.reading] = Numbers(encoding).fit(E, self.encoder)
            numbers = self.numbers[name] = of_reading[encoding.reading]
            kept = np.zeros(len(numbers.sources), dtype=bool) if encoding.scaled else numbers.is_kept
            same = next(
                (one for one in self.scaled if self.numbers[one] is numbers and (self.scaled[one].kept == kept).all()), None
            )
            self.scaled[name] = self.scaled[same] if same else Scaled(self.kinds, kept).fit(numbers.of(E), target)
        self.notices = list(self.encoder.notices_)
        if len(X) > _FAR**2:  # in fewer rows no number is as far from the mean
            standard = self.scaled[STANDARD].standardised(self.numbers[STANDARD].of(E))
            self.notices += self.of_capped(self.n_capped({STANDARD: {"standard": standard}}), len(X))
        return self

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse, and have no encoder."""
        return not self.scaled

    def relevance(self, encoding: str) -> pd.Series | None:
        """Return the relevance of each number of an encoding; None if it was not learned."""
        if self.is_sparse or self.scaled[encoding].relevance is None:
            return None
        return pd.Series(self.scaled[encoding].relevance, self.numbers[encoding].names, name="relevance")

    def read(self, X: Any) -> Any:
        """Return rows of a table in the types of its columns, and tell what was found in their cells."""
        if not isinstance(X, pd.DataFrame):
            return X
        typed, findings = typed_table(self.encoder.reading_, X)
        tell(notices(findings))
        return typed

    def n_capped(self, views: Views) -> Any:
        """Return in how many rows each number is so far from the training rows that a limit replaces it."""
        standard = views[STANDARD]["standard"]
        return 0 if issparse(standard) else (np.abs(standard) >= _FAR).sum(axis=0)

    def of_capped(self, counts: Any, n: int) -> list[Notice]:
        """Return notices of the columns with numbers that a limit replaces; `counts` has their number in n rows."""
        if not np.any(counts):
            return []
        names, owners = self.encoder.reading_.names, self.encoder.sources_
        most = {int(k): int(counts[owners == k].max()) for k in np.unique(owners[counts > 0])}
        return list(notices(Finding("capped", names[k], count, n, about={"limit": _FAR}) for k, count in most.items()))

    def transform(self, X: Any) -> Views:
        """Return the columns of each encoding and kind."""
        if issparse(X):
            columns = {"standard": self._moved(X).multiply(self.scale).tocsr()}
            return {STANDARD: columns, LEVELS: columns}
        with untold():
            E = self.encoder.transform(X)
        views: Views = {}
        for name in self.encodings:
            same = next((other for other in views if self.scaled[other] is self.scaled[name]), None)
            views[name] = views[same] if same else self.scaled[name].transform(self.numbers[name].of(E))
        return views

    def kernel_columns(self, views: Views, sweep: Sweep, rows: Any = None) -> Any:
        """Return the columns of the kernels of a sweep in double precision, of all or some `rows` of `views`.

        `views` are the result of `transform`.
        """
        kind, of_kind = FAMILIES[sweep.family].columns, views[sweep.encoding]
        if kind == "relevance" and sweep.exponent != 1.0:
            A = _double(of_kind["power"], rows) * self.scaled[sweep.encoding].relevance ** sweep.exponent
        else:
            A = _double(of_kind[kind], rows)
        if not sweep.column_factors:
            return A
        factors = np.array(sweep.column_factors)
        if issparse(A):
            return A.multiply(factors).tocsr()
        return A * factors[self.numbers[sweep.encoding].sources]

    def _moved(self, X: Any) -> Any:
        """Return sparse rows less the origin of each column, in its unit."""
        columns = np.flatnonzero(self.origin)
        if len(columns):
            rows = np.repeat(np.arange(X.shape[0]), len(columns))
            X = X - csr_matrix((np.tile(self.origin[columns], X.shape[0]), (rows, np.tile(columns, X.shape[0]))), X.shape)
        return X if (self.unit == 1.0).all() else X.multiply(self.unit).tocsr()


class Numbers:
    """The numbers of an encoded table by one encoding, before they are scaled."""

    def __init__(self, encoding: Encoding):
        self.encoding = encoding

    def fit(self, E: Floats, encoder: TableEncoder) -> Self:
        """Learn the levels of codes from encoded rows."""
        names = [str(name) for name in encoder.get_feature_names_out()]
        places = {name: k for k, name in enumerate(names)}
        cycles = [(places[name], period) for name, period in self.encoding.cycles.items() if name in places]
        codes = [(places[name], np.unique(E[:, places[name]])) for name in self.encoding.codes if name in places]
        self._cycles, self._periods = np.array(cycles, dtype=np.intp).reshape(-1, 2).T
        self._codes = np.repeat([k for k, _ in codes], [len(levels) for _, levels in codes]).astype(np.intp)
        self._levels = np.concatenate([levels for _, levels in codes]) if codes else np.empty(0)
        self._others = np.setdiff1d(np.arange(len(names)), self._codes)
        self.names = [names[k] for k in self._others] + [f"{names[k]}_sine" for k, _ in cycles]
        self.names += [f"{names[k]}_{level:g}" for k, level in zip(self._codes, self._levels, strict=True)]
        from_ = np.concatenate([self._others, self._cycles, self._codes]).astype(np.intp)
        #: the input column of each number
        self.sources = encoder.sources_[from_]
        #: levels, marks of gaps and texts, which have a suitable scale as encoded
        self.is_kept = ~encoder.scaled_[from_] | (np.arange(len(from_)) >= len(from_) - len(self._codes))
        return self

    def of(self, E: Floats) -> Floats:
        """Return encoded rows with a cosine and a sine for each number of a cycle, and 0/1 columns for each code."""
        if not (len(self._cycles) or len(self._codes)):
            return E
        angles = 2.0 * np.pi * E[:, self._cycles] / self._periods
        others = E.copy()
        others[:, self._cycles] = np.cos(angles)
        return np.hstack([others[:, self._others], np.sin(angles), E[:, self._codes] == self._levels])


class Scaled:
    """Numbers scaled, near a normal distribution, and times their relevance; those that are `kept` stay as encoded."""

    def __init__(self, kinds: Collection[str], kept: NDArray[np.bool_]):
        self._kinds, self.kept = tuple(kinds), kept

    def fit(self, E: Floats, target: Floats) -> Self:
        """Fit on numbers (n, p) and targets (n, t)."""
        changes = varies(*ends(E))
        self._center = np.where(self.kept, 0.0, E.mean(axis=0))
        self._scale = np.where(self.kept, changes, _inverse(E.std(axis=0), changes))
        self.relevance: Any = None
        if self._kinds != ("standard",):
            Z = self.standardised(E)
            self._power = np.where(self.kept, 1.0, best_powers(Z))
            Z = yeo_johnson(Z, self._power)
            self._power_center = np.where(self.kept, 0.0, Z.mean(axis=0))
            inverse = _inverse(Z.std(axis=0), varies(*ends(Z)) & (self._scale > 0))
            self._power_scale = np.where(self.kept, changes, inverse)
            if "relevance" in self._kinds:
                self.relevance = gradient_relevance(self._powered(Z), target)
        return self

    def standardised(self, E: Floats) -> Floats:
        """Return numbers less their mean, with variance 1, and as encoded what is kept."""
        return np.asarray((E - self._center) * self._scale)

    def transform(self, E: Floats) -> dict[str, Floats]:
        """Return the columns of each kind."""
        Z = self.standardised(E)
        columns = {"standard": np.clip(Z, -_FAR, _FAR)}
        if self._kinds != ("standard",):
            columns["power"] = self._powered(yeo_johnson(Z, self._power))
        if self.relevance is not None:
            columns["relevance"] = columns["power"] * self.relevance
        return columns

    def _powered(self, Z: Floats) -> Floats:
        return np.asarray(np.clip(np.nan_to_num((Z - self._power_center) * self._power_scale), -_FAR, _FAR))


def _double(view: Any, rows: Any) -> Any:
    """Return all or some rows in double precision."""
    return (view if rows is None else view[rows]).astype(np.float64, copy=False)


def _inverse(deviation: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Return 1 / deviation, and 0 for a constant column."""
    varies = varies & (deviation > 0)
    return np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)


def _sparse_deviation(X: Any) -> Floats:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
