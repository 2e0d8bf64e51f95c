"""A search of the parameters of one SVM, as the model that `spotsvm tune` fits to a table."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from spotsvm.common.notices import Notice, gathered
from spotsvm.common.text import did_you_mean, short_names, shown_value
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.compile_first import compile_first
from spotsvm.cross_validation.row_sample import ROWS_CODE
from spotsvm.errors import ArgumentError, SpotSVMError
from spotsvm.luck.difference import Judged, judged
from spotsvm.luck.drawn import Drawn, Evidence, expected_of
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.optimism import Method, Optimism
from spotsvm.luck.refits.analysis import oversearching
from spotsvm.luck.refits.explained import estimator_refits, explanation_within
from spotsvm.luck.refits.search_rows import search_evidence
from spotsvm.luck.refits.search_table import POOL
from spotsvm.luck.verdict import Verdict
from spotsvm.preprocessing.cells.findings import speaking
from spotsvm.reports.report import study_page
from spotsvm.search_cv.estimator_space import default_start
from spotsvm.search_cv.fitted import fitted_model
from spotsvm.search_cv.refit import Refit, refitted
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.solvers.search import SEARCHES, needs_several_objectives
from spotsvm.study.given import equal_start
from spotsvm.study.stop import checked_timeout
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.trials.edges import edges_of
from spotsvm.trials.findings import NOTICES, OVERSEARCHING, REPEAT, ROWS, STOP, TABLE, TIMEOUT, VERDICT, Repeat, content_of
from spotsvm.trials.ledger import finished_counts
from spotsvm.trials.recommendation import summarise_failures
from spotsvm.tuning.clock import Clock
from spotsvm.tuning.code import tuning_code
from spotsvm.tuning.job import FOLDS, Constant, Fit, FoldCount, Job, Model, Progress, Say
from spotsvm.tuning.pipelines.default_spaces import Scale, iteration_cap
from spotsvm.tuning.pipelines.registry import NamedPipeline, description, named_pipeline
from spotsvm.tuning.pipelines.spectra import RivalModel
from spotsvm.tuning.plan import baseline, notices
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.rivals import constant_model, constant_name, groups_of, timed_fit
from spotsvm.tuning.scoring import table_scorer
from spotsvm.tuning.summary import TIED
from spotsvm.tuning.tables.split import possible_folds
from spotsvm.tuning.tables.table import COMMAND, Table
from spotsvm.tuning.verdict import Choice, choose
from spotsvm.tuning.widening import OPEN, Continued, continued

#: number of folds of nested resampling
OUTER_FOLDS = 5


@dataclass(frozen=True)
class SVMSearch(Model):
    """A search of the parameters of one SVM; settings without a comment are arguments of `SpotSearchCV`."""

    by: ClassVar[Literal["search"]] = "search"

    n_trials: int = 50  # candidates of each search
    search: str = "kriging"
    baseline: str = "none"  # a search to compare with, such as "random", or "none"
    pipeline: str = "svm"
    region: str | None = None  # search region of the pipeline; by default its first region
    scale: Scale = "standard"  # how numbers are scaled, by the pipeline "svm"
    horizon: int = 0  # how many steps ahead a series is predicted
    oversearching: str = "auto"  # a method of `oversearching`, "auto" or "none"
    stop: bool = False  # whether a search ends once the expected improvement is far below the uncertainty of the score
    batch_size: int | None = None
    trial_timeout: float | None = None
    memory_limit: int | str | None = None
    retries: int = 0
    widen: bool = False  # whether to continue the records in `out` in a wider space; see `continued`

    @property
    def searches(self) -> list[str]:
        """Names of the searches, the requested one last."""
        return list(dict.fromkeys([*([] if self.baseline == "none" else [self.baseline]), self.search]))

    def check(self, job: Job) -> None:
        """Raise an error for settings that cannot be used."""
        known = [name for name in SEARCHES if not needs_several_objectives(name)]
        if self.search not in known:
            wrong = "is for several objectives" if self.search in SEARCHES else "is unknown"
            hint = did_you_mean(self.search, known)
            raise ArgumentError(f"--search {self.search!r} {wrong}; use one of {', '.join(known)}{hint}")
        checked_timeout(self.trial_timeout)
        if self.memory_limit is not None:
            checked_memory_limit(self.memory_limit)

    def folds(self, job: Job) -> FoldCount:
        """Return how many folds there are, by default fewer than 5 if the training rows allow no more."""
        if job.cv is not None or job.in_time:
            n, why = FOLDS if job.cv is None else job.cv, ""
        else:
            n, why = possible_folds(job.table, FOLDS, job.seed)
        return FoldCount(n, n, why)

    def rows_to_tune(self, whole: Table, job: Job) -> Table:
        """Return the training rows, or a sample of many."""
        return whole if job.is_series else job.limits.to_tune(whole, job.n_folds)

    def compile_first(self, job: Job) -> None:
        """Compile what the folds of a table share."""
        if not job.is_series:
            compile_first()

    def plan(self, job: Job) -> Iterator[str | Notice]:
        """Yield the line about a sample, and the notices about the table, the score and the number of trials."""
        if job.sampled:
            yield f"plan: the parameters are tuned on a sample of {len(job.train.y)} of {len(job.split[0].y)} training rows"
        if not job.is_series:
            decided = job.weights is not None or self.pipeline == "spectra"  # which searches weights and cutoffs
            space = self.named(job).space
            yield from notices(job.table, job.metric, job.share, space, self.n_trials, decided=decided, threshold=False)

    def named(self, job: Job) -> NamedPipeline:
        """Return the pipeline for the training rows."""
        return named_pipeline(
            self.pipeline,
            job.train,
            cv=job.n_folds,
            seed=job.seed,
            region=self.region,
            horizon=self.horizon,
            scale=self.scale,
            class_weight=job.weights,
            scoring=table_scorer(job.metric, job.table) if job.scoring is not None else None,
        )

    def fit(self, job: Job, clock: Clock, say: Say, progress: Progress | None) -> Fit:
        """Fit the default, search, and fit the choice; searches start at the default and the centre of the space."""
        named, rows = self.named(job), job.train
        fitted, seconds = timed_fit(named.estimator, rows)
        default_params = default_start(fitted, named.space, rows.X)
        start = equal_start(named.space, default_params)
        going = continued(named.space, self.n_trials, job.out, self.searches, widen=self.widen)
        for line in going.said:
            say(line)
        on_folds = _default_scores(job, named)
        model, of_model = timed_fit(constant_model(rows), rows)
        constant = Constant(constant_name(rows, job.unit), of_model, _constant_score(job, named))
        say(baseline(constant.name, constant.on_folds, float(on_folds.mean()), job.unit))
        default = HeldOutResult("default", fitted, on_folds=float(on_folds.mean()), seconds=seconds)
        with speaking(COMMAND), gathered() as told:
            *others, searched = self._searched(job, named, going, start, clock, progress or _silence)
        choice = choose(cast("SpotSearchCV", searched.search), default_params, on_folds)
        tuned = self._with_optimism(job, self._chosen(job, named, choice, default, searched))
        results = [default, *map(job.with_scores, others), tuned]
        return _SearchFit(job, results, choice, constant, named.estimator, rows, told, self, start, model, named)

    def _searched(
        self,
        job: Job,
        named: NamedPipeline,
        going: Continued,
        start: Sequence[Mapping[str, Any]],
        clock: Clock,
        progress: Progress,
    ) -> Iterator[HeldOutResult]:
        """Yield the result of each search; of a search on a sample, the model of the sample."""
        rows = job.split[0]
        for k, name in enumerate(self.searches):
            # searches on a sample leave a share of the time to the fit on more rows
            left = clock.left(job.limits.share if job.sampled else 1.0)
            with progress(name, going.n_trials) as callback:
                search = SpotSearchCV(
                    named.estimator,
                    going.space,
                    n_iter=going.n_trials,
                    search=replace(named, space=going.space).search(name),
                    cv=named.splitter,
                    scoring=table_scorer(job.metric, job.table),
                    n_jobs=None if job.executor is not None else job.workers,
                    random_state=job.seed,
                    batch_size=self.batch_size,
                    start=start,
                    stop="uncertainty" if self.stop else None,
                    timeout=None if left is None else left / (len(self.searches) - k),
                    path=None if job.out is None else job.out / f"{name}.db",
                    callback=callback,
                    executor=job.executor,
                    trial_timeout=self.trial_timeout,
                    memory_limit=self.memory_limit,
                    retries=self.retries,
                    rows=(job.limits.sampled, job.limits.sampled) if job.sampled else None,
                ).fit(rows.X, rows.y, **groups_of(rows))
            best, on_folds = search.best_estimator_, float(search.best_score_)
            yield HeldOutResult(name, best, on_folds=on_folds, search=search, seconds=search.refit_time_)

    def _chosen(
        self, job: Job, named: NamedPipeline, choice: Choice, default: HeldOutResult, searched: HeldOutResult
    ) -> HeldOutResult:
        """Return the result of the choice: the default, the search's best candidate, or another one in its place."""
        if not choice.compares:
            return replace(default, name=searched.name, search=searched.search)
        if choice.replaced is None:
            return searched
        model = clone(named.estimator).set_params(**choice.params).fit(job.train.X, job.train.y)
        return replace(searched, estimator=model, on_folds=choice.score)

    def _with_optimism(self, job: Job, result: HeldOutResult) -> HeldOutResult:
        """Return the result with its optimism, which is also stored in the study."""
        search, rows = result.search, job.split[0]
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
            last_half if job.in_time else OUTER_FOLDS,
            cast("Method", "folds" if self.oversearching == "auto" else self.oversearching),
            n_jobs=1 if nested and job.executor is not None else job.workers,
            random_state=job.seed,
            path=job.out / f"{result.name}_outer" if nested and job.out is not None else None,
            **groups_of(rows),
        )
        search.study_.add_finding(OVERSEARCHING, optimism.to_dict())
        return replace(result, optimism=optimism)

    def sentences(self, job: Job, results: Sequence[HeldOutResult]) -> Iterator[str]:
        """Yield how much of the tuned score is luck, and sentences about the scores, the chosen parameters and the files."""
        final = results[-1]
        verdict, unit = final.verdict, job.unit
        if final.optimism is not None and _says_something(final.optimism):
            answer, *method = final.optimism.sentences(expect=False)
            yield f"How optimistic is it? {answer}"
            yield " ".join(method)
        latest = "the last quarter, " if job.is_series else "the latest rows, " if job.in_time else ""
        with_error = f"{latest}+- the standard error"
        yield (
            f"{unit.title}: {unit.better}. On the folds: mean over {job.n_folds} folds of the training rows, which the search "
            "has optimised. Out of fold: training rows, scored with a choice among the candidates that was made without these "
            f"rows. Held-out rows: no search has used them, {with_error.replace(' ', TIED)}. New rows: the score to expect, from "
            "both; each row counts the same."
        )
        if self.pipeline != "svm":
            yield f"Pipeline {self.pipeline}: {description(self.pipeline, job.table.task)}."
        for c in results:
            if c.search is not None and any(t.state in ("failed", "timeout") for t in c.search.study_.trials):
                yield f"Failed trials of {c.name}: {summarise_failures(c.search.study_.trials)}"
        if final.search is not None:
            findings = final.search.study_.findings
            for name in (STOP, TIMEOUT, ROWS):
                if name in findings:
                    yield findings[name]["sentence"]
        if verdict is not None and verdict.rival:
            yield f"Recommended: {verdict.recommended_name}{_chosen(_settings(final.instead))}"
            yield f"The better SVM is {_which(verdict, final)}{_chosen(verdict.params)}"
        elif final.search is not None and verdict is not None:
            yield f"Recommended: {_which(verdict, final)}{_chosen(verdict.params)}"
        if final.search is not None and verdict is not None:
            edges = edges_of(verdict.params, final.search.study_.space)
            yield from map(str, edges)
            if job.out and any(edge.name.rpartition("__")[2] in OPEN for edge in edges):
                yield "The same command with --widen continues from these trials in the wider range."
        if job.out:
            model = "" if job.is_series else "model.skops, for spotsvm predict; "
            kind = "model" if verdict is not None and verdict.rival else "SVM"
            yield (
                f"Written to {job.out}: report.html; {model}parameters.json of the recommended {kind}; comparison.csv; trials, "
                "fold scores, parameters and record of each search."
            )
        else:
            yield "Use --out FOLDER to save the trials, the parameters and a record that can be resumed."

    def write_files(self, results: Sequence[HeldOutResult], out: Path) -> None:
        """Write trials, fold scores and parameters of each search."""
        for c in results:
            if c.search is not None:
                c.search.study_.to_csv(out / f"{c.name}_trials.csv")
                c.search.study_.folds_to_csv(out / f"{c.name}_folds.csv")
                params = _as_json(c.estimator.get_params(deep=True))
                (out / f"{c.name}_parameters.json").write_text(json.dumps(params, indent=2) + "\n")

    def write_page(self, job: Job, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the report of the search. A random search is its baseline, if it has a successful trial."""
        baselines = [result.search.study_ for result in results[:-1] if result.search is not None and result.name == "random"]
        usable = (study for study in baselines if any(t.value is not None for t in study.trials))
        search: Any = results[-1].search
        known = hasattr(search, "out_of_fold_") and not job.is_series
        answers = job.with_row_names(fitted_model(search)) if known else None
        page = study_page(search.study_, next(usable, None), explanation=results[-1].explanation, answers=answers)
        page.write(path)


@dataclass
class _SearchFit(Fit):
    """The fit of the default, of each search's choice, and of a constant."""

    model: SVMSearch
    start: Sequence[Mapping[str, Any]]
    constant_model: Any
    named: NamedPipeline
    refit: Refit | None = None

    @property
    def _search(self) -> Any:
        return self.results[-1].search

    def rivals(self) -> Iterator[RivalModel]:
        """Yield a linear model and a forest, and what is usual for data of this kind."""
        yield from super().rivals()
        yield from self.named.rivals

    def splits(self) -> Sequence[tuple[Any, Any]] | None:
        """Return the folds of the search, unless it had a sample of the rows."""
        if self.job.sampled or not self.named.rivals:
            return None
        rows = self.job.train
        return list(self.named.splitter.split(rows.X, rows.y, rows.groups))

    def judged(self, clock: Clock) -> Judged:
        """Return what both kinds of rows say; draws of the training rows repeat the search's choice."""
        job, models = self.job, (self.results[-1].estimator, self.results[0].estimator, self.constant_model)
        held = Evidence(*(job.drawn(model) for model in models))
        training = self._out_of_fold(clock)
        return judged([*([] if training is None else [training]), held], job.metric)

    def _out_of_fold(self, clock: Clock) -> Evidence | None:
        """Return the scores of the search's choice, repeated in draws, and of the default, on the training rows out of fold.

        None if rows cannot be drawn again by the score, as the choice could not be repeated.
        """
        rows, left = self.job.split[0], clock.left()
        took = sum(trial.seconds or 0.0 for trial in self._search.study_.trials)
        found = search_evidence(
            self._search, rows.X, rows.y, groups=rows.groups, n_jobs=self.job.workers, compares=self.choice.compares,
            most=None if left is None or left > took else POOL,
        )  # fmt: skip
        return None if found is None else found[0]

    def with_more_rows(self, verdict: Verdict, clock: Clock, say: Say) -> Verdict:
        """After a search on a sample, fit the recommended model to more rows; what to expect of it held-out rows say alone."""
        job, use = self.job, 0 if verdict.recommended == "default" else -1
        whole, of_sample = job.split[0], self.results[use]
        rows = job.limits.drawn(whole, job.n_folds)
        if not (job.sampled and rows.has_more):
            return verdict
        say(f"fit: the recommended SVM to {rows.n_fitted} of {rows.n} training rows")
        model = clone(of_sample.estimator).set_params(**_caps(of_sample.estimator, rows.n_fitted))
        with speaking(COMMAND):
            refit = self.refit = refitted(model, rows, whole.X, whole.y, {}, clock.left(), of_sample.estimator)
        # the notice of the search is about the model of the sample
        self.told = [*(one for one in self.told if one.code != ROWS_CODE), *refit.notices]
        for line in (one.sentence for one in refit.notices if one.code == ROWS_CODE):
            say(f"notice: {line}")
        if refit.why:
            self._search.study_.add_finding(ROWS, refit.finding)
            return verdict
        expected = expected_of([drawn := job.drawn(refit.estimator)], job.metric, "held out")
        self._search.study_.add_finding(ROWS, _finding(refit, verdict.recommended, drawn, of_sample.held_out, job))
        self.results[use] = replace(of_sample, estimator=refit.estimator, held_out=drawn.value, error=drawn.error)
        self.rows = whole if refit.rows is None else whole.part(refit.rows)
        return replace(verdict, tuned=expected) if verdict.recommended == "tuned" else replace(verdict, default=expected)

    def explained(self, verdict: Verdict, within: float | None, say: Say | None) -> Explanation | NotExplained | None:
        """Return which columns matter to the recommended model; nothing for a series, whose rows are not taken apart."""
        job, rows = self.job, self.job.train
        if job.is_series:
            if say is not None:
                say("explain: not for a series, whose predictions depend on earlier rows")
            return None
        use = self.results[0 if verdict.recommended == "default" else -1].estimator
        refits = estimator_refits(
            use, rows.X, rows.y, cv=self.model.named(job).splitter, scorer=job.scorer, scoring=job.metric, seed=job.seed,
            **groups_of(rows),
        )  # fmt: skip
        return explanation_within(refits, within, say)

    def code(self, verdict: Verdict) -> str:
        """Return Python code that repeats the search and fits the recommended model."""
        return tuning_code(self.job, self.model, self._search, self.start, verdict, self.refit)

    def keep(self, notices: Sequence[Notice], verdict: Verdict, code: str) -> None:
        """Store what the page shows besides the trials."""
        study, job = self._search.study_, self.job
        study.add_finding(NOTICES, {"notices": [[notice.code, notice.sentence] for notice in notices]})
        study.add_finding(VERDICT, verdict.to_dict() | {"of_trials": study.n_finished})
        weights = {} if job.weights is None else {"Class weights": shown_value(job.weights)}
        study.add_finding(TABLE, job.facts(study.findings.get(TABLE)) | weights)
        study.add_finding(REPEAT, content_of(Repeat(code, job.command)))


def _caps(estimator: Any, n: int) -> dict[str, int]:
    """Return the largest number of iterations for a fit to n rows: a hopeless fit ends there."""
    return {name: iteration_cap(n) for name in estimator.get_params() if name.endswith("max_iter")}


def _finding(refit: Refit, name: str, score: Drawn, of_sample: float, job: Job) -> dict[str, Any]:
    """Return the finding about the rows of the SVM of this name, with its scores on the held-out rows."""
    unit = job.unit
    text = (
        f"{refit.finding['sentence']} On the {len(job.test.y)} held-out rows it has {unit.title} {unit.value(score.value):.4g} "
        f"(standard error {score.error:.2g}), and {unit.value(of_sample):.4g} if it is fitted to the sample alone. The scores of "
        f"the {name} SVM on held-out rows and on new rows are those of the model fitted to more rows; a linear model or a forest "
        "beside it is fitted to the same rows. All other scores, and the difference between the tuned and the default SVM, are "
        "those of models fitted to the sample."
    )
    scores = {"score on held-out rows": score.value, "standard error": score.error, "score of the sample": of_sample}
    return refit.finding | {"sentence": text} | scores


def _default_scores(job: Job, named: NamedPipeline) -> Any:
    """Return the default's scores in the folds; raise ArgumentError if the scorer does not suit the task."""
    rows = job.train
    try:
        with interrupts_kept_from_workers():
            scores = cross_val_score(
                named.estimator, rows.X, rows.y, groups=rows.groups, cv=named.splitter, scoring=job.scorer,
                n_jobs=job.workers, error_score="raise",
            )  # fmt: skip
    except SpotSVMError:  # its message is complete
        raise
    except (AttributeError, TypeError, ValueError) as error:
        names = "accuracy or balanced_accuracy" if rows.task == "classification" else "neg_root_mean_squared_error or r2"
        raise ArgumentError(
            f"--scoring {job.metric!r} cannot score this {rows.task}: {error}; use another, such as {names}"
        ) from error
    if not np.isfinite(scores).all():
        raise ArgumentError(f"--scoring {job.metric!r} cannot score this {rows.task}: the score is {scores.mean()} in some folds")
    return scores


def _constant_score(job: Job, named: NamedPipeline) -> float:
    """Return the mean score of a constant in the folds; nan where it is undefined."""
    rows = job.train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(
            constant_model(rows), rows.X, rows.y, groups=rows.groups, cv=named.splitter, scoring=job.scorer, error_score=np.nan
        )
    return float(scores.mean())


@contextmanager
def _silence(name: str, n_trials: int) -> Iterator[None]:
    """Show nothing of a search."""
    yield


def _chosen(params: Mapping[str, Any]) -> str:
    """Return parameters after a colon, by short names; each name stays with its value."""
    values = (f"{name} = {_shown(params[full])}".replace(" ", TIED) for full, name in short_names(params).items())
    return f": {', '.join(values)}" if params else ""


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, Real) and not isinstance(value, bool) else str(value)


def _settings(rival: Any) -> dict[str, Any]:
    """Return derivative, scatter correction and number of scores of a rival."""
    chosen = ("savitzkygolay__deriv", "scattercorrection__method", "plsregression__n_components", "plsscores__n_components")
    own = rival.get_params()
    return {name: own[name] for name in chosen if name in own}


def _which(verdict: Verdict, final: HeldOutResult) -> str:
    """Return the name of the recommended model."""
    if verdict.recommended == "default" or final.search is None:
        return "the default SVM"
    asked, values = finished_counts(final.search.study_.trials)
    sweeps = "" if asked == values else f", one of the {values} values in the sweeps of {asked} trials"
    return f"trial {verdict.number} of {final.name}{sweeps}"


def _says_something(estimate: Optimism) -> bool:
    """Return whether an estimate is informative: not the smallest that its method can give, nor 0 without an interval."""
    return estimate.optimism != 0 or (estimate.how != "folds" and estimate.interval[0] < estimate.interval[1])


def _as_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON types; estimators become their repr."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in sorted(params.items())}
