"""What the fold scores of a trial say of how sure its mean score is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from spotsvm.optimism.intervals import corrected_factor
from spotsvm.trial import Trial

Floats = NDArray[np.float64]

_TEST = re.compile(r"split(\d+)_test_(.+)")


def fold_metrics(trials: Sequence[Trial]) -> list[str]:
    """Give the names of the metrics of which trials have test scores of folds, in the order in which they appear."""
    found = (_TEST.fullmatch(name) for t in trials for name in t.extra)
    return list(dict.fromkeys(match[2] for match in found if match))


def fold_scores(extra: Mapping[str, float], metric: str) -> dict[int, float]:
    """Give a trial's test scores in a metric, by fold.

    Examples
    --------
    >>> fold_scores({"split1_test_score": 0.5, "split0_test_score": 0.75, "mean_fit_time": 0.1}, "score")
    {0: 0.75, 1: 0.5}
    """
    matches = [(_TEST.fullmatch(name), score) for name, score in extra.items()]
    return dict(sorted((int(match[1]), score) for match, score in matches if match and match[2] == metric))


def tuned_metric(trials: Sequence[Trial]) -> str | None:
    """Give the metric whose mean over the folds is the value of each trial; None if there is none."""
    return next((metric for metric in fold_metrics(trials) if all(_is_value(t, metric) for t in trials)), None)


def _is_value(trial: Trial, metric: str) -> bool:
    scores = list(fold_scores(trial.extra, metric).values())
    return bool(scores) and trial.value is not None and bool(np.isclose(np.mean(scores), trial.value, rtol=1e-9, atol=1e-12))


def corrected_standard_error(scores: Sequence[float] | Floats, test_share: float | None = None) -> float:
    """Give the standard error of a mean of resampled scores, whose training rows overlap.

    Parameters
    ----------
    scores : sequence of float
        One score a fold or split, two or more.
    test_share : float, optional
        Share of the rows that a fold tests on, between 0 and 1; by default 1 / number of scores, as in cross-validation.

    References
    ----------
    Nadeau, Bengio 2003, "Inference for the Generalization Error".

    Examples
    --------
    >>> round(corrected_standard_error([0.8, 0.9, 0.85, 0.8, 0.9]), 4)
    0.0335
    """
    k = len(scores)
    share = 1.0 / k if test_share is None else test_share
    return float(np.sqrt(corrected_factor(k, share / (1.0 - share)) * np.var(np.asarray(scores, dtype=float), ddof=1)))
