"""Tune a table's SVM, and compare it with the default and with random search on rows that no search has seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.model_selection import TimeSeriesSplit, cross_val_score, train_test_split

from spotsvm.class_accuracy import named_scorer
from spotsvm.contestant import Contestant
from spotsvm.default_start import default_start
from spotsvm.errors import ArgumentError, DataError, ShortSeriesWarning, SpotSVMError
from spotsvm.held_out_score import block_length, held_out_score
from spotsvm.optimism.analysis import oversearching
from spotsvm.optimism.result import Method
from spotsvm.pipelines.registry import NamedPipeline, default_scoring, is_series, named_pipeline
from spotsvm.run_settings import check_budget, checked_timeout
from spotsvm.search_judge import judge_search
from spotsvm.space import Space
from spotsvm.spot_search_cv import SpotSearchCV
from spotsvm.start import Start, equal_start, start_points
from spotsvm.study_search import initial_trials
from spotsvm.tabular import Table, check_folds
from spotsvm.tuning_results import check_writable, write_results
from spotsvm.workers.memory_limit import checked_memory_limit

TEST_SHARE = 0.25
OUTER_FOLDS = 5

#: takes a search's name and budget, gives a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class TuningJob:
    """What to tune, and how.

    Attributes
    ----------
    table : Table
        All rows.
    budget : int
        Candidates that each search may evaluate.
    search : str
        Name of the search.
    cv : int
        Folds.
    seed : int
        Seed of the split into training and test rows, of the folds, and of the searches.
    workers : int
        Folds evaluated at once; with a limit and no executor, candidates.
    out : Path or None
        Folder for the results.
    scoring : str or None
        A scorer's name, of scikit-learn or "mean_class_accuracy"; the pipeline's own by default.
    pipeline : str
        Name of the pipeline; see `named_pipeline`. That of a series is tested on its last quarter.
    region : str or None
        Where to search; the pipeline's own by default.
    horizon : int
        How many steps ahead a series is told.
    oversearching : str
        How it is found out of the last search how much of its tuned score is luck, as in `oversearching`; or "none".
    stop : bool
        Whether searches end once the largest expected improvement is far below the uncertainty of the score.
    executor : executor or None
        Where the searches, also those of nested oversearching, score whole candidates; see `SpotSearchCV`. All else is done here.
    batch_size : int or None
        Candidates suggested together; with it, where they are scored changes nothing about the results.
    trial_timeout, memory_limit : float and int or str, or None
        Seconds and memory that a candidate of a search may take.
    retries : int
        How often a candidate is scored again whose worker died.
    """

    table: Table
    budget: int = 50
    search: str = "kriging"
    cv: int = 5
    seed: int = 0
    workers: int = 1
    out: Path | None = None
    scoring: str | None = None
    pipeline: str = "table"
    region: str | None = None
    horizon: int = 0
    oversearching: str = "folds"
    stop: bool = False
    executor: Any = None
    batch_size: int | None = None
    trial_timeout: float | None = None
    memory_limit: int | str | None = None
    retries: int = 0

    def run(self, progress: Progress) -> list[Contestant]:
        """Evaluate the default, random search and the search, in this order; both searches start at the default and the centre.

        Parameters
        ----------
        progress : callable
            Takes a search's name and budget; gives a context manager whose value is the search's callback.
        """
        checked_timeout(self.trial_timeout)
        if self.memory_limit is not None:
            checked_memory_limit(self.memory_limit)
        if self.out is not None:
            check_writable(self.out)
        scorer = named_scorer(self.metric)
        train, test = self._split()
        named = self.named(train)
        if self.oversearching == "repeats" and is_series(self.pipeline):
            raise ArgumentError("--oversearching repeats: splits by time cannot be drawn anew; use folds, nested or none")
        contestants = []
        with warnings.catch_warnings():
            # the cap on the solver's iterations is ours, and a setting that needs more is scored as it stands
            warnings.simplefilter("ignore", ConvergenceWarning)
            # the trials tell why they failed
            warnings.simplefilter("ignore", FitFailedWarning)
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            # of the series as a whole it was told when it was read
            warnings.simplefilter("ignore", ShortSeriesWarning)
            fitted = clone(named.estimator).fit(train.X, train.y)
            start = equal_start(named.space, default_start(fitted, named.space, train.X))
            self._check_budget(named, start)
            default = self._default_score(named, train, scorer)
            contestants.append(Contestant("default", default, *self._test(scorer, fitted, test), fitted))
            for name in dict.fromkeys(["random", self.search]):
                with progress(name, self.budget) as callback:
                    search = self._search(name, named, scorer, start, callback).fit(train.X, train.y)
                best = search.best_estimator_
                tested = self._test(scorer, best, test)
                # rows of a series are no independent sample, and some test rows have no score
                if name == self.search and not is_series(self.pipeline) and np.isfinite(tested[0]):
                    judge_search(search, train.X, train.y, test.X, test.y)
                contestants.append(Contestant(name, float(search.best_score_), *tested, best, search))
            contestants[-1] = self._with_optimism(contestants[-1], train)
        if self.out is not None:
            write_results(contestants, self.out)
        return contestants

    def _check_budget(self, named: NamedPipeline, start: Start) -> None:
        space = Space(named.space)
        initial = initial_trials(named.search(self.search), space.domain, len(start_points(start, space)))
        check_budget(self.budget, "--budget", initial, space.domain)

    def _search(self, name: str, named: NamedPipeline, scorer: Any, start: Start, callback: Any) -> SpotSearchCV:
        """Give the search of that name, not fitted yet."""
        return SpotSearchCV(
            named.estimator,
            named.space,
            n_iter=self.budget,
            search=named.search(name),
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
        )

    def _with_optimism(self, contestant: Contestant, train: Table) -> Contestant:
        """Say how much of a search's tuned score is luck, and keep that with its study."""
        search = contestant.search
        if search is None or self.oversearching == "none":
            return contestant
        # of a series the last half is told, so that no search has much less of the past than the one judged
        last_half = TimeSeriesSplit(OUTER_FOLDS, test_size=max(len(train.y) // (2 * OUTER_FOLDS), 1))
        outer = last_half if is_series(self.pipeline) else OUTER_FOLDS
        path = None if self.out is None or self.oversearching != "nested" else self.out / f"{contestant.name}_outer"
        # the outer folds are what is spread over the workers here, and nobody watches their searches
        judged = clone(search).set_params(callback=None, n_jobs=None) if self.oversearching == "nested" else search
        n_jobs = 1 if self.oversearching == "nested" and self.executor is not None else self.workers
        method = cast("Method", self.oversearching)
        found = oversearching(judged, train.X, train.y, outer, method, n_jobs=n_jobs, random_state=self.seed, path=path)
        search.study_.add_finding("oversearching", found.to_dict())
        return replace(contestant, optimism=found)

    @property
    def metric(self) -> str:
        """The scorer's name."""
        return default_scoring(self.pipeline, self.table.task) if self.scoring is None else self.scoring

    def named(self, train: Table) -> NamedPipeline:
        """Give the pipeline, with its space and folds, for training rows."""
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
        )

    def _default_score(self, named: NamedPipeline, train: Table, scorer: Any) -> float:
        """Score the default, and so see that the scorer fits the task."""
        try:
            scores = cross_val_score(
                named.estimator, train.X, train.y, cv=named.splitter, scoring=scorer, n_jobs=self.workers, error_score="raise"
            )
        except SpotSVMError:  # says by itself what is wrong with the rows or the pipeline
            raise
        except (AttributeError, TypeError, ValueError) as error:
            raise ArgumentError(f"--scoring {self.metric!r} cannot score this {train.task}: {error}") from error
        if not np.isfinite(scores).all():
            raise ArgumentError(f"--scoring {self.metric!r} cannot score this {train.task}: it is {scores.mean()} in some folds")
        return float(scores.mean())

    def _split(self) -> tuple[Table, Table]:
        """Split off the rows that no search may see."""
        t = self.table
        series = is_series(self.pipeline)
        stratify = t.y if t.task == "classification" else None
        check_folds(t, max(self.cv, 2), in_time=series)
        try:
            how: dict[str, Any] = {"shuffle": False} if series else {"random_state": self.seed, "stratify": stratify}
            parts = train_test_split(t.X, t.y, test_size=TEST_SHARE, **how)
        except ValueError as error:
            raise DataError(f"{len(t.y)} rows are too few to hold a quarter of them out: {error}") from error
        train, test = (Table(parts[k], parts[k + 2], t.task, t.history) for k in (0, 1))
        check_folds(train, self.cv, "training rows", in_time=series)
        return train, test

    def _test(self, scorer: Any, estimator: Any, test: Table) -> tuple[float, float]:
        """Score on the test rows, with a standard error."""
        block = block_length(len(test.y)) if is_series(self.pipeline) else 1
        return held_out_score(scorer, estimator, test.X, test.y, self.seed, block=block)
