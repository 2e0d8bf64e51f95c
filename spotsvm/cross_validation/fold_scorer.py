"""Cross-validated scores of candidates on fixed folds, from shared work or by a fit of each candidate on each fold."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV
from sklearn.utils import indexable

from spotsvm.common.compat import check_method_params, check_parameters, num_samples, routed_params
from spotsvm.common.data_hash import data_hash
from spotsvm.common.fingerprint import as_text, whole
from spotsvm.cross_validation.cutoff_sweeps import CutoffSweeps
from spotsvm.cross_validation.exactness import LostDigitsError
from spotsvm.cross_validation.fold_answers import Answering, FoldAnswers, gathered_answers
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_fits import FoldFit, FoldResult, FoldScoring, Sweep, fit_folds, times_of
from spotsvm.cross_validation.machines import MATRIX_MACHINES, NotSharedError, is_machine, split_pipeline
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.cross_validation.shared_scores import SharedScores, can_share, ranks
from spotsvm.errors import ArgumentError, OutOfTimeError
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.trials.recommendation import commonest_reasons
from spotsvm.trials.scorer_trial import check_scorer

MAX_BYTES = 2 * 2**30
_log = logging.getLogger(__name__)


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


class FoldScorer:
    """Scores of candidates on fixed folds; arguments that GridSearchCV has as well mean the same.

    "auto" shares the work of SVMs where scikit-learn's result is the same. `responses` (see `responses_of`) adds answers for the
    test rows. Once `is_late`, candidates but the very first are left out; a fit by scikit-learn is finished.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        fit_params: Mapping[str, Any],
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        engine: str = "sklearn",
        max_bytes: int = MAX_BYTES,
        advise: bool = True,
        is_late: Callable[[], bool] | None = None,
        responses: Sequence[str] = (),
    ):
        self._estimator, self._X, self._y = estimator, X, y
        self._splits, self._fit_params = list(splits), dict(fit_params)
        self.n_splits = len(self._splits)
        self._error_score = error_score
        self._options = {
            "scoring": metric_names(scoring) if isinstance(scoring, AbstractSet) else scoring,
            "n_jobs": n_jobs,
            "pre_dispatch": pre_dispatch,
            "return_train_score": return_train_score,
            "cv": self._splits,
            "refit": False,
        }
        self.scorer: Any = None
        self.metrics: list[str] = []
        self.multimetric = False
        self.last_error: BaseException | None = None
        self._engine, self._max_bytes, self._advise = engine, max_bytes, advise
        self._warned_of_offset, self._has_scored = False, False
        self._given_is_late = is_late
        self._responses = tuple(responses)

    @property
    def test_share(self) -> float:
        """The share of test rows in a split, averaged over the splits."""
        return float(np.mean([len(test) / (len(train) + len(test)) for train, test in self._splits]))

    def context(self) -> dict[str, str]:
        """Return fingerprints of everything that the scores depend on except the candidate, for a later run to compare."""
        text = partial(as_text, threshold=sys.maxsize, floatmode="unique")
        parameters = sorted(self._estimator.get_params(deep=True).items())
        return {
            "data": data_hash(self._X, self._y, self._fit_params),
            "folds": data_hash(*chain.from_iterable(self._splits)),
            "estimator": text(self._estimator),
            "parameter of the estimator": joblib.hash(text([(name, whole(value)) for name, value in parameters])),
            "scoring": text(whole(self._options["scoring"])),
            "return_train_score": str(self._options["return_train_score"]),
            "engine": self._engine,
        }

    def score(self, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        """Score candidates, in the order given.

        Errors in the arguments, such as an unknown parameter of the estimator, are raised; with error_score="raise", so are
        those of fitting and scoring.
        """
        if self._shared is not None:
            return self._score_shared(self._shared, candidates)
        if self._cutoffs is not None:
            return self._score_cutoffs(self._cutoffs, candidates)
        return self._score_by_sklearn(candidates)

    def _is_late(self) -> bool:
        """Return whether the time is up, and anything was scored before."""
        return self._has_scored and self._given_is_late is not None and self._given_is_late()

    @property
    def n_together(self) -> int:
        """Number of candidates whose folds occupy `n_jobs` workers of joblib."""
        n_jobs = self._options["n_jobs"]
        if not isinstance(n_jobs, Integral | None) or n_jobs == 0:  # scikit-learn says what is wrong with it
            return 1
        return -(-int(joblib.effective_n_jobs(n_jobs)) // self.n_splits)

    def needs_no_fit(self, name: str) -> bool:
        """Return whether candidates that are scored together and differ only in this parameter share one fit of each fold."""
        return self._cutoffs is not None and self._cutoffs.covers(name)

    def why_not_shared(self, candidate: Mapping[str, Any], swept: str = "") -> str:
        """Return why a candidate cannot share work with others, judged by its parameters; empty if it can.

        The others may differ in any parameters; for a CutoffClassifier, only in the parameter `swept`.
        """
        if self._engine == "sklearn":
            return "engine='sklearn' shares none"
        if self._cutoffs is not None:
            return self._cutoffs.why_not_shared(candidate, swept)
        if self._shared is None:
            return f"that of {self._estimator!r} cannot be shared with these data, scorers and arguments"
        return "" if self._shared.folds.can_share(dict(candidate)) else f"that of {dict(candidate)} cannot be shared"

    @cached_property
    def _scorers(self) -> Mapping[str, Any] | None:
        """The scorers if work may be shared: all of them use the rows only through the estimator; else None."""
        n_jobs = self._options["n_jobs"]
        if self._engine == "sklearn" or self._fit_params or not isinstance(n_jobs, Integral | None) or n_jobs == 0:
            return None  # scikit-learn says what is wrong with n_jobs
        scorer = make_scorers(self._estimator, self._options["scoring"])
        scorers = scorer if isinstance(scorer, dict) else {"score": scorer}
        return scorers if self._y is not None and all(map(can_share, scorers.values())) else None

    def _use(self, scorers: Mapping[str, Any]) -> None:
        given = self._options["scoring"]
        self.multimetric, self.metrics = not (callable(given) or isinstance(given, str | None)), list(scorers)
        self.scorer = dict(scorers) if self.multimetric else scorers["score"]

    @cached_property
    def _cutoffs(self) -> CutoffSweeps | None:
        """The shared fits of candidates that differ only in the cutoffs of a CutoffClassifier; None for another estimator."""
        _, last = split_pipeline(self._estimator)
        if type(last) is not CutoffClassifier or self._scorers is None or get_config()["enable_metadata_routing"]:
            return None
        self._use(self._scorers)
        return CutoffSweeps(self._estimator, self._scorers)

    @cached_property
    def _shared(self) -> SharedScores | None:
        """The scorer that shares the work of these folds; None if it cannot be shared."""
        train = bool(self._options["return_train_score"])
        _, last = split_pipeline(self._estimator)
        scorers = self._scorers
        if scorers is None or not (is_machine(type(last)) or type(last) in MATRIX_MACHINES):
            return None
        target = self._y if hasattr(self._y, "iloc") else np.asarray(self._y)
        if getattr(target, "ndim", 1) == 2 and target.shape[1] == 1:  # scikit-learn's estimators use its only column
            target = np.asarray(target).ravel()
        splits = [(np.asarray(rows), np.asarray(others)) for rows, others in self._splits]
        if any(rows.dtype.kind not in "iu" for split in splits for rows in split):
            return None
        ranking = any(map(ranks, scorers.values()))
        try:
            folds = SharedFolds(
                self._estimator, self._X, target, splits, self._max_bytes, training_answers=train, ranking=ranking,
                is_late=self._is_late,
            )  # fmt: skip
        except NotSharedError:
            return None
        self._use(scorers)
        return SharedScores(folds, target, splits, scorers, train, keeps=bool(self._responses))

    def _score_shared(self, shared: SharedScores, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        found: dict[int, FoldScores] = {}
        left: list[int] = []
        for k in shared.folds.order([dict(c) for c in candidates]):
            try:
                with one_blas_thread():
                    numbers, answers = shared.score(dict(candidates[k]))
                found[k] = FoldScores(numbers, answers=answers)
                self._has_scored = True
            except OutOfTimeError as reason:
                _log.info("%s is not scored: %s", dict(candidates[k]), reason)
                found[k] = FoldScores({}, str(reason), out_of_time=True)
            except NotSharedError as reason:
                _log.info("scikit-learn scores %s: %s", dict(candidates[k]), reason)
                left.append(k)
                if isinstance(reason, LostDigitsError) and reason.advice and not self._warned_of_offset and self._advise:
                    self._warned_of_offset = True
                    warnings.warn(reason.advice, UserWarning, stacklevel=4)
        if left:
            found |= dict(zip(left, self._score_by_sklearn([candidates[k] for k in left]), strict=True))
        return [found[k] for k in range(len(candidates))]

    def _score_cutoffs(self, cutoffs: CutoffSweeps, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        found: dict[int, FoldScores] = {}
        for members in cutoffs.groups(candidates):
            group = [candidates[k] for k in members]
            try:
                sweep = cutoffs.sweep(group) if len(group) > 1 and not self._is_late() else None
            except NotSharedError as reason:  # which is raised again, or reported, when each is scored
                _log.info("%s and others are scored one by one: %s", dict(group[0]), reason)
                sweep = None
            if sweep is not None:
                found |= dict(zip(members, self._score_by_fits([cutoffs.without_cutoffs(group[0])], sweep), strict=True))
        left = [k for k in range(len(candidates)) if k not in found]
        if left:
            found |= dict(zip(left, self._score_by_sklearn([candidates[k] for k in left]), strict=True))
        return [found[k] for k in range(len(candidates))]

    def _score_by_sklearn(self, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        if self._is_late():
            return [FoldScores({}, "the time was up before its first fold", out_of_time=True) for _ in candidates]
        in_groups = self._given_is_late is not None or isinstance(self._error_score, str)
        if in_groups and len(candidates) > (size := self.n_together):
            groups = (candidates[k : k + size] for k in range(0, len(candidates), size))
            return [scores for group in groups for scores in self._score_by_sklearn(group)]
        return self._score_by_fits(candidates)

    def _score_by_fits(self, candidates: Sequence[Mapping[str, Any]], sweep: Sweep | None = None) -> list[FoldScores]:
        """Score candidates, or those of a sweep, which share the parameters of the only one."""
        tasks = [(candidate, split, sweep) for candidate in candidates for split in self._splits]
        options, raises = self._options, sweep is None and isinstance(self._error_score, str)
        fits = fit_folds(self._fit, tasks, options["n_jobs"], options["pre_dispatch"], raises)
        n = self.n_splits
        by_candidate = [fits[k : k + n] for k in range(0, len(fits), n)] if sweep is None else [fits]
        return [self._scores_of(folds) for results in by_candidate for folds in zip(*results, strict=True)]

    def _scores_of(self, folds: Sequence[FoldResult]) -> FoldScores:
        """Return the scores of a candidate that fails in no fold, or in some: the other folds, and other metrics, still count."""
        failure = next((fold.failure for fold in folds if fold.failure is not None), None)
        if failure is not None and failure.error is not None and isinstance(self._error_score, str):
            if failure.error.__traceback__ is None:  # it comes from a worker
                failure.error.add_note(failure.traceback)
            raise failure.error
        scored = [fold.test for fold in folds if fold.test is not None]
        if failure is None:
            self._has_scored = True
        else:
            self.last_error = failure.error
        if not self.metrics and any(test.numbers for test in scored):  # of a callable
            first = next(test for test in scored if test.numbers)
            self.metrics, self.multimetric = list(first.numbers), first.several
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
        options, given = self._options, self._options["scoring"]
        scorers = given if callable(given) else make_scorers(self._estimator, given)
        search = GridSearchCV(self._estimator, {}, error_score=self._error_score, **options)
        check_parameters(search)
        X, y = indexable(self._X, self._y)
        params = routed_params(search, check_method_params(X, self._fit_params))
        scoring = FoldScoring(self._estimator, scorers)
        self.scorer, self.metrics, self.multimetric = scorers, list(scoring.names), scoring.several
        answering = Answering.about(self._estimator, y, self._responses)
        train = bool(options["return_train_score"])
        return FoldFit(self._estimator, X, y, params.estimator.fit, params.scorer.score, scoring, train, answering)


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


def warn_of_failures(reasons: Sequence[str], n_candidates: int) -> None:
    """Warn once that candidates failed, in some of their folds or in all, with the commonest of their reasons."""
    if reasons:
        said = f"{len(reasons)} of {n_candidates} candidates failed, in some folds or in every fold: {commonest_reasons(reasons)}"
        warnings.warn(said, FitFailedWarning, stacklevel=3)
