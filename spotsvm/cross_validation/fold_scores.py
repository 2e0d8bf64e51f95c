"""The scores of a candidate on fixed folds, and what the ways to compute them have in common."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import FitFailedWarning

from spotsvm.cross_validation.fold_answers import FoldAnswers
from spotsvm.trials.recommendation import commonest_reasons

Candidate = Mapping[str, Any]


@dataclass(frozen=True)
class FoldScores:
    """The scores of one candidate, named as in `cv_results_`, without failed ones, and the reason of a failure in a fold.

    A candidate that is `out_of_time` has no scores, as the time was up. `answers` are those for the test rows, if they are kept
    and no fold failed.
    """

    numbers: Mapping[str, float]
    reason: str = ""
    traceback: str = ""
    error_type: str = ""
    out_of_time: bool = False
    answers: FoldAnswers | None = field(default=None, compare=False)

    def mean(self, metric: str, n_splits: int) -> float:
        """Return the mean test score, nan if a fold has none; equation :eq:`fold-criterion`."""
        return float(np.mean([self.numbers.get(f"split{i}_test_{metric}", np.nan) for i in range(n_splits)]))


class Policy(Protocol):
    """A way to score candidates on folds."""

    def scores(self, candidates: Mapping[int, Candidate]) -> dict[int, FoldScores]:
        """Return the scores of those candidates that this way can score, by their numbers."""
        ...


class Clock:
    """Whether the time is up, and anything was scored before: the very first candidate is always scored."""

    def __init__(self, is_up: Callable[[], bool] | None):
        self._is_up = is_up
        self.has_scored = False

    @property
    def runs(self) -> bool:
        """Whether there is a limit."""
        return self._is_up is not None

    def is_late(self) -> bool:
        """Return whether no further candidate is scored."""
        return self.has_scored and self._is_up is not None and self._is_up()


def warn_of_failures(reasons: Sequence[str], n_candidates: int) -> None:
    """Warn once that candidates failed, in some of their folds or in all, with the commonest of their reasons."""
    if reasons:
        said = f"{len(reasons)} of {n_candidates} candidates failed, in some folds or in every fold: {commonest_reasons(reasons)}"
        warnings.warn(said, FitFailedWarning, stacklevel=3)
