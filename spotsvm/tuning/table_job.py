"""The parts that every tuning of a table shares: settings, split, score, and the comparison on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, cast

from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from spotsvm.common.code import Script
from spotsvm.common.text import printable_line
from spotsvm.errors import DataWarning, ShortSeriesWarning
from spotsvm.luck.difference import difference_of
from spotsvm.luck.drawn import Drawn, unseen_score
from spotsvm.luck.draws import block_length
from spotsvm.luck.rows import Unseen
from spotsvm.luck.verdict import FOREST, LINEAR, HeldOut, Rival
from spotsvm.study.stop import checked_timeout
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuned.default_models import with_threshold
from spotsvm.tuning.class_weights import weights_of
from spotsvm.tuning.large import Limits
from spotsvm.tuning.pipelines.registry import default_scoring
from spotsvm.tuning.plan import of_different
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.scoring import positive_class, scorer_of
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.split import held_out
from spotsvm.tuning.tables.table import COPIES, Table

#: more numeric columns than this are passed as an array: scikit-learn checks each column of a frame by itself, at every step
_WIDE = 1000
#: default number of folds
FOLDS = 5
#: minimum number of folds, and minimum seconds of a search or a fit: enough for the first candidate of a search
_PAIR, _SHORTEST = 2, 1e-3
#: trees of the forest
_TREES = 200


@dataclass(frozen=True)
class TableJob:
    """The settings that every tuning of a table has."""

    table: Table  # all rows, including those to hold out (the last quarter of a series)
    seed: int = 0  # of the split into training and held-out rows, the folds and all other draws
    workers: int = 1  # folds scored in parallel
    out: Path | None = None  # folder for the results
    scoring: str | None = None  # name of a scorer; None for the default
    compare: bool = True  # whether a linear model and a random forest are scored on the same held-out rows
    timeout: float | None = None  # seconds for everything but reading and compiling
    file: str = ""  # name of the table's file, for the report
    limits: Limits = Limits()  # numbers of rows above which samples are used
    source: Script | None = None  # Python code that makes the table, for the code that repeats the run
    command: str = ""  # command line, for the report
    cv: int | None = None  # number of folds, 5 by default
    class_weight: str | Mapping[Any, float] | None = None  # "balanced", or a factor for each class that is named

    @cached_property
    def weights(self) -> str | dict[Any, float] | None:
        """The class weights, by the labels of the table."""
        return weights_of(self.class_weight, self.table)

    @property
    def threshold_at(self) -> tuple[float, Any] | None:
        """The probability from which on a row is predicted to be of a class, and this class; None for the most probable class."""
        return None

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        return default_scoring("svm", self.table.task) if self.scoring is None else self.scoring

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
        return False

    @property
    def in_time(self) -> bool:
        """Whether the rows are in order of time, and the last ones are held out."""
        return self.table.time is not None

    @property
    def share(self) -> float:
        """Share of the rows to hold out."""
        return self.limits.test_share(len(self.table.y))

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return FOLDS if self.cv is None else self.cv

    @property
    def least(self) -> int:
        """Number of folds that the training rows must allow."""
        return _PAIR if self.cv is None else self.cv

    @cached_property
    def split(self) -> tuple[Table, Table]:
        """The training rows and the held-out rows; DataError if the training rows are too few for the folds."""
        train, test = held_out(self.table, self.least, self.seed, in_time=self.in_time, share=self.share)
        if set(train.kinds.values()) != {"number"} or train.X.shape[1] <= _WIDE:
            return train, test
        return replace(train, X=cast("Any", train.X.to_numpy())), replace(test, X=cast("Any", test.X.to_numpy()))

    @property
    def train(self) -> Table:
        """The training rows."""
        return self.split[0]

    @property
    def test(self) -> Table:
        """The held-out rows."""
        return self.split[1]

    def check(self) -> None:
        """Raise an error for settings that cannot be used, such as a negative time limit."""
        checked_timeout(self.timeout, "timeout")
        self.weights  # noqa: B018  a class that does not exist is an error
        self.scorer  # noqa: B018  the name of a scorer that does not exist is an error

    def seconds_left(self, began: float, share: float = 1.0) -> float | None:
        """Return how many seconds of a share of the time limit are left; None without a limit."""
        return None if self.timeout is None else max(share * self.timeout - (monotonic() - began), _SHORTEST)

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

    def drawn(self, model: Any) -> Drawn:
        """Return the score of a fitted model on the held-out rows, in draws of these rows."""
        test = self.test
        block = block_length(len(test.y)) if self.in_time else 1
        return unseen_score(Unseen.held_out(model, test.X, test.y, test.groups, block), self.scorer, self.seed)

    def result(self, name: str, model: Any, seconds: float, **more: Any) -> HeldOutResult:
        """Return the result of a fitted model with its score on the held-out rows."""
        drawn = self.drawn(model)
        return HeldOutResult(name, model, drawn.value, drawn.error, seconds=seconds, **more)

    @property
    def held_out_by(self) -> HeldOut:
        """How rows were held out."""
        return "time" if self.in_time else "groups" if users_groups(self.test) else "random"

    def rivals(self, estimator: Pipeline, rows: Table, recommended: Any, compare: bool) -> Iterator[Rival]:
        """Yield a linear model and a forest that are fitted to these rows, and compared with the recommended model.

        `compare` may forbid it.
        """
        if not compare:
            return
        own = self.drawn(recommended)
        threshold, positive = self.threshold_at or (None, None)
        for code, name, model in _rival_models(estimator, rows, self.seed, self.weights):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted, seconds = timed_fit(with_threshold(model, threshold, positive), rows)
                drawn = self.drawn(fitted)
            difference = difference_of([own], [drawn], self.metric, "held out")
            yield Rival(code, name, drawn.value, drawn.error, difference, seconds)


def constant_name(table: Table) -> str:
    """Return the prediction of a constant as text: the commonest class, or the mean."""
    return f"always {short_repr(table.y.mode()[0])}" if table.task == "classification" else "always the mean"


def constant_model(table: Table) -> Any:
    """Return the model that predicts the constant."""
    return DummyClassifier() if table.task == "classification" else DummyRegressor()


def _rival_models(estimator: Pipeline, rows: Table, seed: int, weights: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the code, the name and the model of each rival, behind the steps of the pipeline that encode and scale."""
    classify = rows.task == "classification"
    linear, forest = (
        (
            LogisticRegression(max_iter=1000, class_weight=weights),
            RandomForestClassifier(_TREES, random_state=seed, class_weight=weights),
        )
        if classify
        else (Ridge(), RandomForestRegressor(_TREES, random_state=seed))
    )
    for code, name, model in (
        (LINEAR, "logistic regression" if classify else "ridge regression", linear),
        (FOREST, "a random forest", forest),
    ):
        yield code, name, Pipeline([*clone(estimator).steps[:-1], (code, model)])


def groups_of(table: Table) -> dict[str, Any]:
    """Return the argument `groups` of a fit, if there are groups."""
    return {} if table.groups is None else {"groups": table.groups}


def users_groups(table: Table) -> dict[str, Any]:
    """Return the argument `groups` of a fit that finds copies itself, if the user named groups."""
    return {} if table.groups is None or table.groups.name == COPIES else {"groups": table.groups}


def timed_fit(model: Any, rows: Table, **more: Any) -> tuple[Any, float]:
    """Return a fitted clone of a model, and the seconds of the fit."""
    began = monotonic()
    fitted = clone(model).fit(rows.X, rows.y, **more)
    return fitted, monotonic() - began


@contextmanager
def unwarned() -> Iterator[None]:
    """Ignore warnings that are expected or reported elsewhere."""
    with warnings.catch_warnings():
        # we cap the solver's iterations; a setting that needs more is scored without convergence
        warnings.simplefilter("ignore", ConvergenceWarning)
        # the trials have the reasons for failures
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        # the warning for the whole series was shown when it was read
        warnings.simplefilter("ignore", ShortSeriesWarning)
        # the notices of the table tell about its data
        warnings.simplefilter("ignore", DataWarning)
        yield
