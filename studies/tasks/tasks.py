"""The tuning tasks on which searches are compared: support vector machines on small data, functions with known minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from scipy.stats import uniform

from spotsvm.errors import DataError
from spotsvm.studies.common.data import Floats
from spotsvm.studies.tasks.data import tuning_set
from spotsvm.studies.tasks.svm import ClassificationError, RegressionError, RelevanceError, StormwaterError, UnbalancedError

BRANIN_MINIMUM = 0.397887357729738
HARTMANN6_MINIMUM = -3.322368011415515

# Dixon and Szego 1978
_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_SCALE = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]], dtype=float
)
_CENTRE = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def branin(x: Floats) -> float:
    """Return Branin's function on [-5, 10] x [0, 15]; three minima of 0.397887."""
    bowl = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 / np.pi * x[0] - 6
    return float(bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10)


def hartmann6(x: Floats) -> float:
    """Return Hartmann's function of six variables on the unit cube; its minimum is -3.322368."""
    return -float(_ALPHA @ np.exp(-np.sum(_SCALE * (x - _CENTRE) ** 2, axis=1)))


def rosenbrock(x: Floats) -> float:
    """Return Rosenbrock's valley; its minimum is 0, where all coordinates are 1."""
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


class SyntheticFunction:
    """A function of x0, x1, ... in a box, with optional normal noise.

    `noise` is the standard deviation of the noise, which is drawn from the seed of the evaluation.
    """

    def __init__(self, function: Callable[[Floats], float], bounds: Sequence[tuple[float, float]], noise: float = 0.0):
        self._function, self._bounds, self._noise = function, tuple(bounds), noise

    @property
    def space(self) -> dict[str, Any]:
        """The search space."""
        return {f"x{i}": uniform(low, high - low) for i, (low, high) in enumerate(self._bounds)}

    @property
    def default(self) -> None:
        """None: a function has no default parameters."""

    def truth(self, params: Mapping[str, float]) -> float:
        """Return the value without noise."""
        return self._function(np.array([params[f"x{i}"] for i in range(len(self._bounds))]))

    def __call__(self, params: Mapping[str, float], seed: int = 0) -> float:
        """Evaluate a setting."""
        error = self._noise * float(np.random.default_rng([seed, 77]).standard_normal()) if self._noise else 0.0
        return self.truth(params) + error


#: the key of the true value beside a noisy value
TRUE_VALUE = "true_value"


class _Tuned(Protocol):
    """An error to minimise, with its search space."""

    @property
    def space(self) -> dict[str, Any]: ...

    @property
    def default(self) -> dict[str, float] | None: ...

    def __call__(self, params: Mapping[str, Any], seed: int = 0) -> float: ...


class _Noisy(_Tuned, Protocol):
    """A noisy error, with the true value of a setting."""

    def truth(self, params: Mapping[str, Any]) -> float: ...


@dataclass(frozen=True)
class TuningTask:
    """A function of named parameters to minimise; an objective for `compare`.

    `error` takes parameters and a seed, which only matters with noise; `truth` then gives the true value of each evaluation.
    `optimum` is the minimum if it is known.
    """

    name: str
    error: _Tuned
    noisy: bool = False
    optimum: float | None = None

    @property
    def space(self) -> dict[str, Any]:
        """The search space, as `Study` takes it."""
        return self.error.space

    @property
    def default(self) -> dict[str, float] | None:
        """The default parameters of the estimator; None for a function."""
        return self.error.default

    def truth(self, params: Mapping[str, Any]) -> float:
        """Return the true value of a setting."""
        return cast("_Noisy", self.error).truth(params) if self.noisy else self.error(params)

    def __call__(self, params: Mapping[str, Any], seed: int) -> float | dict[str, float]:
        """Evaluate a setting."""
        value = self.error(params, seed)
        return {"value": value, TRUE_VALUE: self.truth(params)} if self.noisy else value


_BRANIN_BOX = ((-5.0, 10.0), (0.0, 15.0))
_UNIT_BOX = ((0.0, 1.0),) * 6

_MAKERS: dict[str, Callable[[str], TuningTask]] = {
    "svc_rbf_breast_cancer": lambda name: TuningTask(name, ClassificationError(tuning_set("breast_cancer"))),
    "svc_rbf_ionosphere": lambda name: TuningTask(name, ClassificationError(tuning_set("ionosphere"))),
    "svc_rbf_sonar": lambda name: TuningTask(name, ClassificationError(tuning_set("sonar"))),
    "svc_rbf_german400": lambda name: TuningTask(name, ClassificationError(tuning_set("german400"))),
    "svr_diabetes": lambda name: TuningTask(name, RegressionError(tuning_set("diabetes"))),
    "svc_ard_heart": lambda name: TuningTask(name, RelevanceError(tuning_set("heart"))),
    "svc_ard_pima400": lambda name: TuningTask(name, RelevanceError(tuning_set("pima400"))),
    "svc_weights_satimage_imbalanced": lambda name: TuningTask(
        name, UnbalancedError(tuning_set("satimage_imbalanced")), noisy=True
    ),
    "stormwater_a": lambda name: TuningTask(name, StormwaterError()),
    "branin": lambda name: TuningTask(name, SyntheticFunction(branin, _BRANIN_BOX), optimum=BRANIN_MINIMUM),
    "hartmann6": lambda name: TuningTask(name, SyntheticFunction(hartmann6, _UNIT_BOX), optimum=HARTMANN6_MINIMUM),
    "rosenbrock5": lambda name: TuningTask(name, SyntheticFunction(rosenbrock, ((-2.048, 2.048),) * 5), optimum=0.0),
    "branin_noisy": lambda name: TuningTask(
        name, SyntheticFunction(branin, _BRANIN_BOX, noise=3.0), noisy=True, optimum=BRANIN_MINIMUM
    ),
    "hartmann6_noisy": lambda name: TuningTask(
        name, SyntheticFunction(hartmann6, _UNIT_BOX, noise=0.25), noisy=True, optimum=HARTMANN6_MINIMUM
    ),
}

TASKS: tuple[str, ...] = tuple(_MAKERS)


def make_task(name: str) -> TuningTask:
    """Make a task by its name, one of `TASKS`; DataError if its data are missing."""
    return _MAKERS[name](name)


def make_tasks(names: Sequence[str] = TASKS) -> tuple[list[TuningTask], dict[str, str]]:
    """Return the tasks with available data, and the reasons why the others are left out, by name."""
    made, left_out = [], {}
    for name in names:
        try:
            made.append(make_task(name))
        except DataError as error:
            left_out[name] = str(error)
    return made, left_out
