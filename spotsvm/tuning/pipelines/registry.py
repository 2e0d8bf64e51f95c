"""The pipelines that `spotsvm tune` searches, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit

from spotsvm.common.copies import DistinctKFold
from spotsvm.comparison.runs import Entrant
from spotsvm.errors import ArgumentError
from spotsvm.trials.metrics import mean_class_accuracy_scorer
from spotsvm.tuning.pipelines.default_spaces import Scale, table_pipeline
from spotsvm.tuning.pipelines.opening import opening
from spotsvm.tuning.pipelines.spectra import FIRST, RivalModel, spectra_pipeline, spectra_rivals
from spotsvm.tuning.pipelines.spectra import REGIONS as SPECTRA_REGIONS
from spotsvm.tuning.pipelines.stormwater import REGIONS as STORMWATER_REGIONS
from spotsvm.tuning.pipelines.stormwater import stormwater_pipeline
from spotsvm.tuning.tables.faults import check_features
from spotsvm.tuning.tables.table import COPIES, Table
from spotsvm.tuning.tables.target import Task

#: the pipelines with their regions, the default first
REGIONS = {"svm": ("default",), "spectra": SPECTRA_REGIONS, "stormwater": STORMWATER_REGIONS}

_MEAN_CLASS_ACCURACY, _RMSE = "mean_class_accuracy", "neg_root_mean_squared_error"


@dataclass(frozen=True)
class NamedPipeline:
    """A pipeline with everything that a search needs, as returned by `named_pipeline`.

    Attributes
    ----------
    name : str
        "svm", "spectra" or "stormwater".
    estimator : Pipeline
        The pipeline.
    space : dict of str to distribution or list
        Its search space.
    splitter : cross-validator
        Splits the training rows into folds.
    scoring : str or callable
        The score to tune by.
    first : tuple of str
        Parameters that Kriging varies first, as in `opening`. If empty, all parameters vary from the beginning.
    rivals : tuple
        Models that are usual for such data, which `spotsvm tune` compares with the SVM, and recommends if they are better;
        `rival` returns one by its code.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm.tables import make_table, named_pipeline
    >>> table = make_table(*load_diabetes(return_X_y=True, as_frame=True))
    >>> pipeline = named_pipeline("svm", table)
    >>> pipeline.scoring, len(pipeline.space)
    ('neg_root_mean_squared_error', 3)
    """

    name: str
    estimator: Any
    space: dict[str, Any]
    splitter: Any
    scoring: Any
    first: tuple[str, ...] = ()
    rivals: tuple[RivalModel, ...] = ()

    def rival(self, code: str) -> Any:
        """Return the rival of this code: of spectra "pls" or "lda", and "tuned_svm".

        Returns
        -------
        estimator
            The model, not yet fitted.
        """
        return next(one.model for one in self.rivals if one.code == code)

    def search(self, name: str) -> Entrant:
        """Return the search of this name for the pipeline.

        Returns
        -------
        Entrant
            The search.
        """
        return opening(self.space, self.first) if self.first and name == "kriging" else cast("Entrant", name)


def is_series(name: str) -> bool:
    """Return whether a pipeline is for rows in order of time, and is tested on later rows than its training rows."""
    return name == "stormwater"


def description(name: str, task: Task) -> str:
    """Return a short description of a pipeline."""
    if name == "svm":
        return "scaled features, an RBF support vector machine"
    if is_series(name):
        return "two leaky sums of the rain, embedded and scaled, an RBF support vector regression"
    if task == "regression":
        return "derivatives, scatter correction, scores of partial least squares, an RBF support vector regression"
    return (
        "principal components, monomials of the first 8, the important features, an RBF support vector machine with class "
        "weights and cutoffs"
    )


def default_scoring(name: str, task: Task) -> str:
    """Return the name of the default score of a pipeline."""
    if task == "regression":
        return _RMSE
    return _MEAN_CLASS_ACCURACY if name == "spectra" else "accuracy"


def named_pipeline(
    name: str,
    train: Table,
    *,
    cv: int = 5,
    seed: int = 0,
    region: str | None = None,
    horizon: int = 0,
    scale: Scale = "standard",
    class_weight: Any = None,
    scoring: Any = None,
) -> NamedPipeline:
    """Return a pipeline by its name, with search space, folds and score for training data.

    Parameters
    ----------
    name : {"svm", "spectra", "stormwater"}
        "svm" is a scaled SVM for columns of any kind. "spectra" adds in classification principal components, their monomials, a
        selection of features by importance, and a weight and a cutoff for each class, and in regression derivatives, scatter
        correction and scores of partial least squares (`spectra_pipeline`). "stormwater" predicts a time series from past rain
        (`stormwater_pipeline`).
    train : Table
        The training rows. Their groups stay together in the folds.
    cv : int
        Number of folds: in order of time for "stormwater" and for a table with a `time` column, otherwise at random, stratified
        in classification.
    seed : int
        Seed of the folds.
    region : str or None
        Search region of the pipeline: "default" for "svm", and the regions of `spectra_pipeline` and `stormwater_pipeline`.
    horizon : int
        Number of steps to predict ahead; only for "stormwater".
    scale : {"standard", "power"}
        How "svm" scales numbers.
    class_weight : dict, "balanced" or None
        Factors of C for each class, as of `SVC`; only for "svm", as "spectra" searches class weights.
    scoring : str, callable or None
        The score to tune by; None for the default of the pipeline.

    Returns
    -------
    NamedPipeline
        The pipeline with its search space, folds and score.

    Raises
    ------
    ArgumentError
        If the pipeline or region is unknown, or the pipeline is not for this task.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spotsvm.tables import make_table, named_pipeline
    >>> table = make_table(*load_iris(return_X_y=True, as_frame=True))
    >>> named_pipeline("spectra", table).scoring
    'mean_class_accuracy'
    """
    if name not in REGIONS:
        raise ArgumentError(f"pipeline {name!r} is unknown; use one of {', '.join(REGIONS)}")
    if region is not None and region not in REGIONS[name]:
        raise ArgumentError(f"pipeline {name} has no region {region!r}; use {' or '.join(REGIONS[name])}")
    task, n = train.task, len(train.y)
    if name != "svm" and hasattr(train.X, "columns"):
        check_features(train.X)
    region = region or REGIONS[name][0]
    if horizon and not is_series(name):
        raise ArgumentError(f"horizon={horizon} is only for a series; use pipeline 'stormwater', or horizon=0")
    if class_weight is not None and name != "svm":
        why = "searches weights and cutoffs of the classes itself" if name == "spectra" else "has no classes"
        raise ArgumentError(f"class_weight={class_weight!r}: the pipeline {name} {why}; leave it out, or use the pipeline 'svm'")
    scoring = default_scoring(name, task) if scoring is None else scoring
    if is_series(name):
        if task != "regression":
            raise ArgumentError(f"pipeline {name!r} is for regression, not for {task}")
        pipeline, space = stormwater_pipeline(horizon=horizon, region=cast("Any", region), history=train.history)
        return NamedPipeline(name, pipeline, space, TimeSeriesSplit(cv), scoring)
    classify = task == "classification"
    if train.time is not None:
        folds: Any = TimeSeriesSplit(cv)
    elif train.groups is not None and train.groups.name == COPIES:
        folds = DistinctKFold(cv, shuffle=True, random_state=seed, stratify=classify)
    else:
        kinds: Any = (StratifiedKFold, StratifiedGroupKFold) if classify else (KFold, GroupKFold)
        folds = kinds[train.groups is not None](cv, shuffle=True, random_state=seed)
    if name == "svm":
        pipeline, space = table_pipeline(task, n, train.categorical, scale, class_weight)
        return NamedPipeline(name, pipeline, space, folds, scoring)
    classes = np.unique(np.asarray(train.y)).tolist() if task == "classification" else None
    pipeline, space = spectra_pipeline(task, n, classes, region=cast("Any", region), scale=True, random_state=seed)
    first = FIRST if task == "classification" and region == REGIONS[name][0] else ()
    by = mean_class_accuracy_scorer if scoring == _MEAN_CLASS_ACCURACY else scoring
    rivals = spectra_rivals(task, n, train.X.shape[1], folds, by, seed)
    return NamedPipeline(name, pipeline, space, folds, scoring, first, tuple(rivals))
