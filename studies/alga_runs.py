"""One run of a method of the study `alga` on one split: what it chose, how good it is, and its processor time."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from spotsvm.reduced_svc import ReducedSVC
from studies.alga_grid import GridModel, grid_search, whole_machine
from studies.alga_parts import N_FOLDS, Parts
from studies.alga_tuned import tuned_machine

GRID, GA_MODEL, GASVM, ALGA, RANDOM, NSGA2 = "grid search", "GA-model", "GASVM", "ALGA", "random subsets", "NSGA-II"
INHERITING, GROWN, TUNED = "ALGA, vectors", "ALGA, growing", "tuned SVC"
#: in the order of the tables
METHODS = (GRID, GA_MODEL, GASVM, ALGA, INHERITING, GROWN, RANDOM, NSGA2, TUNED)
#: those that train on K vectors a class, and those that take the model of the grid search
OF_SIZE = (GASVM, ALGA, INHERITING, RANDOM)
WITH_GRID_MODEL = (GASVM,)

_BUDGETS = {RANDOM: 1000, NSGA2: 2000}  # machines to train, of methods that have no end of their own
_NSGA2_LARGEST = 512  # K at most, for the time of larger sets

_METHODS = {GA_MODEL: "ga-model", GASVM: "gasvm", ALGA: "alga", INHERITING: "alga", GROWN: "alga"}
_METHODS |= {RANDOM: "random", NSGA2: "nsga2"}


def run_method(
    parts: Parts, method: str, size: int, run: int, grid: GridModel | None, max_evaluations: int | None = None
) -> list[dict[str, Any]]:
    """Run a method once; give a row, of NSGA-II a row a point of its front.

    Columns: set, fold, method, K (vectors a class; 0 where the method has none), run, checksum (of the split), vectors (that the
    machine was trained on), validation and test (accuracy on V and Psi), support_vectors, seconds (processor time of the
    search), evaluations (machines trained), C, gamma, and of run 0 the rows of T that were chosen, unless these are all.

    Parameters
    ----------
    parts : Parts
        The rows.
    method : str
        One of `METHODS`.
    size : int
        Vectors a class, of methods that take a number of them.
    run : int
        Number of the run on this split. Runs of the same number have the same seed, whatever the method and the size.
    grid : GridModel or None
        What grid search has found on this split, of methods that take its model.
    max_evaluations : int or None, default=None
        Machines after which no further generation begins; None for the methods' own ends. The tuned SVC has its own number.
    """
    about = {"set": parts.name, "fold": parts.fold, "method": method, "K": size, "run": run, "checksum": parts.checksum}
    if method in (GRID, TUNED):
        return [about | (_grid_row(parts) if method == GRID else _tuned_row(parts, run))]
    return [about | row for row in _reduced_rows(parts, method, size, run, grid, max_evaluations)]


def _grid_row(parts: Parts) -> dict[str, Any]:
    found = grid_search(parts)
    return {
        "vectors": len(parts.y),
        "validation": found.accuracy,
        "test": found.test_accuracy,
        "support_vectors": found.n_support_vectors,
        "C": found.C,
        "gamma": found.gamma,
        "seconds": found.seconds,
        "evaluations": found.n_fits,
        "chosen": "",
    }


def _tuned_row(parts: Parts, run: int) -> dict[str, Any]:
    found = tuned_machine(parts, run * N_FOLDS + parts.fold)
    return {
        "vectors": len(found.rows),
        "validation": float(found.svc.score(parts.validation_X, parts.validation_y)),
        "test": float(found.svc.score(parts.test_X, parts.test_y)),
        "support_vectors": int(found.svc.n_support_.sum()),
        "C": float(found.svc.C),
        "gamma": float(found.svc.gamma),
        "seconds": found.seconds,
        "evaluations": found.n_fits,
        "chosen": _text(found.rows) if run == 0 else "",
    }


def _reduced_rows(
    parts: Parts, method: str, size: int, run: int, grid: GridModel | None, max_evaluations: int | None
) -> list[dict[str, Any]]:
    options = {"ties": "any", "crossover": "rows"} | _options(parts, method, size, grid)
    if max_evaluations is not None or method in _BUDGETS:
        options["max_evaluations"] = min(n for n in (max_evaluations, _BUDGETS.get(method)) if n is not None)
    machine = ReducedSVC(method=_METHODS[method], random_state=run * N_FOLDS + parts.fold, **options)
    _compile()
    began = time.process_time()
    machine.fit(parts.X, parts.y, validation=(parts.validation_X, parts.validation_y))
    found = {"seconds": time.process_time() - began, "evaluations": int(machine.n_evaluations_)}
    if method == NSGA2:
        front = zip(machine.front_indices_, machine.front_["C"], machine.front_["gamma"], strict=True)
        return [_machine_row(parts, rows, float(C), float(gamma)) | found | {"chosen": ""} for rows, C, gamma in front]
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


def _options(parts: Parts, method: str, size: int, grid: GridModel | None) -> dict[str, Any]:
    """Give what the method is told beside its name."""
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
        return {"n_per_class": size, "C": grid.C, "gamma": grid.gamma}
    return {"n_per_class": size}


def _machine_row(parts: Parts, rows: np.ndarray, C: float, gamma: float) -> dict[str, Any]:
    """Train a machine of some rows of T, and judge it."""
    machine = whole_machine(parts._replace(X=parts.X[rows], y=parts.y[rows]), C, gamma)
    return {
        "vectors": len(rows),
        "validation": float(np.mean(machine.predict(parts.validation_X) == parts.validation_y)),
        "test": float(np.mean(machine.predict(parts.test_X) == parts.test_y)),
        "support_vectors": int(machine.n_support_.sum()),
        "C": C,
        "gamma": gamma,
    }


@cache
def _compile() -> None:
    """Run once in each process, so that no run's time has that of compiling or loading in it."""
    X = np.random.default_rng(0).random((40, 2))
    ReducedSVC(n_per_class=4, random_state=0).fit(X, np.where(X[:, 0] < 0.5, -1.0, 1.0))


def _text(indices: np.ndarray) -> str:
    return " ".join(str(int(index)) for index in indices)


def machine_of(parts: Parts, row: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Train again the machine of a row of run 0; give it, and the rows of T that it was trained on.

    Parameters
    ----------
    parts : Parts
        The rows of the split.
    row : dict
        As `run_method` gives it.
    """
    if not row["chosen"]:
        return whole_machine(parts, row["C"], row["gamma"]), np.arange(len(parts.y))
    chosen = np.array(str(row["chosen"]).split(), dtype=np.intp)
    return whole_machine(parts._replace(X=parts.X[chosen], y=parts.y[chosen]), row["C"], row["gamma"]), chosen
