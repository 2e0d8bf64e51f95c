"""A drop-in for RandomizedSearchCV whose candidates are suggested by a search that learns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from solvers.search.base import Noise
from spotsvm.best_estimator import BestEstimatorMixin, require_refit
from spotsvm.errors import ArgumentError, NoCompletedTrialError, NoCompletedTrialTypeError
from spotsvm.fold_scores import FoldScorer, FoldScores, check_engine, make_scorers, metric_names
from spotsvm.fold_spread import fold_metrics
from spotsvm.recommendation import summarise_failures
from spotsvm.routing import RoutingMixin, routing_enabled
from spotsvm.scored_objectives import metrics_as_objectives, tell_scores
from spotsvm.search_results import search_results
from spotsvm.stop_rule import StopRule, checked_stop, with_test_share
from spotsvm.stopper import Stopper
from spotsvm.study import Study
from spotsvm.trial_loop import check_budget


class SpotSearchCV(BestEstimatorMixin, RoutingMixin, MetaEstimatorMixin, BaseEstimator):
    """Cross-validated search of an estimator's parameters; a drop-in for RandomizedSearchCV.

    Parameters
    ----------
    estimator : estimator
        What is tuned; a pipeline's parameters are named `step__parameter`.
    space : dict or list of dict
        As RandomizedSearchCV's param_distributions, the distributions with bounds.
    n_iter : int, default=50
        Candidates to evaluate.
    search : str, callable or object, default="kriging"
        As in `Study`.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in RandomizedSearchCV. Of several metrics the one that `refit` names is optimised, else the first; a search of
        several objectives, "nsga2" or "parego", optimises them all, and `refit` names the one that chooses the best candidate.
    n_jobs : int or None, default=None
        Folds (times candidates of a batch) evaluated at once. It changes nothing about the results.
    refit : bool, str or callable, default=True
        As in RandomizedSearchCV.
    cv : int, splitter, iterable or None, default=None
        As in RandomizedSearchCV; the folds are drawn once and are the same for all candidates.
    verbose : int, default=0
        Above 0, a line a candidate is printed.
    pre_dispatch : int or str, default="2*n_jobs"
        As in RandomizedSearchCV.
    random_state : int, RandomState or None, default=None
        Seed of the search.
    error_score : "raise" or number, default=nan
        The score of a fold in which fitting or scoring fails. The search itself takes the candidate as failed.
    return_train_score : bool, default=False
        Whether `cv_results_` has training scores.
    noise : "auto" or bool, default=False
        Whether a candidate's score can differ from evaluation to evaluation. The folds are fixed, so it cannot unless the
        estimator itself draws at random. Under noise the best candidate is the one that `Study.recommend` gives.
    batch_size : int, default=1
        Candidates that are suggested together; the results depend on it.
    engine : {"auto", "sklearn"}, default="auto"
        "auto" shares the work of cross-validating SVC, SVR, ExactSVC and ExactSVR, alone or last in a pipeline, between
        candidates and folds where scikit-learn's result is the same, as `cross_val_scores` does; "sklearn" never does.
    racing : bool, default=False
        Where work is shared, stop a candidate when even perfect scores in the folds left could not make it the best. Its
        value is then the mean of the folds that ran; `extra_folds_run` in `study_.frame()` says how many. The others'
        scores are nan.
    start : dict, sequence of dict, or None, default=None
        Candidates to evaluate first; see `Study`. They count in `n_iter`.
    stop : {"uncertainty"}, ImprovementBelowUncertainty or None, default=None
        When to end before `n_iter`: "uncertainty" once the largest expected improvement is far below the uncertainty of the best
        candidate's score. What the rule did is told by `study_.findings["stop"]`.
    path : path-like or None, default=None
        A record of the study, made or resumed; see `Study`. It is refused if data, folds or estimator differ.
    callback : callable or None, default=None
        Called with the study and each trial that was told.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_, \
classes_, n_features_in_, feature_names_in_
        As RandomizedSearchCV has them.
    study_ : Study
        The study behind the search; its values are mean test scores, and it maximises. Of several objectives
        `study_.pareto()` gives the candidates that no other one dominates.

    Raises
    ------
    BudgetError
        If `n_iter` does not pay for the search's initial design.
    NoCompletedTrialError
        If every candidate failed; a ValueError.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    >>> search = SpotSearchCV(SVC(), space, n_iter=15, cv=5, random_state=0).fit(X, y)
    >>> search.best_score_ > 0.97
    np.True_
    """

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 50,
        search: Any = "kriging",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        noise: Noise = False,
        batch_size: int = 1,
        engine: Literal["auto", "sklearn"] = "auto",
        racing: bool = False,
        start: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        stop: Literal["uncertainty"] | StopRule | None = None,
        path: str | Path | None = None,
        callback: Callable[[Study, Any], None] | None = None,
    ):
        self.estimator = estimator
        self.space = space
        self.n_iter = n_iter
        self.search = search
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.noise = noise
        self.batch_size = batch_size
        self.engine = engine
        self.racing = racing
        self.start = start
        self.stop = stop
        self.path = path
        self.callback = callback

    def fit(self, X: Any, y: Any = None, **params: Any) -> SpotSearchCV:
        """Search, and refit the best candidate on all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target; None for unsupervised learning.
        **params : dict
            Passed on to the estimator's fit, the scorer and the splitter, as RandomizedSearchCV does: `groups` to the
            splitter, the rest to fit; by request where metadata routing is enabled.

        Returns
        -------
        SpotSearchCV
            The search itself.
        """
        self._check_arguments()
        X, y = indexable(X, y)
        routed, for_folds = self._route(params)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, **routed.splitter.split))
        if not splits:
            raise ArgumentError(f"cv={self.cv!r} gives no folds")
        scorer = FoldScorer(
            self.estimator,
            X,
            y,
            splits,
            for_folds,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            engine=self.engine,
            race_for=self._race_for(),
        )
        study = self._new_study(scorer)
        scorer.best_mean = max((t.value for t in study.trials if t.state == "ok" and t.value is not None), default=None)
        try:
            self._run(study, scorer)
        finally:
            study.close()
        self.study_ = study
        self.n_splits_ = len(splits)
        self._choose(study, scorer, routed.estimator.fit)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        return self

    def _run(self, study: Study, scorer: FoldScorer) -> None:
        """Evaluate until the study has `n_iter` finished trials: ask, score on the folds, tell."""
        check_budget(study, self.n_iter, "n_iter")
        study.plan(self.n_iter, self.batch_size)
        stopper = Stopper(study, with_test_share(self.stop, scorer.test_share))
        while (left := self.n_iter - study.n_finished) > 0 and not stopper.reached():
            batch = study.ask_batch(min(self.batch_size, left))
            if not batch:
                warnings.warn(
                    f"The total space of parameters {study.n_finished} is smaller than n_iter={self.n_iter}. "
                    f"Running {study.n_finished} iterations. For exhaustive searches, use GridSearchCV.",
                    UserWarning,
                    stacklevel=3,
                )
                break
            for trial, scores in zip(batch, scorer.score([t.params for t in batch]), strict=True):
                told = self._tell(study, trial, scores, scorer)
                if self.verbose > 0:
                    score = told.values if told.value is None else told.value
                    print(f"[{study.n_finished}/{self.n_iter}] {told.state} score={score} {dict(told.params)}")
                if self.callback is not None:
                    self.callback(study, told)
        stopper.report()

    def _tell(self, study: Study, trial: Any, scores: FoldScores, scorer: FoldScorer) -> Any:
        if not scorer.metrics:
            return study.fail(trial, scores.reason)
        metrics = metrics_as_objectives(self.search, self.scoring) or [self._metric(scorer.metrics, scorer.multimetric)]
        return tell_scores(study, trial, scores, metrics, scorer.n_splits)

    def _race_for(self) -> str | None:
        """Give the metric by which candidates race; None if they do not."""
        if not self.racing:
            return None
        if callable(self.scoring) or isinstance(self.scoring, str | None):
            return "score"
        return self._metric(metric_names(self.scoring), multimetric=True)

    def _metric(self, metrics: Sequence[str], multimetric: bool) -> str:
        """Give the metric to optimise."""
        if isinstance(self.refit, str) and self.refit in metrics:
            return self.refit
        if multimetric and self.refit is not False and not callable(self.refit):
            raise ArgumentError(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an estimator "
                "with the best parameter setting on the whole data and make the best_* attributes available for that metric. "
                f"If this is not needed, refit should be set to False explicitly. {self.refit!r} was passed."
            )
        return metrics[0]

    def _choose(self, study: Study, scorer: FoldScorer, fit_params: Mapping[str, Any]) -> None:
        """Set `cv_results_` and `best_*`."""
        trials = [t for t in study.trials if t.state != "running"]
        if not any(t.state == "ok" for t in trials) and not self._has_scores(trials):
            kind = NoCompletedTrialTypeError if isinstance(scorer.last_error, TypeError) else NoCompletedTrialError
            passed = f" (passed to fit: {', '.join(fit_params)})" if fit_params else ""
            raise kind(f"All the {len(trials)} candidates failed{passed}: {summarise_failures(trials)}") from scorer.last_error
        metrics, self.multimetric_, self.scorer_ = scorer.metrics, scorer.multimetric, scorer.scorer
        if not metrics:  # the record had it all
            metrics, self.scorer_ = fold_metrics(trials) or ["score"], make_scorers(self.estimator, self.scoring)
            self.multimetric_ = isinstance(self.scorer_, dict) or metrics != ["score"]
        filler = np.nan if isinstance(self.error_score, str) else float(self.error_score)
        self.cv_results_ = search_results(
            trials, metrics, self.n_splits_, error_score=filler, return_train_score=self.return_train_score
        )
        if self.multimetric_ and not self.refit:
            return
        if callable(self.refit):
            index: Any = self.refit(self.cv_results_)
            if not isinstance(index, Integral):
                raise TypeError("best_index_ returned is not an integer")
            chosen = int(index)
            if not 0 <= chosen < len(trials):
                raise IndexError("best_index_ index out of range")
        else:
            metric = self._metric(metrics, self.multimetric_)
            chosen = int(self.cv_results_[f"rank_test_{metric}"].argmin())
            if self.noise is not False and not study.objectives.several and any(t.state == "ok" for t in trials):
                chosen = [t.number for t in trials].index(study.recommend().number)
            self.best_score_ = self.cv_results_[f"mean_test_{metric}"][chosen]
        self.best_index_ = chosen
        self.best_params_ = self.cv_results_["params"][chosen]

    def _has_scores(self, trials: Sequence[Any]) -> bool:
        return not isinstance(self.error_score, str) and np.isfinite(self.error_score) and any(t.extra for t in trials)

    def _refit(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        self.best_estimator_ = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        began = time.time()
        if y is None:
            self.best_estimator_.fit(X, **fit_params)
        else:
            self.best_estimator_.fit(X, y, **fit_params)
        self.refit_time_ = time.time() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _new_study(self, scorer: FoldScorer) -> Study:
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        objectives = metrics_as_objectives(self.search, self.scoring)
        context = self._context(scorer, objectives)
        search = deepcopy(self.search)  # an object with ask and tell remembers, and the next fit must not
        direction: Any = dict.fromkeys(objectives, "maximize") or "maximize"
        return Study(
            self.space, search, seed, direction=direction, path=self.path, noise=self.noise, start=self.start, context=context
        )

    def _context(self, scorer: FoldScorer, objectives: Sequence[str]) -> dict[str, str] | None:
        """Say what a record of the scores depends on; without a record only a report shows it, and it may be unknown."""
        metric = self.refit if isinstance(self.refit, str) else "the first"
        try:
            return {**scorer.context(), "metric to optimise": ", ".join(objectives) or metric}
        except Exception:  # data of the user's own kind may fail to pickle in any way
            if self.path is not None:
                raise
            return None

    def _check_arguments(self) -> None:
        if not hasattr(self.estimator, "fit"):
            raise ArgumentError(f"estimator={self.estimator!r} has no fit; give an estimator")
        check_scoring(self.estimator, self.scoring)
        if not callable(self.scoring) and not isinstance(self.scoring, str | None):
            self._metric(metric_names(self.scoring), multimetric=True)
        for name in ("n_iter", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ArgumentError(f"{name}={value!r} is not a number of candidates; use 1 or more")
        objectives = metrics_as_objectives(self.search, self.scoring)
        check_engine(self.engine)
        if not isinstance(self.racing, bool | np.bool_):
            raise ArgumentError(f"racing={self.racing!r}; use True or False")
        if self.racing and objectives:
            raise ArgumentError(f"racing=True is for one objective, and search={self.search!r} has several; leave it out")
        if checked_stop(self.stop) is not None and objectives:
            raise ArgumentError(f"stop={self.stop!r} is for one objective, and search={self.search!r} has several; leave it out")
        if self.error_score != "raise" and not isinstance(self.error_score, Real):
            raise ArgumentError(f"error_score={self.error_score!r} is not a score; use 'raise' or a number")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        sub = get_tags(self.estimator)
        tags.estimator_type = sub.estimator_type
        tags.classifier_tags = deepcopy(sub.classifier_tags)
        tags.regressor_tags = deepcopy(sub.regressor_tags)
        tags.target_tags = replace(sub.target_tags, required=False)  # whether it is, the estimator says in fit
        tags.input_tags.pairwise = sub.input_tags.pairwise
        tags.input_tags.sparse = sub.input_tags.sparse
        return tags

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the best estimator on given data, with the metric that chose it.

        Parameters
        ----------
        X, y : array-like
            Data and target.
        **params : dict
            For the scorer; only where metadata routing is enabled.
        """
        require_refit(self, "score")
        check_is_fitted(self)
        if params and not routing_enabled():
            raise ArgumentError(
                f"[{', '.join(sorted(params))}] are passed but metadata routing is not enabled; "
                "call sklearn.set_config(enable_metadata_routing=True) to pass them to the scorer"
            )
        passed = process_routing(self, "score", **params).scorer["score"] if params else {}
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) else self.scorer_
        score = scorer(self.best_estimator_, X, y, **passed)
        return float(score[self.refit] if self.multimetric_ and isinstance(score, Mapping) else score)
