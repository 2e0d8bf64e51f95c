"""The runs of the study `alga`: a method on one split, with its choice, accuracy and time."""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import loguniform
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from spotsvm.estimators.reduced.reduced_svc import ReducedSVC
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.alga.sets import N_FOLDS, Parts
from spotsvm.studies.common.plain_search import PLAIN

#: the ranges of the paper's first population of models, one step of 10 further
GAMMAS = tuple(10.0**k for k in range(-2, 4))
COSTS = tuple(10.0**k for k in range(-1, 4))
#: C and gamma
Model = tuple[float, float]
_CACHE = 500  # MB: LIBSVM's rows of up to 11,000 training rows


class TrainedSVC(NamedTuple):
    """A tuned SVM, the rows of T on which it was trained, the number of all fits, and their processor time."""

    svc: SVC
    rows: NDArray[np.intp]
    n_fits: int
    seconds: float


def grid_search(parts: Parts) -> TrainedSVC:
    """Train an SVM on T at each point of a grid, then of a finer grid around the best; return the best one on V.

    Kawulok et al. 2017, section 4, gives the steps, 10 and then 2 (three up and down), and no ranges. The fewest support vectors
    win ties.
    """
    _runs_compile()
    began = time.process_time()
    search = ReducedSVC(method="grid", C_values=COSTS, gamma_values=GAMMAS, cache_size=_CACHE)
    search.fit(parts.X, parts.y, validation=(parts.validation_X, parts.validation_y))
    seconds = time.process_time() - began
    machine = whole_machine(parts, search.C_, search.gamma_)
    return TrainedSVC(machine, np.arange(len(parts.y)), int(search.n_evaluations_), seconds)


def whole_machine(parts: Parts, C: float, gamma: float) -> SVC:
    """Train an SVM on all of T."""
    return SVC(C=C, gamma=gamma, cache_size=_CACHE).fit(parts.X, parts.y)


N_ROWS, N_SUGGESTIONS = 1000, 25
_FOLDS = 5


def tuned_machine(parts: Parts, seed: int, *, refit: bool = False) -> TrainedSVC:
    """Draw 1,000 rows of T, or all, by class, and tune C and gamma on them with 25 suggestions, by 5-fold cross-validation.

    C and gamma are from the ranges of the grid search. V is not used. The SVM is trained on the rows of the tuning, or with
    `refit` on all of T.
    """
    _compile()
    began = time.process_time()
    rows = np.arange(len(parts.y))
    if len(rows) > N_ROWS:
        rows = np.sort(train_test_split(rows, train_size=N_ROWS, stratify=parts.y, random_state=seed)[0])
    search = _search(seed).fit(parts.X[rows], parts.y[rows])
    machine, n_fits = search.best_estimator_, N_SUGGESTIONS * _FOLDS + 1
    if refit and len(rows) < len(parts.y):
        machine, rows, n_fits = whole_machine(parts, machine.C, machine.gamma), np.arange(len(parts.y)), n_fits + 1
    return TrainedSVC(machine, rows, n_fits, time.process_time() - began)


def _search(seed: int) -> SpotSearchCV:
    space = {"C": loguniform(COSTS[0], COSTS[-1]), "gamma": loguniform(GAMMAS[0], GAMMAS[-1])}
    return SpotSearchCV(SVC(), space, n_iter=N_SUGGESTIONS, cv=_FOLDS, random_state=seed, **PLAIN)


@cache
def _compile() -> None:
    X = np.random.default_rng(0).random((60, 2))
    _search(0).fit(X, np.where(X[:, 0] < 0.5, -1.0, 1.0))


GRID, GA_MODEL, GASVM, ALGA, RANDOM, NSGA2 = "grid search", "GA-model", "GASVM", "ALGA", "random subsets", "NSGA-II"
ONE_SUBSET = "random subset"
INHERITING, GROWN, TUNED, REFITTED = "ALGA, vectors", "ALGA, growing", "tuned SVC", "tuned SVC, refitted"
#: in the order of the tables
METHODS = (GRID, GA_MODEL, GASVM, ALGA, INHERITING, GROWN, ONE_SUBSET, RANDOM, NSGA2, TUNED, REFITTED)
#: those that train on K vectors a class, and those that take the model of the grid search
OF_SIZE = (GASVM, ALGA, INHERITING, ONE_SUBSET, RANDOM)
WITH_GRID_MODEL = (GASVM,)

_BUDGETS = {RANDOM: 1000, NSGA2: 2000}  # trained SVMs of methods without their own stop
_NSGA2_LARGEST = 512  # K at most, for the time of larger sets

_METHODS = {GA_MODEL: "ga-model", GASVM: "gasvm", ALGA: "alga", INHERITING: "alga", GROWN: "alga"}
_METHODS |= {ONE_SUBSET: "random", RANDOM: "random", NSGA2: "nsga2"}


def run_method(
    parts: Parts, method: str, size: int, run: int, grid: Model | None, max_evaluations: int | None = None
) -> list[dict[str, Any]]:
    """Run a method once; return a row, or for NSGA-II a row per point of its front.

    `size` is vectors per class, `grid` the grid search's model; a run's number is its seed, for all methods and sizes.
    `validation` and `test` are accuracies on V and Psi, `seconds` processor time, `evaluations` trained SVMs.
    """
    if method not in (GRID, TUNED, REFITTED):
        return _reduced_rows(parts, method, size, run, grid, max_evaluations)
    seed = run * N_FOLDS + parts.fold
    trained = grid_search(parts) if method == GRID else tuned_machine(parts, seed, refit=method == REFITTED)
    chosen = _text(trained.rows) if run == 0 and len(trained.rows) < len(parts.y) else ""
    cost = {"seconds": trained.seconds, "evaluations": trained.n_fits}
    return [_scored(parts, trained.svc, len(trained.rows)) | cost | {"chosen": chosen}]


def _scored(parts: Parts, svc: SVC, n_vectors: int) -> dict[str, Any]:
    return {
        "vectors": n_vectors,
        "validation": float(svc.score(parts.validation_X, parts.validation_y)),
        "test": float(svc.score(parts.test_X, parts.test_y)),
        "support_vectors": int(svc.n_support_.sum()),
        "C": float(svc.C),
        "gamma": float(svc.gamma),
    }


def _reduced_rows(
    parts: Parts, method: str, size: int, run: int, grid: Model | None, max_evaluations: int | None
) -> list[dict[str, Any]]:
    options = {"ties": "any", "crossover": "rows"} | _options(parts, method, size, grid)
    if method != ONE_SUBSET and (max_evaluations is not None or method in _BUDGETS):
        options["n_trials"] = min(n for n in (max_evaluations, _BUDGETS.get(method)) if n is not None)
    machine = ReducedSVC(method=cast("Any", _METHODS[method]), random_state=run * N_FOLDS + parts.fold, **options)
    _runs_compile()
    began = time.process_time()
    machine.fit(parts.X, parts.y, validation=(parts.validation_X, parts.validation_y))
    found = {"seconds": time.process_time() - began, "evaluations": int(machine.n_evaluations_)}
    if method == NSGA2:
        front = zip(machine.front_indices_, machine.front_["C"], machine.front_["gamma"], strict=True)
        return [
            _scored(parts, _trained_on(parts, rows, C, gamma), len(rows)) | found | {"chosen": ""} for rows, C, gamma in front
        ]
    chosen = _text(machine.training_indices_) if run == 0 and method in OF_SIZE else ""
    return [
        {
            "vectors": len(machine.training_indices_),
            "validation": float(machine.validation_score_),
            "test": float(machine.score(parts.test_X, parts.test_y)),
            "support_vectors": len(machine.support_),
            "C": float(machine.C_),
            "gamma": float(machine.gamma_),
            **found,
            "chosen": chosen,
        }
    ]


def _options(parts: Parts, method: str, size: int, grid: Model | None) -> dict[str, Any]:
    """Return the options of a method."""
    if method == GA_MODEL:
        return {}
    if method == GROWN:
        return {"n_per_class": "grow", "ties": "fewer vectors"}
    if method == INHERITING:
        return {"n_per_class": size, "ties": "fewer vectors", "crossover": "vectors"}
    if method == NSGA2:
        return {"max_per_class": min(_NSGA2_LARGEST, parts.sizes[-1])}
    if method in WITH_GRID_MODEL:
        assert grid is not None
        return {"n_per_class": size, "C": grid[0], "gamma": grid[1]}
    return {"n_per_class": size}


@cache
def _runs_compile() -> None:
    """Run once in each process, so that no run's time includes compiling or loading."""
    X = np.random.default_rng(0).random((40, 2))
    ReducedSVC(n_per_class=4, random_state=0).fit(X, np.where(X[:, 0] < 0.5, -1.0, 1.0))


def _text(indices: np.ndarray) -> str:
    return " ".join(str(int(index)) for index in indices)


def machine_of(parts: Parts, row: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Train the SVM of a row of run 0 again; return it, and the rows of T that it was trained on."""
    if not row["chosen"]:
        return whole_machine(parts, row["C"], row["gamma"]), np.arange(len(parts.y))
    chosen = np.array(str(row["chosen"]).split(), dtype=np.intp)
    return _trained_on(parts, chosen, row["C"], row["gamma"]), chosen


def _trained_on(parts: Parts, rows: np.ndarray, C: float, gamma: float) -> SVC:
    return whole_machine(parts._replace(X=parts.X[rows], y=parts.y[rows]), C, gamma)


def grid_models(runs: pd.DataFrame) -> dict[tuple[str, int], Model]:
    """Return C and gamma of the grid search on each split, by set and fold."""
    grid = runs[runs.method == GRID]
    return {(name, fold): (C, gamma) for name, fold, C, gamma in zip(grid["set"], grid.fold, grid.C, grid.gamma, strict=True)}
