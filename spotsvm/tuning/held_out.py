"""The tuned score and the held-out score of one way to choose the parameters of a pipeline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.scores.optimism import Optimism


@dataclass(frozen=True)
class HeldOutResult:
    """The tuned score and the held-out score of one way to choose the parameters.

    Attributes
    ----------
    name : str
        "default", or the name of the search.
    tuned_score : float
        Cross-validated score on the training rows, which the search has optimised.
    test_score, test_error : float
        Score on the held-out rows, and its bootstrap standard error.
    estimator : estimator
        Fitted on all training rows.
    search : SpotSearchCV or None
        The search, if there was one.
    optimism : Optimism or None
        How much of the tuned score is luck, if requested.
    """

    name: str
    tuned_score: float
    test_score: float
    test_error: float
    estimator: BaseEstimator
    search: SpotSearchCV | None = None
    optimism: Optimism | None = None

    @property
    def gap(self) -> float:
        """Tuned score minus test score."""
        return self.tuned_score - self.test_score


_RESPONSES = ("predict", "predict_proba", "decision_function")


def held_out_score(
    scorer: Any, estimator: Any, X: Any, y: Any, seed: int, *, block: int = 1, resamples: int = 100
) -> tuple[float, float]:
    """Return the score on held-out rows, and its bootstrap standard error; nan if there is none, as for rows that lack a class.

    The fitted estimator predicts each row once. Each resample draws `block` neighbouring rows together: more than 1 if neighbours
    depend on each other, as in a series.

    Raises
    ------
    ValueError
        If the estimator cannot predict the rows.
    """
    remembered = RememberedPredictions(estimator, X)
    rng = np.random.default_rng(seed)
    n = len(y)
    classify = get_tags(estimator).estimator_type == "classifier"
    score = _score(scorer, remembered, np.arange(n), y)
    again = []
    for _ in range(resamples):
        rows = _resample(rng, n, block)
        if not classify or y.iloc[rows].nunique() > 1:
            again.append(_score(scorer, remembered, rows, y.iloc[rows]))
    known = np.array(again)[np.isfinite(again)]
    return score, float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")


def block_length(n: int) -> int:
    """Return how many neighbouring rows of a series are drawn together: the square root of their number."""
    return max(1, round(sqrt(n)))


class RememberedPredictions(BaseEstimator):
    """A fitted estimator's responses to the rows X, looked up by row number."""

    #: the error of the estimator, if it cannot respond to the rows
    failure: ValueError | None = None

    def __init__(self, estimator: Any, X: Any):
        self.estimator = estimator
        self.X = X

    def __getattr__(self, name: str) -> Any:
        if name == "classes_":
            return self.estimator.classes_
        if name not in _RESPONSES:
            raise AttributeError(name)
        respond = getattr(self.estimator, name)
        try:
            responses = np.asarray(respond(self.X))
        except ValueError as error:
            self.failure = error
            raise

        def lookup(rows: NDArray[np.intp]) -> NDArray[Any]:
            return responses[rows]

        lookup.__name__ = name  # scorers read the name
        setattr(self, name, lookup)
        return lookup

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


def _resample(rng: np.random.Generator, n: int, block: int) -> NDArray[np.intp]:
    """Draw n rows with replacement, in blocks of neighbours; the first row follows the last."""
    if block == 1:
        return rng.integers(n, size=n)
    starts = rng.integers(n, size=ceil(n / block))
    rows: NDArray[np.intp] = ((starts[:, None] + np.arange(block)) % n).ravel()[:n]
    return rows


def _score(scorer: Any, remembered: RememberedPredictions, rows: NDArray[np.intp], y: Any) -> float:
    """Return the score; nan where the rows have none, such as those that lack a class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(remembered, rows, y))
        except ValueError:
            if remembered.failure is not None:  # not because of the few rows
                raise
            return float("nan")
