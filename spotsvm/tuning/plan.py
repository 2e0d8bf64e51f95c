"""What a tuning has decided and is going to do, as it is said before the searches start."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from spotsvm.common.errors import SpotSVMError
from spotsvm.common.text import duration
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.scores.metrics import ScoreUnit
from spotsvm.tuning.tables.cells import shown
from spotsvm.tuning.tables.copies import COPIES
from spotsvm.tuning.tables.notice import Notice
from spotsvm.tuning.tables.split import sample
from spotsvm.tuning.tables.suspicions import suspicions
from spotsvm.tuning.tables.table import Table

#: kinds of columns, of one and of several
_KINDS = {
    "number": ("number", "numbers"),
    "yes/no": ("yes/no", "yes/no"),
    "category": ("category", "categories"),
    "text": ("text", "texts"),
    "date": ("date", "dates"),
    "constant": ("constant, which is left out", "constants, which are left out"),
    "identifier": ("identifier, which is left out", "identifiers, which are left out"),
}
#: most lines about columns
_TREATMENTS = 20
#: classes whose sizes are told
_CLASSES = 5
#: rows by which the time is judged beforehand; the larger number only if that is expected to take at most so many seconds
_FEW_ROWS, _LONG = (300, 900), 2.0
#: a trial grows with the number of rows to a power between these
_SLOWEST, _FASTEST = 1.5, 3.0
#: a class is rare if it has less than this share of what it would have if all were of one size
_RARE = 0.3


def decisions(table: Table, held: int, title: str, better: str, cv: int) -> Iterator[str]:
    """Yield what was decided about a table: how it is read, rows, of which some are held out, columns, task and score."""
    yield from (f"reading: {line}" for line in table.reading[:1])
    n = len(table.y)
    how = ""
    if table.time is not None:
        how = f"; they are the latest by {table.time!r}, and each fold is later than the rows it is predicted from"
    elif table.groups is not None and table.groups.name != COPIES:
        how = f"; the rows of each of {table.groups.nunique()} groups stay together"
    yield f"rows: {n}, of which {held} are held out: no search uses them{how}"
    yield from feature_lines(table)
    yield f"task: {table.task}{_reason(table)}"
    yield f"score: {title}, mean over {cv} folds of the training rows; {better}"


def feature_lines(table: Table) -> Iterator[str]:
    """Yield how many columns of each kind there are, and what was done with those that are not numbers without gaps."""
    if table.columns is None:
        yield f"features: {table.X.shape[1]} numbers"
        return
    counts = Counter(table.columns["kind"])
    yield f"features: {', '.join(f'{n} {_KINDS[kind][n > 1]}' for kind, n in counts.items())}"
    done: dict[tuple[str, str], list[str]] = {}
    for name, kind, treatment in table.columns[["column", "kind", "treatment"]].to_numpy().tolist():
        if treatment != "kept":
            done.setdefault((kind, treatment), []).append(name)
    for k, ((kind, treatment), names) in enumerate(done.items()):
        if k == _TREATMENTS:
            yield f"columns: and {len(done) - k} more, which columns.csv has with --out"
            return
        which = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        yield f"columns: {which} ({kind}): {treatment}"


def _reason(table: Table) -> str:
    why = f", {table.why}" if table.why else ""
    if table.task == "regression":
        return f"{why}; the target {table.y.name!r} is from {table.y.min():.4g} to {table.y.max():.4g}"
    counts = table.y.value_counts()
    sizes = [f"{shown(label)}: {size}" for label, size in counts.head(_CLASSES).items()]
    more = f" and {len(counts) - _CLASSES} more" if len(counts) > _CLASSES else ""
    return f"{why}; rows of each class: {', '.join(sizes)}{more}"


def notices(table: Table, metric: str, space: dict[str, Any], n_trials: int) -> Iterator[Notice]:
    """Yield what is suspicious about a table, about a score for it, or about a budget for a space."""
    yield from suspicions(table)
    if table.task == "classification" and metric == "accuracy":
        yield from _rare(table.y)
    if len(space) > n_trials:
        yield Notice("budget", f"{len(space)} parameters are searched in {n_trials} trials; use a larger --trials")


def _rare(y: Any) -> Iterator[Notice]:
    """Yield that accuracy says little about a rare class, and which score to use instead."""
    shares = y.value_counts(normalize=True)
    few = float(shares.iloc[-1])
    if few < _RARE / len(shares):
        other = "balanced_accuracy, or average_precision for the rare class" if len(shares) == 2 else "balanced_accuracy"
        yield Notice(
            "rare class",
            f"class {shown(shares.index[-1])} has {100 * few:.2g} % of the rows, and always answering {shown(shares.index[0])} "
            f"has the accuracy {shares.iloc[0]:.3g}: accuracy says little about the rare class; use --scoring {other}",
        )


@dataclass(frozen=True)
class Pace:
    """How long a trial takes on so many rows, and the power of the number of rows with which that grows."""

    rows: int
    seconds: float
    power: float = 2.2

    def seconds_on(self, rows: int) -> float:
        """Return the seconds that a trial is expected to take on so many rows."""
        return float(self.seconds * (rows / self.rows) ** self.power)

    def rows_within(self, seconds: float) -> int:
        """Return on how many rows a trial is expected to take so many seconds.

        Examples
        --------
        >>> Pace(300, 0.5, 2.0).seconds_on(600), Pace(300, 0.5, 2.0).rows_within(2.0)
        (2.0, 600)
        """
        return int(self.rows * (max(seconds, 0.0) / self.seconds) ** (1.0 / self.power))


def pace_of(search: SpotSearchCV, train: Table, cv: int, *, in_time: bool, most: float) -> Pace | None:
    """Return the pace of a search's trials, by the first one on few rows, and on three times as many where that is short.

    It is None if such a trial fails. `most` are seconds that the second one may be expected to take. What is compiled has to be
    compiled before.
    """
    one = clone(search).set_params(
        n_iter=1, confirm=None, refit=False, path=None, callback=None, stop=None, executor=None, trial_timeout=None,
        memory_limit=None, timeout=None, n_jobs=None,
    )  # fmt: skip
    found: list[tuple[int, float]] = []
    for size in _FEW_ROWS:
        n = min(size, len(train.y))
        few = train.part(np.arange(len(train.y) - n, len(train.y))) if in_time else sample(train, size, cv, 0)
        groups = {} if few.groups is None else {"groups": few.groups}
        try:
            if not found:  # what is imported on first use is no part of a trial
                clone(one.estimator).fit(few.X, few.y)
            began = monotonic()
            with _unlogged():
                one.fit(few.X, few.y, **groups)
        except (SpotSVMError, ValueError):  # such as folds that few rows do not allow
            break
        found.append((len(few.y), max(monotonic() - began, 1e-4)))
        if n < size or Pace(*found[-1]).seconds_on(_FEW_ROWS[-1]) > min(most, _LONG):
            break
    if not found:
        return None
    rows, seconds = found[-1]
    if len(found) == 1:
        return Pace(rows, seconds)
    (before, took), _ = found
    return Pace(rows, seconds, min(_FASTEST, max(_SLOWEST, log(seconds / took) / log(rows / before))))


@contextmanager
def _unlogged() -> Iterator[None]:
    """Log nothing of a search that is no part of the tuning."""
    logger = logging.getLogger("spotsvm")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def outlook(pace: Pace, rows: int, trials: int, timeout: float | None) -> str:
    """Return how long the searches are expected to take, and at most may."""
    takes = pace.seconds_on(rows) * trials
    judged = f"{trials} {'trial' if trials == 1 else 'trials'}, judged by one on {pace.rows} rows"
    if timeout is None or takes <= timeout:
        return f"expected time: about {duration(takes)} for {judged}"
    return f"expected time: {duration(timeout)}, as there is a limit; about {duration(takes)} would be needed for {judged}"


def baseline(name: str, constant: float, default: float, unit: ScoreUnit) -> str:
    """Return the score of a constant, and that of the default SVM."""
    known = f"{unit.value(constant):.4g} for {name}; " if np.isfinite(constant) else ""
    return f"baseline: {known}{unit.value(default):.4g} for the default SVM"
