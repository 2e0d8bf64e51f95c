"""Kriging as a scikit-learn regressor."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.errors import SurrogateError
from spotsvm.surrogates.kriging.correlation import Embedding, get_correlation
from spotsvm.surrogates.kriging.likelihood import Response
from spotsvm.surrogates.kriging.maximum import LikelihoodProblem, maximize_likelihood
from spotsvm.surrogates.kriging.process import Process
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import aggregate

Floats = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_FEW = 50
_SMALL = 500  # maximum rows for which one thread is faster than several
_ROUNDING = 4 * np.finfo(float).eps  # relative to the largest response: a smaller deviation is that of rounding
_BLOCK = 2**20  # entries in a block of correlations between new points and data


class Kriging(RegressorMixin, BaseEstimator):
    """Kriging (Gaussian process regression) with a constant mean, a theta for each dimension, and a nugget.

    Parameters
    ----------
    correlation : {"gaussian", "matern52"}, default="gaussian"
        exp(-sum theta_j d_j^2), or the Matern function with smoothness 5/2 of the same sum.
    nugget : "estimate", float >= 0 or None, default="estimate"
        Ratio lambda of noise variance to process variance: estimated by maximum likelihood, or fixed. None is 0: the model
        interpolates.
    optimizer : {"lbfgsb", "cmaes"}, default="lbfgsb"
        Optimiser of the likelihood: L-BFGS-B from several starts, or CMA-ES as in the paper.
    n_restarts : int or None, default=None
        Number of starts of L-BFGS-B, at least 1: in turn the likeliest of a Latin hypercube 25 times as large, and of points with
        long lengths and with little or much noise. None is 36 for at most 50 points, whose likelihood has many maxima, and 12 for
        more.
    theta_bounds : (float, float), default=(1e-6, 1e3)
        Bounds of theta for columns scaled to a range of 1.
    nugget_bounds : (float, float), default=(1e-10, 10)
        Bounds of an estimated nugget.
    integer : sequence of int, default=()
        Indices of columns that are rounded inside the correlation, so that the prediction is piecewise constant in them.
    categorical : sequence of int, default=()
        Indices of columns whose values are codes of categories: any two different codes have distance 1.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features,)
        Theta in the units of X: the correlation is a function of sum_j theta_j (x_j - x'_j)^2.
    nugget_ : float
        Ratio of noise variance to process variance.
    mu_, sigma2_ : float
        Mean and process variance (eq. 6 and 7), in the units of y; a variance beyond the largest float is inf.
    log_likelihood_ : float
        Concentrated log-likelihood (eq. 8), inf for a constant response and for a single point without a nugget.
    jitter_ : float
        Term added to the diagonal of the correlation matrix to make it factor; 0 if not needed.
    X_train_, y_train_, counts_ : ndarray
        Distinct points, mean response and number of responses at each.

    Raises
    ------
    SurrogateError
        If a parameter is outside its range.

    Notes
    -----
    Equal rows of X are aggregated to their mean and count before the fit; the likelihood remains that of all responses. With a
    single distinct point, the likelihood grows with the nugget for any theta: the nugget is then its upper bound, and the noise
    is the scatter of the responses.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", eq. 4-10
    (eq. 9 read as mu + psi' R^-1 (y - 1 mu), the last numerator of eq. 10 squared).
    Forrester, Sobester, Keane 2008, "Engineering Design via Surrogate Modelling".

    Examples
    --------
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> model = Kriging(nugget=None, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> mean, error = model.predict([[0.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(3)) < 1e-3)
    True
    """

    def __init__(
        self,
        correlation: Literal["gaussian", "matern52"] = "gaussian",
        nugget: float | Literal["estimate"] | None = "estimate",
        optimizer: Literal["lbfgsb", "cmaes"] = "lbfgsb",
        n_restarts: int | None = None,
        theta_bounds: tuple[float, float] = (1e-6, 1e3),
        nugget_bounds: tuple[float, float] = (1e-10, 10.0),
        integer: Sequence[int] = (),
        categorical: Sequence[int] = (),
        random_state: Any = None,
    ):
        self.correlation = correlation
        self.nugget = nugget
        self.optimizer = optimizer
        self.n_restarts = n_restarts
        self.theta_bounds = theta_bounds
        self.nugget_bounds = nugget_bounds
        self.integer = integer
        self.categorical = categorical
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Kriging:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; any units.
        y : array-like of shape (n_samples,)
            Responses.

        Returns
        -------
        Kriging
            The fitted model itself.
        """
        points, values = cast("tuple[Floats, Floats]", validate_data(self, X, y, dtype=np.float64, y_numeric=True))
        correlation = get_correlation(self.correlation)
        self._check_parameters(points.shape[1])
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1, size=4))
        unscaled = Embedding.of(points, self.integer, self.categorical)
        values = np.asarray(values, dtype=float)
        scale = _power_of_two(values)  # a power of two: squares stay within the range of floats, and no digit changes
        values = values / scale
        largest, origin = float(np.abs(values).max()), float(values.min())
        values = values - origin  # before the spread is judged: responses far from zero vary too
        data = aggregate(unscaled.round(points), values)
        span = np.ptp(data.X, axis=0)
        numeric = np.isin(np.arange(points.shape[1]), unscaled.numeric)
        self._embedding = Embedding.of(data.X, self.integer, self.categorical, scale=np.where(numeric & (span > 0), span, 1.0))
        embedded = self._embedding.transform(data.X)
        offset, unit = float(np.mean(values)), float(np.std(values))
        constant = not unit > _ROUNDING * largest
        unit = 1.0 if constant else unit
        response = Response((data.mean - offset) / unit, data.count, data.within / unit**2)
        with one_blas_thread() if len(embedded) <= _SMALL else nullcontext():
            theta, nugget = self._hyperparameters(correlation, embedded, response, constant, rng)
        self._process = Process.condition(correlation, theta[self._embedding.owner], nugget, embedded, response)
        self._response = response
        self._offset, self._unit = scale * (origin + offset), scale * unit
        self.theta_ = theta / self._embedding.scale**2
        self.nugget_ = nugget
        self.X_train_, self.y_train_, self.counts_ = data.X, scale * (origin + data.mean), data.count
        self._publish()
        if constant:
            self.log_likelihood_, self.sigma2_ = np.inf, 0.0
        if self.jitter_ > 0:
            _LOG.info("the correlation matrix of %d points needed a jitter of %g", len(data.X), self.jitter_)
        return self

    def _hyperparameters(
        self, correlation: Any, embedded: Floats, response: Response, constant: bool, rng: np.random.Generator
    ) -> tuple[Floats, float]:
        """Return theta of each column, for columns of range 1, and the nugget."""
        d = self._embedding.n_features
        bounds = np.log(np.tile(np.asarray(self.theta_bounds, dtype=float), (d, 1)))
        fixed = 0.0 if self.nugget is None else None if self.nugget == "estimate" else float(self.nugget)
        if constant or len(embedded) == 1:
            largest = 0.0 if constant else float(self.nugget_bounds[1])
            return np.exp(bounds.mean(axis=1)), largest if fixed is None else fixed
        if fixed is None:
            bounds = np.vstack([bounds, np.log(np.asarray(self.nugget_bounds, dtype=float))])
        problem = LikelihoodProblem(correlation, self._embedding.pair_distances(embedded), response, bounds, fixed)
        n_restarts = self.n_restarts or (36 if len(embedded) <= _FEW else 12)
        return problem.split(maximize_likelihood(problem, optimizer=self.optimizer, n_restarts=n_restarts, rng=rng))

    def _publish(self) -> None:
        p, n = self._process, len(self._process.points)
        self.mu_ = self._offset + self._unit * p.mu
        self.sigma2_ = self._unit * (self._unit * p.sigma2)
        responses = float(self.counts_.sum()) if p.nugget > 0 else float(n)
        self.log_likelihood_ = p.log_likelihood - responses * float(np.log(self._unit))
        self.jitter_ = p.jitter

    def _check_parameters(self, d: int) -> None:
        if self.nugget is not None and self.nugget != "estimate":
            if isinstance(self.nugget, str) or not np.isfinite(self.nugget) or self.nugget < 0:
                raise SurrogateError(f"nugget={self.nugget!r} is not a nugget; use 'estimate', None or a number of at least 0")
        if self.optimizer not in ("lbfgsb", "cmaes"):
            raise SurrogateError(f"optimizer={self.optimizer!r} is unknown; use 'lbfgsb' or 'cmaes'")
        if self.n_restarts is not None and self.n_restarts < 1:
            raise SurrogateError(f"n_restarts={self.n_restarts} allows no start; use 1 or more")
        for name in ("theta_bounds", "nugget_bounds"):
            low, high = getattr(self, name)
            if not 0 < low < high < np.inf:
                raise SurrogateError(
                    f"{name}={getattr(self, name)!r} is not a range; use two positive numbers, the smaller first"
                )
        for name in ("integer", "categorical"):
            wrong = [j for j in getattr(self, name) if not 0 <= j < d]
            if wrong:
                raise SurrogateError(f"{name}={tuple(getattr(self, name))!r} names column {wrong[0]}; X has columns 0 to {d - 1}")
        both = sorted(set(self.integer) & set(self.categorical))
        if both:
            raise SurrogateError(f"column {both[0]} is both in integer and in categorical; choose one")

    def predict(self, X: ArrayLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict the response.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.
        return_std : bool, default=False
            Whether to return also the standard error of a new response (eq. 10). It includes the nugget, and vanishes at the data
            only if the model interpolates.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        error : ndarray of shape (n_samples,)
            Only with `return_std`.
        """
        check_is_fitted(self)
        checked = cast("Floats", validate_data(self, X, dtype=np.float64, reset=False))
        embedded = self._embedding.transform(checked)
        rows = max(_BLOCK // len(self._process.points), 1)
        blocks = [self._process.predict(embedded[k : k + rows]) for k in range(0, len(embedded), rows)]
        mean = self._offset + self._unit * np.concatenate([m for m, _ in blocks])
        if not return_std:
            return mean
        variance = np.concatenate([v for _, v in blocks]) + self._process.nugget * self._process.sigma2
        return mean, self._unit * np.sqrt(variance)

    def reinterpolate(self) -> Kriging:
        """Return a fitted Kriging model that interpolates this model's predictions at the data.

        Theta is kept and the nugget dropped; the mean is the same function. The standard error is zero at every evaluated point,
        as expected improvement requires (Forrester, Sobester, Keane 2008, section 6).

        Returns
        -------
        Kriging
            The interpolating model.
        """
        check_is_fitted(self)
        other = self._copy(nugget=None)
        other._process = self._process.reinterpolate()
        other.nugget_ = 0.0
        other.y_train_ = self._offset + self._unit * other._process.fitted
        other.sigma2_ = self._unit * (self._unit * other._process.sigma2)
        other.jitter_ = other._process.jitter
        return other

    def extend(self, X: ArrayLike, y: ArrayLike) -> Kriging:
        """Return a fitted Kriging model with further data and the same hyperparameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further points, all different and, without a nugget, different from the data.
        y : array-like of shape (n_samples,)
            Their responses.

        Returns
        -------
        Kriging
            The model of all data.

        Examples
        --------
        >>> X = np.linspace(0, 1, 8)[:, None]
        >>> model = Kriging(nugget=None, random_state=0).fit(X, np.sin(6 * X[:, 0]))
        >>> bool(abs(model.extend([[1.2]], [3.0]).predict([[1.2]])[0] - 3.0) < 1e-6)
        True
        """
        check_is_fitted(self)
        points = cast("Floats", validate_data(self, X, dtype=np.float64, reset=False))
        values = np.asarray(y, dtype=float)
        before, p = self._response, self._process
        other = self._copy()
        other.X_train_ = np.vstack([self.X_train_, self._embedding.round(points)])
        other.y_train_ = np.append(self.y_train_, values)
        other.counts_ = np.append(self.counts_, np.ones(len(values)))
        further = (values - self._offset) / self._unit
        response = Response(np.append(before.mean, further), np.append(before.count, np.ones(len(values))), before.within)
        embedded = self._embedding.transform(other.X_train_)
        other._process = Process.condition(p.correlation, p.scale**2, p.nugget, embedded, response)
        other._response = response
        other._publish()
        return other

    def _copy(self, **changed: Any) -> Kriging:
        """Return a fitted copy, with some parameters changed."""
        other = Kriging(**{**self.get_params(deep=False), **changed})
        fitted = {name: value for name, value in self.__dict__.items() if name.endswith("_") or name.startswith("_")}
        other.__dict__.update(fitted)
        return other


def _power_of_two(values: Floats) -> float:
    """Return the largest power of two that is at most the largest absolute value, 1 if all are zero."""
    largest = float(np.max(np.abs(values)))
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0 else 1.0
