"""A drop-in for RandomizedSearchCV whose candidates are suggested by a search that learns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.checks import check_flag
from spotsvm.common.interruption import says_when_interrupted
from spotsvm.common.notices import Notice, gathered, once, tell
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.refits.class_folds import tests_one_class
from spotsvm.luck.refits.explained import Refits, estimator_refits, explanation_within, unasked
from spotsvm.luck.refits.fit_weights import with_fixed_weights
from spotsvm.luck.refits.search_access import given_by, kept_params, routing_enabled, with_params
from spotsvm.out_of_fold.table import OutOfFold, OutOfFoldMixin
from spotsvm.reports.notebook import ResultsHtmlMixin
from spotsvm.search_cv.arguments import SearchArguments, check_arguments, given_space, seed_of
from spotsvm.search_cv.cv_results import best_candidate, warn_of_results
from spotsvm.search_cv.estimator_space import accepted_space, notices_of, samples
from spotsvm.search_cv.named_laws import with_laws, with_named_laws
from spotsvm.search_cv.out_of_fold import (
    OF_TABLE,
    answers_out_of_fold,
    check_combination,
    combined_estimator,
    estimates,
    search_out_of_fold,
)
from spotsvm.search_cv.refit import refitted
from spotsvm.search_cv.run import SpotSearchRun
from spotsvm.search_cv.scoring import metric_name
from spotsvm.search_cv.search_data import SearchData, checked_data
from spotsvm.search_cv.simplest import ONE_SE, simplest
from spotsvm.search_cv.sklearn_api import (
    BestEstimatorMixin,
    CallbackSupportMixin,
    RoutingMixin,
    SearchTask,
    require_refit,
    takes_argument,
    with_callbacks,
)
from spotsvm.space.space import Space
from spotsvm.trials.findings import NOTICES, ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from spotsvm.reports.methods import MethodsSection
    from spotsvm.trials.results import StudyResults


#: why a search that keeps its table has none
NO_ANSWERS = "it has no answers for rows, as its estimator is neither a classifier nor a regressor, or there are too many"


class SpotSearchCV(
    OutOfFoldMixin,
    ResultsHtmlMixin,
    CallbackSupportMixin,
    BestEstimatorMixin,
    RoutingMixin,
    MetaEstimatorMixin,
    SearchArguments,
    BaseEstimator,
):
    """Cross-validated search of an estimator's parameters; a drop-in for RandomizedSearchCV.

    The arguments by what they are for; those for daily use come first below, the others under "Other Parameters":

    - what is tuned: `estimator`, `space`, `param_distributions`, `constraints`, `prior`, `start`
    - how candidates are scored: `scoring`, `cv`, `error_score`, `return_train_score`, `engine`, `sweep`, `rows`
    - the search: `n_iter`, `search`, `noise`, `batch_size`, `random_state`
    - the model that is fitted in the end: `refit`, `calibrate`
    - when it ends: `stop`, `timeout`, `max_failures`
    - where it runs, and its record: `n_jobs`, `pre_dispatch`, `executor`, `trial_timeout`, `memory_limit`, `retries`, `path`,
      `callback`, `verbose`

    Parameters
    ----------
    estimator : estimator
        The estimator to tune; a pipeline's parameters are named `step__parameter`.
    space : dict or list of dict
        As RandomizedSearchCV's param_distributions, and ranges (low, high, prior); see `Space`. A range with an end that the
        estimator refuses, such as C=0, is searched on its middle 99.9 %.
    n_iter : int, default=10
        Number of suggestions to evaluate, at least 1: candidates, or sweeps of candidates if a parameter is swept. If it is below
        the size of the initial design, only the first points of that design are evaluated. A space with at most `n_iter`
        configurations is evaluated completely, in the order of a grid. If the parameters beside a swept parameter have fewer
        configurations, each is suggested once, with more values in its sweep: about `n_iter` candidates in all.
    search : str, callable or object, default="kriging"
        As in `Study`; "kriging_per_second" where the costs of candidates differ much, as those of SVMs do with C and gamma.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in RandomizedSearchCV. Of several metrics, the metric that `refit` names is optimised, else the first. A search for
        several objectives, "nsga2" or "parego", optimises them all, and `refit` names the metric that chooses the best candidate.
    n_jobs : int or None, default=None
        Folds (times candidates of a batch) evaluated at once, by joblib; the results do not depend on it. If it exceeds the
        number of folds, candidates that do not depend on each other's scores (starts, the initial design, a random search) are
        scored together; other candidates only with a `batch_size`. With `executor`, `trial_timeout` or `memory_limit`, candidates
        scored at once.
    refit : bool, str or callable, default=True
        As in RandomizedSearchCV. "average" averages a few candidates: `best_params_` and `best_index_` still describe the best
        single candidate, and `best_estimator_` is an `AverageClassifier` or `AverageRegressor` of up to five of the ten best,
        fitted on all rows. If all have probabilities these are averaged, else decisions, else votes; in regression predictions.
        The ten are weighted by their answers for the test rows of the folds, as in `TunedSVC`: in classification by how often
        each is the best by the metric when rows are resampled (agnostic Bayes), in regression by greedy selection with
        replacement. It is for one metric only. The column "weight" of `cv_results_` has the weights. Predictions take as many
        times longer as there are members.

        "1se" takes the simplest candidate whose mean score is at most one standard error below the best: the candidate with the
        smallest gamma, and so the smoothest boundary; then the smallest C, then the fewest components or features (n_components,
        n_features_to_select, max_features, n_features, k). The standard error is that of the folds. The rule does not predict
        better: on nine sets it lost 0.1 points of accuracy on new rows on average. It does not aim at few support vectors either.
        `study_.recommend()` still returns the best candidate.
    cv : int, splitter, iterable or None, default=None
        As in RandomizedSearchCV; the folds are drawn once and are the same for all candidates.
    random_state : int, RandomState or None, default=None
        Seed of the search, and of folds whose splitter shuffles and has no seed of its own.
    path : path-like or None, default=None
        A record of the study, made or resumed; see `Study`. It is refused if data, folds or estimator differ. If `random_state`
        is None, the record's seed is used.

    Other Parameters
    ----------------
    param_distributions : dict or list of dict
        scikit-learn's name of `space`; exactly one of the two is given.
    constraints : callable, mapping, sequence of them, or None, default=None
        Conditions on the parameters, such as `[lambda p: p["C"] * p["gamma"] <= 1]`: a candidate that violates one is never
        evaluated, and a sweep has only the allowed values of the swept parameter. Or bounds of a candidate's means over the given
        folds, such as `{"recall": (">=", 0.9)}` with `scoring=["accuracy", "recall"], refit="accuracy"`, or of its
        `mean_fit_time` or `mean_score_time`, which differ from run to run: the best candidate, and the choice of "1se", satisfy
        all bounds, and `cv_results_` has `bounds_held`. A callable as `refit` is not restricted by bounds. See `Study` for the
        searches that model them.
    prior : mapping or None, default=None
        Where the optimum is believed to be: for some or all parameters a frozen scipy.stats distribution, or weights of a list's
        values; see `Study`. For a parameter in sweeps it has no effect.
    start : dict, sequence of dict, Study, path-like, sequence of the last two, or None, default=None
        Candidates to evaluate first; or another study or its record, for its best five candidates; or a list of those, for the
        best candidate of each and a prior of the optimum; see `Study`. Starts count in `n_iter`. None is the estimator's own
        parameters, if `engine` shares work and they lie in the space. Pass [] for no starting points.
    error_score : "raise" or number, default=nan
        The score of a fold in which fitting or scoring fails. The search treats such a candidate as failed.
    return_train_score : bool, default=False
        Whether `cv_results_` has training scores.
    engine : {"auto", "sklearn"}, default="auto"
        "auto" shares the work of cross-validating SVC, SVR, ExactSVC and ExactSVR, alone or last in a pipeline, between
        candidates and folds where scikit-learn's result is the same, as `cross_val_scores` does; "sklearn" never does.
    sweep : str or None, default="auto"
        A parameter that each suggestion sweeps over several values, while the search chooses the other parameters: for one kernel
        matrix, a sweep of C costs little more than one value. A sweep has every second of 11 values from end to end of the range,
        and the values beside the best; for a list, such as class weights, it has all values. "auto" sweeps the C of an SVM whose
        work `engine` shares, if C has a range and other parameters are searched for one objective, but not for "keerthi_lin",
        which chooses C itself; None turns this off. A
        parameter name forces it, for example that of epsilon or `class_weight`. It may also be the cutoff of a
        `CutoffClassifier`: one fit of each fold serves all cutoffs, so their sweeps have all 11. In a sweep of C, once a value is
        no better than the one before and a standard error behind the best, the larger values are skipped; `extra_spared` in
        `study_.frame()` has their number. Every value is a row of `cv_results_`; its column `sweep` has the number of the
        suggested row. See `Study`.
    rows : int, pair of int or None, "auto" or None, default=None
        Number of rows to search on, for tables on which each candidate takes long: a random sample, with the shares of the
        classes and at least as many rows of each as there are folds, or of whole groups. Scores and out-of-fold answers are those
        of this sample; the refit is on all rows, or on the second number of a pair, such as `(2000, 10_000)`. "auto" is this pair
        from 3,001 rows on, and all rows below, as for `TunedSVC` and the command. None is all rows. A model that has not seen all
        rows is reported by a `DataWarning` with their share, and `study_.findings["rows fitted on"]` has the numbers.
    noise : "auto" or bool, default=False
        Whether a candidate's score can differ from evaluation to evaluation. The folds are fixed, so it cannot unless the
        estimator itself draws at random. Under noise the best candidate is that of `Study.recommend`.
    batch_size : int or None, default=None
        Number of candidates suggested together; the results depend on it. None suggests one at a time; with several workers, one
        for each free worker: the results then depend on how long candidates take, and not on the seed alone.
    calibrate : bool, default=False
        Whether a classifier with decisions, or probabilities, gets probabilities by a sigmoid of its decisions (of several
        classes a softmax with one slope and an offset for each class), fitted to the decisions for the test rows of the given
        folds. `best_estimator_` is then an `AverageClassifier`, and `predict` returns the most probable class. Weights of rows
        and of classes, in the estimator or in the space, and the cutoffs of a `CutoffClassifier` stay in force: the probabilities
        are those of rows with these weights.
    stop : {"uncertainty"}, ImprovementBelowUncertainty or None, default=None
        When to end before `n_iter`: "uncertainty" once the largest expected improvement is far below the uncertainty of the best
        candidate's score. `study_.findings["stop"]` has the decision of the rule.
    timeout : float or None, default=None
        Wall seconds for the search, after which no further candidate starts; the first always does. If `engine` shares work, the
        values scored by then count, and the current solution is given up. Other estimators finish the candidates under way, up to
        `n_jobs` at once, unless `trial_timeout` ends them. The refit takes further time; but if `rows` gives it more rows than
        the search, the search has half of the time and the refit the rest, in a process of its own. If that is too short,
        `best_estimator_` is the model of the sample, and a `DataWarning` says so. If the limit ended the search,
        `study_.findings["timeout"]` says so. A resumed search has the whole time again.
    max_failures : int or None, default=5
        Number of first candidates that may fail for the same reason before the search ends with an error. None allows any number
        of failures, and so does a number as `error_score`.
    pre_dispatch : int or str, default="2*n_jobs"
        As in RandomizedSearchCV.
    executor : concurrent.futures.Executor, object with submit, str, distributed.Client or None, default=None
        Where to score whole candidates, fold after fold, as `Study.run` takes it, with `n_jobs` workers if it is a name. With it,
        `trial_timeout` or `memory_limit` the data are sent once to each worker, and several candidates are scored at once. A
        pickle of the search omits the executor.
    trial_timeout : float or None, default=None
        Seconds that a candidate may take, all its folds together. Without an executor, candidates are then scored in `n_jobs`
        worker processes; when the time is up, the process is killed, and the candidate counts as failed.
    memory_limit : int, str or None, default=None
        Memory that a candidate may take, in bytes or as "2 GiB", in such a process; see `Study.run`.
    retries : int, default=0
        How often a candidate is scored again whose worker died. It has no effect without `executor`, `trial_timeout` and
        `memory_limit`: candidates are then not scored in workers.
    keep_out_of_fold : bool, default=True
        Whether the search keeps `out_of_fold_`, at most 512 MB; beyond that the best candidates alone keep answers, and a warning
        says so. With False there is no `expected_score_` either, but with `refit="average"` or `calibrate=True`.
    callback : callable, Callback, sequence of them, or None, default=None
        As `Study.run` takes it: called with the study and each trial that was told.
    verbose : int, default=0
        Above 0, a line is printed for each candidate.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_, \
classes_, n_features_in_, feature_names_in_
        As RandomizedSearchCV has them. `best_score_` is the mean score of the chosen candidate over the folds, and biased upwards
        by the choice; `expected_score` estimates the score on new rows. `cv_results_` also has `chosen`, which is True in the row
        of `best_index_`.
    out_of_fold_ : OutOfFold
        The answers of all candidates for the test rows of the folds: scores by other metrics, confusion matrix and more, without
        a further fit. It is not there if `keep_out_of_fold` is False, or the estimator is no classifier or regressor.
    expected_score_, constant_score_ : ExpectedScore
        The score to expect on new rows, `value`, and its 95 % `interval`, which accounts for the choice and the sampling of the
        rows; and that of the shares of the classes, or of the mean. Both exist for scikit-learn's common scores and one target.
    default_score_, verdict_ : ExpectedScore, TuningGain
        The score to expect of the estimator's own parameters, and whether tuning has helped. Both exist if these parameters were
        a candidate; otherwise call `tuning_verdict`, which fits them on the folds.
    oof_decision_function_, oof_predict_proba_, oof_predict_ : ndarray
        With `refit="average"` or `calibrate=True`: the answers of the model for the training rows, by fits without them
        (`oof_predict_` in regression); nan for rows in no test fold. With `rows` they are those of the sampled rows, in the order
        of the sample.
    fit_params_ : dict
        What `fit` was given in addition to X and y, such as weights and groups of rows: `expected_score` and `oversearching` fit
        and score with it again.
    sampled_rows_, refit_rows_ : ndarray or None
        The positions of the rows that the search has seen, and of those that `best_estimator_` is fitted on; None for all.
    study_ : Study
        The study behind the search; its values are mean test scores, and it maximises. With several objectives `study_.pareto()`
        returns the candidates that no other candidate dominates.

    Raises
    ------
    NoCompletedTrialError
        If every candidate failed, or none satisfies the bounds of `constraints`: then `cv_results_` and `study_` are set, and the
        error says how near the nearest came. A ValueError. Scores that are nan without an error are warned of.
    DataError
        If X or y has text, gaps or infinite numbers that the estimator cannot take, or y is missing; it names row and column.
    SpaceError
        If `space` has a parameter that the estimator does not have, before anything is fitted.
    ArgumentError
        If `sweep` names a parameter whose work is not shared, or another argument is invalid. A ValueError, like the two above.

    See Also
    --------
    Study : The search of any function, on which this class is built.
    default_space : A space for an estimator.
    oversearching : How optimistic the best score is.
    sklearn.model_selection.RandomizedSearchCV : The search of scikit-learn.

    References
    ----------
    Forrester, Sobester, Keane 2008, "Engineering Design via Surrogate Modelling", chapter 3, for the default search.
    Tsamardinos, Greasidou, Borboudakis 2018, "Bootstrapping the Out-of-sample Predictions for Efficient and Accurate
    Cross-Validation", for the score to expect.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    >>> search = SpotSearchCV(SVC(), space, n_iter=15, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    @with_callbacks
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

        Raises
        ------
        ArgumentError, NoCompletedTrialError
            If an argument is unusable, or no candidate could be scored.

        See Also
        --------
        predict : The prediction of the best estimator.
        oversearching : How optimistic `best_score_` is.
        """
        check_combination(self, y)
        check_arguments(self)
        for name in OF_TABLE:  # of an earlier fit
            self.__dict__.pop(name, None)
        if "callback" in params and not takes_argument(self.estimator, "callback"):
            raise ArgumentError("fit() has no argument callback; pass it to the search, as SpotSearchCV(..., callback=...)")
        space = accepted_space(self.estimator, given_space(self))
        seed = seed_of(self)
        data = checked_data(self, space, X, y, params, seed)
        self._fitted_to = X, y  # by reference, and not in files
        self.fit_params_, self.sampled_rows_ = kept_params(params), data.drawn.searched
        task = SearchTask(self, *data.every[:2], len(data.splits))
        self._warn_of_balanced(space, data)
        run = SpotSearchRun(self, space, data, seed)
        self.study_ = run.run(task)
        self.n_splits_ = len(data.splits)
        best = best_candidate(self, self.study_, run.scorer, run.scoring, data.given.fit, run.own_trials(self.study_))
        self.cv_results_, self.scorer_, self.multimetric_ = best.results, best.scorer, best.multimetric
        # without a limit for each candidate, a candidate is out of time only because `timeout` was up before its turn
        left_out = [] if self.trial_timeout is not None else [t.number for t in self.study_.trials if t.state == "timeout"]
        warn_of_results([t for t in self.study_.trials if t.state != "running"], best, run.scorer, left_out)
        if best.why_none:
            for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
                self.__dict__.pop(name, None)  # of an earlier fit
            raise NoCompletedTrialError(best.why_none)
        if best.index is not None:
            self.best_index_, self.best_params_ = best.index, best.results["params"][best.index]
        if best.score is not None:
            self.best_score_ = best.score
            if np.isfinite(best.score) and isinstance(self.refit, str) and self.refit == ONE_SE:
                self.best_index_ = simplest(self.cv_results_, best.metric, self.best_index_)
                self.best_params_ = self.cv_results_["params"][self.best_index_]
                self.best_score_ = float(self.cv_results_[f"mean_test_{best.metric}"][self.best_index_])
        if best.index is not None:
            self.cv_results_["chosen"] = np.arange(len(self.cv_results_["params"])) == self.best_index_
        table = search_out_of_fold(self, run, data, best)
        if self.refit:
            with task.refit(), says_when_interrupted(lambda inner: run.how_to_resume(self.study_)):
                told = self._refit(table, run, data)
        else:
            told = notices_of(with_params(self.estimator, getattr(self, "best_params_", {})), *data.every)
        task.end()
        kept = self._keep_table(NO_ANSWERS if table is None else table, self.keep_out_of_fold)
        if not self.keep_out_of_fold:
            self.study_.drop_answers()
        self._tell([*told, *kept, *data.copy_notices()])
        return self

    def _warn_of_balanced(self, space: Space, data: SearchData) -> None:
        """Warn where scikit-learn's scores show the class that a fold tests."""
        if not is_classifier(self.estimator) or not tests_one_class(data.splits, data.y):
            return
        candidates = samples(space)
        if with_fixed_weights(self.estimator, candidates, data.y, {}) != candidates:
            warnings.warn(
                "class_weight='balanced', and each fold tests rows of one class alone: a fold's weights show which class it "
                "leaves out, so best_score_ and the choice of candidates can be far off; use folds that test all classes, such "
                "as cv=10, or numbers as class_weight. expected_score takes care of it",
                UserWarning,
                stacklevel=4,
            )

    def _tell(self, told: Sequence[Notice]) -> None:
        """Tell once what the model of all rows tells about its data, and store it for the page."""
        if notices := once(told):
            self.study_.add_finding(NOTICES, {"notices": [[notice.code, notice.sentence] for notice in notices]})
        tell(notices)

    def _refit(self, table: OutOfFold | None, run: SpotSearchRun, data: SearchData) -> list[Notice]:
        """Fit the chosen model, store what it is and what to expect of it, and return what to tell about its rows."""
        for name in ("best_estimator_", "refit_rows_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        began = time.time()
        if table is not None:
            self.__dict__.update(estimates(table))
        if self.calibrate or self.averages:
            assert table is not None
            best = combined_estimator(self, table, None if self.uses_workers else self.n_jobs)
            self.cv_results_["weight"] = table.weights.copy()
            self.__dict__.update(answers_out_of_fold(table, self.calibrate))
        else:
            best = with_params(self.estimator, self.best_params_)
        fit = refitted(best, data.drawn, *data.every, seconds=run.left_to_refit)
        self.best_estimator_, self.refit_rows_ = fit.estimator, fit.rows
        if fit.finding:
            self.study_.add_finding(ROWS, fit.finding)
        self.refit_time_ = time.time() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return fit.notices

    def __getstate__(self) -> dict[str, Any]:
        """Leave an executor behind: it has threads, processes or connections, and only its name can be pickled."""
        state: dict[str, Any] = super().__getstate__()
        spaces = {name: with_named_laws(getattr(self, name)) for name in ("space", "param_distributions")}
        state.pop("_fitted_to", None)
        return state | spaces | {"executor": self.executor if isinstance(self.executor, str) else None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__({**state, **{name: with_laws(state[name]) for name in ("space", "param_distributions")}})

    def __sklearn_clone__(self) -> SpotSearchCV:
        """Copy all but an executor, which the copy uses as well."""
        bare = copy(self)
        bare.executor = None
        twin: SpotSearchCV = super(SpotSearchCV, bare).__sklearn_clone__()
        twin.executor = self.executor
        return twin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        sub = get_tags(self.estimator)
        tags.estimator_type = sub.estimator_type
        tags.classifier_tags = deepcopy(sub.classifier_tags)
        tags.regressor_tags = deepcopy(sub.regressor_tags)
        tags.target_tags = replace(sub.target_tags, required=False)  # the estimator itself says in fit whether it is
        tags.input_tags.pairwise = sub.input_tags.pairwise
        tags.input_tags.sparse = sub.input_tags.sparse
        return tags

    def methods_section(self, luck: Any = None) -> MethodsSection:
        """Return text and tables for the methods section of a paper; as `Study.methods_section`, with the refitted model.

        Parameters
        ----------
        luck : ExpectedScore, Optimism or None, default=None
            The result of `expected_score` or `oversearching` for this search. With `refit="average"`, None is the expected score
            of the fit.

        Returns
        -------
        MethodsSection
            The section of the study, with the final model.

        Raises
        ------
        ArgumentError
            If `luck` is neither of them.
        """
        from spotsvm.reports.study_methods import study_methods  # on use: most searches are never described
        from spotsvm.search_cv.fitted import fitted_model

        check_is_fitted(self, "study_")
        return study_methods(self.study_, luck, fitted_model(self))

    def explain(self, within: float | None = None, say: Callable[[str], None] | None = None) -> Explanation | NotExplained:
        """Return which columns matter and whether more rows would help, by refits of `best_estimator_` on folds.

        Parameters
        ----------
        within : float, optional
            Seconds: if it takes about longer, nothing is computed.
        say : callable, optional
            Function that is called with a line that says how long it will take.

        Returns
        -------
        Explanation
            The importance of each column with an interval, the partial dependence of the four strongest, and the learning curve;
            a `NotExplained` with the `seconds` that it takes, if these are more than `within`.

        Raises
        ------
        ArgumentError
            If there is no model, no target of one column, or the search was loaded from a file, which does not hold the rows of
            the fit; a ValueError.

        Notes
        -----
        Each fold's model has the parameters of `best_estimator_`, is fitted to the training rows of the fold, and is judged on
        its test rows. Of many rows 2,500 are used.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.svm import SVR
        >>> from spotsvm import SpotSearchCV
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> search = SpotSearchCV(SVR(), {"C": [100.0, 300.0]}, n_iter=2)
        >>> found = search.fit(X, y).explain()
        >>> sorted(found.importance["column"].head(2).tolist())
        ['bmi', 's5']
        """
        check_is_fitted(self, "study_")
        return explanation_within(self._refits(), within, say)

    def _refits(self) -> Refits:
        """Return the rows of the fit with its folds, and how to fit the model to some of them."""
        if (why := self._unexplained()) is not None:
            raise ArgumentError(f"this search cannot be explained: {why}")
        X, y = self._fitted_to
        given = given_by(self, self.fit_params_)
        scorer = self.scorer_[self.refit] if self.multimetric_ else self.scorer_
        return estimator_refits(
            self.best_estimator_, X, y, cv=self.cv, scorer=scorer, scoring=metric_name(self), seed=int(self.study_.seed),
            groups=given.groups, fit_params=given.fit, sample_weight=given.score.get("sample_weight"),
        )  # fmt: skip

    def _unexplained(self) -> str | None:
        """Return why there is no explanation; None if there is one."""
        if not hasattr(self, "best_estimator_"):
            return "it has no model; use a refit"
        if not hasattr(self, "_fitted_to"):
            return "it was loaded or copied, and has no rows; fit it, and explain it then"
        X, y = self._fitted_to
        if y is None or np.ndim(y) > 1 or np.ndim(X) != 2:  # noqa: PLR2004
            return "it needs a table of rows, and a target of one column"
        return "several scores, and refit names none" if self.multimetric_ and not isinstance(self.refit, str) else None

    def _explanation(self, explain: bool | None) -> Explanation | NotExplained | None:
        """Return what a page shows: nothing where it is not wanted, or is not to be had without being asked for."""
        if explain is not None:
            return self.explain() if check_flag("explain", explain) else None
        limit = unasked(self.timeout)
        return None if limit <= 0 or self._unexplained() is not None else self.explain(limit)

    def report(
        self,
        path: str | Path,
        baseline: StudyResults | None = None,
        *,
        tables: str | Path | None = None,
        explain: bool | None = None,
    ) -> Path:
        """Write a page about the search and its model: that of `study_.report`, with the model's scores and answers.

        Parameters
        ----------
        path : path-like
            The file, such as "report.html"; its folder is created.
        baseline : Study, optional
            A random search of the same objective, for comparison; as in `Study.report`.
        tables : path-like, optional
            A folder for the tables of the page, as CSV files.
        explain : bool or None, default=None
            Whether the page has what `explain` returns; None if this takes less than ten seconds, and less than a
            tenth of a `timeout`. A search that was loaded from a file has no rows to explain.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArgumentError, StorageError
            As `Study.report`.

        See Also
        --------
        methods_section : The same for a paper.
        """
        from spotsvm.reports.report import study_page, write_report  # on use: most searches are never shown
        from spotsvm.search_cv.fitted import fitted_model

        check_is_fitted(self, "study_")
        return write_report(
            lambda: study_page(self.study_, baseline, fitted_model(self, self._explanation(explain))), path, tables
        )

    def _results_html(self) -> str:
        from spotsvm.search_cv.fitted import notebook_html

        return notebook_html(self)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the best estimator on given data, with the metric that chose it.

        Parameters
        ----------
        X, y : array-like
            Data and target.
        **params : dict
            For the scorer; only where metadata routing is enabled.

        Returns
        -------
        float
            The score; larger is better.

        Raises
        ------
        ArgumentError
            If further arguments are passed without metadata routing.

        See Also
        --------
        expected_score : The score to expect on new rows, with an interval.
        """
        require_refit(self, "score")
        check_is_fitted(self)
        if params and not routing_enabled():
            raise ArgumentError(
                f"passing {', '.join(sorted(params))} to the scorer is only supported if metadata routing is enabled; "
                "call sklearn.set_config(enable_metadata_routing=True)"
            )
        passed = process_routing(self, "score", **params).scorer["score"] if params else {}
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) else self.scorer_
        with gathered() as told:
            score = scorer(self.best_estimator_, X, y, **passed)
        tell(once(told))
        return float(score[self.refit] if self.multimetric_ and isinstance(score, Mapping) else score)
