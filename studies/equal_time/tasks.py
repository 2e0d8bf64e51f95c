"""The tasks of the study `equal_time`: what is tuned, in which space, on which sets; and a job, which is a task on a split."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.estimators.entry_parameters import EntryParametersMixin
from spotsvm.multi_kernel.multi_kernel_svc import MultiKernelSVC
from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.sets import CLASSES, TARGETS

Params = Mapping[str, Any]
FOLDS = 5
_TIMED = 7
_C, _GAMMA = (2.0**-5, 2.0**15), (2.0**-15, 2.0**3)
#: of regression: LIBSVM takes minutes beyond
_SVR_C = (2.0**-5, 2.0**10)
#: values of C and of gamma in the coarse grid
_GRID = 6, 5
_MOST_COMPONENTS = 30
#: columns at most of a set on which each column gets a gamma of its own
_MOST_GAMMAS = 20


class ColumnGammaSVC(EntryParametersMixin, SVC):
    """LIBSVM's SVC with a gamma for each column: the machine of `MultiKernelSVC` with a product of kernels, by scaled columns.

    It is what a user of scikit-learn would write, and trains faster than `MultiKernelSVC` where no work is shared. `gamma` is a
    dict from "0", "1", ... to the gamma of each column.
    """

    _with_entries = ("gamma",)

    def _replaced(self, parameter: str, entries: Mapping[str, Any]) -> dict[Any, Any]:
        return {**getattr(self, parameter), **entries}

    def _scaled(self, X: Floats) -> Floats:
        return np.asarray(X * np.sqrt([self.gamma[str(k)] for k in range(X.shape[1])]))

    def fit(self, X: Floats, y: NDArray[Any]) -> ColumnGammaSVC:
        """Fit to training data."""
        self.machine_ = SVC(C=self.C, gamma=1.0).fit(self._scaled(X), y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Predict classes."""
        classes: NDArray[Any] = self.machine_.predict(self._scaled(X))
        return classes


@dataclass(frozen=True)
class Task:
    """What is tuned.

    Attributes
    ----------
    name : str
        Its name.
    sets : tuple of str
        The names of the data sets that it can take.
    space : callable
        From the numbers of rows and columns to the space, as `SpotSearchCV` and RandomizedSearchCV take it.
    estimator : callable
        From the number of columns to the estimator with its default setting, as scikit-learn trains it.
    own : callable, optional
        The same as this library trains it, if it is another class, with parameters of the same names.
    grid : callable
        From the numbers of rows and columns to the settings of the coarse grid.
    on_grid : callable, optional
        The estimator that the grid is scored with, and `embed` what makes a setting of the task of one of the grid.
    regression : bool
        Whether it tells numbers.
    most_columns : int, optional
        Sets with more columns are left out.
    """

    name: str
    sets: tuple[str, ...]
    space: Callable[[int, int], dict[str, Any]]
    estimator: Callable[[int], Any]
    grid: Callable[[int, int], list[dict[str, Any]]]
    own: Callable[[int], Any] | None = None
    on_grid: Callable[[int], Any] | None = None
    embed: Callable[[int, Params], dict[str, Any]] | None = None
    regression: bool = False
    most_columns: int | None = None


@dataclass(frozen=True)
class Job:
    """A task on the rows of one split: what an entrant is given. An empty setting is the estimator's own."""

    task: Task
    X: Floats
    y: NDArray[Any]
    seed: int
    space: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "space", self.task.space(*self.X.shape))

    @cached_property
    def estimator(self) -> Any:
        """The estimator as scikit-learn trains it."""
        return self.task.estimator(self.X.shape[1])

    @cached_property
    def own(self) -> Any:
        """The estimator as this library trains it."""
        return (self.task.own or self.task.estimator)(self.X.shape[1])

    @cached_property
    def folds(self) -> Any:
        """The splitter of the cross-validation, the same for all entrants."""
        return self.partition(0)

    def partition(self, number: int) -> Any:
        """Return one of many random partitions into folds; number 0 is the one that all entrants are given."""
        kind = KFold if self.task.regression else StratifiedKFold
        return kind(FOLDS, shuffle=True, random_state=1000 * self.seed + number)

    def repeated(self, partitions: int) -> Any:
        """Return the splitter of repeated cross-validation."""
        kind = RepeatedKFold if self.task.regression else RepeatedStratifiedKFold
        return kind(n_splits=FOLDS, n_repeats=partitions, random_state=self.seed)

    def score(self, params: Params, cv: Any = None) -> float:
        """Return scikit-learn's mean score of a setting in cross-validation, by default on the folds of all."""
        machine = clone(self.estimator).set_params(**params)
        return float(cross_val_score(machine, self.X, self.y, cv=self.folds if cv is None else cv).mean())

    def error(self, params: Params, X: Floats, y: NDArray[Any]) -> float:
        """Return 100 (1 - score) on new rows: percentage points of wrong classes, or of the variance that is not told."""
        machine = clone(self.estimator).set_params(**params).fit(self.X, self.y)
        return 100.0 * (1.0 - float(machine.score(X, y)))

    @cached_property
    def unit(self) -> float:
        """The median processor time of one `cross_val_score` of the default setting, in seconds."""
        seconds = []
        for _ in range(_TIMED + 1):
            began = time.process_time()
            self.score({})
            seconds.append(time.process_time() - began)
        return float(np.median(seconds[1:]))


def _c_gamma(prefix: str = "", C: tuple[float, float] = _C) -> dict[str, Any]:
    return {f"{prefix}C": loguniform(*C), f"{prefix}gamma": loguniform(*_GAMMA)}


def _settings(prefix: str = "", C: tuple[float, float] = _C, **more: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the coarse grid with C running fastest, so that those of a path of C stand next to each other."""
    axes: dict[str, Any] = {**more, f"{prefix}gamma": np.geomspace(*_GAMMA, _GRID[1]), f"{prefix}C": np.geomspace(*C, _GRID[0])}
    found: list[dict[str, Any]] = [{}]
    for name, values in axes.items():
        found = [setting | {name: value.item()} for setting in found for value in np.asarray(values)]
    return found


def _components(rows: int, columns: int) -> int:
    """Return how many principal components there can be in each fold."""
    return max(1, min(columns, rows * (FOLDS - 1) // FOLDS - 1, _MOST_COMPONENTS))


def _gammas(columns: int, gamma: float) -> dict[str, float]:
    return {str(k): gamma for k in range(columns)}


def _own_ard(columns: int) -> Any:
    groups = {str(k): [k] for k in range(columns)}
    return MultiKernelSVC(groups=groups, combine="product", gamma=_gammas(columns, 1 / columns))


def _pipeline(columns: int) -> Any:
    return Pipeline([("scale", StandardScaler()), ("pca", PCA()), ("svc", SVC())])


def _pipeline_space(rows: int, columns: int) -> dict[str, Any]:
    return {"pca__n_components": randint(1, _components(rows, columns) + 1)} | _c_gamma("svc__")


def _pipeline_grid(rows: int, columns: int) -> list[dict[str, Any]]:
    most = _components(rows, columns)
    return _settings("svc__", pca__n_components=sorted({most, max(1, most // 3)}, reverse=True))


_ALL = tuple(CLASSES)
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("svc_rbf", _ALL, lambda n, d: _c_gamma(), lambda d: SVC(), lambda n, d: _settings()),
        Task(
            "svc_ard",
            _ALL,
            lambda n, d: {"C": loguniform(*_C)} | {f"gamma__{k}": loguniform(*_GAMMA) for k in range(d)},
            lambda d: ColumnGammaSVC(gamma=_gammas(d, 1 / d)),
            lambda n, d: _settings(),
            own=_own_ard,
            on_grid=lambda d: SVC(),
            embed=lambda d, p: {"C": p["C"]} | {f"gamma__{k}": p["gamma"] for k in range(d)},
            most_columns=_MOST_GAMMAS,
        ),
        Task(
            "svr_rbf",
            tuple(TARGETS),
            lambda n, d: _c_gamma(C=_SVR_C) | {"epsilon": loguniform(2.0**-8, 1.0)},
            lambda d: SVR(),
            lambda n, d: _settings(C=_SVR_C, epsilon=(0.1,)),
            regression=True,
        ),
        Task("pipeline", _ALL, _pipeline_space, _pipeline, _pipeline_grid),
    )
}
