"""Rows that a fitted model has not seen, and their score, also in draws of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    mean_squared_error,
    root_mean_squared_error,
)
from sklearn.utils import get_tags

from spotsvm.common.compat import check_method_params, safe_indexing, safe_split, scorer_parts
from spotsvm.common.notices import Notice, gathered, once, untold
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.luck.draws import blocks_of
from spotsvm.luck.scores import as_vector
from spotsvm.trials.metrics import mean_class_accuracy

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_RESPONSES = ("predict", "predict_proba", "decision_function")


def _class_accuracy(y: NDArray[Any], predicted: NDArray[Any]) -> Any:
    code = np.unique(y, return_inverse=True)[1]
    return np.mean(np.bincount(code, weights=y == predicted) / np.bincount(code))


def _errors(y: NDArray[Any], predicted: NDArray[Any]) -> Floats:
    errors: Floats = y.astype(np.float64) - predicted.astype(np.float64)  # unsigned numbers would wrap round
    return errors


#: metrics of predictions without scikit-learn's checks, which would take most of the time of drawing rows
_UNCHECKED: dict[Any, Callable[[NDArray[Any], NDArray[Any]], Any]] = {
    accuracy_score: lambda y, predicted: np.mean(y == predicted),
    balanced_accuracy_score: _class_accuracy,
    mean_class_accuracy: _class_accuracy,
    mean_absolute_error: lambda y, predicted: np.mean(np.abs(_errors(y, predicted))),
    mean_squared_error: lambda y, predicted: np.mean(_errors(y, predicted) ** 2),
    root_mean_squared_error: lambda y, predicted: np.sqrt(np.mean(_errors(y, predicted) ** 2)),
}


class RememberedPredictions(BaseEstimator):
    """A fitted estimator's responses to the rows X, looked up by row number."""

    #: the error of the estimator, if it cannot respond to the rows
    failure: ValueError | None = None
    #: what the predictions tell about the data
    notices: tuple[Notice, ...] = ()

    def __init__(self, estimator: Any, X: Any):
        self.estimator = estimator
        self.X = X

    def __getattr__(self, name: str) -> Any:
        if name == "classes_":
            return self.estimator.classes_
        if name not in _RESPONSES:
            raise AttributeError(name)
        respond = getattr(self.estimator, name)
        try:
            with gathered() as told:
                responses = np.asarray(respond(self.X))
        except ValueError as error:
            self.failure = error
            raise
        self.notices = once([*self.notices, *told])
        return self.answer(name, responses)

    def answer(self, name: str, responses: NDArray[Any]) -> Callable[[Rows], NDArray[Any]]:
        """Return the method `name`, which looks up these responses by row number."""

        def lookup(rows: Rows) -> NDArray[Any]:
            return responses[rows]

        lookup.__name__ = name  # scorers read the name
        setattr(self, name, lookup)
        return lookup

    @property
    def asked(self) -> set[str]:
        """The names of the methods that were called."""
        return set(_RESPONSES) & set(vars(self))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


class Unseen:
    """Rows, each beside a fitted model that has not seen it: held-out rows, or the test rows of all folds.

    `tables` has X for each model, in the order of its `rows`; `y` goes model by model; `score_params` are further arguments of
    the scorer.
    """

    def __init__(
        self,
        models: Sequence[Any],
        rows: Sequence[Rows],
        tables: Sequence[Any],
        y: Any,
        groups: Any = None,
        block: int = 1,
        score_params: Mapping[str, Any] | None = None,
    ):
        order = np.concatenate(list(rows))
        self.y = safe_indexing(y, order)
        self.score_params = {name: np.asarray(value)[order] for name, value in (score_params or {}).items()}
        self.groups = None if groups is None else np.asarray(groups)[order]
        self.block = block
        self._parts = [RememberedPredictions(model, X) for model, X in zip(models, tables, strict=True)]
        self._starts = np.cumsum([0, *map(len, rows)])

    @classmethod
    def held_out(
        cls, model: Any, X: Any, y: Any, groups: Any = None, block: int = 1, score_params: Mapping[str, Any] | None = None
    ) -> Unseen:
        """Return rows held out, with a fitted model."""
        return cls([model], [np.arange(len(y))], [X], y, groups, block, score_params)

    @classmethod
    def out_of_fold(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[tuple[Rows, Rows]],
        groups: Any = None,
        block: int = 1,
        n_jobs: int | None = 1,
        fit_params: Mapping[str, Any] | None = None,
        score_params: Mapping[str, Any] | None = None,
    ) -> Unseen:
        """Return the test rows of splits, each with a clone that is fitted on the training rows."""

        def fitted(rows: Rows) -> Any:
            with untold():
                return clone(estimator).fit(*safe_split(estimator, X, y, rows), **check_method_params(X, fit_params or {}, rows))

        with interrupts_kept_from_workers():
            models = Parallel(n_jobs=n_jobs)(delayed(fitted)(train) for train, _ in splits)
        tables = [safe_split(estimator, X, y, test, train)[0] for train, test in splits]
        return cls(models, [test for _, test in splits], tables, y, groups, block, score_params)

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def units(self) -> float:
        """Number of independent rows, groups or blocks."""
        return float(len(self) if self.unit is None else len(np.unique(self.unit)))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the predictions so far tell about the data of the rows."""
        return once(notice for part in self._parts for notice in part.notices)

    @property
    def model(self) -> Any:
        """The model, or the model of the first fold."""
        return self._parts[0].estimator

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """The prediction of each row."""
        sizes = np.diff(self._starts)
        return np.concatenate([np.asarray(part.predict(np.arange(n))) for part, n in zip(self._parts, sizes, strict=True)])

    @cached_property
    def _truth(self) -> NDArray[Any]:
        return as_vector(np.asarray(self.y))

    @cached_property
    def _predicted(self) -> NDArray[Any]:
        return as_vector(self.predictions)

    @property
    def weights(self) -> Floats | None:
        """The weights of rows in the score; None if it has other arguments as well."""
        if not self.score_params:
            return np.ones(len(self))
        return np.asarray(self.score_params["sample_weight"], float) if [*self.score_params] == ["sample_weight"] else None

    @cached_property
    def _together(self) -> RememberedPredictions:
        every = RememberedPredictions(self.model, None)
        every.answer("predict", self.predictions)
        return every

    @property
    def unit(self) -> Any:
        """Label of the group or block of each row; None for independent rows. Lengths of blocks differ by at most one row."""
        if self.groups is not None or self.block == 1:
            return self.groups
        return blocks_of(len(self), self.block)

    def in_draws(self, statistic: Callable[[Rows], float], counts: NDArray[Any]) -> Floats:
        """Return a statistic in each draw; `counts` has how often each row is drawn. nan without rows or a second class."""
        classify = get_tags(self.model).estimator_type == "classifier"
        found = np.full(len(counts), nan)
        code = np.unique(self._truth, return_inverse=True)[1] if classify else None
        with config_context(assume_finite=True, skip_parameter_validation=True):  # all rows were scored with checks before
            for k, often in enumerate(counts):
                rows = np.repeat(np.arange(len(self)), often.astype(np.intp))
                if len(rows) and (code is None or np.ptp(code[rows]) > 0):
                    found[k] = statistic(rows)
        return found

    def score(self, scorer: Any, rows: Rows | None = None) -> float:
        """Return the score of rows, by default of all rows; nan if it is undefined, for example because a class is missing.

        Predictions are scored at once. Decisions and probabilities of different models need not share a scale: theirs is the mean
        over models, weighted by rows. ValueError if a model cannot predict.
        """
        rows = np.arange(len(self)) if rows is None else rows
        parts = None if self.score_params or not get_config()["assume_finite"] else scorer_parts(scorer)
        metric = None if parts is None or self._truth.ndim > 1 else _UNCHECKED.get(parts.function)
        if parts is not None and metric is not None and not parts.kwargs and parts.methods == ("predict",):
            return float(parts.sign * metric(self._truth[rows], self._predicted[rows]))

        def scored(part: RememberedPredictions, some: Rows, start: int = 0) -> float:
            params = {name: value[some] for name, value in self.score_params.items()}
            return _score(scorer, part, some - start, safe_indexing(self.y, some), params)

        if len(self._parts) == 1:
            return scored(self._parts[0], rows)
        if not self._parts[0].asked:  # a first score shows which responses the scorer needs
            scored(self._parts[0], np.arange(self._starts[1]))
        if self._parts[0].asked == {"predict"}:
            return scored(self._together, rows)
        which = np.searchsorted(self._starts, rows, side="right") - 1
        own = self.weights
        scores, weights = [], []
        for k, part in enumerate(self._parts):
            mine = rows[which == k]
            score = scored(part, mine, int(self._starts[k])) if len(mine) else nan
            scores += [score] if np.isfinite(score) else []
            weights += [len(mine) if own is None else own[mine].sum()] if np.isfinite(score) else []
        return float(np.average(scores, weights=weights)) if scores else nan

    def mean_of_parts(self, scorer: Any) -> float:
        """Return the mean over the models of the score of their own rows; nan if one is undefined."""
        return float(np.mean([self.score(scorer, np.arange(a, b)) for a, b in zip(self._starts, self._starts[1:], strict=False)]))


def _score(scorer: Any, remembered: RememberedPredictions, rows: Rows, y: Any, params: Mapping[str, Any]) -> float:
    """Return the score; nan if it is undefined, for example because a class is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(remembered, rows, y, **params))
        except ValueError:
            if remembered.failure is not None:  # the error is not caused by too few rows
                raise
            return nan
