"""The scorer of a tuning by its name, for the labels that a table has."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, jaccard_score, make_scorer, precision_score, recall_score

from spotsvm.errors import ArgumentError
from spotsvm.trials.metrics import ScoreUnit, named_scorer
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.table import Table

_OF_A_CLASS: dict[str, Any] = {
    "f1": f1_score,
    "precision": precision_score,
    "recall": recall_score,
    "jaccard": jaccard_score,
    "average_precision": average_precision_score,
}


def positive_class(metric: str, table: Table) -> Any:
    """Return the positive class of a score such as "f1": 1 for labels 0/1 or -1/1, else the rarer label; None for other scores.

    If both classes have the same size, the later label is positive. ArgumentError is raised if there are more than two classes.
    """
    if metric not in _OF_A_CLASS or table.task != "classification":
        return None
    counts = table.y.value_counts()
    if len(counts) > 2:
        others = "" if metric == "average_precision" else f"use {metric}_macro or {metric}_weighted, or "
        raise ArgumentError(
            f"--scoring {metric!r} needs two classes, and the target has {len(counts)} classes; {others}separate one "
            "class from all others by --positive LABEL"
        )
    return rarer_class(table)


def rarer_class(table: Table) -> Any:
    """Return the positive one of two classes: 1 for labels 0/1 or -1/1, else the rarer one."""
    counts = table.y.value_counts().sort_index(ascending=False)
    labels = list(counts.index)
    return 1 if labels[0] == 1 and labels[1] in (0, -1) else counts.idxmin()


def table_scorer(metric: str, table: Table) -> Any:
    """Return the scorer of this name for the classes of a table.

    Parameters
    ----------
    metric : str
        Name of a scikit-learn scorer, such as "f1" or "r2", or "mean_class_accuracy".
    table : Table
        The table. The positive class of a score such as "f1" is 1 for labels 0/1 or -1/1, otherwise the rarer label.

    Returns
    -------
    str or callable
        The name itself if scikit-learn's scorer of this name fits the labels, otherwise a scorer.

    Raises
    ------
    ArgumentError
        If the score needs two classes and the table has more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from spotsvm.tables import make_table, table_scorer
    >>> table = make_table(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> table_scorer("f1", table)
    'f1'
    """
    positive = positive_class(metric, table)
    scorer = scorer_of(metric, positive)
    return metric if is_usual(positive) and metric != "mean_class_accuracy" else scorer


def is_usual(positive: Any) -> bool:
    """Return whether scikit-learn's own scorer has this positive class."""
    return positive is None or bool(not isinstance(positive, str | bool | np.bool_) and positive == 1)


def scorer_of(metric: str, positive: Any) -> Any:
    """Return the scorer of this name, a callable, with this positive class unless None."""
    if is_usual(positive):
        return named_scorer(metric)
    options = (
        {"response_method": ("decision_function", "predict_proba")} if metric == "average_precision" else {"zero_division": 0}
    )
    return make_scorer(_OF_A_CLASS[metric], pos_label=positive, **options)


def score_title(metric: str, table: Table) -> str:
    """Return the title of a score, with its positive class if it has one."""
    positive, title = positive_class(metric, table), ScoreUnit(metric).title
    return title if positive is None else f"{title} of the class {short_repr(positive)}"
