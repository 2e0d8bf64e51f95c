"""A score that leaves out the rows that lack a part of their history."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils import get_tags

from spotsvm.common.compat import num_samples, safe_indexing
from spotsvm.common.notices import gathered
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.time_series.history import Flags
from spotsvm.preprocessing.time_series.short_history import ShortHistory

_ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def whole_history_scorer(scoring: str | Callable[..., float]) -> Callable[..., float]:
    """Return a scorer that leaves out the rows of which `LeakyRain` or `DelayEmbedding` tell that they lack history.

    Such rows stay in the data, as later rows look back to them; they only do not count in the score.

    Parameters
    ----------
    scoring : str or callable
        The score of the other rows: the name of a scorer of scikit-learn, or a scorer.

    Returns
    -------
    callable
        A scorer, for `scoring` of SpotSearchCV, cross_val_score and others. Its steps are with start="known".

    Raises
    ------
    ArgumentError
        If `scoring` is no scorer; a ValueError.
    DataError
        When it is called, if no row has its whole history; a ValueError.

    See Also
    --------
    LeakyRain : Tells of rows that lack history.
    CompleteRowsRegressor : Leaves out rows with NaN, in the fit too.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from spotsvm import BlockSplit, DelayEmbedding, SpotSearchCV
    >>> rain = pd.DataFrame({"rain": np.random.default_rng(0).random(40)})
    >>> flow = rain["rain"] + 2 * rain["rain"].shift(1, fill_value=rain["rain"][0])
    >>> search = SpotSearchCV(
    ...     make_pipeline(DelayEmbedding(), LinearRegression()),
    ...     {"delayembedding__dimensions": [1, 2]},
    ...     n_iter=2,
    ...     cv=BlockSplit(4, train="set 1", test="set 4"),
    ...     scoring=whole_history_scorer("neg_max_error"),
    ...     refit=False,
    ... )
    >>> bool(search.fit(rain, flow).best_score_ > -1e-9)
    True
    """
    if isinstance(scoring, str):
        try:
            scoring = get_scorer(scoring)
        except ValueError as error:
            raise ArgumentError(f"scoring={scoring!r} is unknown; use one of sklearn.metrics.get_scorer_names()") from error
    if not callable(scoring):
        raise ArgumentError(f"scoring={scoring!r} is no scorer; use a name such as 'balanced_accuracy', or a scorer")
    return _WholeHistoryScorer(scoring)


class _WholeHistoryScorer:
    def __init__(self, scorer: Callable[..., float]):
        self._scorer = scorer

    def __repr__(self) -> str:
        return f"whole_history_scorer({self._scorer!r})"

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the rows that have their whole history."""
        answering = _OfWholeRows(estimator, X)
        rows = np.flatnonzero(answering.kept)
        if not len(rows):
            raise DataError(f"none of the {num_samples(X)} rows has its whole history; there is nothing to score")
        by_row = {name: safe_indexing(value, rows) if _is_by_row(value, X) else value for name, value in params.items()}
        return float(self._scorer(answering, safe_indexing(X, rows), None if y is None else safe_indexing(y, rows), **by_row))


class _OfWholeRows:
    """An estimator that answers for all rows, as they need each other, and returns the answers for those that are kept."""

    def __init__(self, estimator: Any, X: Any):
        self._estimator, self._X = estimator, X
        self._answers: dict[str, Any] = {}
        name = next((name for name in _ANSWERS if hasattr(estimator, name)), "transform")
        with gathered() as told:
            self._answers[name] = getattr(estimator, name)(X)
        self.kept: Flags = np.ones(num_samples(X), dtype=bool)
        for notice in told:
            if isinstance(notice, ShortHistory):
                self.kept &= ~notice.rows

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._estimator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._estimator, name)
        if name not in _ANSWERS:
            return found

        @wraps(found)
        def answer(X: Any) -> Any:
            return self._of_kept(name)

        return answer

    def _of_kept(self, name: str) -> Any:
        if name not in self._answers:
            with gathered():
                self._answers[name] = getattr(self._estimator, name)(self._X)
        return safe_indexing(self._answers[name], np.flatnonzero(self.kept))


def _is_by_row(value: Any, X: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str) and len(value) == num_samples(X)
