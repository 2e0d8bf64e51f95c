"""Other models on the same held-out rows: a constant, a linear model and a random forest, behind the same encoding."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from spotsvm.luck.difference import paired_difference
from spotsvm.luck.rows import Unseen, score_with_error
from spotsvm.luck.verdict import CONSTANT, FOREST, LINEAR, Rival
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.table import Table

_TREES = 200


class UnseenRows(NamedTuple):
    """A model's training rows out of fold (None if its folds were not fitted), and its held-out rows."""

    out_of_fold: Unseen | None
    held_out: Unseen

    @property
    def sets(self) -> list[Unseen]:
        """The sets that are not None."""
        return [one for one in self if one is not None]


def constant_name(table: Table) -> str:
    """Return the prediction of a constant as text: the commonest class, or the mean."""
    return f"always {short_repr(table.y.mode()[0])}" if table.task == "classification" else "always the mean"


def constant_scores(table: Table, splitter: Any, scorer: Any) -> Any:
    """Return the score of a constant in each fold; nan where it is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cross_val_score(
            _constant(table), table.X, table.y, groups=table.groups, cv=splitter, scoring=scorer, error_score=np.nan
        )


def rivals(
    estimator: Any,
    train: Table,
    scorer: Any,
    recommended: UnseenRows,
    unseen: Callable[[Any, bool], UnseenRows],
    constant_score: float,
    seed: int,
    *,
    metric: str,
    compare: bool,
) -> Iterator[Rival]:
    """Yield the constant, and with `compare` the linear model and the forest, on the rows of the `recommended` model.

    `unseen(model, folds)` returns the rows that a fitted model has not seen; if `folds`, also its training rows out of fold.
    """
    for code, name, model in _models(estimator, train, compare):
        folds = code == CONSTANT
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = monotonic()
            fitted = model.fit(train.X, train.y)
            seconds = monotonic() - began
            its, mine = unseen(fitted, folds), recommended if folds else recommended._replace(out_of_fold=None)
            difference = paired_difference(scorer, its.sets, mine.sets, seed, metric=metric, shares=metric == "accuracy")
            held_out, error = score_with_error(scorer, its.held_out, seed)
        score = constant_score if folds else float("nan")
        yield Rival(code, name, score, held_out, error, difference, seconds)


def _models(estimator: Any, train: Table, compare: bool) -> Iterator[tuple[str, str, Any]]:
    """Yield the code, the name and the model of each rival, behind the steps of the pipeline that encode and scale."""
    yield CONSTANT, constant_name(train), _constant(train)
    if not compare:
        return
    classify = train.task == "classification"
    linear = LogisticRegression(max_iter=1000) if classify else Ridge()
    forest = (RandomForestClassifier if classify else RandomForestRegressor)(_TREES, random_state=0)
    for code, name, model in (
        (LINEAR, "logistic regression" if classify else "ridge regression", linear),
        (FOREST, "a random forest", forest),
    ):
        yield code, name, Pipeline([*clone(estimator).steps[:-1], (code, model)])


def _constant(table: Table) -> Any:
    return DummyClassifier() if table.task == "classification" else DummyRegressor()
