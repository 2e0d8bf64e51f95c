"""Splits that a search has not used, and scores of its candidates on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from spotsvm.errors import ArgumentError
from spotsvm.fold_scores import FoldScorer
from spotsvm.optimism.search_access import Split, metric_of

Floats = NDArray[np.float64]

INSTEAD = "use method='nested' or 'folds'"


def fresh_splits(search: Any, X: Any, y: Any, groups: Any, n_repeats: int, seed: int, instead: str = INSTEAD) -> list[Split]:
    """Draw new splits of the same kind as the search's, with other seeds.

    Parameters
    ----------
    search : search
        Its `cv` determines the kind.
    X, y, groups : array-like or None
        All rows.
    n_repeats : int
        Number of repeats.
    seed : int
        Seed from which the seeds of the repeats are drawn.
    instead : str
        Advice in the error message.

    Raises
    ------
    ArgumentError
        If the splits are not random, such as those by time, or need groups that are missing.
    """
    cv = search.cv
    drawn: Any
    if cv is None or isinstance(cv, int | np.integer):
        kind = type(check_cv(cv, y, classifier=is_classifier(search.estimator)))
        drawn = kind(int(cv or 5), shuffle=True)
    else:
        drawn = deepcopy(cv)
        if hasattr(drawn, "shuffle"):
            drawn.shuffle = True

    def draw(state: int) -> list[Split]:
        drawn.random_state = state
        try:
            return [(np.asarray(train), np.asarray(test)) for train, test in drawn.split(X, y, groups)]
        except ValueError as error:
            raise ArgumentError(
                f"search has cv={cv!r}, whose splits cannot be drawn again: {error} Alternatively, {instead}."
            ) from error

    first, *others = (int(state) for state in np.random.SeedSequence([seed, 1]).generate_state(max(n_repeats, 2)) >> 1)
    # many splitters ignore their seed, such as those by time
    if not hasattr(drawn, "random_state") or _same(draw(first), draw(others[0])):
        raise ArgumentError(f"search has cv={cv!r}, whose splits are not random, so that new ones cannot be drawn; {instead}")
    return [split for state in [first, *others][:n_repeats] for split in draw(state)]


def fresh_scores(
    search: Any,
    X: Any,
    y: Any,
    splits: Sequence[Split],
    candidates: Sequence[Mapping[str, Any]],
    fit_params: Mapping[str, Any],
    *,
    n_jobs: int | None,
) -> Floats:
    """Return the scores of candidates by the metric that chose the winner of a fitted search.

    Parameters
    ----------
    search : search
        Fitted.
    X, y : array-like
        All rows.
    splits : sequence of (train, test)
        As `fresh_splits` returns them.
    candidates : sequence of dict
        Their parameters.
    fit_params : dict
        Further arguments of fit.
    n_jobs : int or None
        Folds in parallel.

    Returns
    -------
    ndarray of shape (n_candidates, n_splits)
        nan where a candidate failed, or has no score.
    """
    engine = getattr(search, "engine", "auto")
    scorer = FoldScorer(search.estimator, X, y, splits, fit_params, scoring=search.scoring, n_jobs=n_jobs, engine=engine)
    metric = metric_of(search)
    numbers = [result.numbers for result in scorer.score([dict(params) for params in candidates])]
    return np.array([[n.get(f"split{i}_test_{metric}", np.nan) for i in range(len(splits))] for n in numbers])


def _same(some: Sequence[Split], others: Sequence[Split]) -> bool:
    return all(np.array_equal(one[1], other[1]) for one, other in zip(some, others, strict=True))
