"""The refit: of the best candidate or of an average of a few, in a worker process where it has a limit of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier, is_regressor

from spotsvm.common.checks import check_flag
from spotsvm.cross_validation.fold_data import Split
from spotsvm.errors import ArgumentError, RefitTimeoutError
from spotsvm.luck.refits.candidates import best_candidates, combined, out_of_fold
from spotsvm.luck.scores import probabilities_of
from spotsvm.search_cv.average import AverageClassifier, AverageRegressor
from spotsvm.search_cv.run import AVERAGE, SearchArguments, SpotSearchRun
from spotsvm.search_cv.scoring import metric_name
from spotsvm.study.workers.one_call import TimeUpError, call_within

#: the attributes that a combination of candidates gives to a search
COMBINED = ("expected_score_", "oof_decision_function_", "oof_predict_proba_", "oof_predict_")


def refitted(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any], seconds: float | None) -> Any:
    """Return an estimator fitted to all rows: this one, or with a limit in seconds its copy from a process.

    Raises RefitTimeoutError if the time is up.
    """
    config = get_config()

    def fit() -> Any:
        with config_context(**config):
            _ = estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
        return estimator  # as fit of some estimators returns None

    if seconds is None:
        return fit()
    try:
        return call_within(fit, seconds)
    except TimeUpError as error:
        raise RefitTimeoutError(
            f"the refit took longer than refit_timeout={seconds:g} s; the search itself is done: cv_results_, best_params_ and "
            "study_ are set on it, and it is the attribute `search` of this error"
        ) from error


def check_combination(search: SearchArguments, y: Any) -> None:
    """Raise ArgumentError if `refit="average"` or `calibrate` does not go with the estimator, the metrics and the target."""
    check_flag("calibrate", search.calibrate)
    estimator, scoring = search.estimator, search.scoring
    averages = isinstance(search.refit, str) and search.refit == AVERAGE
    if averages:
        if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
            raise ArgumentError(f"refit='average' is for one metric, and scoring={scoring!r} has several; pass one of them")
        if not (is_classifier(estimator) or is_regressor(estimator)):
            raise ArgumentError(
                f"refit='average' is for classifiers and regressors, and estimator={estimator!r} is neither; use refit=True"
            )
    if search.calibrate and not (
        is_classifier(estimator) and (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"))
    ):
        raise ArgumentError(
            f"calibrate=True is for classifiers with decision_function or predict_proba, and estimator={estimator!r} is none; "
            "use calibrate=False"
        )
    if (averages or search.calibrate) and is_classifier(estimator):
        shape = getattr(y, "shape", None) or np.shape(y)
        if len(shape) > 1 and shape[1] > 1:
            raise ArgumentError(
                f"{'refit=' + repr(AVERAGE) if averages else 'calibrate=True'} is for one class for each row, and y has "
                f"{shape[1]} columns; use refit=True and calibrate=False"
            )


def combination(
    search: Any,
    run: SpotSearchRun,
    X: Any,
    y: Any,
    splits: Sequence[Split],
    groups: Any,
    fit_params: Mapping[str, Any],
    metric: str,
) -> tuple[Any, dict[str, Any]]:
    """Return the average of a few candidates or the best one calibrated, not fitted yet, and attributes of the search.

    Candidates are compared by their predictions for the test rows of the given folds, for which they are fitted there again: so
    a search that goes on from a record has the same average.
    """
    averages, classifier = search.refit == AVERAGE, is_classifier(search.estimator)
    params = best_candidates(search.cv_results_, metric, search.best_index_) if averages else [search.best_params_]
    candidates = [clone(search.estimator).set_params(**clone(one, safe=False)) for one in params]
    n_jobs = None if search.uses_workers else search.n_jobs
    name = metric_name(search)
    out = out_of_fold(
        candidates, X, y, splits, classifier=classifier, metric=name, average=averages, calibrated=search.calibrate,
        fit_params=fit_params, n_jobs=n_jobs, known=run.test_answers(params),
    )  # fmt: skip
    found = combined(out, name, search.study_.seed, groups=groups, average=averages, calibrated=search.calibrate)
    members = np.flatnonzero(found.weights)
    kind = partial(AverageClassifier, response=out.response) if classifier else AverageRegressor
    estimator = kind(
        [candidates[out.kept[k]] for k in members],
        weights=found.weights[members].tolist(),
        scales=found.scales[members].tolist(),
        calibration=found.calibration,
        n_jobs=n_jobs,
    )
    weights = np.zeros(len(search.cv_results_["params"]))
    rows = {repr(one): k for k, one in reversed(list(enumerate(search.cv_results_["params"])))} | {
        repr(search.best_params_): search.best_index_
    }
    for k in members:
        weights[rows[repr(params[out.kept[k]])]] = found.weights[k]
    search.cv_results_["weight"] = weights

    def of_all(values: Any) -> Any:
        full = np.full((len(np.asarray(y)), *values.shape[1:]), np.nan)
        full[out.rows] = values
        return full

    attributes: dict[str, Any] = {}
    if classifier:
        if out.response != "predict" or search.calibrate:
            decisions = of_all(found.decisions)
            attributes["oof_decision_function_"] = decisions[:, 0] if decisions.shape[1] == 1 else decisions
        if out.response == "predict_proba" or search.calibrate:
            attributes["oof_predict_proba_"] = of_all(probabilities_of(found.decisions))
    else:
        predictions = of_all(found.decisions)
        attributes["oof_predict_"] = predictions[:, 0] if predictions.shape[1] == 1 else predictions
    if averages and found.expected is not None:
        attributes["expected_score_"] = found.expected
    return estimator, attributes
