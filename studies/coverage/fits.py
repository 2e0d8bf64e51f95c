"""A fit of a model: the score to expect by several metrics with its interval, and the score on new rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.errors import DataWarning
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.jobs import Row
from spotsvm.studies.coverage.cases import Rows, Sample
from spotsvm.studies.new_rows.sources import CLASSIFICATION
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import TunedSVR

#: trials of a search, and its folds
TRIALS, FOLDS = 20, 5
#: metrics by the number of classes; the first is what is optimised
SCORES = {0: ("r2",), 2: ("accuracy", "neg_log_loss", "roc_auc")}
_SEVERAL_CLASSES = ("accuracy", "neg_log_loss", "roc_auc_ovr")
#: metrics that need the probabilities of the model
_OF_PROBABILITIES = {"neg_log_loss", "roc_auc_ovr"}
NAMES = {"accuracy": "accuracy", "neg_log_loss": "log loss", "roc_auc": "AUC", "roc_auc_ovr": "AUC", "r2": "R2"}

Fit = Callable[[str, Rows, int], Any]


def _tuned(task: str, rows: Rows, seed: int) -> Any:
    model: Any = TunedSVC(random_state=seed) if task == CLASSIFICATION else TunedSVR(random_state=seed)
    return model.fit(rows.X, rows.y, sample_weight=rows.weight, groups=rows.groups)


def _searched(refit: bool | str) -> Fit:
    """Return the fit of a search whose model has probabilities if it is an average; weights count in fits and scores."""

    def fit(task: str, rows: Rows, seed: int) -> Any:
        is_class = task == CLASSIFICATION
        machine: Any = SVC() if is_class else SVR()
        scorer: Any = get_scorer("accuracy" if is_class else "r2")
        given: dict[str, Any] = {} if rows.groups is None else {"groups": rows.groups}
        with config_context(enable_metadata_routing=rows.weight is not None):
            encoder: Any = TableEncoder() if hasattr(rows.X, "columns") else StandardScaler()
            if rows.weight is not None:
                given["sample_weight"] = rows.weight
                encoder = encoder.set_fit_request(sample_weight=False)
                machine = machine.set_fit_request(sample_weight=True)
                scorer = scorer.set_score_request(sample_weight=True)
            space = {"C": loguniform(2.0**-5, 2.0**10), "gamma": loguniform(2.0**-8, 2.0**2)}
            return SpotSearchCV(
                make_pipeline(encoder, machine),
                {f"{type(machine).__name__.lower()}__{name}": law for name, law in space.items()},
                n_iter=TRIALS,
                scoring=scorer,
                refit=refit,
                calibrate=is_class and refit == "average",
                cv=FOLDS if rows.groups is None else GroupKFold(FOLDS),
                random_state=seed,
            ).fit(rows.X, rows.y, **given)

    return fit


TUNED = "TunedSVC, TunedSVR"
MODELS: dict[str, Fit] = {
    TUNED: _tuned,
    "SpotSearchCV": _searched(True),
    'SpotSearchCV, refit="1se"': _searched("1se"),
    'SpotSearchCV, refit="average"': _searched("average"),
}


def run_fit(task: str, sample: Sample, model: str, seed: int) -> list[Row]:
    """Return a row for each metric: the score to expect, its intervals for very many rows and for these, and that on new rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns that are constant, and the like
        return _rows_of(MODELS[model](task, sample.old, seed), task, sample)


def _rows_of(fitted: Any, task: str, sample: Sample) -> list[Row]:
    old, new = sample
    n_classes = len(np.unique(old.y)) if task == CLASSIFICATION else 0
    rows = []
    for metric in SCORES.get(n_classes, _SEVERAL_CLASSES):
        if metric in _OF_PROBABILITIES and not hasattr(fitted, "predict_proba"):
            continue
        expected = fitted.out_of_fold_.expected(metric)
        rows.append(
            {
                "score": NAMES[metric],
                "true": float(get_scorer(metric)(fitted, new.X, new.y, sample_weight=new.weight)),
                "expected": expected.value,
                **dict(zip(("low", "high"), expected.interval, strict=True)),
                **dict(zip(("rows_low", "rows_high"), expected.of_rows(len(new.y)), strict=True)),
            }
        )
    return rows
