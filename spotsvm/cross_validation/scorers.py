"""The scorers that `scoring` stands for, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring

from spotsvm.errors import ArgumentError
from spotsvm.trials.scorer_trial import check_scorer


def make_scorers(estimator: Any, scoring: Any) -> Any:
    """Return the scorer, or a dictionary of several."""
    if callable(scoring) or isinstance(scoring, str | None):
        return check_scoring(estimator, scoring)
    named = scoring if isinstance(scoring, Mapping) else {name: name for name in metric_names(scoring)}
    return {name: check_scoring(estimator, one) for name, one in named.items()}


def check_scorers(estimator: Any, scoring: Any, y: Any) -> None:
    """Raise ArgumentError if a scorer can score no predictions of a target; see `check_scorer`."""
    target = None if y is None else np.asarray(y)
    if target is None or target.ndim != 1 or not (is_classifier(estimator) or is_regressor(estimator)):
        return
    scorers = make_scorers(estimator, scoring)
    named = scoring if isinstance(scoring, Mapping) else {}
    for name, scorer in scorers.items() if isinstance(scorers, dict) else [(scoring, scorers)]:
        check_scorer(named.get(name, name), scorer, target, is_classifier(estimator))


def metric_names(scoring: Any) -> list[str]:
    """Return the names of several metrics in their order, a set's in alphabetical order, as its own differs by process."""
    return sorted(scoring) if isinstance(scoring, AbstractSet) else list(scoring)


def check_scoring_options(engine: Any, error_score: Any) -> None:
    """Raise ArgumentError if the engine or the score of a failed fold is invalid."""
    if engine not in ("auto", "sklearn"):
        raise ArgumentError(f"engine={engine!r}; use 'auto' or 'sklearn'")
    if error_score != "raise" and not isinstance(error_score, Real):
        raise ArgumentError(f"error_score={error_score!r} is not a score; use 'raise' or a number")
