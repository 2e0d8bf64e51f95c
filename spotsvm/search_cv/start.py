"""Where a cross-validated search starts: at the estimator's own parameters."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from spotsvm.errors import SpaceError
from spotsvm.estimators.cutoff.class_entries import class_names
from spotsvm.solvers.kernels import resolve_gamma
from spotsvm.space.parameter import ContinuousParameter, IntegerParameter
from spotsvm.space.space import Space
from spotsvm.study.given import Start


def own_start(estimator: Any, space: Space, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return `default_start` of an estimator that is not fitted; none where its transformers cannot be fitted to X and y."""
    try:
        return default_start(_ready(estimator, space, X, y), space, X)
    except Exception:  # transformers, and data of the user's own kind, may fail in any way; so will the trials, which tell why
        return []


def _ready(estimator: Any, space: Space, X: Any, y: Any) -> Any:
    """Return a copy of an estimator whose transformers are fitted if a gamma is searched."""
    ready = clone(estimator)
    if isinstance(ready, Pipeline) and any(name.rpartition("__")[2] == "gamma" for name in space.names):
        ready[:-1].fit(X, y)
    return ready


def _seen(fitted: Any, X: Any) -> Any:
    """Return what the machine sees of X."""
    return np.asarray(fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X, dtype=np.float64)


def default_start(fitted: Any, space: Space | Start, X: Any) -> list[dict[str, Any]]:
    """Return an estimator's own parameters as a configuration to start at; none where the space cannot hold them.

    A number beyond a range counts as the nearest one in it. A gamma of "scale" or "auto" is the number that it stands for. An
    entry that was not given, such as a `class_weight__<class>`, is what the estimator, fitted to X, has for it. Of several
    dictionaries the first that can hold the parameters counts.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    >>> default_start(fitted, {"svc__C": loguniform(2**-5, 2**15), "svc__gamma": loguniform(2**-15, 2**3)}, X)
    [{'svc__C': 1.0, 'svc__gamma': 0.25}]
    """
    space = space if isinstance(space, Space) else Space(space)
    known = fitted.get_params(deep=True)
    for branch in space.branches:
        values = {name: known[name] if name in known else _entry(fitted, known, name) for name in branch}
        for name, parameter in branch.items():
            if not isinstance(parameter, ContinuousParameter | IntegerParameter):
                continue
            if name.rpartition("__")[2] == "gamma" and isinstance(values[name], str):
                values[name] = resolve_gamma(values[name], _seen(fitted, X))
            if isinstance(values[name], Real):
                values[name] = min(max(values[name], parameter.low), parameter.high)
        try:
            space.encode(values)
        except SpaceError:
            continue
        return [values]
    return []


def _entry(fitted: Any, known: dict[str, Any], name: str) -> Any:
    """Return what an estimator has for an entry `<estimator>__<parameter>__<class>`; None if it is no such thing."""
    whole, _, entry = name.rpartition("__")
    owner, _, parameter = whole.rpartition("__")
    holder = known.get(owner) if owner else fitted
    if isinstance(known.get(whole), str):  # a rule such as "balanced", which entries would replace
        return None
    values, classes = getattr(holder, f"{parameter}_", None), getattr(holder, "classes_", None)
    if values is None or classes is None:
        return None
    return dict(zip(class_names(classes), np.asarray(values).tolist(), strict=True)).get(entry)
