"""What a tuning has decided and is going to do, as it is said before the searches start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.suspicions import Notice, suspicions
from spotsvm.tuning.tables.table import COPIES, Table

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
#: a class is rare if it has less than this share of what it would have if all were of one size
_RARE = 0.3


def decisions(table: Table, held: int, title: str, better: str, cv: int | None) -> Iterator[str]:
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
    folds = "" if cv is None else f", mean over {cv} folds of the training rows"
    yield f"score: {title}{folds}; {better}"


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
    sizes = [f"{short_repr(label)}: {size}" for label, size in counts.head(_CLASSES).items()]
    more = f" and {len(counts) - _CLASSES} more" if len(counts) > _CLASSES else ""
    return f"{why}; rows of each class: {', '.join(sizes)}{more}"


def notices(table: Table, metric: str, space: dict[str, Any], n_trials: int) -> Iterator[Notice]:
    """Yield what is suspicious about a table, about a score for it, or about a budget for a space."""
    yield from suspicions(table)
    if table.task == "classification" and metric == "accuracy":
        yield from _rare(table.y)
    if len(space) > n_trials > 0:
        yield Notice("budget", f"{len(space)} parameters are searched in {n_trials} trials; use a larger --trials")


def _rare(y: Any) -> Iterator[Notice]:
    """Yield that accuracy says little about a rare class, and which score to use instead."""
    shares = y.value_counts(normalize=True)
    few, most = float(shares.iloc[-1]), short_repr(shares.index[0])
    if few < _RARE / len(shares):
        other = "balanced_accuracy, or average_precision for the rare class" if len(shares) == 2 else "balanced_accuracy"
        yield Notice(
            "rare class",
            f"class {short_repr(shares.index[-1])} has {100 * few:.2g} % of the rows, and always answering {most} "
            f"has the accuracy {shares.iloc[0]:.3g}: accuracy says little about the rare class; use --scoring {other}",
        )


def baseline(name: str, constant: float, default: float, unit: ScoreUnit) -> str:
    """Return the score of a constant, and that of the default SVM."""
    known = f"{unit.value(constant):.4g} for {name}; " if np.isfinite(constant) else ""
    return f"baseline: {known}{unit.value(default):.4g} for the default SVM"
