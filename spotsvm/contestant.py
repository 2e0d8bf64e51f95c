"""The tuned score and the held-out score of one way to choose the parameters of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from spotsvm.optimism.result import Optimism
from spotsvm.spot_search_cv import SpotSearchCV


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
