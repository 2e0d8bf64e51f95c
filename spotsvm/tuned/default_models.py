"""The models that a tuned one is compared with: what a sensible person would use without tuning."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.estimators.class_entries import class_factors
from spotsvm.preprocessing.far_targets import TargetScaler
from spotsvm.preprocessing.table_encoder import TableEncoder


class WeightedCalibration(CalibratedClassifierCV):
    """A sigmoid of out-of-fold decisions of a pipeline with an SVC, both fitted with weights of the classes.

    Without them the calibration would undo the class weights of the SVC. scikit-learn's class passes codes of the classes to the
    SVC, whose weights are by their labels.
    """

    estimator: Any

    def __init__(self, estimator: Any = None, *, cv: Any = 5, class_weight: Any = None):
        super().__init__(estimator, cv=cv, ensemble=False)
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator and the calibration."""
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        factors = class_factors(self.class_weight, labels, codes)
        given, weights = self.estimator, None if self.class_weight is None else dict(enumerate(factors.tolist()))
        self.estimator = clone(given).set_params(svc__class_weight=weights)
        try:
            with warnings.catch_warnings():  # that the weights of rows are those of the calibration alone, which is meant
                warnings.filterwarnings("ignore", "Since .* does not appear to accept", UserWarning)
                super().fit(X, codes, sample_weight=factors[codes])
        finally:
            self.estimator = given
        self.classes_ = labels
        return self


def with_threshold(estimator: Any, threshold: float | None, positive: Any) -> Any:
    """Return a classifier that predicts the positive class from this probability on; None leaves the estimator as it is."""
    if threshold is None:
        return estimator
    return FixedThresholdClassifier(estimator, threshold=threshold, pos_label=positive, response_method="predict_proba")


def default_svm(
    classify: bool,
    categorical: Any = (),
    *,
    scaler: Any = None,
    max_iter: int = -1,
    class_weight: Any = None,
    sparse_gamma: float | None = None,
) -> Pipeline:
    """Return `SVC()`, or `SVR()` with a standardised target, behind a `TableEncoder` that standardises numbers.

    Levels, gaps and texts stay as encoded: standardised, a rare level would count more than any number. With `sparse_gamma` it is
    for sparse rows, which are not centred: that of `gamma="scale"` depends on the centre.
    """
    gamma: Any = "scale" if sparse_gamma is None else sparse_gamma
    machine = (
        SVC(gamma=gamma, max_iter=max_iter, class_weight=class_weight)
        if classify
        else TransformedTargetRegressor(SVR(gamma=gamma, max_iter=max_iter), transformer=TargetScaler())
    )
    if sparse_gamma is not None:
        return make_pipeline(StandardScaler(with_mean=False), machine)
    return make_pipeline(TableEncoder(categorical, scaler=StandardScaler() if scaler is None else scaler), machine)


def default_classifier(
    plain: Pipeline, class_weight: Any, cv: int, calibrated: bool, threshold: float | None, positive: Any
) -> Any:
    """Return the default SVM for classes; `calibrated` if probabilities are needed, which `SVC` does not have."""
    return with_threshold(
        WeightedCalibration(plain, cv=cv, class_weight=class_weight) if calibrated else plain, threshold, positive
    )
