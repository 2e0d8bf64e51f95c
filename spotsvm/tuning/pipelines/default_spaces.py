"""Default search spaces of the transformers and machines in the pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.errors import ArgumentError
from spotsvm.estimators.cutoff.class_entries import class_names
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.preprocessing.importance_fraction import ImportanceFraction
from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
from spotsvm.preprocessing.table_encoder import TableEncoder
from spotsvm.preprocessing.time_series.delay_embedding import DelayEmbedding
from spotsvm.preprocessing.time_series.leaky_rain import LeakyRain
from spotsvm.tuning.pipelines.machine_spaces import MACHINE_SPACES, several_kernels_space
from spotsvm.tuning.tables.table import Task

Space = dict[str, Any]
#: how numbers are scaled
Scale = Literal["standard", "power"]


def default_space(estimator: Any, classes: Sequence[Any] | None = None) -> Space:
    """Return the default search space of an estimator, or of the steps of a pipeline.

    Parameters
    ----------
    estimator : estimator
        LeakyRain, DelayEmbedding, PrincipalMonomials, ImportanceFraction, CutoffClassifier, SVC, SVR, NuSVC, NuSVR, OneClassSVM,
        LinearSVC, LinearSVR, KernelRidge, ExactSVC, ExactSVR, EvoSVC, ConformalSVC, ReducedSVC, MultiKernelSVC, MultiKernelSVR;
        or a Pipeline, FeatureUnion, ColumnTransformer or TransformedTargetRegressor that contains some. Its other parts are left
        as they are. A machine's kernel decides which of its parameters are in the space: degree and coef0 for a polynomial,
        coef0 for a sigmoid, no gamma for a linear one.
    classes : sequence, optional
        All classes, for the weights and cutoffs of a CutoffClassifier without `classes` of its own.

    Returns
    -------
    dict
        Distributions by parameter name, as `set_params` takes them.

    Raises
    ------
    ArgumentError
        If no part has a default space, a CutoffClassifier has no classes, or a LeakyRain has several pairs, which cannot be
        tuned separately; a ValueError.

    See Also
    --------
    SpotSearchCV : Searches it.
    Space : What spaces there are.

    Notes
    -----
    C and gamma have the range of LIBSVM's guide; epsilon is in units of the target, so scale it by TransformedTargetRegressor.
    nu is from 0.01 to 0.5. A MultiKernelSVC has the space of the richest of its nested kernel models.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> list(default_space(make_pipeline(PrincipalMonomials(), ImportanceFraction(), SVR())))
    ['principalmonomials__n_components', 'importancefraction__fraction', 'svr__C', 'svr__gamma', 'svr__epsilon']
    >>> list(default_space(SVC(kernel="poly")))
    ['C', 'gamma', 'degree', 'coef0']
    >>> from spotsvm import Space
    >>> Space(default_space(SVC()))
    <Space of C: 0.03125 to 32768, log; gamma: 3.05176e-05 to 8, log>
    """
    if isinstance(estimator, type):
        raise ArgumentError(f"estimator={estimator.__name__} is a class; use an estimator, such as {estimator.__name__}()")
    space = dict(_found(estimator, "", classes))
    if not space:
        raise ArgumentError(f"{type(estimator).__name__} has no default space; those with one are {', '.join(_names())}")
    return space


def voting_space(classes: Sequence[Any]) -> Space:
    """Return a space of class weights, from 2/3 to 3/2 of their unit, and of cutoffs for all classes but the last.

    Both are log-uniform. For K classes the cutoffs range from 7/8 to 8/7 of 1 / K: with five classes, three votes beat four if
    the cutoffs' ratio is 4/3, so that a wider range would leave little to the votes.
    """
    names = class_names(np.unique(np.asarray(classes)))
    share = 1.0 / len(names)
    space = {f"class_weight__{name}": loguniform(1 / 1.5, 1.5) for name in names}
    return space | {f"cutoff__{name}": loguniform(share * 7 / 8, share * 8 / 7) for name in names[:-1]}


def _found(estimator: Any, prefix: str, classes: Sequence[Any] | None) -> Iterator[tuple[str, Any]]:
    for kind, own in _SPACES.items():
        if isinstance(estimator, kind):
            yield from ((f"{prefix}{name}", distribution) for name, distribution in own(estimator).items())
    if hasattr(estimator, "_model_space"):
        yield from ((f"{prefix}{name}", distribution) for name, distribution in several_kernels_space(estimator).items())
    if isinstance(estimator, CutoffClassifier):
        known = estimator.classes if classes is None else classes
        if known is None:
            raise ArgumentError("a CutoffClassifier has a weight and a cutoff for each class; pass classes=[...]")
        yield from ((f"{prefix}{name}", distribution) for name, distribution in voting_space(known).items())
    for name, part in _parts(estimator):
        yield from _found(part, f"{prefix}{name}__", classes)


def _parts(estimator: Any) -> list[tuple[str, Any]]:
    """Return the parts of an estimator, by their prefixes in parameter names."""
    if isinstance(estimator, Pipeline):
        return list(estimator.steps)
    if isinstance(estimator, FeatureUnion):
        return list(estimator.transformer_list)
    if isinstance(estimator, ColumnTransformer):
        return [(name, part) for name, part, _ in estimator.transformers]
    if isinstance(estimator, TransformedTargetRegressor):
        return [("regressor", estimator.regressor)]
    return [("estimator", estimator.estimator)] if isinstance(estimator, CutoffClassifier) else []


def _leaky_rain(estimator: LeakyRain) -> Space:
    if np.ndim(estimator.decays) or np.ndim(estimator.windows):
        raise ArgumentError(
            f"LeakyRain(decays={estimator.decays!r}, windows={estimator.windows!r}) has several pairs, which cannot be tuned "
            "separately; use one LeakyRain per pair in a FeatureUnion"
        )
    return {"decays": uniform(0.0, 0.999), "windows": randint(10, 501)}


_SPACES: dict[Any, Callable[[Any], Space]] = {
    LeakyRain: _leaky_rain,
    DelayEmbedding: lambda _: {"dimensions": randint(2, 61)},
    PrincipalMonomials: lambda _: {"n_components": randint(2, 13)},
    ImportanceFraction: lambda _: {"fraction": uniform(0.05, 0.95)},
    **MACHINE_SPACES,
}


def _names() -> list[str]:
    kinds = [kind for key in _SPACES for kind in (key if isinstance(key, tuple) else (key,))]
    return [*(kind.__name__ for kind in [*kinds, CutoffClassifier]), "MultiKernelSVC", "MultiKernelSVR"]


#: most rows whose kernel matrix fits into the memory limit of shared work
_SHARED_ROWS = 20_000


def iteration_cap(n_samples: int) -> int:
    """Return the most iterations of a solver: a hopeless setting then ends, with the score that it has reached."""
    return max(100_000, 200 * n_samples)


def table_pipeline(
    task: Task, n_samples: int, categorical: Sequence[str] = (), scale: Scale = "standard"
) -> tuple[Pipeline, dict[str, Any]]:
    """Return an RBF support vector machine of the columns of any table (`TableEncoder`), and its search space.

    Numbers are scaled to mean 0 and variance 1, with scale="power" after a Yeo-Johnson transformation, which makes them nearly
    normal; columns are standardised before it too, as its exponents become very large for columns with little spread.
    The space is that of LIBSVM's guide, C in 2^-5 .. 2^15 and gamma in 2^-15 .. 2^3; in regression the target is scaled
    too, so that epsilon in 2^-8 .. 1 is in units of its standard deviation. If cross-validation cannot share its work
    (regression, and many rows), the solver's iterations are capped at a multiple of the sample's size: a hopeless setting
    then ends, with the score that it has reached.

    References
    ----------
    Hsu, Chang, Lin 2003, "A Practical Guide to Support Vector Classification".

    Examples
    --------
    >>> pipeline, space = table_pipeline("classification", 400)
    >>> sorted(space)
    ['svc__C', 'svc__gamma']
    """
    cap = iteration_cap(n_samples)
    scaler = StandardScaler() if scale == "standard" else make_pipeline(StandardScaler(), PowerTransformer())
    columns = TableEncoder(tuple(categorical), scaler=scaler)
    if task == "classification":
        pipeline = make_pipeline(columns, SVC(max_iter=cap if n_samples > _SHARED_ROWS else -1))
    else:
        pipeline = make_pipeline(columns, TransformedTargetRegressor(SVR(max_iter=cap), transformer=StandardScaler()))
    return pipeline, default_space(pipeline)
