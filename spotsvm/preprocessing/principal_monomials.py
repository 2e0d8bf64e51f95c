"""PrincipalMonomials: principal components, and all products of two of the first components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_count, check_flag
from spotsvm.errors import ArgumentError
from spotsvm.solvers.checked_numbers import as_float


@dataclass(eq=False, repr=False)
class PrincipalMonomials(TransformerMixin, BaseEstimator):
    """Principal components, and all monomials of degree 2 of the first components.

    The first n components have n (n + 1) / 2 monomials: squares and products of two. Components without variance are left out; if
    fewer than n have variance, all of these are used.

    Parameters
    ----------
    n_components : int, default=8
        Number of first components that are multiplied, 1 or more: the paper's N_PC.
    n_kept : int, float or None, default=None
        Components that are features themselves: None for all; an integer, 0 or more, for their number; or a float between 0 and 1
        for the fewest components with more than this share of the variance.
    whiten : bool, default=False
        Whether components are divided by their standard deviations, before they are multiplied. A StandardScaler after this step
        makes the features equal in both cases.

    Attributes
    ----------
    pca_ : PCA
        The fitted PCA of all components, in the order of their variance.
    polynomial_ : PolynomialFeatures
        Computes the monomials.
    n_kept_ : int
        Components that are features.
    n_components_ : int
        Components that are multiplied.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above; a ValueError.

    See Also
    --------
    ImportanceFraction : Keeps the important features.
    CutoffClassifier : Classes decided by cutoffs.

    Notes
    -----
    The sign of a component is arbitrary; scikit-learn makes the largest loading positive. Another sign changes the signs of some
    products, but of no square: distances, and so an SVM with an RBF kernel, stay the same.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PrincipalMonomials(n_components=2).fit(X).get_feature_names_out().tolist()
    ['pca0', 'pca1', 'pca2', 'pca3', 'pca0^2', 'pca0 pca1', 'pca1^2']
    """

    n_components: int = 8
    _: KW_ONLY
    n_kept: int | float | None = None
    whiten: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the principal components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, two rows or more.
        y : None
            Not used.

        Returns
        -------
        PrincipalMonomials
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid; a ValueError.

        See Also
        --------
        transform : Computes the features.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_components, whiten = check_count("n_components", self.n_components), check_flag("whiten", self.whiten)
        # the full decomposition: it draws nothing at random, and small variances are as good as large ones
        with np.errstate(invalid="ignore"):  # constant features have no shares of variance
            self.pca_: PCA = PCA(whiten=whiten, svd_solver="full").fit(X)
        sizes = self.pca_.singular_values_
        there = max(1, int((sizes > max(X.shape) * np.finfo(float).eps * sizes[0]).sum()))
        self.n_components_: int = min(n_components, there)
        self.n_kept_: int = min(self._kept(), there)
        self.polynomial_: PolynomialFeatures = PolynomialFeatures(degree=(2, 2), include_bias=False).fit(
            np.zeros((1, self.n_components_))
        )
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the components that are kept, and the monomials.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data with the features of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The `n_kept_` components and `n_components_ * (n_components_ + 1) / 2` monomials; `get_feature_names_out` names them.

        See Also
        --------
        get_feature_names_out : The names of the features.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        components = self.pca_.transform(X)
        monomials = self.polynomial_.transform(components[:, : self.n_components_])
        return np.hstack([components[:, : self.n_kept_], monomials])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: "pca0", ..., "pca0^2", "pca0 pca1", ...

        Parameters
        ----------
        input_features : None
            Not used: each component is of all features.

        Returns
        -------
        ndarray of str
            The names.

        See Also
        --------
        transform : Computes the features.
        """
        check_is_fitted(self)
        names = self.pca_.get_feature_names_out()
        monomials = self.polynomial_.get_feature_names_out(names[: self.n_components_])
        return np.concatenate([names[: self.n_kept_], monomials])

    def _kept(self) -> int:
        """Return the number of components to keep, however many there are."""
        n = self.n_kept
        if n is None:
            return int(len(self.pca_.components_))
        if isinstance(n, Integral) and not isinstance(n, bool) and n >= 0:
            return int(n)
        if not isinstance(n, bool | Integral) and 0 < (share := as_float(n)) < 1:
            shares = np.cumsum(np.nan_to_num(self.pca_.explained_variance_ratio_))
            return int(np.searchsorted(shares, share, side="right")) + 1
        raise ArgumentError(f"n_kept={n!r}; use None, a number of components, 0 or more, or a share between 0 and 1 as 0.99")
