"""Cross-validated scores of candidates on fixed folds, from shared work or by scikit-learn's public search."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
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

from spotsvm.common.compat import every_fit_failed, scorer_parts
from spotsvm.common.data_hash import data_hash
from spotsvm.common.fingerprint import as_text, whole
from spotsvm.common.notices import untold
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.cutoff_sweeps import CutoffSweeps
from spotsvm.cross_validation.exactness import LostDigitsError
from spotsvm.cross_validation.fold_answers import FoldAnswers
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.machines import MATRIX_MACHINES, NotSharedError, is_machine, split_pipeline
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.cross_validation.shared_scores import SharedScores, can_share, ranks
from spotsvm.errors import ArgumentError, DataWarning, OutOfTimeError
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.trials.outcome import traceback_of
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
        """Return the mean test score, nan if a fold has none.

        Notes
        -----
        Equation :eq:`fold-criterion` of the chapter :doc:`/method/index`.
        """
        return float(np.mean([self.numbers.get(f"split{i}_test_{metric}", np.nan) for i in range(n_splits)]))


class FoldScorer:
    """Scores of candidates on fixed folds; arguments that GridSearchCV has as well mean the same.

    `fit_params` are further arguments of `fit` for the estimator and the scorers. The engine "auto" shares the work of support
    vector machines where scikit-learn's result is the same, with `max_bytes` for kernel matrices. With `advise=False` there is no
    warning of columns with an offset. Failures are in the scores; `warn_of_failures` reports them.

    `is_late` returns whether the time is up: candidates that are not scored by then are left out, except the very first one. A
    fit by scikit-learn that is under way is finished.

    After the first score, `scorer` has the scorers in use, and `metrics` their names ("score" for a single scorer). `last_error`
    is the error of the last candidate that failed.
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
        self.last_error: Exception | None = None
        self._engine, self._max_bytes, self._advise = engine, max_bytes, advise
        self._warned_of_offset, self._has_scored = False, False
        self._given_is_late = is_late

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

    def test_answers(self, candidates: Sequence[Mapping[str, Any]]) -> list[list[Any] | None]:
        """Return the decisions or predictions of each candidate for the test rows of each fold; None where work is not shared."""
        found: list[list[Any] | None] = [None] * len(candidates)
        if self._shared is not None:
            for k in self._shared.folds.order([dict(c) for c in candidates]):
                with suppress(NotSharedError):
                    found[k] = self._shared.test_answers(dict(candidates[k]))
        return found

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
        return SharedScores(folds, target, splits, scorers, train)

    def _score_shared(self, shared: SharedScores, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        found: dict[int, FoldScores] = {}
        left: list[int] = []
        for k in shared.folds.order([dict(c) for c in candidates]):
            try:
                with one_blas_thread():
                    found[k] = FoldScores(shared.score(dict(candidates[k])))
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
                if len(group) > 1 and not self._is_late():
                    options = {"scoring": cutoffs.scoring(group)}
                    results = self._search([cutoffs.without_cutoffs(group[0])], "raise", **options).cv_results_
                    numbers = cutoffs.numbers(results, len(group), self.n_splits)
                    found |= {k: FoldScores(of_one) for k, of_one in zip(members, numbers, strict=True) if of_one is not None}
                    self._has_scored = True
            except Exception as reason:  # it is raised again, or reported, when scikit-learn scores the candidates
                _log.info("scikit-learn scores %s and others: %s", dict(group[0]), reason)
        left = [k for k in range(len(candidates)) if k not in found]
        if left:
            found |= dict(zip(left, self._score_by_sklearn([candidates[k] for k in left]), strict=True))
        return [found[k] for k in range(len(candidates))]

    def _score_by_sklearn(self, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        if self._is_late():
            return [FoldScores({}, "the time was up before its first fold", out_of_time=True) for _ in candidates]
        if self._given_is_late is not None and len(candidates) > (size := self.n_together):
            groups = (candidates[k : k + size] for k in range(0, len(candidates), size))
            return [scores for group in groups for scores in self._score_by_sklearn(group)]
        try:
            results = self._results(candidates, "raise")
        except Exception as error:
            if isinstance(self._error_score, str):
                raise
            if len(candidates) > 1:
                return [self._score_by_sklearn([candidate])[0] for candidate in candidates]
            return [self._score_failing(candidates[0], error)]
        self._has_scored = True
        return [FoldScores(self._numbers(results, k)) for k in range(len(candidates))]

    def _search(self, candidates: Sequence[Mapping[str, Any]], error_score: Any, **options: Any) -> GridSearchCV:
        grid = [{name: _single(value) for name, value in candidate.items()} for candidate in candidates]
        options = {**self._options, **options}
        search = GridSearchCV(
            self._estimator, grid, error_score=error_score, **options | {"scoring": unmasked(options["scoring"])}
        )
        # which is warned of once, for all candidates; scikit-learn passes the filters on to its workers
        with ignoring("One or more of the (test|train) scores are non-finite"), ignoring(category=DataWarning):
            with untold(), interrupts_kept_from_workers():
                return search.fit(self._X, self._y, **self._fit_params)

    def _results(self, candidates: Sequence[Mapping[str, Any]], error_score: Any) -> dict[str, Any]:
        search = self._search(candidates, error_score)
        self.scorer, self.multimetric = given_scorers(search.scorer_), bool(search.multimetric_)
        results: dict[str, Any] = search.cv_results_
        self.metrics = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        return results

    def _score_failing(self, candidate: Mapping[str, Any], error: Exception) -> FoldScores:
        """Score a candidate that fails in a fold: the other folds, and other metrics, still count."""
        error_type = type(error).__name__
        reason = f"{error_type}: {' '.join(str(error).split())[:500]}"
        with ignoring():  # the reason has the warnings, and a mean over failed folds is wanted
            try:
                numbers = self._numbers(self._results([candidate], np.nan), 0)
            except ValueError as every_fold:
                if not every_fit_failed(every_fold):  # any other error is not the candidate's
                    raise
                numbers = {}
        self.last_error = error
        scored = {name: number for name, number in numbers.items() if not np.isnan(number)}
        return FoldScores(scored, reason, traceback_of(error), error_type)

    def _numbers(self, results: Mapping[str, Any], k: int) -> dict[str, float]:
        wanted = ("split", "mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")
        return {key: float(column[k]) for key, column in results.items() if key.startswith(wanted)}


def _single(value: Any) -> Any:
    """Return an array with one object, such as an array or an estimator, that numpy does not unpack."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


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


class Unmasked:
    """A scorer whose masked score is nan: scikit-learn would take the number behind the mask, which is 0 for np.ma.masked."""

    def __init__(self, scorer: Callable[..., Any]):
        self.scorer = scorer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the score, or scores by name."""
        score = self.scorer(*args, **kwargs)
        if isinstance(score, Mapping):
            return {name: _nan_if_masked(one) for name, one in score.items()}
        return _nan_if_masked(score)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scorer":  # asked for by copies and pickles, before there is a scorer
            raise AttributeError(name)
        return getattr(self.scorer, name)


def _nan_if_masked(score: Any) -> Any:
    return np.nan if np.ma.is_masked(score) else score


def unmasked(scoring: Any) -> Any:
    """Return the scoring with functions of the user's, alone or by name, as `Unmasked`; names stay."""
    if isinstance(scoring, Mapping):
        return {name: unmasked(one) for name, one in scoring.items()}
    parts = scorer_parts(scoring)
    if not callable(scoring) or (
        parts is not None and str(getattr(parts.function, "__module__", "sklearn.")).startswith("sklearn.")
    ):
        return scoring
    return Unmasked(scoring)


def given_scorers(scorer: Any) -> Any:
    """Return the scorer, or several by name, as they were given to `unmasked`."""
    if isinstance(scorer, Mapping):
        return {name: given_scorers(one) for name, one in scorer.items()}
    return scorer.scorer if isinstance(scorer, Unmasked) else scorer


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


@contextmanager
def ignoring(message: str = "", category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a category that begin with this message, in the main thread only: filters are global, not per thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message, category=category)
        yield
