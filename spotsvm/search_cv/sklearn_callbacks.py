"""The callbacks of scikit-learn 1.9 and later (`set_callbacks`): they are told of each fold of a suggestion and of the refit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from spotsvm.study.callbacks import Callback
from spotsvm.trials.trial import Trial

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
    """Return a method of fitting that ends the callbacks however it ends itself."""
    return method if _with_callbacks is None else cast("Method", _with_callbacks(method))


class SearchTask(Callback):
    """The task of a fit, for the callbacks that were set on a search; the folds of the trials of a study are its subtasks.

    `n_splits` is to be set before the study runs. Where nothing was set, or scikit-learn has no callbacks, it does nothing.
    Callbacks are not passed on to the estimators.
    """

    def __init__(self, search: Any, X: Any, y: Any):
        self._search, self._data, self._task = search, {"estimator": search, "X": X, "y": y}, None
        self._fits: Any = None
        self.n_splits = 1
        if getattr(search, "_skl_callbacks", None):
            self._task = search._init_callback_context(max_subtasks=1 + bool(search.refit))
            self._task.call_on_fit_task_begin(**self._data)

    def on_start(self, study: Any) -> None:
        """Begin the task of the suggestions that are left."""
        if self._task is not None:
            self._fits = self._task.subcontext(
                "search", max_subtasks=max(study.about["budget"] - study.n_finished, 1) * self.n_splits
            )
            self._fits.call_on_fit_task_begin(**self._data)

    def on_tell(self, study: Any, trial: Trial) -> None:
        """Begin and end the tasks of a suggestion: several may be under way at once, and they are told one after the other."""
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
