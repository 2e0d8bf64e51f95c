"""Tasks whose models learn in steps: epochs of a perceptron, rounds of boosting, rows of a support vector machine."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


class StepTask(ABC):
    """An objective that reports the loss after each step and returns the last loss; the data depend on `seed`."""

    #: name in the tables
    name: str
    #: name of a step
    unit: str
    #: the steps that are reported
    steps: tuple[int, ...]
    #: the search space
    space: dict[str, Any]

    @abstractmethod
    def losses(self, params: dict[str, Any], seed: int) -> Iterator[float]:
        """Yield the loss on the validation rows after each step."""

    def __call__(self, params: dict[str, Any], trial: Any) -> float:
        """Return the loss after the last step, or after the step at which the trial should stop."""
        loss = np.inf
        for step, loss in zip(self.steps, self.losses(params, trial.seed), strict=True):
            trial.report(step, loss)
            if trial.should_stop():
                break
        return loss


class PerceptronTask(StepTask):
    """Epochs of a multi-layer perceptron: the log loss on digits, with 400 training rows."""

    name, unit = "perceptron", "epochs"
    steps = tuple(range(1, 31))
    space = {
        "learning_rate_init": loguniform(1e-4, 1e-1),
        "alpha": loguniform(1e-5, 1e1),
        "hidden": randint(4, 65),
        "momentum": uniform(0.0, 0.99),
    }

    def __init__(self, seed: int):
        X, y = load_digits(return_X_y=True)
        learn, test, self._y, self._y_test = train_test_split(X, y, train_size=400, test_size=800, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(learn)
        self._X, self._X_test = scaler.transform(learn), scaler.transform(test)

    def losses(self, params: dict[str, Any], seed: int) -> Iterator[float]:
        """Yield the log loss after each epoch."""
        named = {name: value for name, value in params.items() if name != "hidden"}
        model = MLPClassifier((params["hidden"],), solver="sgd", batch_size=32, random_state=seed % 2**31, **named)
        for _ in self.steps:
            model.partial_fit(self._X, self._y, classes=np.arange(10))
            right = model.predict_proba(self._X_test)[np.arange(len(self._y_test)), self._y_test]
            yield float(-np.mean(np.log(np.maximum(right, 1e-4))))


class BoostingTask(StepTask):
    """Rounds of gradient boosting: the squared error on Friedman's function with noise, with 400 training rows."""

    name, unit = "boosting", "rounds"
    steps = tuple(range(5, 105, 5))
    space = {
        "learning_rate": loguniform(1e-2, 1.0),
        "max_leaf_nodes": randint(2, 33),
        "min_samples_leaf": randint(2, 60),
        "l2_regularization": loguniform(1e-3, 1e2),
    }

    def __init__(self, seed: int):
        X, y = make_friedman1(1200, noise=1.0, random_state=seed)
        self._X, self._y, self._X_test, self._y_test = X[:400], y[:400], X[400:], y[400:]

    def losses(self, params: dict[str, Any], seed: int) -> Iterator[float]:
        """Yield the mean squared error after every fifth round."""
        model = HistGradientBoostingRegressor(early_stopping=False, warm_start=True, random_state=seed % 2**31, **params)
        for rounds in self.steps:
            model.set_params(max_iter=rounds).fit(self._X, self._y)
            yield float(np.mean((self._y_test - model.predict(self._X_test)) ** 2))


class RowsTask(StepTask):
    """Rows of a support vector machine: its error rate on 800 digits, with 40 to 800 training rows."""

    name, unit = "rows", "rows"
    steps = (40, 60, 90, 130, 190, 270, 390, 560, 800)
    space = {"C": loguniform(1e-2, 1e4), "gamma": loguniform(1e-6, 1e1)}

    def __init__(self, seed: int):
        X, y = load_digits(return_X_y=True)
        self._X, self._X_test, self._y, self._y_test = train_test_split(
            X / 16.0, y, train_size=800, test_size=800, random_state=seed, stratify=y
        )

    def losses(self, params: dict[str, Any], seed: int) -> Iterator[float]:
        """Yield the error rate for increasing numbers of rows."""
        for rows in self.steps:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = SVC(max_iter=20_000, **params).fit(self._X[:rows], self._y[:rows])
            yield float(np.mean(model.predict(self._X_test) != self._y_test))


TASKS = {task.name: task for task in (PerceptronTask, BoostingTask, RowsTask)}
