"""The tables of the study `estimates`: what each of many settings has on several partitions, and on new rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import ParameterSampler
from sklearn.svm import SVC

from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_scorer import MAX_BYTES
from spotsvm.cross_validation.machines import OWN_ANSWERS, NotSharedError, own_decisions
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.cross_validation.soft_loss import log_loss_of_margins, margins
from spotsvm.estimators.dual.one_vs_one import chosen_classes
from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.entrants import measured_calmly
from spotsvm.studies.equal_time.sets import Rows
from spotsvm.studies.equal_time.tasks import FOLDS, TASKS, Job

#: the grid: binary logarithms of C and gamma
LOG_C, LOG_GAMMA = np.arange(-5, 16, 2), np.arange(-15, 4)
#: random partitions, random searches on a split, the settings of each, and the partitions on which these are scored
PARTITIONS, SEARCHES, DRAWS, CONFIRMED = 8, 2, 50, 4


class Table(NamedTuple):
    """What is known of the settings on a split, a row each: first the estimator's defaults, then the grid, then random draws.

    In the grid C runs fastest. `errors` (percentages), `losses` (100 times `log_loss_of_margins`) and `deviations` (of errors,
    from the folds) have a column a partition, nan where a draw is not scored. `units` are processor times on the first partition
    and on one more, where a path of C is scored in its order. `new` has the errors on the new rows.
    """

    errors: Floats
    losses: Floats
    deviations: Floats
    units: Floats
    new: Floats


def at(gammas: ArrayLike, costs: ArrayLike) -> NDArray[np.intp]:
    """Return the rows of all pairs of some gammas and some C, by their numbers in the grid."""
    rows = 1 + np.add.outer(np.atleast_1d(gammas) * len(LOG_C), np.atleast_1d(costs))
    return np.asarray(rows.ravel(), dtype=np.intp)


def drawn(search: int, n: int) -> NDArray[np.intp]:
    """Return the rows of the first n settings of a random search."""
    return 1 + len(LOG_C) * len(LOG_GAMMA) + search * DRAWS + np.arange(n)


def turned(search: int) -> NDArray[np.intp]:
    """Return the partitions in the order in which a random search, and all that is compared with it, takes them."""
    return (PARTITIONS // SEARCHES * search + np.arange(PARTITIONS)) % PARTITIONS


class Judge:
    """Whether the test rows of some folds are classified as what they are, from shared work where it can be shared."""

    def __init__(self, X: Floats, y: NDArray[Any], splits: Sequence[Split]):
        self._X, self._y, self._splits = X, y, list(splits)
        self._classes, self._codes = np.unique(y, return_inverse=True)
        self._folds = SharedFolds(SVC(), X, y, self._splits, MAX_BYTES)

    def judge(self, params: dict[str, float]) -> tuple[list[NDArray[np.bool_]], list[Floats]]:
        """Return, fold by fold, whether each test row is in the wrong class, and its margin."""
        try:
            decisions = [a.decisions[test] for a, (_, test) in zip(self._folds.answers(params), self._splits, strict=True)]
        except NotSharedError:
            X, y = self._X, self._y
            decisions = [
                own_decisions(SVC(**params, **OWN_ANSWERS), X[train], y[train], X[test])[1] for train, test in self._splits
            ]
        n = len(self._classes)
        found = [(some, self._codes[test]) for some, (_, test) in zip(decisions, self._splits, strict=True)]
        wrong = [chosen_classes(some, n, break_ties=False) != own for some, own in found]
        return wrong, [margins(some, own, n) for some, own in found]


def measure(rows: Rows, split: int) -> Table:
    """Score the defaults, the grid and random draws on a split."""
    X, y, new_X, new_y = rows.split(split, regression=False)
    job = Job(TASKS["svc_rbf"], X, y, seed=split)
    settings: list[dict[str, float]] = [{}, *({"C": 2.0**c, "gamma": 2.0**g} for g in LOG_GAMMA.tolist() for c in LOG_C.tolist())]
    known = np.arange(len(settings))
    parts = [(known, turned(0)[:1], 0), (known, turned(0)[1:], 1)]
    for search in range(SEARCHES):
        settings += ParameterSampler(job.space, DRAWS, random_state=1000 * search + split)
        parts.append((drawn(search, DRAWS), turned(search)[:CONFIRMED], 1))
    errors, losses, deviations = (np.full((len(settings), PARTITIONS), np.nan) for _ in range(3))
    units = np.full((len(settings), 2), np.nan)
    with measured_calmly():
        _warm_up()
        unit = job.unit
        folds = [list(job.partition(k).split(X, y)) for k in range(PARTITIONS)]
        for scored, partitions, column in parts:
            judge = Judge(X, y, [fold for k in partitions for fold in folds[k]])
            for row in scored:
                began = time.process_time()
                wrong, ahead = judge.judge(settings[row])
                units[row, column] = (time.process_time() - began) / unit / len(partitions)
                means = 100 * np.array([of_fold.mean() for of_fold in wrong]).reshape(-1, FOLDS)
                errors[row, partitions] = means.mean(axis=1)
                deviations[row, partitions] = means.std(axis=1, ddof=1) / FOLDS**0.5
                of_partitions = [np.concatenate(ahead[k : k + FOLDS]) for k in range(0, len(ahead), FOLDS)]
                losses[row, partitions] = [100 * log_loss_of_margins(some) for some in of_partitions]
        n = len(y)
        both = Judge(np.vstack([X, new_X]), np.concatenate([y, new_y]), [(np.arange(n), n + np.arange(len(new_y)))])
        new = np.array([100 * both.judge(params)[0][0].mean() for params in settings])
    return Table(errors, losses, deviations, units, new)


@cache
def _warm_up() -> None:
    """Compile, in each process once, so that no table's time has that in it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Judge(X, (X[:, 0] > 0).astype(int), [(np.arange(40), np.arange(40, 60))] * 3).judge({"C": 2.0**15})
