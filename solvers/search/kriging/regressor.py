"""A scikit-learn regressor that predicts a standard deviation, as the model of a Kriging search."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from spotsvm.errors import NotPositiveDefiniteError, SolverError
from spotsvm.solvers.search.kriging.model import Evaluations, ModelFit
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import Embedding
from spotsvm.surrogates.responses import Aggregated, Noisiness, aggregate

Floats = NDArray[np.float64]

_FIT_STREAM = 1 << 45


@dataclass(frozen=True)
class FittedRegressor:
    """A fitted regressor, with the interface of `Models`.

    It was fitted to the embedded distinct points, categories as indicator columns, and to the mean response at each, standardised
    by the mean `low` and the standard deviation `unit`.
    """

    regressor: Any
    embedding: Embedding
    inputs: Floats
    response: Floats
    data: Aggregated
    low: float
    unit: float

    @property
    def index(self) -> NDArray[np.intp]:
        """Index of the distinct point of each evaluation."""
        return self.data.index

    @cached_property
    def _evaluated(self) -> tuple[Floats, Floats]:
        return self._predicted(self.inputs)

    def _predicted(self, embedded: Floats) -> tuple[Floats, Floats]:
        mean, error = self.regressor.predict(embedded, return_std=True)
        mean, error = np.asarray(mean, dtype=float).ravel(), np.asarray(error, dtype=float).ravel()
        if mean.shape != (len(embedded),) or error.shape != mean.shape:
            raise SolverError(f"surrogate={self.regressor!r} must predict a mean and a standard deviation for each row")
        return self.low + self.unit * mean, self.unit * np.maximum(error, 0.0)

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the predicted response at model inputs, and its standard deviation; shapes (m,)."""
        return self._predicted(self.embedding.transform(inputs))

    def mean_evaluated(self) -> Floats:
        """Return the predicted response at each evaluation's point; shape (N,)."""
        return self._evaluated[0][self.index]

    def error_evaluated(self, at: int | None = None) -> Floats:
        """Return the standard deviation predicted at each evaluation's point, or at that of a single evaluation."""
        error = self._evaluated[1][self.index]
        return error if at is None else error[at : at + 1]

    @property
    def noise(self) -> float:
        """The standard deviation of the noise: by replicates if there are any, otherwise by the model's residuals."""
        repeats = len(self.index) - len(self.data.mean)
        return float(np.sqrt(self.data.within / repeats if repeats else np.mean((self.data.mean - self._evaluated[0]) ** 2)))

    def believe(self, inputs: Floats) -> FittedRegressor:
        """Return the regressor refitted with its own predictions at further model inputs as data."""
        further = self.embedding.transform(inputs)
        responses = np.append(self.response, (self._predicted(further)[0] - self.low) / self.unit)
        return replace(self, regressor=_fitted(self.regressor, np.vstack([self.inputs, further]), responses))


class RegressorModel:
    """The model of a search: clones of a regressor, each fitted to the evaluations so far; see `SearchModel`.

    It must predict standard deviations. Random numbers of a fit depend on the seed and the number of reported values.
    """

    def __init__(self, domain: Domain, regressor: Any, max_points: int, seed: int):
        self.domain, self.max_points, self._seed = domain, max_points, seed
        try:
            self._regressor = clone(regressor)
            parameters = inspect.signature(regressor.predict).parameters
        except (TypeError, AttributeError):
            raise SolverError(f"surrogate={regressor!r} is not an estimator; use an instance of a regressor") from None
        if "return_std" not in parameters and all(p.kind is not p.VAR_KEYWORD for p in parameters.values()):
            raise SolverError(
                f"surrogate={regressor!r} predicts no standard deviation; use a regressor with "
                "predict(X, return_std=True), such as GaussianProcessRegressor, or BayesianRidge"
            )

    def sweeps_due(self, n_told: int, n_pending: int) -> int:
        """Return 0: a fit depends only on the reported values, and is reused until the next report."""
        return 0

    def fit(self, told: Evaluations, noise: Noisiness, rng: np.random.Generator, sweeps: int) -> ModelFit:
        """Fit a clone to the successful evaluations, or to `max_points` of their points."""
        rows = told.rows(self.domain, noise, self.max_points)
        data = aggregate(told.points[rows], told.values[rows])
        embedding, embedded = Embedding.of_points(self.domain, data.X)
        low, unit = float(np.mean(data.mean)), float(np.std(data.mean)) or 1.0
        response = (data.mean - low) / unit
        regressor = clone(self._regressor)
        _seed(regressor, np.random.default_rng([self._seed, _FIT_STREAM, len(told)]))
        models = FittedRegressor(_fitted(regressor, embedded, response), embedding, embedded, response, data, low, unit)
        return told.fitted(rows, models)

    def state(self) -> dict[str, Any]:
        """Return an empty state: the history determines each fit."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Do nothing: there is no state."""


def _seed(regressor: Any, rng: np.random.Generator) -> None:
    """Set each `random_state` of an estimator that is None to a random seed."""
    for name, value in sorted(regressor.get_params().items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            regressor.set_params(**{name: int(rng.integers(2**31))})


def _fitted(regressor: Any, X: Floats, y: Floats) -> Any:
    """Return a fitted clone; raise NotPositiveDefiniteError if its linear algebra fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it warns after each suggestion of hyperparameters at a bound
        try:
            return clone(regressor).fit(X, y)
        except np.linalg.LinAlgError as error:
            raise NotPositiveDefiniteError(f"{type(regressor).__name__}: {error}") from error
