"""Fit a TunedSVC or TunedSVR to a table, and compare it with the default and with other models on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline

from spotsvm.errors import ArgumentError
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.verdict import CONSTANT, Rival, Verdict
from spotsvm.reports.html.page import Code, Notice
from spotsvm.reports.verdict import verdict_parts
from spotsvm.tuned.page import page_of
from spotsvm.tuned.tuned_svc import SCORES as CLASSIFICATION_SCORES
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import SCORES as REGRESSION_SCORES
from spotsvm.tuned.tuned_svr import TunedSVR
from spotsvm.tuning.class_weights import checked_threshold
from spotsvm.tuning.code import fitting_code
from spotsvm.tuning.plan import decisions, notices
from spotsvm.tuning.results import HeldOutResult, write_results
from spotsvm.tuning.results_folder import ResultsFolder
from spotsvm.tuning.scoring import is_usual, positive_class, rarer_class
from spotsvm.tuning.table_job import FOLDS, TableJob, constant_name, timed_fit, unwarned, users_groups
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.split import sample
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import Choice, decide

#: minimum number of training rows of a class in a sample
_LEAST = 2
#: what a verdict takes from the choice of a search, which an average has not
_AVERAGE = Choice(None, {}, nan, None, {}, n_better=0, n_candidates=0, compares=True, replaced=None)
#: share of the time limit for a fit of the default model, and share of the remaining time for the average
_DEFAULT_SHARE, _AVERAGE_SHARE = 0.1, 0.75
#: rows of the fit that measures the default model's time, power of the rows with which this time grows, minimum rows to fit
_FEW_ROWS, _POWER, _FEWEST = 1000, 2.2, 200


@dataclass(frozen=True)
class TunedJob(TableJob):
    """A fit of `TunedSVC` or `TunedSVR` with default arguments; further settings are those of `TableJob`."""

    threshold: float | None = None  # probability from which on a row is predicted to be of the positive class

    verbose: int = 0

    def run(self, say: Callable[[str], Any] = lambda line: None) -> list[HeldOutResult]:
        """Return the results of the default model and of the average; `say` is called with each line of the plan."""
        self.check()
        with nullcontext() if self.out is None else closing(ResultsFolder(self.out)) as folder:
            results = self._results(say)
            if folder is not None:
                write_results(self, results, folder)
        return results

    def _results(self, say: Callable[[str], Any]) -> list[HeldOutResult]:
        _compile_first(self.train.y.nunique() if self.table.task == "classification" else 0)
        began = monotonic()
        train = self.train
        decided = self.weights is not None or self.threshold is not None
        noticed = tuple(notices(self.table, self.metric, self.share, {}, 0, decided=decided))
        for line in decisions(self.table, self.test, self.metric, None):
            say(line)
        if self.threshold_at is not None:
            threshold, positive = self.threshold_at
            say(f"threshold: a row is predicted to be {short_repr(positive)} if its probability is {threshold:g} or more")
        for notice in noticed:
            say(f"notice: {notice.sentence}")
        with unwarned():
            model, few = self._model(), self._few()
            if len(few.y) < len(train.y):
                say(f"plan: the default SVM and other models are fitted to {len(few.y)} of {len(train.y)} training rows")
            default, took = timed_fit(self._default(few), few)
            say(f"fit: {model!r} to {len(train.y)} training rows")
            if (left := self.seconds_left(began)) is not None:
                model.set_params(timeout=round(max(_AVERAGE_SHARE * left, 0.1), 1))
            model, seconds = timed_fit(model.set_params(verbose=self.verbose), train, **users_groups(train))
            model.set_params(verbose=0)  # the page and the code that repeats the fit are those of the model
            model.add_held_out(self.test.X, self.test.y, default, **users_groups(self.test))
            results = [
                _result("default", default, model.default_score_, took),
                _result("tuned", model, model.expected_score_, seconds, notices=noticed),
            ]
            verdict = decide(
                _AVERAGE, model.verdict_, model.default_score_, model.expected_score_, held_out_by=self.held_out_by, by="average"
            )
            compare = self.compare and (self.timeout is None or monotonic() - began < self.timeout)
            use = results[0 if verdict.recommended == "default" else 1].estimator
            rivals = [self._constant(model, verdict), *self.rivals(self._plain, few, use, compare)]
            verdict = replace(verdict, rivals=tuple(rivals))
        code = fitting_code(self, model, verdict, self._folds_of_probabilities(few))
        results[-1] = replace(results[-1], verdict=verdict, code=code)
        return results

    def write_page(self, results: Sequence[HeldOutResult], path: Path) -> None:
        """Write the page of the average: the scores on held-out rows, and the page of the fit."""
        final, facts = results[-1], self.facts()
        assert final.verdict is not None
        title = type(final.estimator).__name__ + (f" for {facts['File']}" if "File" in facts else "")
        first = [*(Notice(notice.sentence, "warning") for notice in final.notices), *verdict_parts(final.verdict)]
        repeat = [Code(self.command, "The command")] if self.command else []
        repeat.append(Code(final.code, "Python code that repeats the fit"))
        page_of(final.estimator, title, [(name, str(value)) for name, value in facts.items()], first, repeat).write(path)

    def check(self) -> None:
        """Raise an error for settings that cannot be used, such as a score by which the average cannot be judged."""
        classify = self.table.task == "classification"
        names = CLASSIFICATION_SCORES if classify else REGRESSION_SCORES
        if self.metric not in names:
            raise ArgumentError(
                f"--scoring {self.metric!r} is no score of {'TunedSVC' if classify else 'TunedSVR'}; use one of "
                f"{', '.join(names)}, or --model svm, which takes all scorers of scikit-learn"
            )
        positive_class(self.metric, self.table)
        checked_threshold(self.threshold, self.table)
        super().check()

    @property
    def threshold_at(self) -> tuple[float, Any] | None:
        """The probability from which on a row is predicted to be of a class, and this class; None for the most probable class."""
        return None if self.threshold is None else (self.threshold, self._positive)

    @property
    def _positive(self) -> Any:
        """The positive class of the score or of the threshold; None if neither has one."""
        positive = positive_class(self.metric, self.table)
        return rarer_class(self.table) if positive is None and self.threshold is not None else positive

    def _model(self) -> Any:
        """Return the average, not fitted yet."""
        classify = self.table.task == "classification"
        positive = self._positive
        of_classes = {} if positive is None or is_usual(positive) else {"pos_label": positive}
        of_classes |= {} if self.threshold is None else {"threshold": self.threshold}
        of_classes |= {} if self.weights is None else {"class_weight": self.weights}
        return (TunedSVC if classify else TunedSVR)(
            **of_classes,
            scoring=None if self.metric == "accuracy" else self.metric,
            cv=TimeSeriesSplit(self.n_folds) if self.in_time else self.n_folds,
            categorical=self.table.categorical,
            n_jobs=self.workers if self.workers > 1 else None,
            random_state=self.seed,
        )

    @property
    def _plain(self) -> Pipeline:
        """The default model of the plain score, whose first steps the other models share."""
        kind = TunedSVC if self.table.task == "classification" else TunedSVR
        return kind(categorical=self.table.categorical).default_estimator()

    def _default(self, few: Table) -> Any:
        """Return the default model, not fitted yet."""
        return self._model().default_estimator(self._folds_of_probabilities(few))

    def _folds_of_probabilities(self, few: Table) -> int:
        """Return the number of folds by which the probabilities of the default model are calibrated, if the score needs them."""
        return min(FOLDS, int(few.y.value_counts().min())) if self.table.task == "classification" else FOLDS

    def _few(self) -> Table:
        """Return the training rows of the default and other models: all, or a sample that the time allows."""
        few = self.limits.to_fit(self.train, _LEAST, self.seed)
        if self.timeout is None or len(few.y) <= _FEW_ROWS:
            return few
        _, seconds = timed_fit(self._plain, sample(few, _FEW_ROWS, _LEAST, self.seed))
        most = int(_FEW_ROWS * (_DEFAULT_SHARE * self.timeout / max(seconds, 1e-4)) ** (1.0 / _POWER))
        return sample(few, max(most, _FEWEST), _LEAST, self.seed)

    def _constant(self, model: Any, verdict: Verdict) -> Rival:
        """Return the constant beside the recommended model."""
        gain, score = verdict.gain, model.constant_score_
        difference = gain.over_constant if verdict.recommended == "tuned" else gain.default_over_constant
        scores = {"out_of_fold": score.out_of_fold, "expected": score.value}
        named = self.weights is None and self.threshold is None
        name = constant_name(self.train) if named else "a constant"  # weights may make it another class than the commonest
        return Rival(CONSTANT, name, score.held_out, score.held_out_error, difference, nan, **scores)


def _result(name: str, model: Any, score: ExpectedScore, seconds: float, **more: Any) -> HeldOutResult:
    """Return the result of a model with this expected score."""
    return HeldOutResult(name, model, score.held_out, score.held_out_error, score.out_of_fold, seconds=seconds, **more)


def _compile_first(n_classes: int) -> None:
    """Fit random rows, so that compilation (or loading from the cache) is done before the clock starts; 0 is a regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    if n_classes:
        # pairs of several classes are trained by other functions than two classes
        TunedSVC(budget=1, random_state=0).fit(X, np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5]))
    else:
        TunedSVR(budget=1, random_state=0).fit(X, y)
