"""Scores of any estimator, which is fitted for each candidate on each fold, by the rules of scikit-learn's searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.utils import indexable

from spotsvm.common.compat import check_method_params, check_parameters, num_samples, routed_params
from spotsvm.cross_validation.fold_answers import Answering, gathered_answers
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_fits import FoldFit, FoldResult, FoldScoring, Scored, Sweep, fit_folds, times_of
from spotsvm.cross_validation.fold_scores import Candidate, Clock, FoldScores
from spotsvm.cross_validation.scorers import make_scorers


class FittedFolds:
    """Fits of candidates on fixed folds; `options` are those of a GridSearchCV with the same arguments.

    `metrics` are the names of the scores, empty for a callable before anything was scored. `last_error` is that of the last fold
    that failed.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        fit_params: Mapping[str, Any],
        options: Mapping[str, Any],
        error_score: Any,
        responses: Sequence[str],
        clock: Clock,
    ):
        self._estimator, self._y, self._fit_params = estimator, y, fit_params
        self._X = X
        self._splits, self._options, self._responses = splits, options, responses
        self._error_score, self._clock = error_score, clock
        self._called: Scored | None = None
        self.last_error: BaseException | None = None

    @property
    def n_together(self) -> int:
        """Number of candidates whose folds occupy `n_jobs` workers of joblib."""
        n_jobs = self._options["n_jobs"]
        if not isinstance(n_jobs, Integral | None) or n_jobs == 0:  # scikit-learn says what is wrong with it
            return 1
        return -(-int(joblib.effective_n_jobs(n_jobs)) // len(self._splits))

    @property
    def metrics(self) -> list[str]:
        """The names of the scores; empty for a callable before anything was scored."""
        return list(self._scoring.names if self._called is None else self._called.numbers)

    @property
    def multimetric(self) -> bool:
        """Whether the scores have names."""
        return self._scoring.several if self._called is None else self._called.several

    @cached_property
    def scorer(self) -> Any:
        """The scorer, or a dictionary of several."""
        given = self._options["scoring"]
        return given if callable(given) else make_scorers(self._estimator, given)

    @cached_property
    def _scoring(self) -> FoldScoring:
        return FoldScoring(self._estimator, self.scorer)

    def scores(self, candidates: Mapping[int, Candidate]) -> dict[int, FoldScores]:
        """Return the scores of all candidates."""
        if self._clock.is_late():
            late = FoldScores({}, "the time was up before its first fold", out_of_time=True)
            return dict.fromkeys(candidates, late)
        numbers = list(candidates)
        size = self.n_together if self._clock.runs or self._raises else len(numbers)
        if len(numbers) > size:
            groups = (numbers[k : k + size] for k in range(0, len(numbers), size))
            return {k: one for group in groups for k, one in self.scores({k: candidates[k] for k in group}).items()}
        tasks = [(candidate, split, None) for candidate in candidates.values() for split in self._splits]
        fits = self._fitted(tasks, self._raises)
        n = len(self._splits)
        return {k: self._scores_of([one for (one,) in fits[n * i : n * (i + 1)]]) for i, k in enumerate(numbers)}

    def scores_of_sweep(self, candidate: Candidate, sweep: Sweep) -> list[FoldScores]:
        """Return the scores of the candidates of a sweep, which share the fits of this one."""
        fits = self._fitted([(candidate, split, sweep) for split in self._splits], False)
        return [self._scores_of(folds) for folds in zip(*fits, strict=True)]

    @property
    def _raises(self) -> bool:
        return isinstance(self._error_score, str)

    def _fitted(self, tasks: Sequence[tuple[Candidate, Split, Sweep | None]], raises: bool) -> list[list[FoldResult]]:
        return fit_folds(self._fit, tasks, self._options["n_jobs"], self._options["pre_dispatch"], raises)

    def _scores_of(self, folds: Sequence[FoldResult]) -> FoldScores:
        """Return the scores of a candidate that fails in no fold, or in some: the other folds, and other metrics, still count."""
        failure = next((fold.failure for fold in folds if fold.failure is not None), None)
        if failure is not None and failure.error is not None and self._raises:
            if failure.error.__traceback__ is None:  # it comes from a worker
                failure.error.add_note(failure.traceback)
            raise failure.error
        scored = [fold.test for fold in folds if fold.test is not None]
        if failure is None:
            self._clock.has_scored = True
        else:
            self.last_error = failure.error
        if not self.metrics:  # of a callable
            self._called = next((test for test in scored if test.numbers), None)
        numbers = {} if not scored else times_of([(fold.fit_time, fold.score_time) for fold in folds])
        for name in self.metrics if scored else ():
            for side in ("test", "train") if self._options["return_train_score"] else ("test",):
                for k, fold in enumerate(folds):
                    found = getattr(fold, side)
                    number = np.nan if found is None else found.numbers.get(name, np.nan)
                    numbers |= {f"split{k}_{side}_{name}": number} if failure is None or not np.isnan(number) else {}
        if failure is not None:
            return FoldScores(numbers, failure.reason, failure.traceback, failure.error_type)
        n = num_samples(self._X)
        return FoldScores(numbers, answers=gathered_answers([fold.tested for fold in folds], self._splits, n))

    @cached_property
    def _fit(self) -> FoldFit:
        """The fits of candidates, with arguments passed on as in scikit-learn's searches."""
        search = GridSearchCV(self._estimator, {}, error_score=self._error_score, **self._options)
        check_parameters(search)
        X, y = indexable(self._X, self._y)
        params = routed_params(search, check_method_params(X, self._fit_params))
        answering = Answering.about(self._estimator, y, self._responses)
        train = bool(self._options["return_train_score"])
        params_of = params.estimator.fit, params.scorer.score
        return FoldFit(self._estimator, X, y, *params_of, self._scoring, train, answering)
