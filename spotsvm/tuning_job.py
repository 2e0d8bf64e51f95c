"""Tune a table's SVM, and compare it with the default and with random search on rows that no search has seen."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split

from spotsvm.errors import ArgumentError, DataError, StorageError
from spotsvm.spot_search_cv import SpotSearchCV
from spotsvm.study import Study
from spotsvm.svm_pipeline import svm_pipeline
from spotsvm.tabular import Table, check_folds
from spotsvm.trial_loop import check_budget

TEST_SHARE = 0.25
SCORING = {"classification": "accuracy", "regression": "neg_root_mean_squared_error"}

#: takes a search's name and budget, gives a context manager whose value is the search's callback
Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class Contestant:
    """One way to choose the parameters, and what came of it.

    Attributes
    ----------
    name : str
        "default", or the name of the search.
    tuned_score : float
        Cross-validated score on the training rows: what the search has optimised.
    test_score, test_error : float
        Score on the held-out rows, and its bootstrap standard error.
    estimator : estimator
        Fitted on all training rows.
    search : SpotSearchCV or None
        The search, if there was one.
    """

    name: str
    tuned_score: float
    test_score: float
    test_error: float
    estimator: BaseEstimator
    search: SpotSearchCV | None = None

    @property
    def gap(self) -> float:
        """How much of the tuned score was not there on new rows."""
        return self.tuned_score - self.test_score


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
        Folds evaluated at once.
    out : Path or None
        Folder for the results.
    scoring : str or None
        A scorer's name; accuracy or the negative root mean squared error by default.
    """

    table: Table
    budget: int = 50
    search: str = "kriging"
    cv: int = 5
    seed: int = 0
    workers: int = 1
    out: Path | None = None
    scoring: str | None = None

    def run(self, progress: Progress) -> list[Contestant]:
        """Evaluate the default, random search and the search, in this order.

        Parameters
        ----------
        progress : callable
            Takes a search's name and budget; gives a context manager whose value is the search's callback.
        """
        if self.out is not None:
            check_writable(self.out)
        scoring = self.metric
        scorer = _scorer(scoring)
        train, test = self._split()
        check_folds(train, self.cv, "training rows")
        folds = (StratifiedKFold if train.task == "classification" else KFold)(self.cv, shuffle=True, random_state=self.seed)
        pipeline, space = svm_pipeline(train.task, len(train.y))
        check_budget(Study(space, self.search, self.seed), self.budget, "--budget")
        contestants = []
        with warnings.catch_warnings():
            # the cap on the solver's iterations is ours, and a setting that needs more is scored as it stands
            warnings.simplefilter("ignore", ConvergenceWarning)
            # the trials tell why they failed
            warnings.simplefilter("ignore", FitFailedWarning)
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            default = self._default_score(pipeline, train, folds)
            fitted = clone(pipeline).fit(train.X, train.y)
            contestants.append(Contestant("default", default, *_test(scorer, fitted, test, self.seed), fitted))
            for name in dict.fromkeys(["random", self.search]):
                with progress(name, self.budget) as callback:
                    search = SpotSearchCV(
                        pipeline,
                        space,
                        n_iter=self.budget,
                        search=name,
                        cv=folds,
                        scoring=scoring,
                        n_jobs=self.workers,
                        random_state=self.seed,
                        path=None if self.out is None else self.out / f"{name}.db",
                        callback=callback,
                    ).fit(train.X, train.y)
                best = search.best_estimator_
                contestants.append(
                    Contestant(name, float(search.best_score_), *_test(scorer, best, test, self.seed), best, search)
                )
        if self.out is not None:
            write_results(contestants, self.out)
        return contestants

    @property
    def metric(self) -> str:
        """The scorer's name."""
        return SCORING[self.table.task] if self.scoring is None else self.scoring

    def _default_score(self, pipeline: Any, train: Table, folds: Any) -> float:
        """Score the default, and so see that the scorer fits the task."""
        try:
            scores = cross_val_score(
                pipeline, train.X, train.y, cv=folds, scoring=self.metric, n_jobs=self.workers, error_score="raise"
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise ArgumentError(f"--scoring {self.metric!r} cannot score this {train.task}: {error}") from error
        if not np.isfinite(scores).all():
            raise ArgumentError(f"--scoring {self.metric!r} cannot score this {train.task}: it is {scores.mean()} in some folds")
        return float(scores.mean())

    def _split(self) -> tuple[Table, Table]:
        """Split off the rows that no search may see."""
        t = self.table
        stratify = t.y if t.task == "classification" else None
        check_folds(t, max(self.cv, 2))
        try:
            parts = train_test_split(t.X, t.y, test_size=TEST_SHARE, random_state=self.seed, stratify=stratify)
        except ValueError as error:
            raise DataError(f"{len(t.y)} rows are too few to hold a quarter of them out: {error}") from error
        return Table(parts[0], parts[2], t.task), Table(parts[1], parts[3], t.task)


def _test(scorer: Any, estimator: Any, test: Table, seed: int, resamples: int = 100) -> tuple[float, float]:
    """Score on the test rows, with a bootstrap standard error."""
    score = _score(scorer, estimator, test.X, test.y)
    rng = np.random.default_rng(seed)
    again = []
    for _ in range(resamples):
        rows = rng.integers(len(test.y), size=len(test.y))
        if test.task == "regression" or test.y.iloc[rows].nunique() > 1:
            again.append(_score(scorer, estimator, test.X.iloc[rows], test.y.iloc[rows]))
    known = np.array(again)[np.isfinite(again)]
    return score, float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")


def _score(scorer: Any, estimator: Any, X: pd.DataFrame, y: pd.Series) -> float:
    """Score; nan where a few rows, such as those without one of the classes, have no score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(estimator, X, y))
        except ValueError:
            return float("nan")


def _scorer(name: str) -> Any:
    try:
        return get_scorer(name)
    except ValueError as error:
        near = ", ".join(get_close_matches(name, get_scorer_names())) or "one of sklearn.metrics.get_scorer_names()"
        raise ArgumentError(f"--scoring {name!r} is unknown to scikit-learn; use {near}") from error


def comparison(contestants: list[Contestant]) -> pd.DataFrame:
    """Give a frame with a row a contestant: name, tuned_score, test_score, test_error, gap."""
    rows = [(c.name, c.tuned_score, c.test_score, c.test_error, c.gap) for c in contestants]
    return pd.DataFrame(rows, columns=["search", "tuned_score", "test_score", "test_error", "gap"])


def check_writable(out: Path) -> None:
    """Make the folder, and raise StorageError if nothing can be written in it: better now than after hours of tuning."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise StorageError(f"--out {out}: cannot write there: {error.strerror or error}") from error


def write_results(contestants: list[Contestant], out: Path) -> list[Path]:
    """Write comparison.csv, and for each search its trials and the fitted pipeline's parameters; give the files.

    Raises
    ------
    StorageError
        If a file cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        files = [out / "comparison.csv"]
        comparison(contestants).to_csv(files[0], index=False)
        for c in contestants:
            if c.search is not None:
                files += [out / f"{c.name}_trials.csv", out / f"{c.name}_parameters.json"]
                c.search.study_.to_csv(files[-2])
                files[-1].write_text(json.dumps(_plain(c.estimator.get_params(deep=True)), indent=2) + "\n")
    except OSError as error:
        raise StorageError(f"--out {out}: cannot write there: {error.strerror or error}") from error
    return files


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters in JSON's types; an estimator as its text."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in sorted(params.items())}
