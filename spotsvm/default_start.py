"""Where an estimator's own parameters lie in a search space."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from solvers.kernels import resolve_gamma
from spotsvm.class_entries import class_names
from spotsvm.errors import SpaceError
from spotsvm.parameter import ContinuousParameter, IntegerParameter, Parameter
from spotsvm.space import Space
from spotsvm.start import Start


def default_start(fitted: Any, space: Space | Start, X: Any) -> list[dict[str, Any]]:
    """Return an estimator's own parameters as a configuration to start at; none where the space cannot hold them.

    A number beyond a range counts as the nearest one in it. A gamma of "scale" or "auto" is the number that it stands for. An
    entry that was not given, such as a `class_weight__<class>`, is what the fitted estimator has for it.

    Parameters
    ----------
    fitted : estimator
        The estimator, fitted to X; a pipeline's steps but the last transform.
    space : Space, dict or list of dict
        The search space; of several dictionaries the first that can hold the parameters counts.
    X : array-like of shape (n_samples, n_features)
        The rows.

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
            if name.rpartition("__")[2] == "gamma" and isinstance(values[name], str) and not _is_choice(parameter):
                values[name] = resolve_gamma(values[name], _as_the_machine_sees(fitted, X))
            values[name] = _in_range(values[name], parameter)
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


def _as_the_machine_sees(fitted: Any, X: Any) -> Any:
    return np.asarray(fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X, dtype=np.float64)


def _is_choice(parameter: Parameter) -> bool:
    return not isinstance(parameter, ContinuousParameter | IntegerParameter)


def _in_range(value: Any, parameter: Parameter) -> Any:
    if not isinstance(parameter, ContinuousParameter | IntegerParameter) or not isinstance(value, Real):
        return value
    return min(max(value, parameter.low), parameter.high)
