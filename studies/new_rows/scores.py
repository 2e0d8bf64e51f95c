"""Scores of a model on new rows: error, RMSE, log loss, AUC, Brier score and calibration error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from spotsvm.studies.new_rows.sets import Split
from spotsvm.studies.new_rows.sources import REGRESSION

ERROR, RMSE, LOG_LOSS, AUC, BRIER, CALIBRATION = "error", "rmse", "log_loss", "auc", "brier", "calibration_error"
SCORES = (ERROR, RMSE, LOG_LOSS, AUC, BRIER, CALIBRATION)
_BINS = 10


def scores(model: Any, task: str, data: Split) -> dict[str, float]:
    """Return the scores of a fitted model on the new rows; those that its task or its predictions do not have are nan."""
    found = dict.fromkeys(SCORES, float("nan"))
    predicted = np.asarray(model.predict(data.new_X)).reshape(len(data.new_y))
    if task == REGRESSION:
        mean = float(np.mean((predicted - data.new_y) ** 2) / np.var(data.new_y))
        return found | {ERROR: 100.0 * mean, RMSE: float(np.sqrt(mean))}
    found[ERROR] = 100.0 * float(np.mean(predicted != data.new_y))
    classes = np.union1d(data.y, data.new_y)
    if hasattr(model, "predict_proba"):
        return found | of_probabilities(probabilities(model, data, classes), data.new_y, classes)
    if hasattr(model, "decision_function") and len(classes) == 2:
        found[AUC] = float(roc_auc_score(data.new_y, model.decision_function(data.new_X)))
    return found


def probabilities(model: Any, data: Split, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of probabilities for each class, with sum 1; a class that the model does not know has 0."""
    given = np.asarray(model.predict_proba(data.new_X), dtype=np.float64)
    found = np.zeros((len(data.new_y), len(classes)))
    found[:, np.searchsorted(classes, np.asarray(model.classes_))] = np.clip(given, 0.0, 1.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def of_probabilities(found: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> dict[str, float]:
    """Return the scores of probabilities; the study's notes define them."""
    hot = y[:, None] == classes
    judged = [1] if len(classes) == 2 else np.flatnonzero(hot.any(axis=0))
    auc = float(np.mean([roc_auc_score(hot[:, k], found[:, k]) for k in judged]))
    sure, right = found.max(axis=1), classes[found.argmax(axis=1)] == y
    bins = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gaps = [abs(float((sure - right)[bins == k].sum())) for k in range(_BINS)]
    return {
        LOG_LOSS: float(log_loss(y, found, labels=classes)),
        AUC: auc,
        BRIER: float(((found - hot) ** 2).sum(axis=1).mean()),
        CALIBRATION: sum(gaps) / len(y),
    }
