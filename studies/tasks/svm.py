"""The tuning tasks of support vector machines: errors as functions of the parameters, also for the level of a tank."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.svm import SVC, SVR

from spotsvm.studies.common.data import Floats, Params, Split
from spotsvm.studies.tasks.data import TuningSet

#: limits the time of hopeless settings; unlike a time limit, it gives the same value on any machine
MAX_ITERATIONS = 20_000
FOLDS = 5
#: number of splits for the true value of a noisy error, and their first seed, which is above all seeds of trials
TRUE_SPLITS, FIRST_TRUE_SEED = 25, 1_000_000_000


def fitted(machine: Any, X: Floats, y: Floats) -> Any:
    """Fit a model with a cap on its iterations, without the warning at the cap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.set_params(max_iter=MAX_ITERATIONS).fit(X, y)


class ClassificationError:
    """Error rate of an SVC with an RBF kernel in 5-fold cross-validation, as a function of C and gamma."""

    def __init__(self, data: TuningSet):
        self._data = data

    @cached_property
    def _folds(self) -> list[Split]:
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(*self._data))

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        return {"C": loguniform(2.0**-5, 2.0**15), "gamma": loguniform(2.0**-15, 2.0**3)}

    @property
    def default(self) -> dict[str, float]:
        """SVC's default parameters; for scaled features gamma="scale" is 1 / (number of features)."""
        return {"C": 1.0, "gamma": 1 / self._data.X.shape[1]}

    def _scaled(self, params: Params) -> tuple[Floats, float]:
        """Return the features and the gamma for the kernel."""
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
    """The same with one gamma for each feature (automatic relevance determination), as a function of C and all gammas."""

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        features = self._data.X.shape[1]
        return {"C": loguniform(2.0**-3, 2.0**10)} | {f"gamma{i}": loguniform(2.0**-12, 2.0**2) for i in range(features)}

    @property
    def default(self) -> dict[str, float]:
        """SVC's default parameters: the same gamma for all features."""
        features = self._data.X.shape[1]
        return {"C": 1.0} | {f"gamma{i}": 1 / features for i in range(features)}

    def _scaled(self, params: Params) -> tuple[Floats, float]:
        # exp(-sum gamma_i (x_i - z_i)^2): a feature's gamma is the square of its scale
        return self._data.X * np.sqrt([params[f"gamma{i}"] for i in range(self._data.X.shape[1])]), 1.0


class RegressionError:
    """Root mean squared error of an SVR in 5-fold cross-validation, as a function of C, gamma and epsilon.

    The error is in units of the target. The SVR is trained on the standardised target, to which epsilon refers.
    """

    def __init__(self, data: TuningSet):
        self._X, self._unit = data.X, float(data.y.std())
        self._z = (data.y - data.y.mean()) / self._unit

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        return {"C": loguniform(2.0**-5, 2.0**10), "gamma": loguniform(2.0**-15, 2.0**3), "epsilon": loguniform(2.0**-8, 1.0)}

    @property
    def default(self) -> dict[str, float]:
        """SVR's default parameters."""
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
    """1 - mean class accuracy on a random fifth of the rows, as a noisy function of C, gamma, class weights and cutoffs.

    Softmax turns the decision values into shares, and the class with the largest ratio of share to cutoff is predicted. The
    cutoffs sum to 1, so the last cutoff follows from the others.
    """

    def __init__(self, data: TuningSet):
        self._data = data
        self._classes = np.unique(data.y)

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        k = len(self._classes)
        weights = {f"weight{i}": uniform(0.05, 0.95) for i in range(k)}
        cutoffs = {f"cutoff{i}": uniform(0.01, 0.39) for i in range(k - 1)}
        return {"C": loguniform(1.0, 2.0**8), "gamma": loguniform(2.0**-10, 2.0), **weights, **cutoffs}

    @property
    def default(self) -> dict[str, float]:
        """SVC's default parameters, with weight 1 and the same cutoff for all classes."""
        k = len(self._classes)
        weights, cutoffs = {f"weight{i}": 1.0 for i in range(k)}, {f"cutoff{i}": 1 / k for i in range(k - 1)}
        return {"C": 1.0, "gamma": 1 / self._data.X.shape[1], **weights, **cutoffs}

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting on the split with this seed."""
        X, y = self._data
        k = len(self._classes)
        weights = {label: params[f"weight{i}"] for i, label in enumerate(self._classes)}
        cutoffs = np.array([params[f"cutoff{i}"] for i in range(k - 1)])
        cutoffs = np.append(cutoffs, max(1.0 - cutoffs.sum(), 0.01))
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
        machine = fitted(SVC(C=params["C"], gamma=params["gamma"], class_weight=weights), X[train], y[train])
        decisions = machine.decision_function(X[test])
        # the divisor of the softmax is the same for all classes, so it does not change the prediction
        shares = np.exp(decisions - decisions.max(axis=1, keepdims=True))
        predicted = self._classes[np.argmax(shares / cutoffs, axis=1)]
        return 1.0 - float(np.mean([np.mean(predicted[y[test] == label] == label) for label in self._classes]))

    def truth(self, params: Params) -> float:
        """Return the true value of a setting: the mean over splits that no trial uses."""
        return float(np.mean([self(params, FIRST_TRUE_SEED + k) for k in range(TRUE_SPLITS)]))


_LENGTH = 4000
_ROWS = 260


def simulated_rain(rng: np.random.Generator) -> Floats:
    """Return bursts of rain: dry and wet spells of random length, each wet spell with its own intensity."""
    rain = np.zeros(_LENGTH)
    wet, intensity = False, 0.0
    for t in range(_LENGTH):
        if wet:
            wet = rng.random() > 0.06
        elif rng.random() < 0.015:
            wet, intensity = True, rng.gamma(0.9, 1.0)
        if wet:
            rain[t] = intensity * rng.gamma(1.5, 1.0)
    return rain


def tank_level(rain: Floats) -> Floats:
    """Return the level, 0 to 100, of a tank with a quick and a slow inflow and an outflow by the root of the level."""
    delay, drain = 6.0, 0.15
    levels = np.zeros(len(rain))
    quick = slow = level = 0.0
    for t, fallen in enumerate(rain):
        quick += (fallen - quick) / delay
        slow += (quick - slow) / (3.0 * delay)
        inflow = 0.6 * quick + 0.4 * slow
        level = level + inflow - drain * np.sqrt(max(level, 0.0)) - 0.02 * max(level - 20.0, 0.0)
        levels[t] = level = min(max(level, 0.0), 100.0)
    return np.asarray(levels * (100.0 / levels.max()))


def leaky(rain: Floats, decay: float, window: int) -> Floats:
    """Return the sum of the last window + 1 values, weighted by the decay to the power of their ages."""
    return np.convolve(rain, decay ** np.arange(window + 1))[: len(rain)]


#: Table 4 of Koch et al. 2011
REGION: dict[str, Any] = {
    "D1": randint(2, 61),
    "D2": randint(2, 61),
    "lambda1": uniform(1e-5, 0.3 - 1e-5),
    "lambda2": uniform(1e-5, 0.3 - 1e-5),
    "W1": randint(50, 121),
    "W2": randint(50, 121),
    "gamma": uniform(0.005, 0.295),
    "epsilon": uniform(0.005, 0.295),
    "C": uniform(1.0, 9.0),
}

#: a setting without tuning: the middle of Table 4's region for the rain, and for the SVR the defaults of the R package e1071:
#: C = 1, epsilon = 0.1, gamma = 1 / (number of features). The paper does not print its hand-tuned setting.
BY_HAND: dict[str, Any] = {
    "D1": 31,
    "D2": 31,
    "lambda1": 0.15,
    "lambda2": 0.15,
    "W1": 85,
    "W2": 85,
    "gamma": 1 / 62,
    "epsilon": 0.1,
    "C": 1.0,
}


class StormwaterError:
    """Root mean squared error of an SVR that predicts a simulated tank's level from rain, on a later block of time.

    In place of the stormwater problem of Koch et al. 2011, section 3.2.1. Parameters: decay, window and number of past values of
    two leaky sums of the rain; gamma, epsilon and C.
    """

    _train = np.linspace(200, 1900, _ROWS).astype(int)
    _later = np.linspace(2100, 3900, _ROWS).astype(int)

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        return dict(REGION)

    @property
    def default(self) -> dict[str, float]:
        """SVR's default parameters, and the middle of the region for the rain."""
        return dict(BY_HAND)

    @cached_property
    def _series(self) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(11)
        rain = simulated_rain(rng)
        level = tank_level(rain) + rng.normal(0.0, 0.4, _LENGTH)
        return rain / rain.std(), level

    def _features(self, params: Params) -> tuple[Floats, Floats]:
        """Return the features of the training rows and of the later rows."""
        parts = []
        for i in (1, 2):
            flow = leaky(self._series[0], params[f"lambda{i}"], params[f"W{i}"])
            flow = (flow - flow[200:1900].mean()) / flow[200:1900].std()
            past = np.arange(params[f"D{i}"])
            parts.append([flow[rows[:, None] - past] for rows in (self._train, self._later)])
        return np.hstack([part[0] for part in parts]), np.hstack([part[1] for part in parts])

    def __call__(self, params: Params, seed: int = 0) -> float:
        """Evaluate a setting."""
        level = self._series[1]
        target = level[self._train]
        rows, later_rows = self._features(params)
        machine = SVR(C=params["C"], gamma=params["gamma"], epsilon=params["epsilon"])
        fitted(machine, rows, (target - target.mean()) / target.std())
        predicted = machine.predict(later_rows) * target.std() + target.mean()
        return float(np.sqrt(np.mean((predicted - level[self._later]) ** 2)))
