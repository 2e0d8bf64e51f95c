"""A scorer is tried once, on perfect predictions, before anything is fitted."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from spotsvm.common.compat import ScorerParts, scorer_parts
from spotsvm.errors import ArgumentError

#: endings of the names of scores that take several classes
_SEVERAL = ("macro", "ovr")


def check_scorer(name: Any, scorer: Any, y: NDArray[Any], classify: bool) -> None:
    """Raise ArgumentError, with what to pass instead, if a scorer can score no predictions of a target.

    So it is with `f1` where no class is 1, or squared logarithms of negative targets. Only scikit-learn's functions are tried.
    """
    parts = scorer_parts(scorer)
    if parts is None or parts.function is None or not str(parts.function.__module__).startswith("sklearn.") or not len(y):
        return
    if (error := _error(scorer, y, classify)) is None:
        return
    shown = f"scoring={name!r}" if isinstance(name, str) else f"scoring={scorer!r}"
    classes = np.unique(y).tolist() if classify else []
    if len(classes) == 2 and (instead := _code_with_positive(scorer, y)):
        of = f"is of the class {parts.positive!r}" if parts.positive is not None else "does not say which class is positive"
        raise ArgumentError(f"{shown} {of}, and y has {classes[0]!r} and {classes[1]!r}; pass {instead}") from error
    said = " ".join(str(error).split())[:300].replace(_RightRegressor.__name__, "a regressor")
    if len(classes) > 2 and isinstance(name, str):
        several = [other for ending in _SEVERAL if (other := f"{name}_{ending}") in get_scorer_names()]
        if several and _error(get_scorer(several[0]), y, True) is None:
            raise ArgumentError(f"{shown} is for two classes, and y has {len(classes)}; use {several[0]!r}") from error
    raise ArgumentError(f"{shown} can score no predictions of this target: {said}") from error


def _error(scorer: Any, y: NDArray[Any], classify: bool) -> Exception | None:
    """Return the error of a scorer where all predictions are right; None if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scorer((_RightClassifier if classify else _RightRegressor)(y), np.arange(len(y)), y)
        except Exception as error:  # whatever the metric raises
            return error
    return None


def with_positive(scorer: Any, positive: Any) -> Any:
    """Return a scorer of scikit-learn with another positive class."""
    return make_scorer(cast("ScorerParts", scorer_parts(scorer)).function, **_options(scorer, positive))


def _options(scorer: Any, positive: Any) -> dict[str, Any]:
    """Return the arguments of `make_scorer` for a scorer with another positive class."""
    parts = cast("ScorerParts", scorer_parts(scorer))
    label = positive.item() if isinstance(positive, np.generic) else positive
    options = {**parts.kwargs, "pos_label": label}
    options |= {"greater_is_better": False} if parts.sign < 0 else {}
    return options | {"response_method": parts.methods if len(parts.methods) > 1 else parts.methods[0]}


def _code_with_positive(scorer: Any, y: NDArray[Any]) -> str:
    """Return the code of a scorer with the rarer class as the positive one; empty if that cannot score either."""
    parts = cast("ScorerParts", scorer_parts(scorer))
    classes, counts = np.unique(y, return_counts=True)
    shown = _options(scorer, classes[1 if counts[1] <= counts[0] else 0])
    scorer = make_scorer(parts.function, **shown)
    if parts.methods == ("predict",):
        del shown["response_method"]
    default = {name: one.default for name, one in signature(cast("Any", parts.function)).parameters.items()}
    code = ", ".join(f"{name}={value!r}" for name, value in shown.items() if name not in default or default[name] != value)
    return "" if _error(scorer, y, True) else f"make_scorer({getattr(parts.function, '__name__', parts.function)}, {code})"


class _RightClassifier(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows the classes of rows, given by number."""

    def __init__(self, y: NDArray[Any]):
        self.y = y
        self.classes_, self._code = np.unique(y, return_inverse=True)

    def predict(self, X: NDArray[np.intp]) -> NDArray[Any]:
        return self.y[X]

    def predict_proba(self, X: NDArray[np.intp]) -> NDArray[Any]:
        return np.asarray(np.eye(len(self.classes_))[self._code[X]])

    def decision_function(self, X: NDArray[np.intp]) -> NDArray[Any]:
        p = self.predict_proba(X)
        return np.asarray(2.0 * p[:, 1] - 1.0 if len(self.classes_) == 2 else p)


class _RightRegressor(RegressorMixin, BaseEstimator):
    """A fitted regressor that knows the targets of rows, given by number; it predicts 1 for 0, as deviances refuse 0."""

    def __init__(self, y: NDArray[Any]):
        self.y = np.where(y == 0, 1, y)

    def predict(self, X: NDArray[np.intp]) -> NDArray[Any]:
        return self.y[X]
