"""A search of nested kernel models, in which each richer model starts from the results of the poorer one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.estimators import Floats
from spotsvm.multi_kernel.models.base import KernelModel
from spotsvm.solvers.search import NestedSearch, Stage
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.space import Space


def nested(
    models: Sequence[KernelModel],
    n_trials: Sequence[int],
    search: SearchName | SearchFactory = "vns",
    *,
    spaces: Sequence[Mapping[str, Any]] | None = None,
) -> SearchFactory:
    """Make a search of the richest of nested kernel models that begins with the poorer ones.

    `Study`, `SpotSearchCV` and `compare` accept the result as `search=`, with the richest model's space. A poorer model's trials
    are trials of the richer model as well, since they have the same kernels; so each stage begins with all earlier trials, and
    its search starts from the best of them. A budget that does not reach the richest model is refused.

    Parameters
    ----------
    models : sequence of KernelModel
        Each contained in the next.
    n_trials : sequence of int
        Trials of each model, 1 or more. The last model is searched as long as the study runs, so its number may be left out.
    search : str or callable, default="vns"
        The search within each model: "vns" makes Algorithm 2 of the reference; "kriging" and the others of `Study` take the
        poorer models' trials as their own.
    spaces : sequence of dict, optional
        The models' spaces; by default each model's `space()`.

    Returns
    -------
    callable
        Creates the search from the richest model's cube and a seed.

    Raises
    ------
    ArgumentError
        If there are no models, a model is not contained in the next, the numbers of trials do not fit them, or `search` is
        neither a name nor a callable.

    See Also
    --------
    KernelModel : What is nested.
    spotsvm.searches.NestedSearch : The search that it creates.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
    Algorithm 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spotsvm import MultiKernelSVC, SpotSearchCV
    >>> from spotsvm.kernels import RbfModel, TunedConicModel
    >>> X, y = load_iris(return_X_y=True)
    >>> groups = {"sepal": [0, 1], "petal": [2, 3]}
    >>> models = [RbfModel(groups), TunedConicModel(groups)]
    >>> search = SpotSearchCV(
    ...     MultiKernelSVC(groups=groups),
    ...     models[-1].space(),
    ...     n_iter=20,
    ...     search=nested(models, (8, 12)),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> sorted(search.best_params_)
    ['gamma__petal', 'gamma__sepal', 'weights__petal', 'weights__sepal']
    """
    if not isinstance(models, Sequence) or not all(isinstance(model, KernelModel) for model in models):
        raise ArgumentError(f"models={models!r}; use a sequence of kernel models")
    models, counts = list(models), _checked_counts(n_trials, len(models))
    if not (isinstance(search, str) or callable(search)):
        raise ArgumentError(f"search={search!r}; use a name, such as 'vns', or a callable that makes a search")
    for poorer, richer in zip(models[:-1], models[1:], strict=True):
        if not richer.contains(poorer):
            raise ArgumentError(f"models: {poorer!r} is not contained in {richer!r}; give each model before one that contains it")
    if spaces is not None and len(spaces) != len(models):
        raise ArgumentError(f"spaces has {len(spaces)} entries for {len(models)} models; give one for each")
    made = [Space(model.space() if spaces is None else spaces[k]) for k, model in enumerate(models)]
    stages = tuple(
        Stage(
            space.domain,
            count,
            embed=partial(_embed, models[-1], model, space, made[-1]),
            restrict=partial(_restrict, models[-1], model, space, made[-1]),
            name=repr(model),
        )
        for model, space, count in zip(models, made, counts, strict=True)
    )
    return partial(NestedSearch, stages=stages, inner=search)


def _embed(richest: KernelModel, model: KernelModel, space: Space, richest_space: Space, point: Floats) -> Floats:
    if model is richest:
        return point
    return richest_space.encode(richest.embed(model, space.decode(point)))


def _restrict(richest: KernelModel, model: KernelModel, space: Space, richest_space: Space, point: Floats) -> Floats:
    if model is richest:
        return point
    try:
        return space.encode(richest.restrict(model, richest_space.decode(point)))
    except (ArgumentError, SpaceError):  # the poorer model has no such kernel
        return np.full(space.domain.dimension, np.nan)


def _checked_counts(n_trials: Any, n_models: int) -> list[int]:
    """Return the trials of each model; the last number, which sets no limit, is 1 if it was left out."""
    if not n_models:
        raise ArgumentError("models is empty; give at least one kernel model")
    counts = list(n_trials) if isinstance(n_trials, Sequence) else []
    if len(counts) == n_models - 1:
        counts.append(1)
    sound = all(isinstance(m, Integral) and not isinstance(m, bool) and int(m) >= 1 for m in counts)
    if len(counts) != n_models or not sound:
        raise ArgumentError(f"n_trials={n_trials!r} for {n_models} models; give each model's trials, 1 or more")
    return [int(m) for m in counts]
