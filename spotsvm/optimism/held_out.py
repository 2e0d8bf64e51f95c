"""Scores of a search's candidates on held-out rows, and of its winner without some of the search's rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.errors import DataError
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.optimism.search_access import (
    Floats,
    Split,
    candidate_params,
    count_rows,
    fitted_candidate,
    metric_of,
    score_or_nan,
    scorer_of,
    take,
    take_params,
    winner_of,
)

Data = tuple[Any, Any]


class HeldOutScores:
    """Scores on the rows of an outer fold, of candidates trained on the other rows; each candidate is trained once.

    Parameters
    ----------
    search : search
        Fitted on the rows to train on.
    X, y, split, fit_params
        All rows; those to train on and to score on; further arguments of fit, for all rows.
    place : str
        Name of the rows in error messages.
    """

    def __init__(self, search: Any, X: Any, y: Any, split: Split, fit_params: Mapping[str, Any], place: str):
        self._search, self._place, self._n_rows = search, place, len(split[1])
        engine = getattr(search, "engine", "auto")
        self._scorer = FoldScorer(search.estimator, X, y, [split], fit_params, scoring=search.scoring, engine=engine)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an undefined score is reported below
            try:
                value = scorer_of(search)(search.best_estimator_, take(X, split[1]), take(y, split[1]))
            except ValueError as error:
                raise self._error(str(error)) from error
        self._known = [(candidate_params(search, winner_of(search)), self._checked(value, f"the score is {value}"))]

    @property
    def winner(self) -> float:
        """The winner's score, as the search has refitted it."""
        return self._known[0][1]

    def of(self, candidate: int) -> float:
        """Return the score of a candidate; one with known parameters is not trained again."""
        params = candidate_params(self._search, candidate)
        for known, score in self._known:
            if known == params:
                return score
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = self._scorer.score([params])[0]
        score = found.mean(metric_of(self._search), 1)
        self._known.append((params, self._checked(score, found.reason or f"the score is {score}")))
        return score

    def _checked(self, score: float, why: str) -> float:
        if not np.isfinite(score):
            raise self._error(f"{why}; the rows may be too few, or lack a class; use fewer or different folds")
        return score

    def _error(self, why: str) -> DataError:
        return DataError(f"{self._place}: a candidate cannot be scored on its {self._n_rows} rows: {why}")


def tuned_without(
    search: Any, data: Data, fit_params: Mapping[str, Any], splits: Sequence[Split], left_out: Sequence[NDArray[np.bool_]]
) -> Floats:
    """Return the winner's mean score in the search's folds, without the rows of each mask in `left_out`; training uses all rows.

    The score is nan if the rest of a fold cannot be scored. `data` has X and y of the rows searched with.
    """
    X, y = data
    params, scorer, n_rows = candidate_params(search, winner_of(search)), scorer_of(search), count_rows(X)
    found = np.empty((len(splits), len(left_out)))
    for f, (train, test) in enumerate(splits):
        passed = take_params(fit_params, train, n_rows)
        machine = fitted_candidate(search, params, take(X, train), take(y, train), passed)
        for column, rows in enumerate(left_out):
            kept = test[~rows[test]]
            found[f, column] = score_or_nan(scorer, machine, take(X, kept), take(y, kept)) if len(kept) else np.nan
    return np.asarray(found.mean(axis=0))
