"""Fit a TunedSVC or TunedSVR to a table, and compare it with the default and with other models on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.errors import ArgumentError
from spotsvm.luck.verdict import Verdict
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.reports.html.page import Code, Notice
from spotsvm.reports.verdict import verdict_parts
from spotsvm.tuned.page import page_of
from spotsvm.tuned.tuned_svc import SCORES as CLASSIFICATION_SCORES
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import SCORES as REGRESSION_SCORES
from spotsvm.tuned.tuned_svr import TunedSVR
from spotsvm.tuning.code import fitting_code
from spotsvm.tuning.plan import decisions, notices
from spotsvm.tuning.results import HeldOutResult, write_results
from spotsvm.tuning.results_folder import ResultsFolder
from spotsvm.tuning.scoring import positive_class, table_scorer
from spotsvm.tuning.table_job import FOLDS, TableJob, timed_fit, unwarned, users_groups
from spotsvm.tuning.tables.split import sample
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import Choice

#: minimum number of training rows of a class in a sample
_LEAST = 2
#: scores that need probabilities, which SVC itself does not have
_OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score", "roc_auc_ovr")
#: share of the time limit for a fit of the default model, and share of the remaining time for the average
_DEFAULT_SHARE, _AVERAGE_SHARE = 0.1, 0.75
#: rows of the fit that measures the default model's time, power of the rows with which this time grows, minimum rows to fit
_FEW_ROWS, _POWER, _FEWEST = 1000, 2.2, 200


@dataclass(frozen=True)
class TunedJob(TableJob):
    """A fit of `TunedSVC` or `TunedSVR` with default arguments; the settings are those of `TableJob`."""

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
        noticed = tuple(notices(self.table, self.metric, self.share, {}, 0))
        for line in decisions(self.table, self.test, self.metric, None):
            say(line)
        for notice in noticed:
            say(f"notice: {notice.sentence}")
        with unwarned():
            few = self._few()
            if len(few.y) < len(train.y):
                say(f"plan: the default SVM and other models are fitted to {len(few.y)} of {len(train.y)} training rows")
            default, took = timed_fit(self._default(few), few)
            model = self._model()
            say(f"fit: {model!r} to {len(train.y)} training rows")
            if (left := self.seconds_left(began)) is not None:
                model.set_params(timeout=round(max(_AVERAGE_SHARE * left, 0.1), 1))
            model, seconds = timed_fit(model.set_params(verbose=self.verbose), train, **users_groups(train))
            model.set_params(verbose=0)  # the page and the code that repeats the fit are those of the model
            results = [
                self.result("default", model.default_score_.value, default, took),
                self.result("tuned", model.expected_score_.value, model, seconds, notices=noticed),
            ]
            verdict = self._judged(*results)
            its = self.unseen(results[0 if verdict.recommended == "default" else 1].estimator)
            compare = self.compare and (self.timeout is None or monotonic() - began < self.timeout)
            rivals = self.rivals(self._plain, few, its, None, model.constant_score_.value, compare)
            verdict = replace(verdict, rivals=tuple(rivals))
        code = fitting_code(self, model, self._plain, verdict)
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
        super().check()

    def _model(self) -> Any:
        """Return the average, not fitted yet."""
        usual = isinstance(table_scorer(self.metric, self.table), str)
        positive = {} if usual else {"pos_label": positive_class(self.metric, self.table)}
        return (TunedSVC if self.table.task == "classification" else TunedSVR)(
            **positive,
            scoring=None if self.metric == "accuracy" else self.metric,
            cv=TimeSeriesSplit(self.n_folds) if self.in_time else self.n_folds,
            categorical=self.table.categorical,
            n_jobs=self.workers if self.workers > 1 else None,
            random_state=self.seed,
        )

    @property
    def _plain(self) -> Pipeline:
        """The default model, whose score is `default_score_`."""
        scaled_svr = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
        encoder = TableEncoder(self.table.categorical)
        return make_pipeline(encoder, StandardScaler(), SVC() if self.table.task == "classification" else scaled_svr)

    def _default(self, few: Table) -> Any:
        """Return the default model with probabilities where the score needs them."""
        if self.metric not in _OF_PROBABILITIES:
            return self._plain
        return CalibratedClassifierCV(self._plain, cv=min(FOLDS, int(few.y.value_counts().min())), ensemble=False)

    def _few(self) -> Table:
        """Return the training rows of the default and other models: all, or a sample that the time allows."""
        few = self.limits.to_fit(self.train, _LEAST, self.seed)
        if self.timeout is None or len(few.y) <= _FEW_ROWS:
            return few
        _, seconds = timed_fit(self._plain, sample(few, _FEW_ROWS, _LEAST, self.seed))
        most = int(_FEW_ROWS * (_DEFAULT_SHARE * self.timeout / max(seconds, 1e-4)) ** (1.0 / _POWER))
        return sample(few, max(most, _FEWEST), _LEAST, self.seed)

    def _judged(self, default: HeldOutResult, tuned: HeldOutResult) -> Verdict:
        """Return the verdict, with the fit's expected score from out-of-fold rows."""
        model = tuned.estimator
        choice = Choice(
            None, {}, tuned.tuned_score, model.verdict_, default=None, default_params={}, n_better=0,
            n_candidates=len(model.settings_), why_default=None, replaced=None,
        )  # fmt: skip
        verdict = self.verdict(choice, default, tuned)
        keep = verdict.recommended == "default"
        return replace(verdict, by="average", expected=model.default_score_ if keep else model.expected_score_)


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
