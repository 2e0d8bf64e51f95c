"""The tuning tasks of support vector machines: errors as functions of an SVM's parameters, also for a tank under rain."""

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

    The decision values become shares by softmax, and the class with the largest ratio of share to cutoff wins. The cutoffs add up
    to 1, so the last cutoff follows from the others.
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


_LENGTH = 4000
_ROWS = 260


def simulated_rain(rng: np.random.Generator) -> Floats:
    """Return bursts of rain: dry and wet spells of random length, each wet one with an intensity of its own."""
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
    """Return the level, 0 to 100, of a tank that fills through a quick and a slow reservoir and drains as its root."""
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
    """Return the sum of the last window + 1 values, each weighed by the decay to the power of its age."""
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

#: What one would take without tuning: the middle of Table 4's region for the rain, and for the machine the defaults of the R
#: package e1071, which R's users of SVMs begin with: C = 1, epsilon = 0.1, gamma = 1 / (number of features). The paper does not
#: say which setting its hand-tuning came to.
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

    The task replaces the stormwater problem of Koch et al. 2011, whose data are not public. Its nine parameters are the decay,
    the window and the number of past values of each of two leaky sums of the rain, and the SVR's gamma, epsilon and C.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.
    """

    _train = np.linspace(200, 1900, _ROWS).astype(int)
    _later = np.linspace(2100, 3900, _ROWS).astype(int)

    @property
    def space(self) -> dict[str, Any]:
        """What is searched."""
        return dict(REGION)

    @property
    def default(self) -> dict[str, float]:
        """SVR's own parameters, and of the rain the middle of what is searched."""
        return dict(BY_HAND)

    @cached_property
    def _series(self) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(11)
        rain = simulated_rain(rng)
        level = tank_level(rain) + rng.normal(0.0, 0.4, _LENGTH)
        return rain / rain.std(), level

    def _features(self, params: Params) -> tuple[Floats, Floats]:
        """Return the training rows and the later ones."""
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
        known = level[self._train]
        rows, later_rows = self._features(params)
        machine = SVR(C=params["C"], gamma=params["gamma"], epsilon=params["epsilon"])
        fitted(machine, rows, (known - known.mean()) / known.std())
        predicted = machine.predict(later_rows) * known.std() + known.mean()
        return float(np.sqrt(np.mean((predicted - level[self._later]) ** 2)))
