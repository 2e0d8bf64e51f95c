"""The average of a few candidates as one estimator, and a single candidate with calibrated decisions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, Self, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.notices import Notice, gathered, once, tell
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.fold_answers import common_responses, respond
from spotsvm.errors import ArgumentError
from spotsvm.luck.calibration import Calibration
from spotsvm.luck.scores import as_vector, labels_of, probabilities_of
from spotsvm.out_of_fold.judged_rows import as_decisions

Array = NDArray[Any]
Response = Literal["predict_proba", "decision_function", "predict"]


class _Average(MetaEstimatorMixin, BaseEstimator):
    """The common base."""

    def __init__(
        self,
        estimators: Sequence[Any],
        *,
        weights: Sequence[float] | None = None,
        scales: Sequence[float] | None = None,
        calibration: Calibration | None = None,
        n_jobs: int | None = None,
    ):
        self.estimators = estimators
        self.weights = weights
        self.scales = scales
        self.calibration = calibration
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        return deepcopy(get_tags(self.estimators[0]))

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a clone of each estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        **fit_params : dict
            Passed on to each estimator's fit.

        Returns
        -------
        self
            The fitted average.

        Raises
        ------
        ArgumentError
            If the weights are unusable.
        """
        for name in ("weights", "scales"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.estimators):
                raise ArgumentError(
                    f"{name} has {len(values)} numbers; use one for each of the {len(self.estimators)} estimators"
                )
        weights = np.ones(1) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        if not ((weights >= 0).all() and 0 < weights.sum() < np.inf):
            raise ArgumentError(f"weights={self.weights!r}; use numbers of at least 0, one of which is above 0")
        with interrupts_kept_from_workers():
            fitted = Parallel(n_jobs=self.n_jobs)(delayed(_fitted)(one, X, y, fit_params) for one in self.estimators)
        self.estimators_ = [model for model, _ in fitted]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))
        tell(once(notice for _, told in fitted for notice in told))
        return self

    def _averaged(self, X: Any, response: str, classes: Array | None) -> Array:
        """Return the weighted mean of the answers, (n, k)."""
        check_is_fitted(self)
        m = len(self.estimators_)
        weights = np.ones(m) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        scaled = self.scales is not None and response == "decision_function"
        scales = np.asarray(self.scales, dtype=np.float64) if scaled else np.ones(m)
        total: Any = 0.0
        with gathered() as told:
            for model, weight in zip(self.estimators_, weights / weights.sum() / scales, strict=True):
                total = total + weight * respond(model, X, response, classes)
        tell(once(told))
        return np.asarray(total)


def _fitted(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, list[Notice]]:
    """Return a fitted clone, and what its fit tells, perhaps in another process."""
    model = clone(estimator)
    with gathered() as told:
        model.fit(X, y, **fit_params)
    return model, told


def _response(average: Any) -> str:
    """Return the method of the members whose answers are averaged."""
    if average.response is not None:
        return str(average.response)
    members, n_classes = getattr(average, "estimators_", average.estimators), len(getattr(average, "classes_", ())) or 2
    names = common_responses(members, n_classes)
    return "decision_function" if average.calibration is not None and "decision_function" in names else names[0]


def _has_probabilities(average: Any) -> bool:
    return average.calibration is not None or _response(average) == "predict_proba"


class AverageClassifier(ClassifierMixin, _Average):
    """The average of a few classifiers: of their probabilities, else of their decisions, else of their votes.

    `SpotSearchCV` returns it with `refit="average"` or `calibrate=True`.

    Parameters
    ----------
    estimators : sequence of estimator
        The classifiers; fit makes clones. Probabilities or decisions are averaged where all have them.
    weights : sequence of float, optional
        Their weights, at least 0 and not all 0; equal by default.
    scales : sequence of float, optional
        Divisors of the decisions of each classifier before averaging; 1 by default. Probabilities and votes have the same scale,
        and are not divided.
    calibration : Calibration, optional
        Converts averaged answers to probabilities; `predict` then returns the most probable class.
    n_jobs : int or None, default=None
        Estimators fitted at once.
    response : {"predict_proba", "decision_function", "predict"} or None, default=None
        The method whose answers are averaged; "predict" averages votes, for example of classifiers such as
        FixedThresholdClassifier, whose `predict` does not return the most probable class. None is the first of the three methods
        that all estimators have; with a calibration, decisions come before probabilities.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted classifiers.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_, feature_names_in_
        Those of the first estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AverageClassifier(
    ...     [GaussianNB(), LogisticRegression(max_iter=1000)], weights=[0.3, 0.7]
    ... ).fit(X, y)
    >>> round(model.score(X, y), 2), model.predict_proba(X).shape
    (0.96, (150, 3))
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        *,
        weights: Sequence[float] | None = None,
        scales: Sequence[float] | None = None,
        calibration: Calibration | None = None,
        n_jobs: int | None = None,
        response: Response | None = None,
    ):
        super().__init__(estimators, weights=weights, scales=scales, calibration=calibration, n_jobs=n_jobs)
        self.response = response

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a clone of each classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The classes.
        **fit_params : dict
            Passed on to each classifier's fit.

        Returns
        -------
        self
            The fitted average.

        Raises
        ------
        ArgumentError
            If the weights are unusable, or `response` is unknown.
        """
        if self.response not in (None, *get_args(Response)):
            raise ArgumentError(f"response={self.response!r}; use None or one of {', '.join(map(repr, get_args(Response)))}")
        with gathered() as told:
            super().fit(X, y, **fit_params)
        self.classes_ = np.asarray(self.estimators_[0].classes_)
        tell(told)
        return self

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        response = _response(self)
        decisions = as_decisions(self._averaged(X, response, self.classes_), response, self.calibration is not None)
        return decisions if self.calibration is None else np.asarray(self.calibration(decisions[None])[0])

    @available_if(lambda average: average.calibration is not None or _response(average) != "predict")
    def decision_function(self, X: Any) -> Array:
        """Return the averaged decisions; log odds or log probabilities where probabilities are averaged or calibrated.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions; positive for the second of two classes.
        """
        return as_vector(self._decisions(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the averaged or calibrated probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probability of each class.
        """
        probabilities = probabilities_of(self._decisions(X))
        return probabilities if len(self.classes_) > 1 else np.ones((len(probabilities), 1))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms.
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        labels = labels_of(self._decisions(X))
        return np.asarray(self.classes_[labels if len(self.classes_) > 1 else np.zeros_like(labels)])


class AverageRegressor(RegressorMixin, _Average):
    """The average of a few regressors' predictions; `SpotSearchCV` returns it with `refit="average"`.

    Parameters
    ----------
    estimators, weights, scales, n_jobs
        As in `AverageClassifier`.
    calibration : None
        Not used; neither are `scales`, as there are no decisions.

    Attributes
    ----------
    estimators_, n_features_in_, feature_names_in_
        As in `AverageClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AverageRegressor([Ridge(), KNeighborsRegressor()]).fit(X, y).predict(
    ...     X[:3]
    ... ).shape
    (3,)
    """

    def predict(self, X: Any) -> Array:
        """Return the prediction of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return as_vector(self._averaged(X, "predict", None))
