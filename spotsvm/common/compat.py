"""scikit-learn's private names: only this file knows them, so that a new version of scikit-learn is met here alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from traceback import walk_tb
from typing import Any

from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import device, get_namespace
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_y as check_y
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "ScorerParts",
    "callback_context",
    "check_feature_names_in",
    "check_method_params",
    "check_parameters",
    "check_y",
    "every_fit_failed",
    "num_samples",
    "routed_params",
    "rows_of",
    "safe_indexing",
    "safe_split",
    "scorer_parts",
]


@dataclass(frozen=True)
class ScorerParts:
    """What a scorer computes: `sign` times `function(y, response, **kwargs)`.

    The response is that of the first of the `methods` that an estimator has. An estimator's own `score` has no function, and the
    method "score".
    """

    function: Callable[..., Any] | None
    sign: int = 1
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ("predict",)

    @property
    def is_own_score(self) -> bool:
        """Whether this is the estimator's own `score`."""
        return self.function is None

    @property
    def name(self) -> str:
        """The name of the function, with "neg_" for a loss."""
        name = "score" if self.function is None else str(getattr(self.function, "__name__", "score"))
        return f"neg_{name}" if self.sign < 0 else name

    @property
    def positive(self) -> Any:
        """The positive class: the argument `pos_label`, or else its default; None if there is none."""
        if "pos_label" in self.kwargs or self.function is None:
            return self.kwargs.get("pos_label")
        parameter = signature(self.function).parameters.get("pos_label")
        return None if parameter is None else parameter.default


def scorer_parts(scorer: Any) -> ScorerParts | None:
    """Return the parts of a scorer that scikit-learn has made; None for any other object."""
    if type(scorer) is _PassthroughScorer:
        return ScorerParts(None, methods=("score",))
    if type(scorer) is not _Scorer:
        return None
    methods = scorer._response_method
    return ScorerParts(
        scorer._score_func, scorer._sign, scorer._kwargs, (methods,) if isinstance(methods, str) else tuple(methods)
    )


def every_fit_failed(error: BaseException) -> bool:
    """Return whether a search of scikit-learn raised this error because no fit succeeded; the error has no type of its own."""
    place = _warn_or_raise_about_fit_failures.__code__
    return any(frame.f_code is place for frame, _ in walk_tb(error.__traceback__))


def check_parameters(estimator: Any) -> None:
    """Raise an error if an estimator's parameters violate the constraints that its class declares."""
    estimator._validate_params()


def rows_of(X: Any, rows: Any) -> Any:
    """Return the numbers of rows as an array that can index X, which may be on another device."""
    return get_namespace(X)[0].asarray(rows, device=device(X))


def routed_params(search: Any, params: Mapping[str, Any]) -> Any:
    """Return the arguments of a search's fit by recipient, as its own fit passes them on."""
    return search._get_routed_params_for_fit(dict(params))


def callback_context(estimator: Any, max_subtasks: int) -> Any:
    """Return the task of a fit for the callbacks that were set on an estimator; None if there are none, or before 1.9."""
    return estimator._init_callback_context(max_subtasks=max_subtasks) if getattr(estimator, "_skl_callbacks", None) else None
