"""The trials of a cross-validated search as scikit-learn's `cv_results_`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from spotsvm.trial import Trial

Floats = NDArray[np.float64]


def search_results(
    trials: Sequence[Trial], metrics: Sequence[str], n_splits: int, *, error_score: float, return_train_score: bool
) -> dict[str, Any]:
    """Make the dictionary that RandomizedSearchCV has: a row a finished trial, in the order of the trials.

    Parameters
    ----------
    trials : sequence of Trial
        Finished trials; their fold scores are in `extra`.
    metrics : sequence of str
        Names of the scores.
    n_splits : int
        Number of folds.
    error_score : float
        The score of a fold that failed.
    return_train_score : bool
        Whether there are training scores.
    """
    results: dict[str, Any] = {}
    for clock in ("fit_time", "score_time"):
        for part in ("mean", "std"):
            results[f"{part}_{clock}"] = np.array([t.extra.get(f"{part}_{clock}", 0.0) for t in trials])
    for name in dict.fromkeys(name for t in trials for name in t.params):
        results[f"param_{name}"] = _masked([t.params.get(name, _ABSENT) for t in trials])
    results["params"] = [dict(t.params) for t in trials]
    for metric in metrics:
        for side in ["test", *["train"] * return_train_score]:
            splits = np.array([[t.extra.get(f"split{i}_{side}_{metric}", error_score) for i in range(n_splits)] for t in trials])
            for i in range(n_splits):
                results[f"split{i}_{side}_{metric}"] = splits[:, i]
            results[f"mean_{side}_{metric}"] = splits.mean(axis=1)
            results[f"std_{side}_{metric}"] = splits.std(axis=1)
            if side == "test":
                results[f"rank_test_{metric}"] = _ranks(results[f"mean_test_{metric}"])
    return results


_ABSENT = object()


def _masked(values: list[Any]) -> np.ma.MaskedArray[Any, Any]:
    """Make a masked array of one parameter's values, masked where it does not exist."""
    present = [v for v in values if v is not _ABSENT]
    kind = np.array(present).dtype if all(isinstance(v, Number) for v in present) else np.dtype(object)
    out: np.ma.MaskedArray[Any, Any] = np.ma.MaskedArray(np.empty(len(values), dtype=kind), mask=True)
    for k, value in enumerate(values):
        if value is not _ABSENT:
            out[k] = value
    return out


def _ranks(means: Floats) -> NDArray[np.int32]:
    """Rank from 1 for the largest mean; a mean that is nan ties with the worst."""
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.int32)
    filled = np.where(np.isnan(means), np.nanmin(means) - 1.0, means)
    return np.asarray(rankdata(-filled, method="min"), dtype=np.int32)
