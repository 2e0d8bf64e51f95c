"""Tune the SVM of a table, and compare it with the default and with random search on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from spotsvm.common.errors import ArgumentError, ShortSeriesWarning, SpotSVMError
from spotsvm.comparison.judge_search import judge_search
from spotsvm.optimism.analysis import oversearching
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.search_cv.start import default_start
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.study.ends.time_limit import checked_timeout
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.trials.scores.metrics import named_scorer
from spotsvm.trials.scores.optimism import Method
from spotsvm.trials.start import Start, equal_start
from spotsvm.tuning.pipelines.registry import NamedPipeline, default_scoring, is_series, named_pipeline
from spotsvm.tuning.plan import decisions, notices, outlook
from spotsvm.tuning.results import HeldOutResult, block_length, check_writable, held_out_score, write_results
from spotsvm.tuning.tables.split import held_out
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.widening import continued

OUTER_FOLDS = 5
#: more columns of plain numbers are an array without names: of a frame each is checked by itself whenever it is passed on
_WIDE = 1000
#: a callable that takes a search's name and number of trials, and returns a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class TuningJob:
    """The settings of a tuning; those that are not explained are arguments of `SpotSearchCV`."""

    table: Table  # all rows; held-out rows are drawn from it, of a series its last quarter
    n_trials: int = 50  # candidates of each search
    search: str = "kriging"
    cv: int = 5
    seed: int = 0  # of the split into training and test rows, the folds and the searches
    workers: int = 1  # folds scored in parallel; with a limit and no executor, candidates
    out: Path | None = None  # folder for the results
    scoring: str | None = None  # a scorer's name; the pipeline's own by default
    pipeline: str = "table"
    region: str | None = None  # of the search; the pipeline's first one by default
    horizon: int = 0  # how many steps ahead a series is predicted
    oversearching: str = "auto"  # a method of `oversearching`, "auto" or "none"
    stop: bool = False  # whether a search ends once the expected improvement is far below the uncertainty of the score
    executor: Any = None  # used by the searches of nested oversearching as well
    batch_size: int | None = None
    trial_timeout: float | None = None
    memory_limit: int | str | None = None
    retries: int = 0
    timeout: float | None = None  # of each search
    widen: bool = False  # whether the records in `out` go on in a wider space; see `continued`

    def run(self, progress: Progress, say: Callable[[str], Any] = lambda line: None) -> list[HeldOutResult]:
        """Evaluate the default, random search and the search in this order; both searches start at the default and the centre.

        `say` is called with each line about what was decided, before the searches start.
        """
        checked_timeout(self.trial_timeout)
        checked_timeout(self.timeout, "timeout")
        if self.memory_limit is not None:
            checked_memory_limit(self.memory_limit)
        if self.out is not None:
            check_writable(self.out)
        scorer = named_scorer(self.metric)
        train, test = self._split()
        named = named_pipeline(
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
            kinds=train.kinds,
        )
        if self.oversearching == "repeats" and is_series(self.pipeline):
            raise ArgumentError(
                "--oversearching repeats: splits by time cannot be drawn again at random; use folds, nested or none"
            )
        for line in decisions(self.table, train, self.metric, self.cv):
            say(line)
        if not is_series(self.pipeline):
            for line in notices(self.table, named.space, self.n_trials):
                say(line)
        results = []
        searches = list(dict.fromkeys(["random", self.search]))
        with warnings.catch_warnings():
            # the cap on the solver's iterations is ours; a setting that needs more is scored as it is
            warnings.simplefilter("ignore", ConvergenceWarning)
            # the trials have the reasons for failures
            warnings.simplefilter("ignore", FitFailedWarning)
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            # the warning for the whole series was shown when it was read
            warnings.simplefilter("ignore", ShortSeriesWarning)
            fitted = clone(named.estimator).fit(train.X, train.y)
            start = equal_start(named.space, default_start(fitted, named.space, train.X))
            going = continued(named.space, self.n_trials, self.out, searches, widen=self.widen)
            named = replace(named, space=going.space)
            for line in going.said:
                say(line)
            began = perf_counter()
            default = self._default_score(named, train, scorer)
            took = perf_counter() - began
            for line in outlook(train, named, scorer, _groups(train), default, took, len(searches) * going.n_trials):
                say(line)
            results.append(HeldOutResult("default", default, *self._test(scorer, fitted, test), fitted))
            for name in searches:
                with progress(name, going.n_trials) as callback:
                    search = self._search(name, named, scorer, start, callback).set_params(n_iter=going.n_trials)
                    search.fit(train.X, train.y, **_groups(train))
                best = search.best_estimator_
                tested = self._test(scorer, best, test)
                # rows of a series are not independent, and some test rows have no score
                if name == self.search and not is_series(self.pipeline) and np.isfinite(tested[0]):
                    judge_search(search, train.X, train.y, test.X, test.y)
                results.append(HeldOutResult(name, float(search.best_score_), *tested, best, search))
            results[-1] = self._with_optimism(results[-1], train)
        if self.out is not None:
            write_results(results, self.out)
        return results

    def _search(self, name: str, named: NamedPipeline, scorer: Any, start: Start, callback: Any) -> SpotSearchCV:
        """Return the search of that name, not fitted yet."""
        return SpotSearchCV(
            named.estimator,
            named.space,
            n_iter=self.n_trials,
            search=cast("SearchName | SearchFactory", named.search(name)),
            cv=named.splitter,
            scoring=scorer if self.metric == "mean_class_accuracy" else self.metric,
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
            timeout=self.timeout,
        )

    def _with_optimism(self, result: HeldOutResult, train: Table) -> HeldOutResult:
        """Return the result with its optimism, which is also stored in the study."""
        search = result.search
        if search is None or self.oversearching == "none":
            return result
        # of a series the last half is predicted, so that no search has a much shorter past than the one analysed
        last_half = TimeSeriesSplit(OUTER_FOLDS, test_size=max(len(train.y) // (2 * OUTER_FOLDS), 1))
        outer = last_half if is_series(self.pipeline) else OUTER_FOLDS
        path = None if self.out is None or self.oversearching != "nested" else self.out / f"{result.name}_outer"
        # the workers share the outer folds, and their searches have no progress bar
        judged = clone(search).set_params(callback=None, n_jobs=None) if self.oversearching == "nested" else search
        n_jobs = 1 if self.oversearching == "nested" and self.executor is not None else self.workers
        cheap = "partitions" if hasattr(search, "fresh_score_") else "folds"
        method = cast("Method", cheap if self.oversearching == "auto" else self.oversearching)
        found = oversearching(
            judged, train.X, train.y, outer, method, n_jobs=n_jobs, random_state=self.seed, path=path, **_groups(train)
        )
        search.study_.add_finding("oversearching", found.to_dict())
        return replace(result, optimism=found)

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        return default_scoring(self.pipeline, self.table.task) if self.scoring is None else self.scoring

    def _default_score(self, named: NamedPipeline, train: Table, scorer: Any) -> float:
        """Return the default's score; raise ArgumentError if the scorer does not suit the task."""
        try:
            scores = cross_val_score(
                named.estimator,
                train.X,
                train.y,
                cv=named.splitter,
                scoring=scorer,
                n_jobs=self.workers,
                error_score="raise",
                **_groups(train),
            )
        except SpotSVMError:  # its message is complete
            raise
        except (AttributeError, TypeError, ValueError) as error:
            raise ArgumentError(f"--scoring {self.metric!r} cannot score this {train.task}: {error}") from error
        if not np.isfinite(scores).all():
            raise ArgumentError(
                f"--scoring {self.metric!r} cannot score this {train.task}: the score is {scores.mean()} in some folds"
            )
        return float(scores.mean())

    def _split(self) -> tuple[Table, Table]:
        """Return the training rows and the held-out rows."""
        series = is_series(self.pipeline)
        train, test = held_out(self.table, self.cv, self.seed, in_time=series)
        if series or not train.kinds.plain or train.X.shape[1] <= _WIDE:
            return train, test
        return replace(train, X=cast("Any", train.X.to_numpy())), replace(test, X=cast("Any", test.X.to_numpy()))

    def _test(self, scorer: Any, estimator: Any, test: Table) -> tuple[float, float]:
        """Return the score on the held-out rows, and its standard error."""
        block = block_length(len(test.y)) if is_series(self.pipeline) else 1
        return held_out_score(scorer, estimator, test.X, test.y, self.seed, block=block)


def _groups(table: Table) -> dict[str, Any]:
    """Return the argument `groups` of a fit, if there are groups."""
    return {} if table.groups is None else {"groups": table.groups}
