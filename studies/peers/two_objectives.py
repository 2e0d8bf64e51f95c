"""The suite of two objectives: functions of COCO's bbob-biobj, and error of an SVC against two costs of its predictions."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.svm import SVC

from spotsvm.errors import DataError
from spotsvm.solvers.pareto import non_dominated
from spotsvm.studies.common.data import Floats
from spotsvm.studies.peers.problems import Parameter, Params, Problem, parameters_of
from spotsvm.studies.tasks.data import tuning_set
from spotsvm.studies.tasks.svm import ClassificationError, fitted

SUITE = "biobj"
#: functions of bbob-biobj: sums of separable, ill-conditioned and multimodal functions in pairs
FUNCTIONS = (1, 8, 15, 22, 29, 36, 43, 50)
#: tasks of an SVC
N_SUPPORT, SECONDS = "svc_error_n_support", "svc_error_time"
_DIMENSIONS = (2, 3, 5, 10, 20)
_NAME = re.compile(r"biobj f(\d+) d(\d+) i(\d+)")
_BOX = 5.0
_ROWS, _REPEATS = 500, 3  # of a prediction whose time is measured
_MARGIN = 0.1  # of the reference beyond the worst values on the joint front


class ErrorAndCost(ClassificationError):
    """Error of an SVC with an RBF kernel, and its mean number of support vectors or the milliseconds that 500 rows take."""

    def __init__(self, timed: bool):
        super().__init__(tuning_set("breast_cancer"))
        self._timed = timed

    @cached_property
    def _many(self) -> Floats:
        return np.resize(self._data.X, (_ROWS, self._data.X.shape[1]))

    def values(self, params: Mapping[str, Any], seed: int = 0) -> list[float]:
        """Return both objectives of a setting."""
        wrong, costs = 0, []
        for train, test in self._folds:
            machine = fitted(SVC(**params), self._data.X[train], self._data.y[train])
            wrong += int(np.count_nonzero(machine.predict(self._data.X[test]) != self._data.y[test]))
            costs.append(1e3 * min(self._seconds(machine) for _ in range(_REPEATS)) if self._timed else machine.n_support_.sum())
        return [wrong / len(self._data.y), float(np.mean(costs))]

    def _seconds(self, machine: Any) -> float:
        began = time.thread_time()
        machine.predict(self._many)
        return time.thread_time() - began


def names(dimensions: Sequence[int], instances: Sequence[int]) -> list[str]:
    """Return the names of the functions in those of the dimensions that the suite has, and of the tasks."""
    known = [d for d in dimensions if d in _DIMENSIONS]
    return [f"biobj f{f} d{d} i{i}" for d in known for f in FUNCTIONS for i in instances] + [N_SUPPORT, SECONDS]


def make(name: str) -> Problem:
    """Return a function on the box [-5, 5], or a task; DataError if coco-experiment is not installed."""
    if name in (N_SUPPORT, SECONDS):
        task = ErrorAndCost(timed=name == SECONDS)
        return Problem(name, name, f"{SUITE}, SVC", parameters_of(task.space), task.values, n_objectives=2)
    match = _NAME.fullmatch(name)
    assert match is not None
    function, d, instance = map(int, match.groups())
    try:
        import cocoex
    except ImportError as error:
        raise DataError("COCO's functions need the package coco-experiment; pip install coco-experiment") from error
    suite = cocoex.Suite("bbob-biobj", "", f"dimensions: {d} function_indices: {function} instance_indices: {instance}")
    parameters = tuple(Parameter(f"x{j}", low=-_BOX, high=_BOX) for j in range(d))
    # a function of COCO ends with its suite
    evaluate = partial(_both, suite, suite.get_problem(0), [one.name for one in parameters])
    return Problem(name, f"f{function}", f"{SUITE}, d = {d}", parameters, evaluate, n_objectives=2)


def _both(suite: Any, given: Any, axes: Sequence[str], params: Params, seed: int) -> list[float]:
    return [float(value) for value in given([params[axis] for axis in axes])]


def with_shares(runs: pd.DataFrame) -> pd.DataFrame:
    """Replace the column "front" of several objectives: the result is the share that is missing of the joint front's hypervolume.

    The joint front is that of all runs on a problem, the optimum 0. Each objective is scaled by the best and worst value on the
    joint front; the reference is a tenth of this range beyond the worst.
    """
    if "front" not in runs:
        return runs
    runs, several = runs.copy(), runs["front"].notna()
    for _, of_one in runs[several].groupby("problem"):
        fronts = [np.asarray(front, dtype=float).reshape(-1, 2) for front in of_one["front"]]
        values = np.vstack(fronts)
        joint = values[non_dominated(values)]
        low, span = joint.min(axis=0), np.ptp(joint, axis=0)
        span = np.where(span > 0, span, 1.0)
        whole = _volume((joint - low) / span)
        runs.loc[of_one.index, "result"] = [1.0 - _volume((front - low) / span) / whole for front in fronts]
        runs.loc[of_one.index, "optimum"] = 0.0
    return runs.drop(columns="front")


def _volume(values: Floats) -> float:
    from pymoo.indicators.hv import HV

    return float(HV(ref_point=np.full(2, 1.0 + _MARGIN))(values)) if len(values) else 0.0
