"""The refit of a tuned model: on more rows than it was tuned on, within limits of rows and of time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from sklearn import config_context, get_config
from sklearn.base import clone

from spotsvm.common.notices import Notice, gathered
from spotsvm.common.text import duration, printable_line
from spotsvm.cross_validation.row_sample import DrawnRows, Rows, at_rows, rows_notices, rows_sentence
from spotsvm.errors import WorkersError
from spotsvm.preprocessing.cells.findings import speaking, voice
from spotsvm.study.workers.process import TimeUpError, call_within

#: seconds for which no process is started
_SHORTEST = 0.01


@dataclass(frozen=True)
class Refit:
    """A model fitted to the rows of the refit, or to those of the search if there is a reason `why` there are no more."""

    estimator: Any
    drawn: DrawnRows
    seconds: float
    told: list[Notice]
    why: str = ""

    @property
    def rows(self) -> Rows | None:
        """The positions of the rows that the model is fitted to; None for all."""
        return self.drawn.searched if self.why else self.drawn.fitted

    @property
    def n_rows(self) -> int:
        """Number of rows that the model is fitted to."""
        return self.drawn.n_searched if self.why else self.drawn.n_fitted

    @property
    def sentence(self) -> str:
        """The rows of the search and of the model."""
        if self.why:
            of = f"{self.n_rows} of {self.drawn.n} training rows"
            return f"the model is fitted to the {of} that its parameters were tuned on, as {self.why}"
        return rows_sentence(self.drawn.n_searched, self.n_rows, self.drawn.n)

    @property
    def notices(self) -> list[Notice]:
        """What the fit tells about its data, and which share of the rows the model has not seen, if there is one."""
        return [*self.told, *rows_notices(self.n_rows, self.drawn.n, self.sentence)]

    @property
    def finding(self) -> dict[str, Any]:
        """The rows as a finding of the study; empty if the search had all rows."""
        if self.drawn.searched is None:
            return {}
        return {
            "sentence": f"{self.sentence[0].upper()}{self.sentence[1:]}.", "rows tuned on": self.drawn.n_searched,
            "rows fitted on": self.n_rows, "training rows": self.drawn.n, "seconds of the refit": self.seconds,
        }  # fmt: skip


def refitted(
    model: Any,
    drawn: DrawnRows,
    X: Any,
    y: Any,
    params: Mapping[str, Any],
    seconds: float | None = None,
    of_sample: Any = None,
) -> Refit:
    """Fit a model to the rows of the refit; X, y and `params`, what its fit is given beside them, are those of all rows.

    With a limit of `seconds` the model of the sample, which is fitted if it is not given, stands in for one that takes longer.
    """
    began = monotonic()
    fitted_rows = at_rows(X, y, params, drawn.fitted)
    if seconds is None or not drawn.has_more:
        fitted, told = _fitted(model, *fitted_rows)
        return Refit(fitted, drawn, monotonic() - began, told)
    told_of_sample: list[Notice] = []
    if of_sample is None:
        of_sample, told_of_sample = _fitted(clone(model), *at_rows(X, y, params, drawn.searched))
    left = seconds - (monotonic() - began)
    n = drawn.n_fitted
    if left < _SHORTEST:
        return Refit(of_sample, drawn, monotonic() - began, told_of_sample, f"no time was left for a fit to {n} rows")
    try:
        fitted, told = _fitted_within(model, *fitted_rows, left)
        return Refit(fitted, drawn, monotonic() - began, told)
    except TimeUpError:
        why = f"a fit to {n} rows took longer than the {duration(left)} left"
    except WorkersError as error:
        why = f"a fit to {n} rows within a limit of time was not possible: {printable_line(str(error), 200)}"
    return Refit(of_sample, drawn, monotonic() - began, told_of_sample, why)


def _fitted(model: Any, X: Any, y: Any, params: Mapping[str, Any]) -> tuple[Any, list[Notice]]:
    """Return a model, fitted, as the fit of some estimators returns None; and what the fit tells."""
    with gathered() as told:
        _ = model.fit(X, **params) if y is None else model.fit(X, y, **params)
    return model, told


def _fitted_within(model: Any, X: Any, y: Any, params: Mapping[str, Any], seconds: float) -> tuple[Any, list[Notice]]:
    """Return a model fitted in a process that is killed when the time is up, with the warnings of its fit."""
    config, own_voice = get_config(), voice()

    def fit() -> tuple[Any, list[Notice], list[Any], Exception | None]:
        with config_context(**config), speaking(own_voice), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fitted, told = _fitted(model, X, y, params)
            except Exception as error:  # raised where the search was called, which errors of the process are not
                return None, [], [], error
        return fitted, told, [one.message for one in caught], None

    try:
        fitted, told, caught, error = call_within(fit, seconds)
    except (TimeUpError, WorkersError):
        raise
    except Exception as unsent:  # an object of the user's cannot be pickled, which can raise anything
        raise WorkersError(str(unsent)) from unsent
    for message in caught:
        warnings.warn(message, stacklevel=5)
    if error is not None:
        raise error
    return fitted, told
