"""A regressor that trains on complete rows only, those with known past values and a known target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from spotsvm.common.checks import check_choice
from spotsvm.common.targets import check_sample_weight
from spotsvm.errors import DataError
from spotsvm.preprocessing.time_series.history import Floats


@dataclass(eq=False, repr=False)
class CompleteRowsRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Fit a regressor to the rows in which nothing is NaN.

    A row is incomplete if part of its past is unknown, as for the first rows after a DelayEmbedding with start="nan", or if it
    has no target, as for the last rows if the target is the series some steps later. No row is removed before `fit`, so that a
    splitter sees the whole series.

    Parameters
    ----------
    regressor : estimator
        The regressor to fit.
    incomplete : {"nan", "mean"}, default="nan"
        The prediction for a row with a NaN in X: NaN, which most scorers refuse, or the mean of the targets in `fit`.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regressor.
    n_rows_ : int
        Number of complete rows of `fit` with a weight above 0.
    mean_ : float
        The mean of their targets, with the weights of the rows.
    n_features_in_, feature_names_in_
        Of the data seen in `fit`.

    Raises
    ------
    ArgumentError, DataError
        In `fit`, if `incomplete` is not as above, or no row is complete; both are ValueErrors.

    See Also
    --------
    DelayEmbedding : Leaves rows incomplete.
    HistoryPipeline : A pipeline of time series.

    Notes
    -----
    This class is not needed for targets that are read more rarely than the inputs, such as a level twice a month with daily rain:
    pass only the rows with a target, and all inputs as the `history` of a `HistoryPipeline`. Any scorer can then be used.

    It passes the checks of scikit-learn's estimators that its regressor passes. SVR itself fails the check of weights and
    repeated rows.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from spotsvm import DelayEmbedding
    >>> level = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    >>> model = make_pipeline(
    ...     DelayEmbedding(dimensions=1, horizon=1, start="nan"),
    ...     CompleteRowsRegressor(LinearRegression()),
    ... )
    >>> model.fit(level[:, None], level).predict(level[:, None]).round(6)
    array([nan,  2.,  4.,  8., 16., 32.])
    """

    regressor: Any
    incomplete: Literal["nan", "mean"] = "nan"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regressor to the complete rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows, with NaN where something is not known.
        y : array-like of shape (n,)
            The targets, with NaN where unknown.
        sample_weight : array-like of shape (n,) or None
            Weights of the rows, where the regressor takes them.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If no row is complete.

        See Also
        --------
        predict : The prediction; nan where a row is incomplete.
        """
        check_choice("incomplete", self.incomplete, ("nan", "mean"))
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=True)
        targets = _checked_targets(y)
        check_consistent_length(rows, targets, sample_weight)
        complete = ~np.isnan(rows).any(axis=1) & ~np.isnan(targets)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, len(rows))
        counted = complete if weights is None else complete & (weights > 0)
        self.n_rows_ = int(counted.sum())
        if not self.n_rows_:
            raise DataError(
                f"none of the {len(rows)} rows is complete: {int(np.isnan(rows).any(axis=1).sum())} have a NaN in X, "
                f"{int(np.isnan(targets).sum())} have no target"
                f"{'' if weights is None else f', {int((weights == 0).sum())} have the weight 0'}"
            )
        self.mean_ = float(np.average(targets[counted], weights=None if weights is None else weights[counted]))
        params = {} if weights is None else {"sample_weight": weights[counted]}
        self.regressor_ = clone(self.regressor).fit(rows[counted], targets[counted], **params)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the targets of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The predictions; for a row with a NaN as `incomplete` says.

        See Also
        --------
        score : How good the predictions are.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        complete = ~np.isnan(rows).any(axis=1)
        found = np.full(len(rows), self.mean_ if self.incomplete == "mean" else np.nan)
        if complete.any():
            found[complete] = self.regressor_.predict(rows[complete])
        return found

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2 over the rows that have a target and a prediction.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The targets, NaN where not known.
        sample_weight : array-like of shape (n,) or None
            Weights of the rows.

        Returns
        -------
        float
            R2 over these rows; at most 1.

        Raises
        ------
        DataError
            If no row has both a target and a prediction.

        See Also
        --------
        predict : The predictions that are scored.
        sklearn.metrics.r2_score : R^2 of targets without gaps.
        """
        predicted, targets = self.predict(X), _checked_targets(y)
        check_consistent_length(predicted, targets, sample_weight)
        known = ~np.isnan(predicted) & ~np.isnan(targets)
        if not known.any():
            raise DataError(f"none of the {len(targets)} rows has both a target and a prediction; there is nothing to score")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(targets[known], predicted[known], sample_weight=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _checked_targets(y: Any) -> Floats:
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    checked = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y")
    return np.asarray(column_or_1d(checked, warn=True))
