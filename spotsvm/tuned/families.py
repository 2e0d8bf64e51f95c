"""Families of kernels: the columns of a kernel, fitted on the training rows, and the kernel on these columns.

Columns of any table are encoded as numbers (`TableEncoder`). They are standardised ("standard"), for the default model without
levels, gaps and texts ("encoded"); made closer to normal by a Yeo-Johnson power first ("power"); or these, multiplied by a
relevance that is learned from the target ("relevance"): the root mean square gradient of a kernel ridge regression in each
column. The relevance is one step of a recursive feature machine, with only the diagonal (Radhakrishnan, Beaglehole, Pandit and
Belkin 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve
from scipy.sparse import csr_matrix, issparse

from spotsvm.common.notices import Notice, tell, untold
from spotsvm.preprocessing.cells.findings import Finding, notices
from spotsvm.preprocessing.kept_digits import ends, factors, rounding_alone, varies
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.preprocessing.typed_table import typed_table
from spotsvm.solvers.kernels import Kernel, base_matrix, squared_distances
from spotsvm.solvers.kernels.functions.kernel import Base

Floats = NDArray[np.float64]

_FAR = 50.0  # standard deviations at which values are clipped
_POWERS = np.arange(-2.0, 4.01, 0.5)
_RELEVANCE_WIDTH, _RIDGE, _FLOOR = 0.25, 0.3, 0.03
_MOST_RELEVANCE_ROWS = 2000  # the time grows with the cube of the rows


@dataclass(frozen=True)
class Family:
    """The kind of columns of a kernel, and the kernel."""

    columns: str
    kernel: str

    @property
    def base(self) -> Base:
        """What the kernel is computed from: inner products, or squared or Manhattan distances."""
        return Kernel(self.kernel).base


#: the families that sweeps may have, by name
SWEPT_FAMILIES = {
    "rbf": Family("standard", "rbf"),
    "laplacian": Family("standard", "laplacian"),
    "relevance_rbf": Family("relevance", "rbf"),
    "relevance_laplacian": Family("relevance", "laplacian"),
    "power_rbf": Family("power", "rbf"),
    "power_laplacian": Family("power", "laplacian"),
    "linear": Family("standard", "linear"),
}
#: the family of `default_svm`, which no sweep has
DEFAULT = "default"
FAMILIES = {**SWEPT_FAMILIES, DEFAULT: Family("encoded", "rbf")}
#: families for sparse rows: others would fill the zeros
SPARSE_FAMILIES = ("rbf", "linear")


class Columns:
    """Column transformations of the kernel families, fitted on the training rows.

    `kinds` are those required among "standard", "encoded", "power" and "relevance"; `categorical` columns are categories,
    whatever their cells are.
    """

    def __init__(self, kinds: Any, categorical: Any = ()):
        self.kinds, self.categorical = tuple(kinds), categorical

    def fit(self, X: Any, target: Floats) -> Self:
        """Fit on rows; `target` has a column for each class, or is the target of a regression."""
        self.notices: list[Notice] = []
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
            X = self.encoder.fit_transform(X)
        self.notices = list(self.encoder.notices_)
        self.center = X.mean(axis=0)
        self.scale = _inverse(X.std(axis=0), varies(*ends(X)))
        self.relevance = None
        if len(X) > _FAR**2:  # in fewer rows no number is as far from the mean
            self.notices += self.of_capped(self.n_capped({"standard": (X - self.center) * self.scale}), len(X))
        if {"power", "relevance"} & set(self.kinds):
            Z = (X - self.center) * self.scale
            self.power = best_powers(Z)
            Z = yeo_johnson(Z, self.power)
            self.power_center = Z.mean(axis=0)
            self.power_scale = _inverse(Z.std(axis=0), varies(*ends(Z)) & (self.scale > 0))
            if "relevance" in self.kinds:
                self.relevance = gradient_relevance(self._powered(Z), target)
        return self

    def read(self, X: Any) -> Any:
        """Return rows of a table in the types of its columns, and tell what was found in their cells."""
        if not isinstance(X, pd.DataFrame):
            return X
        typed, findings = typed_table(self.encoder.reading_, X)
        tell(notices(findings))
        return typed

    def n_capped(self, views: dict[str, Any]) -> Any:
        """Return in how many rows each number is so far from the training rows that a limit replaces it."""
        standard = views["standard"]
        return 0 if issparse(standard) else (np.abs(standard) >= _FAR).sum(axis=0)

    def of_capped(self, counts: Any, n: int) -> list[Notice]:
        """Return notices of the columns with numbers that a limit replaces; `counts` has their number in n rows."""
        if not np.any(counts):
            return []
        names, owners = self.encoder.reading_.names, self.encoder.sources_
        most = {int(k): int(counts[owners == k].max()) for k in np.unique(owners[counts > 0])}
        return list(notices(Finding("capped", names[k], count, n, about={"limit": _FAR}) for k, count in most.items()))

    def transform(self, X: Any) -> dict[str, Any]:
        """Return the columns of each kind; "encoded" only if it differs from "standard"."""
        if issparse(X):
            return {"standard": self._moved(X).multiply(self.scale).tocsr()}
        with untold():
            encoded = self.encoder.transform(X)
        Z = (encoded - self.center) * self.scale
        columns = {"standard": np.clip(Z, -_FAR, _FAR)}
        if "encoded" in self.kinds and not (scaled := self.encoder.scaled_).all():
            columns["encoded"] = np.where(scaled, columns["standard"], encoded)
        if {"power", "relevance"} & set(self.kinds):
            columns["power"] = self._powered(yeo_johnson(Z, self.power))
        if self.relevance is not None:
            columns["relevance"] = columns["power"] * self.relevance
        return columns

    def kernel_columns(self, views: dict[str, Any], kind: str, exponent: float, factors: tuple[float, ...]) -> Any:
        """Return the columns of a kernel, of a kind, from `views`, the result of `transform`.

        `exponent` is that of the relevance, 0 for none; `factors` are one for each input column, or empty.
        """
        A = views["standard"] if kind == "encoded" and kind not in views else views[kind]
        if kind == "relevance" and exponent != 1.0 and self.relevance is not None:
            A = views["power"] * self.relevance**exponent
        if not factors:
            return A
        if issparse(A):
            return A.multiply(np.array(factors)).tocsr()
        return A * np.array(factors)[self.encoder.sources_]

    def _moved(self, X: Any) -> Any:
        """Return sparse rows less the origin of each column, in its unit."""
        columns = np.flatnonzero(self.origin)
        if len(columns):
            rows = np.repeat(np.arange(X.shape[0]), len(columns))
            X = X - csr_matrix((np.tile(self.origin[columns], X.shape[0]), (rows, np.tile(columns, X.shape[0]))), X.shape)
        return X if (self.unit == 1.0).all() else X.multiply(self.unit).tocsr()

    def _powered(self, Z: Floats) -> Floats:
        return np.asarray(np.clip(np.nan_to_num((Z - self.power_center) * self.power_scale), -_FAR, _FAR))


def _inverse(deviation: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Return 1 / deviation, and 0 for a constant column."""
    varies = varies & (deviation > 0)
    return np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)


def _sparse_deviation(X: Any) -> Floats:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def yeo_johnson(Z: Floats, power: Floats) -> Floats:
    """Return the power transformation of Yeo and Johnson 2000 of each column."""
    size = np.log1p(np.abs(Z))
    exponent = np.where(Z >= 0, power, 2.0 - power)
    regular = np.abs(exponent) > 1e-6
    with np.errstate(over="ignore"):
        values = np.where(regular, np.expm1(exponent * size) / np.where(regular, exponent, 1.0), size)
    return np.asarray(np.sign(Z) * values)


def best_powers(Z: Floats) -> Floats:
    """Return the maximum-likelihood power of each column: the best on a grid, refined by a parabola through three points."""
    drift = (np.sign(Z) * np.log1p(np.abs(Z))).sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        likelihood = np.array(
            [
                -0.5 * len(Z) * np.log(yeo_johnson(Z, np.full(Z.shape[1], p)).var(axis=0) + 1e-12) + (p - 1.0) * drift
                for p in _POWERS
            ]
        )
    likelihood = np.where(np.isfinite(likelihood), likelihood, -1e300)
    best, column = np.clip(likelihood.argmax(axis=0), 1, len(_POWERS) - 2), np.arange(Z.shape[1])
    before, here, after = likelihood[best - 1, column], likelihood[best, column], likelihood[best + 1, column]
    curvature = before - 2.0 * here + after
    bent = np.isfinite(curvature) & (curvature < -1e-9)
    step = np.where(bent, 0.25 * (before - after) / np.where(bent, curvature, 1.0), 0.0)
    return np.asarray(_POWERS[best] + np.clip(step, -0.5, 0.5))


def gradient_relevance(A: Floats, target: Floats) -> Floats:
    """Return the root mean square gradient in each column of a kernel ridge regression, (p,); equation :eq:`relevance`.

    It has a mean square of 1 and is at least sqrt(0.03). Squared gradients are added over the targets (n, t).
    """
    if len(A) > _MOST_RELEVANCE_ROWS:
        chosen = np.linspace(0, len(A) - 1, _MOST_RELEVANCE_ROWS).astype(np.intp)
        A, target = A[chosen], target[chosen]
    D = squared_distances(A)
    K = np.exp(D * (-_RELEVANCE_WIDTH / typical_distance(D)))
    ridged = K.copy()
    ridged.flat[:: len(K) + 1] += _RIDGE
    try:
        coefficients = solve(ridged, target - target.mean(axis=0), assume_a="pos", overwrite_a=True, check_finite=False)
    except LinAlgError:  # rounding, with hundreds of equal rows
        coefficients = np.zeros_like(target)
    squares = np.zeros(A.shape[1])
    for a in coefficients.T:
        # the gradient at a row is proportional to sum_j a_j k_j (x - x_j)
        squares += (((K @ a)[:, None] * A - K @ (a[:, None] * A)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / (squares.mean() + 1e-300) + _FLOOR))


def typical_distance(D: NDArray[Any]) -> float:
    """Return the median distance; of different rows if most are equal, and 1 if all are equal."""
    return _median(D[_some(len(D))])


def _some(n: int) -> slice:
    return slice(None, None, 3 if n > 30 else 1)


def _median(values: NDArray[Any]) -> float:
    median = float(np.median(values))
    if median <= 0.0:
        positive = values[values > 0.0]
        median = float(np.median(positive)) if len(positive) else 1.0
    return median


def unit_of(kernel: str, A: Any) -> float:
    """Return the unit of gamma: the typical distance of rows, or their mean square norm for "linear"."""
    if kernel == "linear":
        return float((A.multiply(A) if issparse(A) else A**2).sum()) / A.shape[0] or 1.0
    return _median(base_matrix(Kernel(kernel).base, A[_some(A.shape[0])], A))


def default_gamma(A: Any) -> float:
    """Return the gamma of SVC() and SVR(), 1 / (columns times variance), on columns of the kind "encoded"."""
    if issparse(A):  # as of dense rows, which are centred
        return 1.0 / max(int((abs(A).max(axis=0) > 0).sum()), 1)
    variance = float(A.shape[1] * A.var())
    return 1.0 / variance if variance > 0 else 1.0


def kernel_of(kernel: str, unit: float, log_gamma: float) -> Kernel:
    """Return the kernel exp(-2^log_gamma d / unit) of distances d, or inner products in their unit (:eq:`family-kernel`)."""
    if kernel == "linear":
        return Kernel("poly", 1.0 / unit, degree=1)
    return Kernel(kernel, 2.0**log_gamma / unit)
