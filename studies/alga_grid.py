"""Grid search for the model of a machine with an RBF kernel: a step of 10, and then of 2 about the best."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from studies.alga_parts import Parts

#: the ranges of the paper's first population of models, one step of 10 further
GAMMAS = tuple(10.0**k for k in range(-2, 4))
COSTS = tuple(10.0**k for k in range(-1, 4))
_FINER = tuple(2.0**k for k in range(-3, 4))  # from one neighbour in the coarse grid to the other, nearly
_CACHE = 500  # MB: LIBSVM's rows of up to 11,000 training rows


class GridModel(NamedTuple):
    """The best model of a grid search, and what it took.

    Parameters
    ----------
    C, gamma : float
        The model.
    accuracy : float
        Of the machine with this model, trained on all of T, on V.
    test_accuracy : float
        The same on Psi.
    n_support_vectors : int
        Of this machine.
    n_fits : int
        Machines that were trained.
    seconds : float
        Processor time of training them and of their predictions for V.
    """

    C: float
    gamma: float
    accuracy: float
    test_accuracy: float
    n_support_vectors: int
    n_fits: int
    seconds: float


def grid_search(parts: Parts) -> GridModel:
    """Train a machine (LIBSVM) on T at each point of a grid, then of a finer one about the best; judge them by V.

    The grid has gamma from 0.01 to 1000 and C from 0.1 to 1000 in steps of 10; the finer one goes up and down from the best by
    three steps of 2. Of machines that are equal on V the one with the fewest support vectors is the best.

    Parameters
    ----------
    parts : Parts
        The rows.

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, section 4, which gives the steps and no ranges.
    """
    began = time.process_time()
    seen: dict[tuple[float, float], tuple[float, int]] = {}
    _judge_all(parts, [(cost, gamma) for cost in COSTS for gamma in GAMMAS], seen)
    cost, gamma = _best(seen)
    _judge_all(parts, [(cost * up, gamma * right) for up in _FINER for right in _FINER], seen)
    cost, gamma = _best(seen)
    seconds = time.process_time() - began
    accuracy, n_support_vectors = seen[cost, gamma]
    machine = whole_machine(parts, cost, gamma)
    test_accuracy = float(np.mean(machine.predict(parts.test_X) == parts.test_y))
    return GridModel(cost, gamma, accuracy, test_accuracy, n_support_vectors, len(seen), seconds)


def whole_machine(parts: Parts, C: float, gamma: float) -> SVC:
    """Train a machine on all of T."""
    return SVC(C=C, gamma=gamma, cache_size=_CACHE).fit(parts.X, parts.y)


def _judge_all(parts: Parts, models: list[tuple[float, float]], seen: dict[tuple[float, float], tuple[float, int]]) -> None:
    for cost, gamma in models:
        if (cost, gamma) not in seen:
            machine = whole_machine(parts, cost, gamma)
            accuracy = float(np.mean(machine.predict(parts.validation_X) == parts.validation_y))
            seen[cost, gamma] = accuracy, int(machine.n_support_.sum())


def _best(seen: dict[tuple[float, float], tuple[float, int]]) -> tuple[float, float]:
    return max(seen, key=lambda model: (seen[model][0], -seen[model][1]))
