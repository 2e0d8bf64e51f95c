"""Tune the SVM of a table, and compare it with the default on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from spotsvm.common.notices import Notice
from spotsvm.common.text import shown_value
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.compile_first import compile_first
from spotsvm.errors import ArgumentError, SpotSVMError
from spotsvm.luck.difference import judged
from spotsvm.luck.drawn import Evidence, expected_of
from spotsvm.luck.optimism import Method
from spotsvm.luck.refits.analysis import oversearching
from spotsvm.luck.refits.search_rows import search_evidence
from spotsvm.luck.refits.search_table import POOL
from spotsvm.luck.verdict import CONSTANT, Rival, Verdict
from spotsvm.search_cv.estimator_space import default_start
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.study.given import Start, equal_start
from spotsvm.study.stop import checked_timeout
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.trials.findings import NOTICES, OVERSEARCHING, REPEAT, ROWS, TABLE, VERDICT, Repeat, content_of
from spotsvm.tuning.code import tuning_code
from spotsvm.tuning.large import fit_to_more_rows
from spotsvm.tuning.pipelines.default_spaces import Scale
from spotsvm.tuning.pipelines.registry import NamedPipeline, default_scoring, is_series, named_pipeline
from spotsvm.tuning.plan import baseline, decisions, notices
from spotsvm.tuning.results import HeldOutResult, write_results
from spotsvm.tuning.results_folder import ResultsFolder
from spotsvm.tuning.scoring import table_scorer
from spotsvm.tuning.table_job import FOLDS, TableJob, constant_model, constant_name, groups_of, timed_fit, unwarned
from spotsvm.tuning.tables.split import TEST_SHARE, possible_folds
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import Choice, choose, decide
from spotsvm.tuning.widening import Continued, continued

#: number of folds of nested resampling
OUTER_FOLDS = 5
#: a callable that takes a search's name and number of trials, and returns a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


class _Constant(NamedTuple):
    """A model that predicts a constant, the seconds of its fit, and its score on the folds."""

    model: Any
    seconds: float
    on_folds: float


@dataclass(frozen=True)
class TuningJob(TableJob):
    """A search of the parameters of one SVM; settings without a comment are arguments of `SpotSearchCV`."""

    n_trials: int = 50  # candidates of each search
    search: str = "kriging"
    baseline: str = "none"  # a search to compare with, such as "random", or "none"
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

    def run(self, progress: Progress, say: Callable[[str], Any] = lambda line: None) -> list[HeldOutResult]:
        """Evaluate the default, the baseline if there is one, and the search; searches start at the default and the centre.

        Before the searches start, `say` is called with each line of the plan.
        """
        self.check()
        with nullcontext() if self.out is None else closing(ResultsFolder(self.out)) as folder:
            results = self._results(progress, say)
            if folder is not None:
                write_results(self, results, folder)
        return results

    def _results(self, progress: Progress, say: Callable[[str], Any]) -> list[HeldOutResult]:
        if not self.is_series:
            compile_first()
        began = monotonic()
        noticed = self._say_plan(say)
        with unwarned():
            fitted, seconds = timed_fit(self.named.estimator, self.train)
            own = default_start(fitted, self.named.space, self.train.X)
            start = equal_start(self.named.space, own)
            going = continued(self.named.space, self.n_trials, self.out, self._searches, widen=self.widen)
            for line in going.said:
                say(line)
            folds = self._default_scores()
            constant, of_constant = timed_fit(constant_model(self.train), self.train)
            on_folds = self._constant_score()
            say(baseline(constant_name(self.train), on_folds, float(folds.mean()), self.unit))
            default = self.result("default", fitted, seconds, on_folds=float(folds.mean()))
            results = [default, *self._searched(going, start, progress, began)]
            search: Any = results[-1].search
            choice = choose(search, own, folds)
            results[-1] = self._with_optimism(replace(self._chosen(choice, default, results[-1]), notices=noticed))
            beside = _Constant(constant, of_constant, on_folds)
            verdict = self._judge(choice, results, beside, began, say)
            code = tuning_code(self, search, start, verdict)
            self._add_findings(search.study_, noticed, verdict, code)
            results[-1] = replace(results[-1], verdict=verdict, code=code)
            for k, expected in ((0, verdict.default), (-1, verdict.tuned)):
                results[k] = replace(results[k], out_of_fold=expected.out_of_fold)
        return results

    def check(self) -> None:
        """Raise an error for settings that cannot be used."""
        checked_timeout(self.trial_timeout)
        if self.memory_limit is not None:
            checked_memory_limit(self.memory_limit)
        super().check()

    def _say_plan(self, say: Callable[[str], Any]) -> tuple[Notice, ...]:
        """Say the decisions about the table, and its notices, which are returned."""
        for line in decisions(self.table, self.test, self.metric, self.n_folds):
            say(line)
        if self.sampled:
            whole = len(self.split[0].y)
            say(f"plan: the parameters are tuned on a sample of {len(self.train.y)} of {whole} training rows")
        why = self._possible_folds[1]
        noticed = [Notice("folds", f"{self.n_folds} folds in place of {FOLDS}, as {why}")] if why else []
        if not self.is_series:
            decided = self.weights is not None or self.pipeline == "spectra"  # which searches weights and cutoffs
            noticed += notices(
                self.table, self.metric, self.share, self.named.space, self.n_trials, decided=decided, threshold=False
            )
        for notice in noticed:
            say(f"notice: {notice.sentence}")
        return tuple(noticed)

    @cached_property
    def named(self) -> NamedPipeline:
        """The pipeline for the training rows."""
        return named_pipeline(
            self.pipeline,
            self.train,
            cv=self.n_folds,
            seed=self.seed,
            region=self.region,
            horizon=self.horizon,
            scale=self.scale,
            class_weight=self.weights,
        )

    def _searched(self, going: Continued, start: Start, progress: Progress, began: float) -> Iterator[HeldOutResult]:
        """Yield the result of each search."""
        named, rows = replace(self.named, space=going.space), self.train
        for k, name in enumerate(self._searches):
            # searches on a sample leave a share of the time to the fit on more rows
            left = self.seconds_left(began, self.limits.share if self.sampled else 1.0)
            with progress(name, going.n_trials) as callback:
                search = SpotSearchCV(
                    named.estimator,
                    named.space,
                    n_iter=going.n_trials,
                    search=named.search(name),
                    cv=named.splitter,
                    scoring=table_scorer(self.metric, self.table),
                    n_jobs=None if self.executor is not None else self.workers,
                    random_state=self.seed,
                    batch_size=self.batch_size,
                    start=start,
                    stop="uncertainty" if self.stop else None,
                    timeout=None if left is None else left / (len(self._searches) - k),
                    path=None if self.out is None else self.out / f"{name}.db",
                    callback=callback,
                    executor=self.executor,
                    trial_timeout=self.trial_timeout,
                    memory_limit=self.memory_limit,
                    retries=self.retries,
                ).fit(rows.X, rows.y, **groups_of(rows))
            yield self.result(name, search.best_estimator_, search.refit_time_, on_folds=float(search.best_score_), search=search)

    def _chosen(self, choice: Choice, default: HeldOutResult, searched: HeldOutResult) -> HeldOutResult:
        """Return the result of the choice: the default, the search's best candidate, or another one in its place."""
        if not choice.compares:
            return replace(default, name=searched.name, search=searched.search)
        if choice.replaced is None:
            return searched
        model = clone(self.named.estimator).set_params(**choice.params).fit(self.train.X, self.train.y)
        return self.result(searched.name, model, searched.seconds, on_folds=choice.score, search=searched.search)

    def _with_optimism(self, result: HeldOutResult) -> HeldOutResult:
        """Return the result with its optimism, which is also stored in the study."""
        search, rows = result.search, self.train
        if search is None or self.oversearching == "none":
            return result
        # in a series the outer folds are in its last half, so that every search has a long past
        last_half = TimeSeriesSplit(OUTER_FOLDS, test_size=max(len(rows.y) // (2 * OUTER_FOLDS), 1))
        nested = self.oversearching == "nested"
        optimism = oversearching(
            # the workers share the outer folds, and their searches have no progress bar
            clone(search).set_params(callback=None, n_jobs=None) if nested else search,
            rows.X,
            rows.y,
            last_half if self.in_time else OUTER_FOLDS,
            cast("Method", "folds" if self.oversearching == "auto" else self.oversearching),
            n_jobs=1 if nested and self.executor is not None else self.workers,
            random_state=self.seed,
            path=self.out / f"{result.name}_outer" if nested and self.out is not None else None,
            **groups_of(rows),
        )
        search.study_.add_finding(OVERSEARCHING, optimism.to_dict())
        return replace(result, optimism=optimism)

    def _judge(
        self, choice: Choice, results: list[HeldOutResult], constant: _Constant, began: float, say: Callable[[str], Any]
    ) -> Verdict:
        """Return the verdict from training rows out of fold and held-out rows, with other models.

        After a search on a sample, the recommended model in `results` becomes a model that is fitted to more rows.
        """
        rows, default, tuned = self.train, results[0], results[-1]
        models = tuned.estimator, default.estimator, constant.model
        held = Evidence(*(self.drawn(model) for model in models))
        training = self._out_of_fold(tuned.search, choice.compares, began)
        found = judged([*([] if training is None else [training]), held], self.metric)
        on_folds = default.on_folds, tuned.on_folds
        verdict = decide(choice, found.gain, found.default, found.tuned, on_folds=on_folds, held_out_by=self.held_out_by)
        keep = verdict.recommended == "default"
        score = found.constant
        rival = Rival(
            CONSTANT, constant_name(rows), score.held_out, score.held_out_error,
            found.gain.default_over_constant if keep else found.gain.over_constant, constant.seconds, score.out_of_fold,
            score.value, constant.on_folds,
        )  # fmt: skip
        use = 0 if keep else -1
        verdict = replace(verdict, rivals=(rival, *self.rivals(self.named.estimator, rows, results[use].estimator, self.compare)))
        return self._with_more_rows(verdict, results, use, began, say) if self.sampled else verdict

    def _out_of_fold(self, search: Any, compares: bool, began: float) -> Evidence | None:
        """Return the scores of the search's choice, repeated in draws, and of the default, on the training rows out of fold.

        None if rows cannot be drawn again by the score, as the choice could not be repeated.
        """
        rows, left = self.train, self.seconds_left(began)
        took = sum(trial.seconds or 0.0 for trial in search.study_.trials)
        found = search_evidence(
            search, rows.X, rows.y, groups=rows.groups, n_jobs=self.workers, compares=compares,
            most=None if left is None or left > took else POOL,
        )  # fmt: skip
        return None if found is None else found[0]

    def _with_more_rows(
        self, verdict: Verdict, results: list[HeldOutResult], use: int, began: float, say: Callable[[str], Any]
    ) -> Verdict:
        """Fit the recommended model to more rows; its expected score is that of the fitted model on the held-out rows."""
        whole = self.split[0]
        some = self.limits.to_fit(whole, self.n_folds, self.seed)
        of_sample = results[use].estimator
        more = fit_to_more_rows(of_sample, len(self.train.y), some, len(whole.y), self.seconds_left(began), say)
        if more.estimator is None:
            return verdict
        expected = expected_of([drawn := self.drawn(more.estimator)], self.metric, "held out")
        finding = more.finding(drawn.value, drawn.error, results[use].held_out, len(self.test.y), self.unit)
        results[-1].search.study_.add_finding(ROWS, finding)  # type: ignore[union-attr]
        results[use] = replace(results[use], estimator=more.estimator)
        return replace(verdict, tuned=expected) if verdict.recommended == "tuned" else replace(verdict, default=expected)

    def _add_findings(self, study: Any, noticed: Sequence[Notice], verdict: Verdict, code: str) -> None:
        """Store what the page shows besides the trials."""
        study.add_finding(NOTICES, {"notices": [[notice.code, notice.sentence] for notice in noticed]})
        study.add_finding(VERDICT, verdict.to_dict() | {"of_trials": study.n_finished})
        study.add_finding(TABLE, self.facts(study.findings.get(TABLE)))
        study.add_finding(REPEAT, content_of(Repeat(code, self.command)))

    def write_page(self, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the report of the search. A random search is its baseline, if it has a successful trial."""
        baselines = [result.search.study_ for result in results[:-1] if result.search is not None and result.name == "random"]
        usable = (study for study in baselines if any(t.value is not None for t in study.trials))
        search: Any = results[-1].search
        search.study_.report(path, next(usable, None))

    def facts(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the facts at the head of the page, with the class weights."""
        weights = {} if self.weights is None else {"Class weights": shown_value(self.weights)}
        return super().facts(known) | weights

    @property
    def _searches(self) -> list[str]:
        """Names of the searches, the requested one last."""
        return list(dict.fromkeys([*([] if self.baseline == "none" else [self.baseline]), self.search]))

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        return default_scoring(self.pipeline, self.table.task) if self.scoring is None else self.scoring

    def _default_scores(self) -> Any:
        """Return the default's scores in the folds; raise ArgumentError if the scorer does not suit the task."""
        named, rows = self.named, self.train
        try:
            with interrupts_kept_from_workers():
                scores = cross_val_score(
                    named.estimator, rows.X, rows.y, groups=rows.groups, cv=named.splitter, scoring=self.scorer,
                    n_jobs=self.workers, error_score="raise",
                )  # fmt: skip
        except SpotSVMError:  # its message is complete
            raise
        except (AttributeError, TypeError, ValueError) as error:
            names = "accuracy or balanced_accuracy" if rows.task == "classification" else "neg_root_mean_squared_error or r2"
            raise ArgumentError(
                f"--scoring {self.metric!r} cannot score this {rows.task}: {error}; use another, such as {names}"
            ) from error
        if not np.isfinite(scores).all():
            raise ArgumentError(
                f"--scoring {self.metric!r} cannot score this {rows.task}: the score is {scores.mean()} in some folds"
            )
        return scores

    def _constant_score(self) -> float:
        """Return the mean score of a constant in the folds; nan where it is undefined."""
        rows, splitter = self.train, self.named.splitter
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = cross_val_score(
                constant_model(rows), rows.X, rows.y, groups=rows.groups, cv=splitter, scoring=self.scorer, error_score=np.nan
            )
        return float(scores.mean())

    @cached_property
    def _possible_folds(self) -> tuple[int, str]:
        """The number of folds, and why it is below the default, if a class or the groups allow no more."""
        by_default = self.cv is None and not self.in_time
        return possible_folds(self.table, FOLDS, self.seed) if by_default else (super().n_folds, "")

    @property
    def n_folds(self) -> int:
        """Number of folds; by default fewer than 5 if the training rows allow no more."""
        return self._possible_folds[0]

    @property
    def least(self) -> int:
        """Number of folds that the training rows must allow."""
        return self.n_folds

    @property
    def is_series(self) -> bool:
        """Whether the table is a series, whose rows are predicted from earlier rows."""
        return is_series(self.pipeline)

    @property
    def share(self) -> float:
        """Share of the rows to hold out."""
        return TEST_SHARE if self.is_series else super().share

    @property
    def in_time(self) -> bool:
        """Whether the rows are in order of time, and the last ones are held out."""
        return self.is_series or super().in_time

    @cached_property
    def train(self) -> Table:
        """The training rows to tune on: all, or a sample of many."""
        whole = self.split[0]
        return whole if self.is_series else self.limits.to_tune(whole, self.n_folds, self.seed)

    @property
    def sampled(self) -> bool:
        """Whether the parameters are tuned on a sample of the training rows."""
        return self.train is not self.split[0]
