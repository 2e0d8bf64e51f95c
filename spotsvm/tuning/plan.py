"""The plan of a tuning, printed before the searches start: how the table was read, the rows, columns, task and score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from spotsvm.common.copies import held_back
from spotsvm.common.notices import Notice
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.scoring import score_title
from spotsvm.tuning.tables.faults import listed, short_repr
from spotsvm.tuning.tables.suspicions import suspicions
from spotsvm.tuning.tables.table import COPIES, Table

#: names of the kinds of columns, singular and plural
_KINDS = {
    "number": ("number", "numbers"),
    "yes/no": ("yes/no", "yes/no"),
    "category": ("category", "categories"),
    "text": ("text", "texts"),
    "date": ("date", "dates"),
    "constant": ("constant, which is left out", "constants, which are left out"),
    "identifier": ("identifier, which is left out", "identifiers, which are left out"),
}
#: maximum number of lines about columns
_TREATMENTS = 20
#: maximum number of classes whose sizes are printed
_CLASSES = 5
#: scores of predictions, which overlook a rare class where only the most probable class is predicted
OF_LABELS = ("accuracy", "balanced_accuracy", "mean_class_accuracy", "f1", "f1_macro")
#: a class is rare if it has less than this share of the mean class size
_RARE = 0.3


def decisions(table: Table, test: Table, metric: str, cv: int | None) -> Iterator[str]:
    """Yield the decisions about a table: how it is read, its rows and held-out rows (`test`), columns, task and score."""
    yield from (f"reading: {line}" for line in table.reading[:1])
    n = len(table.y)
    how = ""
    if table.time is not None:
        how = f"; they are the latest by {table.time!r}, and each fold is later than its training rows"
    elif table.groups is not None and table.groups.name != COPIES:
        how = f"; the rows of each of {table.groups.nunique()} groups stay together"
    yield f"rows: {n}; {len(test.y)} are held out{of_different(test)}, and no search uses them{how}"
    yield from feature_lines(table)
    yield f"task: {table.task}{_reason(table)}"
    folds = "" if cv is None else f", mean over {cv} folds of the training rows"
    yield f"score: {score_title(metric, table)}{folds}; {ScoreUnit(metric).better}"


def of_different(table: Table) -> str:
    """Return words for the number of different rows, if some are copies."""
    if table.groups is None or table.groups.name != COPIES or (n := table.groups.nunique()) == len(table.y):
        return ""
    return f" ({n} of them different)"


def feature_lines(table: Table) -> Iterator[str]:
    """Yield the number of columns of each kind, and the treatment of all columns but numbers without gaps."""
    if table.columns is None:
        yield f"features: {table.X.shape[1]} numbers"
        return
    counts = Counter(table.columns["kind"])
    yield f"features: {', '.join(f'{n} {_KINDS[kind][n > 1]}' for kind, n in counts.items())}"
    done: dict[tuple[str, str], list[str]] = {}
    told = {notice.column for notice in table.notices}  # a notice says what becomes of these
    for name, kind, treatment in table.columns[["column", "kind", "treatment"]].to_numpy().tolist():
        if treatment != "kept" and name not in told:
            done.setdefault((kind, treatment), []).append(name)
    for k, ((kind, treatment), names) in enumerate(done.items()):
        if k == _TREATMENTS:
            yield f"columns: and {len(done) - k} more; --out writes all to columns.csv"
            return
        yield f"columns: {listed(names, 5)} ({kind}): {treatment}"


def _reason(table: Table) -> str:
    why = f", {table.why}" if table.why else ""
    if table.task == "regression":
        return f"{why}; the target {table.y.name!r} ranges from {table.y.min():.4g} to {table.y.max():.4g}"
    counts = table.y.value_counts()
    sizes = [f"{short_repr(label)}: {size}" for label, size in counts.head(_CLASSES).items()]
    more = f" and {len(counts) - _CLASSES} more" if len(counts) > _CLASSES else ""
    return f"{why}; rows of each class: {', '.join(sizes)}{more}"


def notices(
    table: Table,
    metric: str,
    share: float,
    space: dict[str, Any],
    n_trials: int,
    *,
    decided: bool = False,
    threshold: bool = True,
) -> Iterator[Notice]:
    """Yield a notice for each suspicious property of a table, of a score for it, or of a budget for a space.

    `share` is the share of the rows to hold out, `decided` whether class weights or a threshold were given, and `threshold`
    whether one can be.
    """
    yield from suspicions(table)
    if table.groups is not None and table.groups.name == COPIES:
        yield from held_back(table.groups.to_numpy(), share * len(table.y))
    if table.task == "classification" and metric in OF_LABELS:
        yield from _rare(table.y, metric, decided, threshold)
    if len(space) > n_trials > 0:
        yield Notice("budget", f"{len(space)} parameters are searched in {n_trials} trials; use a larger --trials")


def _rare(y: Any, metric: str, decided: bool, threshold: bool) -> Iterator[Notice]:
    """Yield a notice if a score says little about a rare class, or if few of its rows would be found."""
    shares = y.value_counts(normalize=True)
    few, most = float(shares.iloc[-1]), short_repr(shares.index[0])
    if few >= _RARE / len(shares):
        return
    rare = f"class {short_repr(shares.index[-1])} has {100 * few:.2g} % of the rows"
    if metric == "accuracy":
        other = "--scoring balanced_accuracy --class-weight balanced"
        other += ", or --scoring average_precision to rank rows by the rare class" if len(shares) == 2 else ""
        yield Notice(
            "rare class",
            f"{rare}, and always predicting {most} has the accuracy {shares.iloc[0]:.3g}: accuracy says little about the rare "
            f"class; use {other}",
        )
    elif not decided:
        lower = f", or --threshold {few:.2g}, its share" if len(shares) == 2 and threshold else ""
        yield Notice(
            "rare class",
            f"{rare}: few rows reach a probability of a half for it, and so few are predicted to be of it; use --class-weight "
            f"balanced{lower}",
        )


def baseline(name: str, constant: float, default: float, unit: ScoreUnit) -> str:
    """Return the score of a constant, and that of the default SVM."""
    of_constant = f"{unit.value(constant):.4g} for {name}; " if np.isfinite(constant) else ""
    return f"baseline: {of_constant}{unit.value(default):.4g} for the default SVM"
