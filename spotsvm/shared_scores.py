"""The scores of candidates from shared work, in the form in which scikit-learn's search gives them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.fold_views import Split, take
from spotsvm.matrix_machines import MATRIX_MACHINES
from spotsvm.shared_folds import FoldAnswer, SharedFolds
from spotsvm.stand_in import ClassifierStandIn, NotSharedError, RegressorStandIn
from spotsvm.svm_machine import is_machine, split_pipeline


def share_scores(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Sequence[Any],
    scorers: Mapping[str, Any],
    *,
    train: bool,
    max_bytes: int,
) -> SharedScores | None:
    """Return the scorer of candidates from shared work; None where no candidate's work can be shared."""
    _, last = split_pipeline(estimator)
    known = is_machine(type(last)) or type(last) in MATRIX_MACHINES
    if y is None or not known or not all(map(can_share, scorers.values())):
        return None
    target = y if hasattr(y, "iloc") else np.asarray(y)
    folds = [(np.asarray(rows), np.asarray(others)) for rows, others in splits]
    if any(rows.dtype.kind not in "iu" for fold in folds for rows in fold):
        return None
    try:
        shared = SharedFolds(
            estimator, X, target, folds, max_bytes, training_answers=train, ranking=any(map(_ranks, scorers.values()))
        )
    except NotSharedError:
        return None
    return SharedScores(shared, target, folds, scorers, train)


def _ranks(scorer: Any) -> bool:
    """Check whether a scorer uses more of a decision than the class it stands for."""
    return not _is_own_score(scorer) and getattr(scorer, "_response_method", None) != "predict"


def _is_own_score(scorer: Any) -> bool:
    """Check whether a scorer is the estimator's own `score`."""
    return type(scorer).__name__ == "_PassthroughScorer"


def can_share(scorer: Any) -> bool:
    """Check whether a scorer is one of `make_scorer`, or the estimator's own: they ask for its answers, and for nothing else."""
    return type(scorer).__module__.startswith("sklearn.metrics.")


class SharedScores:
    """Scores of candidates from shared work.

    Parameters
    ----------
    folds : SharedFolds
        What trains them.
    y : ndarray or Series of shape (n,)
        The target.
    splits : list of (train, test)
        The folds.
    scorers : dict of str to callable
        The scorers by the name of their metric.
    train : bool
        Whether to score the training rows as well.
    """

    def __init__(self, folds: SharedFolds, y: Any, splits: Sequence[Split], scorers: Mapping[str, Any], train: bool):
        self._folds, self._scorers, self._splits = folds, scorers, list(splits)
        # stand-ins answer for one object and no other: the rows' numbers serve as well as the rows
        self._test = [(rows, take(y, rows)) for _, rows in self._splits]
        self._train = [(rows, take(y, rows)) for rows, _ in self._splits] if train else []

    def order(self, candidates: Sequence[dict[str, Any]]) -> list[int]:
        """Return the order in which candidates share most."""
        return self._folds.order(candidates)

    def score(self, params: dict[str, Any], bar: float | None = None, metric: str = "", highest: float = 1.0) -> dict[str, float]:
        """Score one candidate.

        Parameters
        ----------
        params : dict
            The candidate.
        bar : float, optional
            Stop as soon as the mean of `metric` over all folds can no longer reach this.
        metric : str
            The metric to stop by.
        highest : float
            The most that it can be in a fold.

        Returns
        -------
        dict of str to float
            As FoldScores has them; a fold that did not run is absent.

        Raises
        ------
        NotSharedError
            If scikit-learn has to do it.
        """
        numbers: dict[str, float] = {}
        fit_times, score_times = [], []
        began = time.perf_counter()
        reached = 0.0
        for k, answer in enumerate(self._folds.answers(params)):
            fit_times.append(time.perf_counter() - began)
            began = time.perf_counter()
            self._score_rows(numbers, f"split{k}_test_", answer, *self._test[k])
            score_times.append(time.perf_counter() - began)
            if self._train:
                self._score_rows(numbers, f"split{k}_train_", answer, *self._train[k])
            began = time.perf_counter()
            left = len(self._splits) - k - 1
            if bar is not None:
                reached += numbers[f"split{k}_test_{metric}"]
                if left and reached + left * highest < bar * len(self._splits):
                    break
        for name, times in (("fit_time", fit_times), ("score_time", score_times)):
            numbers[f"mean_{name}"], numbers[f"std_{name}"] = float(np.mean(times)), float(np.std(times))
        return numbers

    def _score_rows(self, numbers: dict[str, float], prefix: str, answer: FoldAnswer, rows: NDArray[np.intp], y: Any) -> None:
        stand_in = self._stand_in(rows, answer, answer.decisions[rows])
        for name, scorer in self._scorers.items():
            plain = _is_own_score(scorer)
            try:
                if plain and answer.classes is not None:
                    score = float(np.mean(stand_in.predict(rows) == np.asarray(y)))
                else:
                    score = float(stand_in.score(rows, y) if plain else scorer(stand_in, rows, y))
            except NotSharedError:
                raise
            except Exception as error:  # a scorer that wants more than answers: scikit-learn's own way gives its result
                raise NotSharedError(f"the scorer {name} cannot use answers alone: {error}") from error
            if not np.isfinite(score):
                raise NotSharedError(f"the scorer {name} gives {score}")
            numbers[prefix + name] = score

    def _stand_in(self, rows: NDArray[np.intp], answer: FoldAnswer, decisions: NDArray[np.float64]) -> Any:
        if answer.classes is None:
            return RegressorStandIn(rows, decisions[:, 0])
        return ClassifierStandIn(rows, answer.classes, decisions, answer.shape, answer.break_ties)
