"""Tune the SVM of a table, and compare it with the default on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from spotsvm.cross_validation.compile_first import compile_first
from spotsvm.cross_validation.fold_data import Split
from spotsvm.errors import ArgumentError, SpotSVMError
from spotsvm.luck.bootstrap import expected_of
from spotsvm.luck.optimism import Method
from spotsvm.luck.refits.analysis import oversearching
from spotsvm.luck.refits.repeats import fresh_folds
from spotsvm.luck.rows import Unseen, score_with_error
from spotsvm.reports.repeat import REPEAT
from spotsvm.search_cv.estimator_space import default_start
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.study.given import Start, equal_start
from spotsvm.study.stop import checked_timeout
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.recommendation import NOTICES, ROWS, TABLE, VERDICT
from spotsvm.tuning.code import tuning_code
from spotsvm.tuning.large import fit_to_more_rows
from spotsvm.tuning.pipelines.default_spaces import Scale
from spotsvm.tuning.pipelines.registry import NamedPipeline, default_scoring, is_series, named_pipeline
from spotsvm.tuning.plan import baseline, decisions, notices
from spotsvm.tuning.results import HeldOutResult, write_results
from spotsvm.tuning.rivals import UnseenRows, constant_name, constant_scores, rivals
from spotsvm.tuning.scoring import score_title
from spotsvm.tuning.table_job import TableJob, groups_of, timed_fit, unwarned
from spotsvm.tuning.tables.split import TEST_SHARE, possible_folds
from spotsvm.tuning.tables.suspicions import Notice
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import choose
from spotsvm.tuning.widening import continued

#: default number of folds of the cross-validation, and of nested resampling
FOLDS, OUTER_FOLDS = 5, 5
#: minimum seconds of a search: enough for its first candidate
_LEAST = 1e-3
#: a callable that takes a search's name and number of trials, and returns a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class TuningJob(TableJob):
    """A search of the parameters of one SVM; settings without a comment are arguments of `SpotSearchCV`."""

    n_trials: int = 50  # candidates of each search
    search: str = "kriging"
    baseline: str = "none"  # a search to compare with, such as "random", or "none"
    cv: int = FOLDS
    pipeline: str = "svm"
    region: str | None = None  # search region of the pipeline; by default its first region
    scale: Scale = "standard"  # how numbers are scaled, by the pipeline "svm"
    horizon: int = 0  # how many steps ahead a series is predicted
    oversearching: str = "auto"  # a method of `oversearching`, "auto" or "none"
    stop: bool = False  # whether a search ends once the expected improvement is far below the uncertainty of the score
    executor: Any = None  # used by the searches of nested oversearching as well
    batch_size: int | None = None
    trial_timeout: float | None = None
    memory_limit: int | str | None = None
    retries: int = 0
    widen: bool = False  # whether to continue the records in `out` in a wider space; see `continued`

    def with_possible_folds(self) -> TuningJob:
        """Return the job with fewer folds, and a notice that gives the reason, if a class or the groups allow no more."""
        if self.in_time:
            return self
        cv, why = possible_folds(self.table, self.cv, self.seed)
        fewer = Notice("folds", f"{cv} folds in place of {self.cv}, as {why}")
        return replace(self, cv=cv, notices=(*self.notices, fewer)) if why else self

    def run(self, progress: Progress, say: Callable[[str], Any] = lambda line: None) -> list[HeldOutResult]:
        """Evaluate the default, the baseline if there is one, and the search; searches start at the default and the centre.

        Before the searches start, `say` is called with each line of the plan.
        """
        checked_timeout(self.trial_timeout)
        if self.memory_limit is not None:
            checked_memory_limit(self.memory_limit)
        self.check()
        if not is_series(self.pipeline):
            compile_first()
        began = monotonic()
        scoring, scorer = self.scorer()
        whole, test = self.split(self.cv)
        unit = ScoreUnit(self.metric)
        for line in decisions(self.table, len(test.y), score_title(self.metric, self.table), unit.better, self.cv):
            say(line)
        searches = self._searches
        train = whole if is_series(self.pipeline) else self.limits.to_tune(whole, self.cv, self.seed)
        named = self._named(train)
        if self.oversearching == "repeats" and self.in_time:
            raise ArgumentError(
                "--oversearching repeats: splits by time cannot be drawn again at random; use folds, nested or none"
            )
        if train is not whole:
            say(f"plan: the parameters are tuned on a sample of {len(train.y)} of {len(whole.y)} training rows")
        noticed = [*self.notices]
        if not is_series(self.pipeline):
            noticed += notices(self.table, self.metric, named.space, self.n_trials)
        for notice in noticed:
            say(f"notice: {notice.sentence}")
        results = []
        with unwarned():
            fitted, took_fit = timed_fit(named.estimator, train)
            own = default_start(fitted, named.space, train.X)
            start = equal_start(named.space, own)
            going = continued(named.space, self.n_trials, self.out, searches, widen=self.widen)
            named = replace(named, space=going.space)
            for line in going.said:
                say(line)
            folds = self._default_scores(named, train, scorer)
            default = float(folds.mean())
            constant = float(constant_scores(train, named.splitter, scorer).mean())
            say(baseline(constant_name(train), constant, default, unit))
            results.append(HeldOutResult("default", default, *self.score(scorer, fitted, test), fitted, seconds=took_fit))
            for k, name in enumerate(searches):
                left = self._time_of_searches(train is not whole, began)
                with progress(name, going.n_trials) as callback:
                    search = self._search(name, named, scoring, start, callback)
                    search.set_params(timeout=None if left is None else left / (len(searches) - k))
                    search.set_params(n_iter=going.n_trials)
                    search.fit(train.X, train.y, **groups_of(train))
                best, took_fit = search.best_estimator_, search.refit_time_
                results.append(
                    HeldOutResult(
                        name, float(search.best_score_), *self.score(scorer, best, test), best, search, seconds=took_fit
                    )
                )
            choice = choose(search, own, folds)
            if choice.why_default is not None:
                results[-1] = replace(results[0], name=results[-1].name, search=search)
            elif choice.replaced is not None:
                best = clone(named.estimator).set_params(**choice.params).fit(train.X, train.y)
                results[-1] = HeldOutResult(
                    self.search, choice.score, *self.score(scorer, best, test), best, search, seconds=took_fit
                )
            search.study_.add_finding(NOTICES, {"notices": [list(notice) for notice in noticed]})
            results[-1] = self._with_optimism(replace(results[-1], notices=tuple(noticed)), train)
            verdict = self.verdict(choice, results[0], results[-1], scorer, train, test)
            which = 0 if verdict.recommended == "default" else -1
            splits = self._fresh_folds(named, train)

            def unseen(model: Any, folds: bool) -> UnseenRows:
                return self._unseen(model, train, test, splits if folds else None)

            its = unseen(results[which].estimator, True)
            others = rivals(
                named.estimator, train, scorer, its, unseen, constant, self.seed, metric=self.metric, compare=self.compare
            )
            verdict = replace(verdict, rivals=tuple(others))
            if train is not whole:
                seconds = None if self.timeout is None else max(self.timeout - (monotonic() - began), _LEAST)
                some = self.limits.to_fit(whole, self.cv, self.seed)
                found = fit_to_more_rows(results[which].estimator, len(train.y), some, len(whole.y), seconds, say)
                final = results[which].estimator if found.estimator is None else found.estimator
                its = unseen(final, False)
                score, error = score_with_error(scorer, its.held_out, self.seed)
                finding = found.finding(score, error, results[which].test_score, len(test.y), unit)
                search.study_.add_finding(ROWS, finding)
                results[which] = replace(results[which], estimator=final)
            expected = expected_of(scorer, self.metric, its.out_of_fold, its.held_out, self.seed)
            verdict = replace(verdict, expected=expected)
            study = search.study_
            study.add_finding(VERDICT, verdict.to_dict() | {"of_trials": study.n_finished})
            study.add_finding(TABLE, self.facts(len(test.y), study.findings.get(TABLE)))
            code = tuning_code(self, train, train is not whole, search, start, verdict)
            study.add_finding(REPEAT, {"code": code, "command": self.command})
            results[-1] = replace(results[-1], verdict=verdict, code=code)
        if self.out is not None:
            write_results(results, self.out, None if is_series(self.pipeline) else self.table, self.metric, test)
        return results

    def _named(self, train: Table) -> NamedPipeline:
        """Return the pipeline for these rows."""
        return named_pipeline(
            self.pipeline,
            train.task,
            train.X,
            train.y,
            cv=self.cv,
            seed=self.seed,
            region=self.region,
            history=train.history,
            horizon=self.horizon,
            grouped=train.groups is not None,
            in_time=train.time is not None,
            categorical=train.categorical,
            scale=self.scale,
        )

    def _time_of_searches(self, sampled: bool, began: float) -> float | None:
        """Return the seconds left for the searches; searches on a sample leave a share of the time to the fit on more rows."""
        if self.timeout is None:
            return None
        return max((self.limits.share if sampled else 1.0) * self.timeout - (monotonic() - began), _LEAST)

    def _search(self, name: str, named: NamedPipeline, scoring: Any, start: Start, callback: Any) -> SpotSearchCV:
        """Return the search of that name, not fitted yet."""
        return SpotSearchCV(
            named.estimator,
            named.space,
            n_iter=self.n_trials,
            search=named.search(name),
            cv=named.splitter,
            scoring=scoring,
            n_jobs=None if self.executor is not None else self.workers,
            random_state=self.seed,
            batch_size=self.batch_size,
            start=start,
            stop="uncertainty" if self.stop else None,
            path=None if self.out is None else self.out / f"{name}.db",
            callback=callback,
            executor=self.executor,
            trial_timeout=self.trial_timeout,
            memory_limit=self.memory_limit,
            retries=self.retries,
        )

    def _with_optimism(self, result: HeldOutResult, train: Table) -> HeldOutResult:
        """Return the result with its optimism, which is also stored in the study."""
        search = result.search
        if search is None or self.oversearching == "none":
            return result
        # in a series the outer folds are in its last half, so that every search has a long past
        last_half = TimeSeriesSplit(OUTER_FOLDS, test_size=max(len(train.y) // (2 * OUTER_FOLDS), 1))
        outer = last_half if self.in_time else OUTER_FOLDS
        path = None if self.out is None or self.oversearching != "nested" else self.out / f"{result.name}_outer"
        # the workers share the outer folds, and their searches have no progress bar
        judged = clone(search).set_params(callback=None, n_jobs=None) if self.oversearching == "nested" else search
        n_jobs = 1 if self.oversearching == "nested" and self.executor is not None else self.workers
        method = cast("Method", "folds" if self.oversearching == "auto" else self.oversearching)
        found = oversearching(
            judged, train.X, train.y, outer, method, n_jobs=n_jobs, random_state=self.seed, path=path, **groups_of(train)
        )
        search.study_.add_finding("oversearching", found.to_dict())
        return replace(result, optimism=found)

    def _fresh_folds(self, named: NamedPipeline, train: Table) -> list[Split]:
        """Return folds that the search has not used, or None if they cannot be drawn."""
        return fresh_folds(named.splitter, train.X, train.y, train.groups, train.task == "classification", self.seed)

    def _unseen(self, model: Any, train: Table, test: Table, splits: list[Split] | None) -> UnseenRows:
        """Return the rows that a fitted model has not seen: the held-out rows and, with splits, the training rows out of fold."""
        held = self.held_out(model, test)
        if splits is None:
            return UnseenRows(None, held)
        block = self.block(train)
        return UnseenRows(Unseen.out_of_fold(model, train.X, train.y, splits, train.groups, block, self.workers), held)

    @property
    def _searches(self) -> list[str]:
        """Names of the searches, the requested one last."""
        return list(dict.fromkeys([*([] if self.baseline == "none" else [self.baseline]), self.search]))

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        return default_scoring(self.pipeline, self.table.task) if self.scoring is None else self.scoring

    def _default_scores(self, named: NamedPipeline, train: Table, scorer: Any) -> Any:
        """Return the default's scores in the folds; raise ArgumentError if the scorer does not suit the task."""
        try:
            scores = cross_val_score(
                named.estimator, train.X, train.y, groups=train.groups, cv=named.splitter, scoring=scorer, n_jobs=self.workers,
                error_score="raise",
            )  # fmt: skip
        except SpotSVMError:  # its message is complete
            raise
        except (AttributeError, TypeError, ValueError) as error:
            names = "accuracy or balanced_accuracy" if train.task == "classification" else "neg_root_mean_squared_error or r2"
            raise ArgumentError(
                f"--scoring {self.metric!r} cannot score this {train.task}: {error}; use another, such as {names}"
            ) from error
        if not np.isfinite(scores).all():
            raise ArgumentError(
                f"--scoring {self.metric!r} cannot score this {train.task}: the score is {scores.mean()} in some folds"
            )
        return scores

    @property
    def share(self) -> float:
        """Share of the rows to hold out."""
        return TEST_SHARE if is_series(self.pipeline) else super().share

    @property
    def in_time(self) -> bool:
        """Whether the rows are in order of time, and the last ones are held out."""
        return is_series(self.pipeline) or super().in_time
