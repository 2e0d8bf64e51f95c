"""A machine that the study `alga` has ALGA compete with: an SVC tuned by Kriging on a random part of the rows."""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from spotsvm.spot_search_cv import SpotSearchCV
from studies.alga_grid import COSTS, GAMMAS
from studies.alga_parts import Parts

N_ROWS, N_SUGGESTIONS = 1000, 25
_FOLDS = 5


class TunedMachine(NamedTuple):
    """A tuned machine, and what it took.

    Parameters
    ----------
    svc : SVC
        The machine.
    rows : ndarray of int
        The rows of T that it was tuned and trained on.
    n_fits : int
        Machines of the cross-validations, and the last one.
    seconds : float
        Processor time of drawing the rows, of the suggestions and of all machines.
    """

    svc: SVC
    rows: NDArray[np.intp]
    n_fits: int
    seconds: float


def tuned_machine(parts: Parts, seed: int) -> TunedMachine:
    """Draw 1,000 rows of T, by class, and tune C and gamma on them with 25 suggestions, by 5-fold cross-validation.

    C and gamma are from the ranges of the grid search. V is not looked at.

    Parameters
    ----------
    parts : Parts
        The rows; of fewer than 1,000 all are taken.
    seed : int
        Seed of the draw and of the search.
    """
    _compile()
    began = time.process_time()
    rows = np.arange(len(parts.y))
    if len(rows) > N_ROWS:
        rows = np.sort(train_test_split(rows, train_size=N_ROWS, stratify=parts.y, random_state=seed)[0])
    search = _search(seed).fit(parts.X[rows], parts.y[rows])
    return TunedMachine(search.best_estimator_, rows, N_SUGGESTIONS * _FOLDS + 1, time.process_time() - began)


def _search(seed: int) -> SpotSearchCV:
    space = {"C": loguniform(COSTS[0], COSTS[-1]), "gamma": loguniform(GAMMAS[0], GAMMAS[-1])}
    return SpotSearchCV(SVC(), space, n_iter=N_SUGGESTIONS, cv=_FOLDS, random_state=seed)


@cache
def _compile() -> None:
    X = np.random.default_rng(0).random((60, 2))
    _search(0).fit(X, np.where(X[:, 0] < 0.5, -1.0, 1.0))
