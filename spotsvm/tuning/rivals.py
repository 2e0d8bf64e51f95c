"""The models beside the tuned one: a constant, a linear model and a random forest; and the fit of a model to rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from spotsvm.errors import DataWarning
from spotsvm.luck.verdict import FOREST, LINEAR
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.pipelines.spectra import RivalModel
from spotsvm.tuning.tables.faults import short_repr
from spotsvm.tuning.tables.table import COPIES, Table

#: trees of the forest
_TREES = 200


def constant_name(table: Table, unit: ScoreUnit) -> str:
    """Return the prediction of a constant as text: the commonest class, the shares of the classes, or the mean."""
    if table.task != "classification":
        return "always the mean"
    return "the shares of the classes" if unit.of_probabilities else f"always {short_repr(table.y.mode()[0])}"


def constant_model(table: Table) -> Any:
    """Return the model that predicts the constant."""
    return DummyClassifier() if table.task == "classification" else DummyRegressor()


def rival_models(estimator: Pipeline, rows: Table, seed: int, weights: Any) -> Iterator[RivalModel]:
    """Yield a linear model and a forest, behind the steps of the pipeline that encode and scale."""
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
        yield RivalModel(code, name, Pipeline([*clone(estimator).steps[:-1], (code, model)]))


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
        # the notices of the table and of the tuned model's fit tell about the data
        warnings.simplefilter("ignore", DataWarning)
        yield
