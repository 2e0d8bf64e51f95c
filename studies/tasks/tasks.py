"""The tuning tasks on which searches are compared: support vector machines on small data, and functions with known minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from spotsvm.errors import DataError
from studies.tasks.data import tuning_set
from studies.tasks.stormwater import StormwaterError
from studies.tasks.svm import ClassificationError, RegressionError, RelevanceError, UnbalancedError
from studies.tasks.synthetic import BRANIN_MINIMUM, HARTMANN6_MINIMUM, SyntheticFunction, branin, hartmann6, rosenbrock

#: the number beside a noisy value by which a setting is judged
TRUE_VALUE = "true_value"


class _Tuned(Protocol):
    """What a task needs: an error to be minimised, and where."""

    @property
    def space(self) -> dict[str, Any]: ...

    @property
    def default(self) -> dict[str, float] | None: ...

    def __call__(self, params: Mapping[str, Any], seed: int = 0) -> float: ...


class _Noisy(_Tuned, Protocol):
    """What a noisy task needs besides: what a setting is really worth."""

    def truth(self, params: Mapping[str, Any]) -> float: ...


@dataclass(frozen=True)
class TuningTask:
    """A function of named parameters, to be minimised; what `compare` takes as an objective.

    Attributes
    ----------
    name : str
        Its name.
    error : callable
        Takes parameters and a seed, which matters only where there is noise; has `space`, and `truth` where there is noise.
    noisy : bool
        Whether the error has noise; an evaluation then also gives the true value.
    optimum : float or None
        The known minimum.

    Examples
    --------
    >>> task = make_task("branin_noisy")
    >>> sorted(task({"x0": 3.141593, "x1": 2.275}, seed=1))
    ['true_value', 'value']
    """

    name: str
    error: _Tuned
    noisy: bool = False
    optimum: float | None = None

    @property
    def space(self) -> dict[str, Any]:
        """What is searched, as `Study` takes it."""
        return self.error.space

    @property
    def default(self) -> dict[str, float] | None:
        """The machine's own parameters, None of a function."""
        return self.error.default

    def truth(self, params: Mapping[str, Any]) -> float:
        """Return what a setting is really worth."""
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
    """Make a task by its name, one of `TASKS`.

    Raises
    ------
    DataError
        If its data are not there.
    KeyError
        If there is no such task.
    """
    return _MAKERS[name](name)


def make_tasks(names: tuple[str, ...] = TASKS) -> tuple[list[TuningTask], dict[str, str]]:
    """Make the tasks whose data are there; of the others give why they are left out, by name."""
    made, left_out = [], {}
    for name in names:
        try:
            made.append(make_task(name))
        except DataError as error:
            left_out[name] = str(error)
    return made, left_out
