"""What is tuned in the tuning tasks of support vector machines: errors as functions of the machine's parameters."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.svm import SVC, SVR

from spotsvm.studies.common.data import Floats, Params, Split
from spotsvm.studies.tasks.data import TuningSet

#: bounds the time of hopeless settings, and, unlike a limit on time, gives the same value everywhere
MAX_ITERATIONS = 20_000
FOLDS = 5
#: splits behind the true value of a noisy error, and a number above all seeds of trials, so that no search meets them
TRUE_SPLITS, FIRST_TRUE_SEED = 25, 1_000_000_000


def fitted(machine: Any, X: Floats, y: Floats) -> Any:
    """Fit a machine, and let it stop at its cap without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.set_params(max_iter=MAX_ITERATIONS).fit(X, y)


class ClassificationError:
    """Share of rows that an SVC with an RBF kernel gets wrong in 5-fold cross-validation, over C and gamma."""

    def __init__(self, data: TuningSet):
        self._data = data

    @cached_property
    def _folds(self) -> list[Split]:
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(*self._data))

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        return {"C": loguniform(2.0**-5, 2.0**15), "gamma": loguniform(2.0**-15, 2.0**3)}

    @property
    def default(self) -> dict[str, float]:
        """SVC's own parameters; of scaled features gamma="scale" is 1 / (number of features)."""
        return {"C": 1.0, "gamma": 1 / self._data.X.shape[1]}

    def _scaled(self, params: Params) -> tuple[Floats, float]:
        """Return the features as the kernel is to see them, and its gamma."""
        return self._data.X, params["gamma"]

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting."""
        X, gamma = self._scaled(params)
        y = self._data.y
        wrong = 0
        for train, test in self._folds:
            machine = fitted(SVC(C=params["C"], gamma=gamma), X[train], y[train])
            wrong += int(np.count_nonzero(machine.predict(X[test]) != y[test]))
        return wrong / len(y)


class RelevanceError(ClassificationError):
    """The same with one gamma a feature (automatic relevance determination), over C and all gammas."""

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        features = self._data.X.shape[1]
        return {"C": loguniform(2.0**-3, 2.0**10)} | {f"gamma{i}": loguniform(2.0**-12, 2.0**2) for i in range(features)}

    @property
    def default(self) -> dict[str, float]:
        """SVC's own parameters: one gamma for all features."""
        features = self._data.X.shape[1]
        return {"C": 1.0} | {f"gamma{i}": 1 / features for i in range(features)}

    def _scaled(self, params: Params) -> tuple[Floats, float]:
        # exp(-sum gamma_i (x_i - z_i)^2): a feature's gamma is the square of its scale
        return self._data.X * np.sqrt([params[f"gamma{i}"] for i in range(self._data.X.shape[1])]), 1.0


class RegressionError:
    """Root mean squared error of an SVR in 5-fold cross-validation, in the target's units, over C, gamma and epsilon.

    The machine is trained on the standardised target, to which epsilon refers.
    """

    def __init__(self, data: TuningSet):
        self._X, self._unit = data.X, float(data.y.std())
        self._z = (data.y - data.y.mean()) / self._unit

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        return {"C": loguniform(2.0**-5, 2.0**10), "gamma": loguniform(2.0**-15, 2.0**3), "epsilon": loguniform(2.0**-8, 1.0)}

    @property
    def default(self) -> dict[str, float]:
        """SVR's own parameters."""
        return {"C": 1.0, "gamma": 1 / self._X.shape[1], "epsilon": 0.1}

    @cached_property
    def _folds(self) -> list[Split]:
        return list(KFold(FOLDS, shuffle=True, random_state=0).split(self._X))

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting."""
        squares = 0.0
        for train, test in self._folds:
            machine = fitted(SVR(**params), self._X[train], self._z[train])
            squares += float(np.sum((machine.predict(self._X[test]) - self._z[test]) ** 2))
        return self._unit * float(np.sqrt(squares / len(self._z)))


class UnbalancedError:
    """1 - mean class accuracy on a random fifth of the rows, over C, gamma, weights of classes and cut-offs: noisy.

    The decision values become shares by softmax, and the class with the largest ratio of share to cut-off wins. The cut-offs
    add up to 1, so that the last one follows from the others.
    """

    def __init__(self, data: TuningSet):
        self._data = data
        self._classes = np.unique(data.y)

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        k = len(self._classes)
        weights = {f"weight{i}": uniform(0.05, 0.95) for i in range(k)}
        cutoffs = {f"cutoff{i}": uniform(0.01, 0.39) for i in range(k - 1)}
        return {"C": loguniform(1.0, 2.0**8), "gamma": loguniform(2.0**-10, 2.0), **weights, **cutoffs}

    @property
    def default(self) -> dict[str, float]:
        """SVC's own parameters: all classes weigh 1 and have the same cut-off."""
        k = len(self._classes)
        weights, cutoffs = {f"weight{i}": 1.0 for i in range(k)}, {f"cutoff{i}": 1 / k for i in range(k - 1)}
        return {"C": 1.0, "gamma": 1 / self._data.X.shape[1], **weights, **cutoffs}

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting on the split that the seed draws."""
        X, y = self._data
        k = len(self._classes)
        weights = {label: params[f"weight{i}"] for i, label in enumerate(self._classes)}
        cutoffs = np.array([params[f"cutoff{i}"] for i in range(k - 1)])
        cutoffs = np.append(cutoffs, max(1.0 - cutoffs.sum(), 0.01))
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
        machine = fitted(SVC(C=params["C"], gamma=params["gamma"], class_weight=weights), X[train], y[train])
        decisions = machine.decision_function(X[test])
        # the softmax's divisor is common to a row, and does not change which ratio is the largest
        shares = np.exp(decisions - decisions.max(axis=1, keepdims=True))
        said = self._classes[np.argmax(shares / cutoffs, axis=1)]
        return 1.0 - float(np.mean([np.mean(said[y[test] == label] == label) for label in self._classes]))

    def truth(self, params: Params) -> float:
        """Return the mean over splits of their own: what a setting is really worth."""
        return float(np.mean([self(params, FIRST_TRUE_SEED + k) for k in range(TRUE_SPLITS)]))
