"""An average of SVMs, `TunedSVC` or `TunedSVR`, as the model that `spotsvm tune` fits to a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline

from spotsvm.common.csv_files import write_csv
from spotsvm.common.notices import Notice, gathered
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Judged
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.verdict import Verdict
from spotsvm.preprocessing.cells.findings import speaking
from spotsvm.reports.html import page
from spotsvm.reports.report import model_page
from spotsvm.reports.verdict import verdict_parts
from spotsvm.tuned.fitted import fitted_model
from spotsvm.tuned.tuned_svc import SCORES as CLASSIFICATION_SCORES
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import SCORES as REGRESSION_SCORES
from spotsvm.tuned.tuned_svr import TunedSVR
from spotsvm.tuning.class_weights import checked_threshold
from spotsvm.tuning.clock import Clock
from spotsvm.tuning.code import fitting_code
from spotsvm.tuning.job import FOLDS, Constant, Fit, FoldCount, Job, Model, Progress, Say
from spotsvm.tuning.large import sample
from spotsvm.tuning.plan import notices
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.rivals import constant_name, timed_fit, users_groups
from spotsvm.tuning.scoring import is_usual, positive_class, rarer_class
from spotsvm.tuning.summary import TIED
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.table import COMMAND, Table
from spotsvm.tuning.verdict import Choice

#: minimum number of folds, and of training rows of a class in a sample
_PAIR = 2
#: what a verdict takes from the choice of a search, which an average has not
_CHOICE = Choice(None, {}, nan, None, {}, n_better=0, n_candidates=0, compares=True, replaced=None)
#: share of the time limit for a fit of the default model, and share of the remaining time for the average
_DEFAULT_SHARE, _AVERAGE_SHARE = 0.1, 0.75
#: rows of the fit that measures the default model's time, power of the rows with which this time grows, minimum rows to fit
_FEW_ROWS, _POWER, _FEWEST = 1000, 2.2, 200


@dataclass(frozen=True)
class SVMAverage(Model):
    """A fit of `TunedSVC` or `TunedSVR` with default arguments."""

    by: ClassVar[Literal["average"]] = "average"
    threshold: float | None = None  # probability from which on a row is predicted to be of the positive class

    def check(self, job: Job) -> None:
        """Raise an error for settings that cannot be used, such as a score by which the average cannot be judged."""
        classify = job.table.task == "classification"
        names = CLASSIFICATION_SCORES if classify else REGRESSION_SCORES
        if job.metric not in names:
            raise ArgumentError(
                f"--scoring {job.metric!r} is no score of {'TunedSVC' if classify else 'TunedSVR'}; use one of "
                f"{', '.join(names)}, or --model svm, which takes all scorers of scikit-learn"
            )
        positive_class(job.metric, job.table)
        checked_threshold(self.threshold, job.table)

    def folds(self, job: Job) -> FoldCount:
        """Return how many folds there are; models of a fold may lack a class."""
        return FoldCount(FOLDS, _PAIR) if job.cv is None else FoldCount(job.cv, job.cv)

    def compile_first(self, job: Job) -> None:
        """Fit random rows."""
        n_classes = job.train.y.nunique() if job.table.task == "classification" else 0
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 2))
        y = X[:, 0] + rng.normal(size=60)
        if n_classes:
            # pairs of several classes are trained by other functions than two classes
            TunedSVC(budget=1, random_state=0).fit(X, np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5]))
        else:
            TunedSVR(budget=1, random_state=0).fit(X, y)

    def plan(self, job: Job) -> Iterator[str | Notice]:
        """Yield the line about the threshold, and the notices about the table and the score."""
        if (at := self.threshold_at(job.table)) is not None:
            threshold, positive = at
            yield f"threshold: a row is predicted to be {short_repr(positive)} if its probability is {threshold:g} or more"
        decided = job.weights is not None or self.threshold is not None
        yield from notices(job.table, job.metric, job.share, {}, 0, decided=decided)

    def threshold_at(self, table: Table) -> tuple[float, Any] | None:
        """Return the probability from which on a row is of a class, and this class; None for the most probable class."""
        return None if self.threshold is None else (self.threshold, rarer_class(table))

    def fit(self, job: Job, clock: Clock, say: Say, progress: Progress | None) -> Fit:
        """Fit the default, to a sample if the time is short, and the average."""
        train = job.train
        model, few = self.estimator(job), self._few(job)
        n_folds = _folds_of_probabilities(few)
        if len(few.y) < len(train.y):
            say(f"plan: the default SVM and other models are fitted to {len(few.y)} of {len(train.y)} training rows")
        default, took = timed_fit(model.default_estimator(n_folds), few)
        say(f"fit: {model!r} to {len(train.y)} training rows")
        if (left := clock.left()) is not None:
            model.set_params(timeout=round(max(_AVERAGE_SHARE * left, 0.1), 1))
        with speaking(COMMAND), gathered() as told:
            model, seconds = timed_fit(model.set_params(verbose=0 if progress is None else 1), train, **users_groups(train))
        model.set_params(verbose=0)  # the page and the code that repeats the fit are those of the model
        results = [HeldOutResult("default", default, seconds=took), HeldOutResult("tuned", model, seconds=seconds)]
        # a threshold may make the constant another class than the commonest
        constant = Constant(constant_name(train, job.unit) if self.threshold is None else "a constant")
        return _AverageFit(job, results, _CHOICE, constant, _plain(job), few, told, n_folds)

    def estimator(self, job: Job) -> Any:
        """Return the average, not fitted yet."""
        positive = positive_class(job.metric, job.table)
        if positive is None and self.threshold is not None:
            positive = rarer_class(job.table)
        of_classes = {} if positive is None or is_usual(positive) else {"pos_label": positive}
        of_classes |= {} if self.threshold is None else {"threshold": self.threshold}
        of_classes |= {} if job.weights is None else {"class_weight": job.weights}
        return (TunedSVC if job.table.task == "classification" else TunedSVR)(
            **of_classes,
            scoring=None if job.metric == "accuracy" else job.metric,
            cv=TimeSeriesSplit(job.n_folds) if job.in_time else job.n_folds,
            categorical=job.table.categorical,
            n_jobs=job.workers if job.workers > 1 else None,
            random_state=job.seed,
        )

    def _few(self, job: Job) -> Table:
        """Return the training rows of the default and other models: all, or a sample that the time allows."""
        few = job.limits.to_fit(job.train, _PAIR)
        if job.timeout is None or len(few.y) <= _FEW_ROWS:
            return few
        _, seconds = timed_fit(_plain(job), sample(few, _FEW_ROWS, _PAIR))
        most = int(_FEW_ROWS * (_DEFAULT_SHARE * job.timeout / max(seconds, 1e-4)) ** (1.0 / _POWER))
        return sample(few, max(most, _FEWEST), _PAIR)

    def sentences(self, job: Job, results: Sequence[HeldOutResult]) -> Iterator[str]:
        """Yield sentences about the scores, the model and the files."""
        verdict, model, unit = results[-1].verdict, results[-1].estimator, job.unit
        latest = "the latest rows, " if job.in_time else ""
        yield (
            f"{unit.title}: {unit.better}. Out of fold: training rows, scored with candidates and weights chosen without these "
            f"rows. Held-out rows: the fit has not used them, {latest}+-{TIED}the standard error. New rows: the score to expect, "
            "from both; each row counts the same."
        )
        shares = model.members_.groupby("family", sort=False)["weight"].sum().sort_values(ascending=False, kind="stable")
        listed = ", ".join(f"{name} {share:.2f}".replace(" ", TIED) for name, share in shares.items())
        n, most = len(model.members_), len(model.settings_)
        yield f"The tuned SVM is an average of {n} of {most} candidates; weights by kernel: {listed}."
        if not model.complete_:
            yield "The time limit ended the fit before all candidates were scored or all members were fitted."
        keep = verdict is not None and verdict.recommended == "default"
        names = [name for name in ("class_weight", "threshold") if getattr(model, name, None) is not None]
        asked = [f"{name}={getattr(model, name)!r}" for name in names]
        default = f"the default SVM{' with ' if asked else ''}{' and '.join(asked)}"
        yield f"Recommended: {default if keep else repr(model)}"
        if job.out:
            yield (
                f"Written to {job.out}: report.html; model.skops, for spotsvm predict; parameters.json of the recommended SVM; "
                "comparison.csv; settings.csv with all candidates and their weights."
            )
        else:
            yield "Use --out FOLDER to save the model, for spotsvm predict, and a page with pictures."

    def write_files(self, results: Sequence[HeldOutResult], out: Path) -> None:
        """Write the settings and their weights."""
        model: Any = results[-1].estimator
        write_csv(model.settings_, out / "settings.csv", "settings")

    def write_page(self, job: Job, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the page of the average: the scores on held-out rows, and the page of the fit."""
        final, facts = results[-1], job.facts()
        assert final.verdict is not None
        title = type(final.estimator).__name__ + (f" for {facts['File']}" if "File" in facts else "")
        first = [*(page.Highlight(notice.sentence, "warning") for notice in final.notices), *verdict_parts(final.verdict)]
        repeat = [page.Code(job.command, "The command")] if job.command else []
        repeat.append(page.Code(final.code, "Python code that repeats the fit"))
        about = [(name, str(value)) for name, value in facts.items()]
        model = job.with_row_names(fitted_model(final.estimator, final.explanation))
        model_page(model, title, about, first, repeat).write(path)


@dataclass
class _AverageFit(Fit):
    """The fit of the default and of the average; `n_folds` calibrate the probabilities of the default."""

    n_folds: int

    def judged(self, clock: Clock) -> Judged:
        """Return what both kinds of rows say; the fit has the answers for the training rows."""
        test, model = self.job.test, self.results[-1].estimator
        model.add_held_out(test.X, test.y, self.results[0].estimator, **users_groups(test))
        return Judged(model.expected_score_, model.default_score_, model.constant_score_, model.verdict_)

    def explained(self, verdict: Verdict, within: float | None, say: Say | None) -> Explanation | NotExplained | None:
        """Return which columns matter to the average."""
        return self.results[-1].estimator.explain(within, say)  # type: ignore[no-any-return]

    def code(self, verdict: Verdict) -> str:
        """Return Python code that repeats the fit of the average and of the recommended model."""
        return fitting_code(self.job, self.results[-1].estimator, verdict, self.n_folds)


def _plain(job: Job) -> Pipeline:
    """Return the default model of the plain score, whose first steps the other models share."""
    kind = TunedSVC if job.table.task == "classification" else TunedSVR
    return kind(categorical=job.table.categorical).default_estimator()


def _folds_of_probabilities(few: Table) -> int:
    """Return the number of folds by which the probabilities of the default model are calibrated, if the score needs them."""
    return min(FOLDS, int(few.y.value_counts().min())) if few.task == "classification" else FOLDS
