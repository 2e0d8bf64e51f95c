"""The parts that every tuning of a table shares: settings, split, score, and the comparison on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any, cast

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning

from spotsvm.common.code import Script
from spotsvm.common.text import printable_line
from spotsvm.errors import ShortSeriesWarning
from spotsvm.luck.difference import Difference, paired_difference
from spotsvm.luck.rows import Unseen, block_length, score_with_error
from spotsvm.luck.verdict import HeldOut, Verdict
from spotsvm.study.stop import checked_timeout
from spotsvm.trials.metrics import ScoreUnit, named_scorer
from spotsvm.tuning.large import Limits
from spotsvm.tuning.results import HeldOutResult, check_writable
from spotsvm.tuning.scoring import table_scorer
from spotsvm.tuning.tables.split import held_out
from spotsvm.tuning.tables.suspicions import Notice
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.verdict import Choice, decide

#: more numeric columns than this are passed as an array: scikit-learn checks each column of a frame by itself, at every step
_WIDE = 1000


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
    notices: tuple[Notice, ...] = ()  # earlier notices, such as those from reading the table

    @property
    def metric(self) -> str:
        """Name of the scorer."""
        usual = "accuracy" if self.table.task == "classification" else "neg_root_mean_squared_error"
        return usual if self.scoring is None else self.scoring

    @property
    def in_time(self) -> bool:
        """Whether the rows are in order of time, and the last ones are held out."""
        return self.table.time is not None

    @property
    def share(self) -> float:
        """Share of the rows to hold out."""
        return self.limits.test_share(len(self.table.y))

    def split(self, cv: int) -> tuple[Table, Table]:
        """Return the training rows and the held-out rows; DataError if the training rows are too few for `cv` folds."""
        train, test = held_out(self.table, cv, self.seed, in_time=self.in_time, share=self.share)
        if set(train.kinds.values()) != {"number"} or train.X.shape[1] <= _WIDE:
            return train, test
        return replace(train, X=cast("Any", train.X.to_numpy())), replace(test, X=cast("Any", test.X.to_numpy()))

    def check(self) -> None:
        """Raise an error for a time limit or a folder that cannot be used."""
        checked_timeout(self.timeout, "timeout")
        if self.out is not None:
            check_writable(self.out)

    def scorer(self) -> tuple[Any, Any]:
        """Return the argument `scoring` of a search (a name where possible), and the scorer itself."""
        scoring = table_scorer(self.metric, self.table)
        return scoring, named_scorer(scoring) if isinstance(scoring, str) else scoring

    def facts(self, n_held_out: int, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the facts at the head of the page: file, rows, columns, target, score and day; `known` keeps an earlier day."""
        unit, table = ScoreUnit(self.metric), self.table
        facts: dict[str, Any] = {"File": printable_line(self.file, 80)} if self.file else {}
        return facts | {
            "Rows": f"{len(table.y)}, {n_held_out} of them held out",
            "Columns": int(table.X.shape[1]),
            "Target": printable_line(str(table.y.name), 80),
            "Task": table.task,
            "Score": f"{unit.title}; {unit.better}",
            "Date": (known or {}).get("Date", date.today().isoformat()),
        }

    def verdict(
        self, choice: Choice, default: HeldOutResult, tuned: HeldOutResult, scorer: Any, train: Table, test: Table
    ) -> Verdict:
        """Return whether the choice is better than the default on the held-out rows."""
        one = default.estimator if choice.why_default is not None else tuned.estimator
        counts = {"n_held_out": len(test.y), "n_train": len(train.y)}
        held_out = self.difference(scorer, default.estimator, one, test)
        return decide(choice, self.metric, default, tuned, held_out, held_out_by=self.held_out_by(test), **counts)

    def held_out(self, model: Any, test: Table) -> Unseen:
        """Return the held-out rows beside a fitted model."""
        return Unseen.held_out(model, test.X, test.y, test.groups, self.block(test))

    def score(self, scorer: Any, model: Any, test: Table) -> tuple[float, float]:
        """Return the score on the held-out rows, and its standard error."""
        return score_with_error(scorer, self.held_out(model, test), self.seed)

    def difference(self, scorer: Any, default: Any, tuned: Any, test: Table) -> Difference:
        """Return the tuned model's score less the default's on the held-out rows; nan if the tuned model is the default."""
        if tuned is default:
            return Difference(float("nan"), metric=self.metric, how="held out")
        first, second = ([self.held_out(model, test)] for model in (default, tuned))
        shares = self.metric == "accuracy"
        return paired_difference(scorer, first, second, self.seed, metric=self.metric, shares=shares)

    def held_out_by(self, test: Table) -> HeldOut:
        """Return how rows were held out."""
        return "time" if self.in_time else "random" if test.groups is None else "groups"

    def block(self, rows: Table) -> int:
        """Return how many neighbouring rows depend on each other."""
        return block_length(len(rows.y)) if self.in_time else 1


def groups_of(table: Table) -> dict[str, Any]:
    """Return the argument `groups` of a fit, if there are groups."""
    return {} if table.groups is None else {"groups": table.groups}


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
        yield
