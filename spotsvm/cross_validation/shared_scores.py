"""Scores of candidates on folds from shared work: known scores from the answers alone, others by scikit-learn's scorers."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.compat import scorer_parts
from spotsvm.cross_validation.exactness import LostDigitsError
from spotsvm.cross_validation.fold_answers import TestedRows, gathered_answers, votes_of
from spotsvm.cross_validation.fold_data import Split, take
from spotsvm.cross_validation.fold_fits import times_of
from spotsvm.cross_validation.fold_scores import Candidate, Clock, FoldScores
from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.cross_validation.shared_folds import FoldAnswer, SharedFolds
from spotsvm.errors import OutOfTimeError
from spotsvm.estimators import Floats
from spotsvm.luck.rows import RememberedPredictions
from spotsvm.luck.scores import Score, as_vector, score_of
from spotsvm.solvers.dual.problem.one_vs_one import chosen_classes, decision_values
from spotsvm.surrogates.one_thread import one_blas_thread

_log = logging.getLogger(__name__)


def ranks(scorer: Any) -> bool:
    """Return whether a scorer uses decisions beyond the predicted class."""
    parts = scorer_parts(scorer)
    return parts is None or parts.methods not in (("predict",), ("score",))


def can_share(scorer: Any) -> bool:
    """Return whether a scorer is from `make_scorer`, or the estimator's own: these use only its answers."""
    return scorer_parts(scorer) is not None


def known_score(scorer: Any, classes: NDArray[Any] | None) -> Score | None:
    """Return the score that a scorer computes, if it is known; the own `score` of an estimator is accuracy, or R^2."""
    parts = scorer_parts(scorer)
    own = parts is not None and parts.is_own_score
    return score_of(("r2" if classes is None else "accuracy") if own else scorer, classes)


@dataclass(frozen=True)
class _Rows:
    """Some rows, their targets as they were given, and as class codes or numbers, and their weights."""

    rows: NDArray[np.intp]
    y: Any
    target: NDArray[Any]
    weights: Floats

    @classmethod
    def of(cls, rows: NDArray[np.intp], y: Any, classes: NDArray[Any] | None) -> _Rows:
        """Return some rows of all targets."""
        given = take(y, rows)
        target = np.asarray(given)
        target = target.astype(np.float64) if classes is None else np.searchsorted(classes, target)
        return cls(rows, given, target, np.ones(len(rows)))


class SharedScores:
    """Scores of candidates from shared work; `train` is whether to score the training rows, `keeps` whether to keep answers."""

    def __init__(
        self,
        folds: SharedFolds,
        y: Any,
        splits: Sequence[Split],
        scorers: Mapping[str, Any],
        train: bool,
        keeps: bool,
        *,
        clock: Clock,
        advise: bool,
    ):
        self._keeps, self._n = keeps, len(y)
        self._clock, self._advises = clock, advise
        self.folds, self._scorers, self._splits = folds, scorers, list(splits)
        self._known = {name: known_score(scorer, folds.classes) for name, scorer in scorers.items()}
        self._test = [_Rows.of(rows, y, folds.classes) for _, rows in self._splits]
        self._train = [_Rows.of(rows, y, folds.classes) for rows, _ in self._splits] if train else []

    def scores(self, candidates: Mapping[int, Candidate]) -> dict[int, FoldScores]:
        """Return the scores of those candidates whose work is shared."""
        found: dict[int, FoldScores] = {}
        numbers = list(candidates)
        for number in (numbers[k] for k in self.folds.order([dict(candidates[number]) for number in numbers])):
            params = dict(candidates[number])
            try:
                with one_blas_thread():
                    found[number] = self._scored(params)
                self._clock.has_scored = True
            except OutOfTimeError as reason:
                _log.info("%s is not scored: %s", params, reason)
                found[number] = FoldScores({}, str(reason), out_of_time=True)
            except NotSharedError as reason:
                _log.info("scikit-learn scores %s: %s", params, reason)
                if isinstance(reason, LostDigitsError) and reason.advice and self._advises:
                    self._advises = False
                    warnings.warn(reason.advice, UserWarning, stacklevel=4)
        return found

    def _scored(self, params: dict[str, Any]) -> FoldScores:
        """Return one candidate's scores, and its answers if they are kept; NotSharedError if scikit-learn has to score it."""
        numbers: dict[str, float] = {}
        times: list[tuple[float, float]] = []
        tested: list[TestedRows | None] = []
        began = time.perf_counter()
        for k, answer in enumerate(self.folds.answers(params)):
            fitted = time.perf_counter()
            answers = _Answers(answer, answer.decisions[self._test[k].rows])
            self._score_rows(numbers, f"split{k}_test_", answers, self._test[k])
            times.append((fitted - began, time.perf_counter() - fitted))
            if self._keeps:
                tested.append(answers.tested)
            if self._train:
                asked = self._train[k]
                self._score_rows(numbers, f"split{k}_train_", _Answers(answer, answer.decisions[asked.rows]), asked)
            began = time.perf_counter()
        return FoldScores(numbers | times_of(times), answers=gathered_answers(tested, self._splits, self._n))

    def _score_rows(self, numbers: dict[str, float], prefix: str, answers: _Answers, asked: _Rows) -> None:
        stand_in: Any = None
        for name, scorer in self._scorers.items():
            known, found = self._known[name], math.nan
            if known is not None and (own := answers.of(known)) is not None:
                found = float(known.of(own, asked.target, asked.weights, strict=True))
            if math.isnan(found):  # scikit-learn computes it, or says what is wrong
                stand_in = stand_in or answers.stand_in(self.folds.estimator)
                try:
                    found = float(scorer(stand_in, np.arange(len(asked.rows)), asked.y))
                except Exception as error:  # a scorer that needs more than answers: scikit-learn scores with it
                    raise NotSharedError(f"the scorer {name} cannot use answers alone: {error}") from error
            if not math.isfinite(found):
                raise NotSharedError(f"the scorer {name} returns {found}")
            numbers[prefix + name] = found


class _Answers:
    """The answers of a fold's machine for some rows, each kind computed once."""

    def __init__(self, answer: FoldAnswer, decisions: Floats):
        self._answer, self._decisions = answer, decisions

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The codes of the predicted classes."""
        assert self._answer.classes is not None
        return chosen_classes(self._decisions, len(self._answer.classes), self._answer.break_ties)

    @cached_property
    def columns(self) -> Floats:
        """The decision function, with a column for two classes, or the predictions of a regression."""
        classes = self._answer.classes
        if classes is None:
            return self._decisions
        return decision_values(self._decisions, len(classes), self._answer.shape).reshape(len(self._decisions), -1)

    @property
    def tested(self) -> TestedRows:
        """The answers as a table has them: decisions of one class against the rest, or predictions."""
        classes = self._answer.classes
        if classes is None:
            return TestedRows("predict", self._decisions, self._decisions)
        k = len(classes)
        values = decision_values(self._decisions, k, "ovr").reshape(len(self._decisions), -1)
        return TestedRows("decision_function", values, votes_of(self.labels[:, None] == np.arange(k)))

    def of(self, score: Score) -> NDArray[Any] | None:
        """Return the answers that a score depends on; None if the machine does not give them."""
        if score.kind == "labels":
            return self.labels
        if self._answer.classes is not None and (
            score.kind != "ranks" or self.columns.shape[1] not in (1, len(self._answer.classes))
        ):
            return None
        return score.answers(self.columns)

    def stand_in(self, estimator: Any) -> RememberedPredictions:
        """Return a fitted estimator that answers for rows by their position."""
        found = RememberedPredictions(estimator, None)
        if self._answer.classes is None:
            found.answer("predict", self._decisions[:, 0])
        else:
            found.classes_ = self._answer.classes
            found.answer("predict", self._answer.classes[self.labels])
            found.answer("decision_function", as_vector(self.columns))
        return found
