"""One run of `spotsvm tune`: a table is split, the default and a tuned model are fitted, judged on unseen rows, and written."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

from sklearn.pipeline import Pipeline

from spotsvm.common.code import Script
from spotsvm.common.folds import fewer_folds
from spotsvm.common.notices import Notice, once
from spotsvm.common.text import printable_line
from spotsvm.luck.difference import Difference, Judged, difference_of
from spotsvm.luck.drawn import Drawn, expected_of, unseen_score
from spotsvm.luck.draws import block_length
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.refits.explained import unasked
from spotsvm.luck.rows import Unseen
from spotsvm.luck.verdict import CONSTANT, TUNED, HeldOut, Rival, Verdict
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.study.stop import checked_timeout
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuned.default_models import with_threshold
from spotsvm.tuning.class_weights import weights_of
from spotsvm.tuning.clock import Clock
from spotsvm.tuning.large import Limits
from spotsvm.tuning.pipelines.registry import default_scoring, is_series
from spotsvm.tuning.pipelines.spectra import RivalModel
from spotsvm.tuning.plan import decisions, of_different
from spotsvm.tuning.results import HeldOutResult, write_results
from spotsvm.tuning.results_folder import ResultsFolder
from spotsvm.tuning.rivals import constant_model, groups_of, rival_models, timed_fit, unwarned, users_groups
from spotsvm.tuning.scoring import positive_class, scorer_of
from spotsvm.tuning.tables.split import TEST_SHARE, held_out
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import Choice, decide

#: more numeric columns than this are passed as an array: scikit-learn checks each column of a frame by itself, at every step
_WIDE = 1000
#: default number of folds
FOLDS = 5
#: takes a line of the plan
Say = Callable[[str], Any]
#: takes a search's name and number of trials, and returns a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


class FoldCount(NamedTuple):
    """The number of folds, the number that the training rows must allow, and why there are fewer than by default, if so."""

    n: int
    least: int
    why: str = ""


class Model(ABC):
    """What is tuned, with its settings: a search of the parameters of one SVM, or an average of SVMs.

    A job asks it for all that differs between them: the plan, the fit, what is printed about it, and what is saved.
    """

    by: ClassVar[Literal["search", "average"]]
    pipeline: Any = "svm"

    @abstractmethod
    def check(self, job: Job) -> None:
        """Raise an error for settings that cannot be used."""

    @abstractmethod
    def folds(self, job: Job) -> FoldCount:
        """Return how many folds there are."""

    @abstractmethod
    def compile_first(self, job: Job) -> None:
        """Compile, or load from the cache, before the clock starts."""

    @abstractmethod
    def plan(self, job: Job) -> Iterator[str | Notice]:
        """Yield lines and notices about the table and the model."""

    @abstractmethod
    def fit(self, job: Job, clock: Clock, say: Say, progress: Progress | None) -> Fit:
        """Return the fit of the default and of the tuned model to the training rows; `progress` None shows none."""

    @abstractmethod
    def sentences(self, job: Job, results: Sequence[HeldOutResult]) -> Iterator[str]:
        """Yield what the summary says about the scores, the model and the files."""

    @abstractmethod
    def write_files(self, results: Sequence[HeldOutResult], out: Path) -> None:
        """Write the tables of this kind of model into a folder."""

    @abstractmethod
    def write_page(self, job: Job, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the page."""

    def rows_to_tune(self, whole: Table, job: Job) -> Table:
        """Return the training rows to tune on: all, unless the model works with a sample."""
        return whole

    def threshold_at(self, table: Table) -> tuple[float, Any] | None:
        """Return the probability from which on a row is of a class, and this class; None for the most probable class."""
        return None


class Constant(NamedTuple):
    """The model without columns: its name, the seconds of its fit, and its score on the folds, if there is one."""

    name: str
    seconds: float = nan
    on_folds: float = nan


class ComparedRival(NamedTuple):
    """A fitted rival, the seconds of its fit, and its scores: on held-out rows, and then on training rows out of fold, if any."""

    rival: RivalModel
    fitted: Any
    seconds: float
    parts: list[Drawn]


@dataclass
class Fit(ABC):
    """The fitted models of a job, and what their verdict needs.

    `results` has the default first and the tuned model last, without the scores that the verdict gives. Rivals have the first
    steps of `pipeline`, and are fitted to `rows`. `told` has the notices of the tuned model's fit.
    """

    job: Job
    results: list[HeldOutResult]
    choice: Choice
    constant: Constant
    pipeline: Pipeline
    rows: Table
    told: Sequence[Notice]

    def rivals(self) -> Iterator[RivalModel]:
        """Yield the models to compare with the recommended SVM."""
        return rival_models(self.pipeline, self.rows, self.job.seed, self.job.weights)

    def splits(self) -> Sequence[tuple[Any, Any]] | None:
        """Return splits of the training rows on which rivals of the same kind of data are judged too; None for none."""
        return None

    @abstractmethod
    def judged(self, clock: Clock) -> Judged:
        """Return what the training rows out of fold and the held-out rows say about the models."""

    def with_more_rows(self, verdict: Verdict, clock: Clock, say: Say) -> Verdict:
        """Fit the recommended model to more rows, if it was fitted to a sample; return the verdict with its expected score."""
        return verdict

    @abstractmethod
    def explained(self, verdict: Verdict, within: float | None, say: Say | None) -> Explanation | NotExplained | None:
        """Return which columns matter to the model of the page; with a limit of seconds only within it."""

    @abstractmethod
    def code(self, verdict: Verdict) -> str:
        """Return Python code that repeats the fit."""

    def keep(self, notices: Sequence[Notice], verdict: Verdict, code: str) -> None:  # noqa: B027
        """Store what the page shows, where the page is made from a record."""


@dataclass(frozen=True)
class Job:
    """A table, what is tuned on it, and the settings that every run has."""

    table: Table  # all rows, including those to hold out (the last quarter of a series)
    model: Model
    seed: int = 0  # of the split into training and held-out rows, the folds and all other draws
    workers: int = 1  # folds scored in parallel
    executor: Any = None  # where the candidates of a search are scored
    out: Path | None = None  # folder for the results
    scoring: str | None = None  # name of a scorer; None for the default
    compare: bool = True  # whether a linear model and a random forest are scored on the same held-out rows
    explain: bool | None = None  # whether the page says which columns matter; None if this does not take long
    timeout: float | None = None  # seconds for everything but reading and compiling
    file: str = ""  # name of the table's file, for the report
    limits: Limits = Limits()  # numbers of rows above which samples are used
    source: Script | None = None  # Python code that makes the table, for the code that repeats the run
    command: str = ""  # command line, for the report
    cv: int | None = None  # number of folds, 5 by default
    class_weight: str | Mapping[Any, float] | None = None  # "balanced", or a factor for each class that is named

    @classmethod
    def of(cls, kind: Callable[..., Model], table: Table, **settings: Any) -> Self:
        """Create a job from settings of the job and of the kind of model."""
        names = {one.name for one in fields(cast("Any", kind))}
        model = kind(**{name: value for name, value in settings.items() if name in names})
        return cls(table, model, **{name: value for name, value in settings.items() if name not in names})

    def run(self, progress: Progress | None = None, say: Say = lambda line: None) -> list[HeldOutResult]:
        """Return the results of the default, of a search to compare with if there is one, and of the tuned model.

        `say` is called with each line of the plan.
        """
        self.check()
        with nullcontext() if self.out is None else closing(ResultsFolder(self.out)) as folder:
            results = self._results(progress, say)
            if folder is not None:
                write_results(self, results, folder)
        return results

    def check(self) -> None:
        """Raise an error for settings that cannot be used, such as a negative time limit."""
        self.model.check(self)
        checked_timeout(self.timeout, "timeout")
        self.weights  # noqa: B018  a class that does not exist is an error
        self.scorer  # noqa: B018  the name of a scorer that does not exist is an error

    def _results(self, progress: Progress | None, say: Say) -> list[HeldOutResult]:
        self.model.compile_first(self)
        clock = Clock(self.timeout)
        notices = self._say_plan(say)
        with unwarned():
            fit = self.model.fit(self, clock, say, progress)
            judged = fit.judged(clock)
            results = fit.results
            for k, expected in ((0, judged.default), (-1, judged.tuned)):
                results[k] = replace(results[k], held_out=expected.held_out, error=expected.held_out_error)
            verdict = decide(
                fit.choice, judged.gain, judged.default, judged.tuned, on_folds=(results[0].on_folds, results[-1].on_folds),
                held_out_by=self.held_out_by, by=self.model.by,
            )  # fmt: skip
            verdict = fit.with_more_rows(verdict, clock, say)
            notices += unsaid(fit.told, notices)
            rivals = [_constant(fit.constant, judged, verdict)]
            if self.compare and clock.is_over:
                notices.append(Notice("no rivals", "the time limit left no time to fit a linear model and a random forest"))
            elif self.compare:
                use = results[0 if verdict.recommended == "default" else -1]
                compared = list(self._compared(fit, clock, notices))
                verdict, rivals, instead = self._beside(compared, verdict, rivals, use.estimator, fit)
                results[-1] = replace(results[-1], instead=instead)
            verdict = replace(verdict, rivals=tuple(rivals))
            explanation = self._explained(fit, verdict, clock, say)
            code = fit.code(verdict)
            fit.keep(notices, verdict, code)
            for k, expected in ((0, verdict.default), (-1, verdict.tuned)):
                results[k] = replace(results[k], out_of_fold=expected.out_of_fold)
            results[-1] = replace(results[-1], verdict=verdict, explanation=explanation, code=code, notices=tuple(notices))
        return results

    def _explained(self, fit: Fit, verdict: Verdict, clock: Clock, say: Say) -> Explanation | NotExplained | None:
        """Return the explanation of the model: as asked for, or else for a page if it does not take long."""
        if self.explain is not None:
            return fit.explained(verdict, None, say) if self.explain else None
        left = clock.left()
        limit = unasked(self.timeout) if left is None else min(unasked(self.timeout), left)
        return None if limit <= 0 or self.out is None else fit.explained(verdict, limit, None)

    def _say_plan(self, say: Say) -> list[Notice]:
        """Say the decisions about the table, and the notices, which are returned."""
        for line in decisions(self.table, self.test, self.metric, self.n_folds if self.model.by == "search" else None):
            say(line)
        why = self._folds.why
        notices = [fewer_folds(self.n_folds, FOLDS, why)] if why else []
        for one in self.model.plan(self):
            if isinstance(one, Notice):
                notices.append(one)
            else:
                say(one)
        for notice in notices:
            say(f"notice: {notice.sentence}")
        return notices

    def _compared(self, fit: Fit, clock: Clock, notices: list[Notice]) -> Iterator[ComparedRival]:
        """Yield the rivals, fitted, with their scores on held-out rows, and on training rows out of fold if there are splits."""
        threshold, positive = self.model.threshold_at(self.table) or (None, None)
        splits = fit.splits()
        for one in fit.rivals():
            rows = fit.rows
            given = {one.groups: groups.to_numpy()} if one.groups and (groups := _groups_for(one, rows)) is not None else {}
            model = with_threshold(one.model, threshold, positive)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted, seconds = timed_fit(model, rows, **given)
                parts = [self.drawn(fitted)]
                left = clock.left()
                if splits is not None and one.groups and (left is None or left > len(splits) * seconds):
                    unit = None if rows.groups is None else rows.groups.to_numpy()
                    unseen = Unseen.out_of_fold(model, rows.X, rows.y, splits, unit, self._block(rows), fit_params=given)
                    parts.append(unseen_score(unseen, self.scorer, self.metric, self.seed, "out of fold"))
            yield ComparedRival(one, getattr(fitted, "best_estimator_", fitted), seconds, parts)

    def _beside(
        self, compared: Sequence[ComparedRival], verdict: Verdict, rivals: Sequence[Rival], svm: Any, fit: Fit
    ) -> tuple[Verdict, list[Rival], Any]:
        """Return the verdict, the rivals beside the recommended model, and the rival that is recommended, fitted, or None.

        A rival is recommended if its score on all rows that it has not seen is better than that of the better SVM and of the
        other rivals.
        """
        scores = {one.rival.code: expected_of(one.parts, self.metric, "rows") for one in compared if len(one.parts) > 1}
        best = max(scores, key=lambda code: scores[code].value, default=None)
        chosen = next((one for one in compared if one.rival.code == best and scores[best].value > verdict.of_svm.value), None)
        of_svm, (constant, *_) = self.drawn(svm), rivals
        reference = of_svm if chosen is None else chosen.parts[0]

        def beside(drawn: Drawn) -> Difference:
            return difference_of([reference], [drawn], self.metric, "held out")

        if chosen is not None:
            model, _ = timed_fit(constant_model(fit.rows), fit.rows)
            constant = replace(constant, difference=beside(self.drawn(model)))
            code = chosen.rival.code
            verdict = replace(verdict, rival=code, of_rival=scores[code], over_svm=beside(of_svm))
        found = [constant]
        for one in compared:
            (code, name, *_), held, score = one.rival, one.parts[0], scores.get(one.rival.code)
            difference = Difference(nan, metric=self.metric) if one is chosen else beside(held)
            more = {} if score is None else {"out_of_fold": score.out_of_fold, "expected": score.value}
            found.append(Rival(code, name, held.value, held.error, difference, one.seconds, **more))
        return verdict, found, None if chosen is None else chosen.fitted

    def write_page(self, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the page about the tuned model."""
        self.model.write_page(self, results, path)

    def with_row_names(self, model: FittedModel) -> FittedModel:
        """Return the facts of a model that was fitted to the training rows, which are those of the file, if there is one."""
        if not self.file:
            return model
        counted = "Rows of the file are counted from 1, without its header."
        return replace(model, row_names=(self.train.y.index + 1).tolist(), rows_counted=counted)

    def facts(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the facts at the head of the page: file, rows, columns, target, score and day; `known` keeps an earlier day."""
        facts: dict[str, Any] = {"File": printable_line(self.file, 80)} if self.file else {}
        return facts | {
            "Rows": f"{len(self.table.y)}, {len(self.test.y)} of them held out{of_different(self.test)}",
            "Columns": int(self.table.X.shape[1]),
            "Target": printable_line(str(self.table.y.name), 80),
            "Task": self.table.task,
            "Score": f"{self.unit.title}; {self.unit.better}",
            "Date": (known or {}).get("Date", date.today().isoformat()),
        }

    def with_scores(self, result: HeldOutResult) -> HeldOutResult:
        """Return a result with the score of its model on the held-out rows."""
        drawn = self.drawn(result.estimator)
        return replace(result, held_out=drawn.value, error=drawn.error)

    def drawn(self, model: Any) -> Drawn:
        """Return the score of a fitted model on the held-out rows, in draws of these rows."""
        test = self.test
        unseen = Unseen.held_out(model, test.X, test.y, test.groups, self._block(test))
        return unseen_score(unseen, self.scorer, self.metric, self.seed)

    def _block(self, rows: Table) -> int:
        return block_length(len(rows.y)) if self.in_time else 1

    @cached_property
    def weights(self) -> str | dict[Any, float] | None:
        """The class weights, by the labels of the table."""
        return weights_of(self.class_weight, self.table)

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        return default_scoring(self.model.pipeline, self.table.task) if self.scoring is None else self.scoring

    @property
    def unit(self) -> ScoreUnit:
        """How the score is shown."""
        return ScoreUnit(self.metric)

    @cached_property
    def scorer(self) -> Any:
        """The scorer, a callable."""
        return scorer_of(self.metric, positive_class(self.metric, self.table))

    @property
    def is_series(self) -> bool:
        """Whether the table is a series, whose rows are predicted from earlier rows."""
        return is_series(self.model.pipeline)

    @property
    def in_time(self) -> bool:
        """Whether the rows are in order of time, and the last ones are held out."""
        return self.is_series or self.table.time is not None

    @property
    def held_out_by(self) -> HeldOut:
        """How rows were held out."""
        return "time" if self.in_time else "groups" if users_groups(self.test) else "random"

    @property
    def share(self) -> float:
        """Share of the rows to hold out."""
        return TEST_SHARE if self.is_series else self.limits.test_share(len(self.table.y))

    @cached_property
    def _folds(self) -> FoldCount:
        return self.model.folds(self)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self._folds.n

    @property
    def least(self) -> int:
        """Number of folds that the training rows must allow."""
        return self._folds.least

    @cached_property
    def split(self) -> tuple[Table, Table]:
        """The training rows and the held-out rows; DataError if the training rows are too few for the folds."""
        train, test = held_out(self.table, self.least, self.seed, in_time=self.in_time, share=self.share)
        if set(train.kinds.values()) != {"number"} or train.X.shape[1] <= _WIDE:
            return train, test
        return replace(train, X=cast("Any", train.X.to_numpy())), replace(test, X=cast("Any", test.X.to_numpy()))

    @cached_property
    def train(self) -> Table:
        """The training rows to tune on: all, or a sample of many."""
        return self.model.rows_to_tune(self.split[0], self)

    @property
    def test(self) -> Table:
        """The held-out rows."""
        return self.split[1]

    @property
    def sampled(self) -> bool:
        """Whether the model is tuned on a sample of the training rows."""
        return self.train is not self.split[0]


def _constant(constant: Constant, judged: Judged, verdict: Verdict) -> Rival:
    """Return the constant beside the recommended model."""
    gain, score = judged.gain, judged.constant
    difference = gain.over_constant if verdict.recommended == "tuned" else gain.default_over_constant
    return Rival(
        CONSTANT, constant.name, score.held_out, score.held_out_error, difference, constant.seconds, score.out_of_fold,
        score.value, constant.on_folds,
    )  # fmt: skip


def _groups_for(one: RivalModel, rows: Table) -> Any:
    """Return the groups that the fit of a rival takes; an average of SVMs finds copies itself."""
    return (users_groups if one.code == TUNED else groups_of)(rows).get("groups")


def unsaid(told: Sequence[Notice], said: Sequence[Notice]) -> list[Notice]:
    """Return the notices about which nothing was said: neither of the same column, nor of all columns."""
    done = {(notice.code, notice.column) for notice in said}
    return [notice for notice in once(told) if not {(notice.code, notice.column), (notice.code, None)} & done]
