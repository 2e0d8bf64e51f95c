"""The methods and callbacks of scikit-learn's searches: those of the best estimator, metadata routing, `set_callbacks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any, TypeVar, cast

from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.compat import callback_context
from spotsvm.common.notices import gathered, once, tell
from spotsvm.luck.refits.search_access import estimator_and_scorer
from spotsvm.study.callbacks import Callback
from spotsvm.trials.trial import Trial


def require_refit(search: Any, name: str) -> None:
    """Raise AttributeError if the search does not refit, and so has no best estimator."""
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {name} is available only after "
            "refitting on the best parameters. You can refit an estimator manually using the `best_params_` attribute"
        )


def _has(name: str) -> Callable[[Any], bool]:
    """Return a check that the estimator, or the best one once fitted, has an attribute; else it raises AttributeError."""

    def check(search: Any) -> bool:
        require_refit(search, name)
        if search.calibrate and name in ("predict_proba", "predict_log_proba"):
            return True
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


def _passed_on(name: str, other: str, what: str) -> Any:
    """Return a method that calls that of the best estimator, and exists if the estimator has it; `other` is for See Also."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        with gathered() as told:
            answers = getattr(self.best_estimator_, name)(X)
        tell(once(told))
        return answers

    method.__name__, method.__qualname__ = name, f"BestEstimatorMixin.{name}"
    method.__doc__ = (
        f"Call {name} on the best estimator.\n\nReturns\n-------\narray-like\n    What the best estimator returns.\n\n"
        f"See Also\n--------\n{other} : {what}\n"
    )
    return available_if(_has(name))(method)


class BestEstimatorMixin:
    """The methods of an estimator, for a search with `estimator`, `refit` and, once fitted, `best_estimator_`."""

    estimator: Any
    best_estimator_: Any

    @property
    def classes_(self) -> Any:
        """Class labels, where the estimator is a classifier; a list of them where it has several outputs.

        See Also
        --------
        predict : Predicts one of them.
        """
        _has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit.

        See Also
        --------
        fit : Trains on them.
        """
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.") from error
        return int(self.best_estimator_.n_features_in_)

    predict = _passed_on("predict", "score", "How good the predictions are.")
    predict_proba = _passed_on("predict_proba", "predict", "The classes.")
    predict_log_proba = _passed_on("predict_log_proba", "predict_proba", "The probabilities themselves.")
    decision_function = _passed_on("decision_function", "predict", "The classes that follow from it.")
    score_samples = _passed_on("score_samples", "decision_function", "The scores minus the offset, of an outlier detector.")
    transform = _passed_on("transform", "inverse_transform", "The way back.")
    inverse_transform = _passed_on("inverse_transform", "transform", "What it undoes.")


def takes_argument(estimator: Any, name: str) -> bool:
    """Return whether an estimator's fit takes an argument; a pipeline takes only those of its steps, `step__argument`."""
    parameters = signature(estimator.fit).parameters.values()
    any_name = any(p.kind is p.VAR_KEYWORD for p in parameters) and not hasattr(estimator, "steps")
    return any_name or any(p.name == name for p in parameters)


class RoutingMixin:
    """Passes arguments on as RandomizedSearchCV does: by request where metadata routing is enabled."""

    estimator: Any
    scoring: Any
    cv: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where fit's and score's further arguments go, for scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
            The routing, for scikit-learn.

        See Also
        --------
        fit : Takes the arguments.
        score : Takes them, too.
        """
        return estimator_and_scorer(self).add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))


Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before 1.9
    _with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: scikit-learn has no callbacks."""


__all__ = ["CallbackSupportMixin", "SearchTask", "with_callbacks"]


def with_callbacks(method: Method) -> Method:
    """Return a fit method that ends the callbacks even if it fails."""
    return method if _with_callbacks is None else cast("Method", _with_callbacks(method))


class SearchTask(Callback):
    """The task of a fit, for the callbacks that were set on a search; the folds of the trials of a study are its subtasks.

    Without callbacks, or if scikit-learn does not support them, the task does nothing.
    Callbacks are not passed on to the estimators.
    """

    def __init__(self, search: Any, X: Any, y: Any, n_splits: int):
        self._search, self._data = search, {"estimator": search, "X": X, "y": y}
        self._fits: Any = None
        self.n_splits = n_splits
        self._task = callback_context(search, 1 + bool(search.refit))
        if self._task is not None:
            self._task.call_on_fit_task_begin(**self._data)

    def on_start(self, study: Any) -> None:
        """Begin the task of the suggestions that are left."""
        if self._task is not None:
            self._fits = self._task.subcontext(
                "search", max_subtasks=max(study.about["budget"] - study.n_finished, 1) * self.n_splits
            )
            self._fits.call_on_fit_task_begin(**self._data)

    def on_tell(self, study: Any, trial: Trial) -> None:
        """Begin and end the tasks of a suggestion: several may be under way at once, but are told one after the other."""
        for _ in range(self.n_splits if self._fits is not None else 0):
            self._fits.subcontext("fold of a suggestion").call_on_fit_task_begin(**self._data).call_on_fit_task_end(**self._data)

    def on_end(self, study: Any) -> None:
        """End the task of the suggestions."""
        if self._fits is not None:
            self._fits.call_on_fit_task_end(**self._data)

    @contextmanager
    def refit(self) -> Iterator[None]:
        """Make the block the task of the refit."""
        task = None if self._task is None else self._task.subcontext("refit").call_on_fit_task_begin(**self._data)
        yield
        if task is not None:
            task.call_on_fit_task_end(**self._data)

    def end(self) -> None:
        """End the task of the fit."""
        if self._task is not None:
            self._task.call_on_fit_task_end(**self._data)
