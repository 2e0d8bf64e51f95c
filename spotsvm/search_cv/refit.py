"""The refit of the best candidate, in a worker process where it has a limit of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import config_context, get_config

from spotsvm.common.errors import RefitTimeoutError
from spotsvm.study.workers.one_call import TimeUpError, call_within


def refitted(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any], seconds: float | None) -> Any:
    """Return an estimator fitted to all rows: this one, or with a limit in seconds its copy from a process.

    Raises RefitTimeoutError if the time is up.
    """
    config = get_config()

    def fit() -> Any:
        with config_context(**config):
            _ = estimator.fit(X, **fit_params) if y is None else estimator.fit(X, y, **fit_params)
        return estimator  # as fit of some estimators returns None

    if seconds is None:
        return fit()
    try:
        return call_within(fit, seconds)
    except TimeUpError as error:
        raise RefitTimeoutError(
            f"the refit took longer than refit_timeout={seconds:g} s; the search itself is done: cv_results_, best_params_ and "
            "study_ are set on it, and it is the attribute `search` of this error"
        ) from error
