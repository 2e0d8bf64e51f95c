"""PLSScores: the scores of partial least squares, as features for another model."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice, check_count
from spotsvm.errors import ArgumentError


@dataclass(eq=False, repr=False)
class PLSScores(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Few features from many columns: the scores of partial least squares (PLS), which covary with the target.

    Columns are centred and scaled to unit variance. The scores keep their proportions, as the first ones say most about the
    target: all are divided by one number, so that their mean variance is 1.

    Parameters
    ----------
    n_components : int, default=10
        Number of scores, 1 or more. There are fewer if fewer can be computed: at most the number of columns, and one less than
        the number of rows.
    task : {"regression", "classification"}, default="regression"
        The kind of target. In classification the target of PLS is a column of 0 and 1 for each class, one for two classes.

    Attributes
    ----------
    pls_ : PLSRegression or None
        The fitted PLS; None if all training rows are equal, so that the only score is 0.
    n_components_ : int
        Number of scores.
    scale_ : float
        The number that all scores are divided by.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above; a ValueError.

    See Also
    --------
    SavitzkyGolay : Smooths spectra, or takes derivatives.
    PrincipalMonomials : Components that do not depend on the target.
    spectra_pipeline : Tunes all of them together.

    Notes
    -----
    `PLSRegression` is a transformer too, but returns scores of the target as well, so that no pipeline can have a model after it.

    References
    ----------
    Wold, Sjostrom, Eriksson 2001, "PLS-regression: a basic tool of chemometrics".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> make_pipeline(PLSScores(3), SVR()).fit(X, y)[0].transform(X).shape
    (442, 3)
    """

    n_components: int = 10
    _: KW_ONLY
    task: Literal["regression", "classification"] = "regression"

    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions of the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, two rows or more.
        y : array-like of shape (n_samples,)
            Classes, or targets.

        Returns
        -------
        PLSScores
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid, or the target of a regression has no numbers; a ValueError.

        See Also
        --------
        transform : Computes the scores.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        n_components = check_count("n_components", self.n_components)
        check_choice("task", self.task, ("regression", "classification"))
        if self.task == "classification":
            check_classification_targets(y)
            y = LabelBinarizer().fit_transform(y)
        target = _numbers(y)
        # more scores than the rows have dimensions would be rounding error
        deviations = X.std(axis=0)
        rank = int(np.linalg.matrix_rank((X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)))
        self.pls_: PLSRegression | None = None
        self.n_components_, self.scale_ = 1, 1.0
        if rank == 0:
            return self
        with warnings.catch_warnings():
            # scores after the last that can be computed are left out
            warnings.filterwarnings("ignore", "y residual is constant")
            self.pls_ = PLSRegression(min(n_components, rank)).fit(X, target)
        variances = self.pls_.transform(X).var(axis=0)
        self.n_components_ = max(1, int((variances > np.finfo(float).eps * variances.max()).sum()))
        spread = float(np.sqrt(variances[: self.n_components_].mean()))
        self.scale_ = spread if spread > 0 else 1.0
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data with the features of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
            The scores.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.pls_ is None:
            return np.zeros((len(X), 1))
        scores: NDArray[np.float64] = self.pls_.transform(X)[:, : self.n_components_] / self.scale_
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pls_")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _numbers(y: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return np.asarray(y, dtype=np.float64)
    except ValueError:
        raise ArgumentError(f'y has {y.flat[0]!r}, which is no number; use task="classification" for classes') from None
