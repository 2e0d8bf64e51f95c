"""Where a cross-validated search starts: at the estimator's own parameters, and at settings that are good on many data sets."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from spotsvm.common.errors import SpaceError
from spotsvm.estimators.cutoff.class_entries import class_names
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.dual.exact_svr import ExactSVR
from spotsvm.solvers.kernels import resolve_gamma
from spotsvm.space.parameter import ContinuousParameter, IntegerParameter
from spotsvm.space.space import Space
from spotsvm.study.given import Start

#: gammas of an RBF kernel on columns of variance 1 that are good on many data sets, in the order in which a search tries them:
#: each lowers as far as it can the mean regret of the best so far over 28 sets with classes, one a family, for the best of six
#: values of C in 2^-5 ... 2^15; chosen on one split of each set (November 2026, docs/benchmarks.md). Which come first matters
#: little
GAMMAS = (2.0**-6, 2.0**-11, 2.0**-4, 2.0**-7, 2.0**-10)
#: of regression: gammas where epsilon is not searched, else pairs of gamma and of epsilon in standard deviations of the target.
#: Chosen alike over 22 sets, for the best of six values of C in 2^-5 ... 2^10 (November 2026, docs/benchmarks.md)
SVR_GAMMAS = (2.0**-7, 2.0**-11, 2.0**-3, 2.0**-6, 2.0**-12)
SVR_POINTS = ((2.0**-7, 2.0**-3), (2.0**-10, 2.0**-5), (2.0**-4, 2.0**-1), (2.0**-3, 2.0**-3), (2.0**-6, 2.0**-7))


def own_start(estimator: Any, space: Space, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return `default_start` of an estimator that is not fitted; none where its transformers cannot be fitted to X and y."""
    try:
        return default_start(_ready(estimator, space, X, y), space, X)
    except Exception:  # transformers, and data of the user's own kind, may fail in any way; so will the trials, which tell why
        return []


def experienced_start(estimator: Any, space: Space, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return the estimator's own parameters, and then, for a machine with an RBF kernel, the same at good gammas.

    They are `GAMMAS` for an SVC, and `SVR_GAMMAS` or, where epsilon has a range, `SVR_POINTS` for an SVR. As `gamma="scale"`
    does, gamma is divided by the variance of all that the machine sees; epsilon is multiplied by the standard deviation of the
    target, and a value beyond its range is the nearest one in it. There are none unless the space has a range of gamma that holds
    them all.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> space = Space({"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)})
    >>> [round(one["gamma"], 4) for one in experienced_start(SVC(), space, StandardScaler().fit_transform(X), y)]
    [0.25, 0.0156, 0.0005, 0.0625, 0.0078, 0.001]
    """
    own = own_start(estimator, space, X, y)
    machine = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    gamma, epsilon = f"{prefix}gamma", space.branches[0].get(f"{prefix}epsilon")
    known = isinstance(machine, SVC | ExactSVC | SVR | ExactSVR)
    rbf = known and machine.kernel == "rbf" and getattr(machine, "sigma", None) is None
    if not own or not rbf or not isinstance(space.branches[0].get(gamma), ContinuousParameter) or gamma not in own[0]:
        return own
    try:
        seen = _seen(_ready(estimator, space, X, y), X)
        scale = float(np.var(seen) or 1.0)
        if not is_regressor(machine):
            given = [{gamma: value / scale} for value in GAMMAS]
        elif not isinstance(epsilon, ContinuousParameter):
            given = [{gamma: value / scale} for value in SVR_GAMMAS]
        else:
            spread = float(np.std(np.asarray(y, dtype=np.float64)))
            widths = [min(max(width * spread, epsilon.low), epsilon.high) for _, width in SVR_POINTS]
            given = [{gamma: g / scale, epsilon.name: w} for (g, _), w in zip(SVR_POINTS, widths, strict=True)]
    except Exception:  # as above
        return own
    further = [{**own[0], **params} for params in given]
    try:
        for params in further:
            space.encode(params)
    except SpaceError:
        return own
    return [*own, *further]


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
