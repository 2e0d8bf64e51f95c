"""One run of the study of oversearching: rows drawn from a data set, a search on them, and its incumbents on the rows left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import loguniform
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from spotsvm.studies.common.data import Floats
from spotsvm.studies.tasks.svm import FOLDS, fitted
from spotsvm.study.study import Study
from spotsvm.trials.start import equal_start

C_RANGE, GAMMA_RANGE = (2.0**-5, 2.0**10), (2.0**-10, 2.0**2)
ONE_GAMMA, A_GAMMA_A_FEATURE = "C, gamma", "C, a gamma a feature"
MAX_HELD_OUT = 2000


class Pool(NamedTuple):
    """All rows of a data set with two classes."""

    name: str
    X: Floats
    y: Floats


class Sample:
    """Rows to tune on, and rows to judge by.

    Parameters
    ----------
    pool : Pool
        The data set.
    n_rows : int
        Rows to tune on, drawn by class; up to 2000 of the others are to judge by.
    seed : int
        Of the draw, and of the folds.

    Attributes
    ----------
    n_held_out : int
        Rows to judge by.
    """

    def __init__(self, pool: Pool, n_rows: int, seed: int):
        tuned_on, held_out = train_test_split(np.arange(len(pool.y)), train_size=n_rows, stratify=pool.y, random_state=seed)
        held_out = held_out[:MAX_HELD_OUT]
        mean, scale = pool.X[tuned_on].mean(axis=0), pool.X[tuned_on].std(axis=0)
        scale[scale == 0] = 1.0
        self._X, self._y = (pool.X[tuned_on] - mean) / scale, pool.y[tuned_on]
        self._new_X, self._new_y = (pool.X[held_out] - mean) / scale, pool.y[held_out]
        self._folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(self._X, self._y))
        self.n_held_out = len(held_out)

    def space(self, tuned: str) -> dict[str, Any]:
        """Return what is searched."""
        names = ["gamma"] if tuned == ONE_GAMMA else [f"gamma{i}" for i in range(self._X.shape[1])]
        return {"C": loguniform(*C_RANGE)} | {name: loguniform(*GAMMA_RANGE) for name in names}

    def default(self, tuned: str) -> dict[str, float]:
        """Return SVC's own parameters; of scaled features gamma="scale" is 1 / (number of features)."""
        return {name: 1.0 if name == "C" else 1 / self._X.shape[1] for name in self.space(tuned)}

    def cross_validated(self, params: dict[str, float]) -> float:
        """Return the mean accuracy in the folds: the tuned score."""
        X = self._X * _scales(params)
        scores = []
        for train, test in self._folds:
            machine = fitted(SVC(C=params["C"], gamma=1.0), X[train], self._y[train])
            scores.append(float(np.mean(machine.predict(X[test]) == self._y[test])))
        return float(np.mean(scores))

    def held_out(self, params: dict[str, float]) -> float:
        """Return the accuracy on the rows to judge by, after training on all rows to tune on."""
        scales = _scales(params)
        machine = fitted(SVC(C=params["C"], gamma=1.0), self._X * scales, self._y)
        return float(np.mean(machine.predict(self._new_X * scales) == self._new_y))


def _scales(params: dict[str, float]) -> Floats:
    """Return what features are multiplied by for exp(-sum gamma_i (x_i - z_i)^2) to be a kernel with gamma 1."""
    return np.sqrt([value for name, value in params.items() if name != "C"])


def run_search(
    pool: Pool, n_rows: int, tuned: str, search: str, repeat: int, checkpoints: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Tune once from SVC's own parameters and the centre, and give a row a checkpoint: tuned and held-out accuracy of the best.

    Parameters
    ----------
    pool : Pool
        The data set.
    n_rows : int
        Rows to tune on.
    tuned : str
        What is tuned: `ONE_GAMMA` or `A_GAMMA_A_FEATURE`.
    search : str
        As in `Study`.
    repeat : int
        Seed of the rows, the folds and the search: the same for all searches.
    checkpoints : tuple of int
        Numbers of trials, ascending.
    """
    sample = Sample(pool, n_rows, repeat)
    space = sample.space(tuned)
    start = equal_start(space, sample.default(tuned))
    study = Study(space, search, repeat, direction="maximize", noise=False, start=start)
    study.run(sample.cross_validated, checkpoints[-1])
    scores = np.array([-np.inf if t.value is None else t.value for t in study.trials])
    known: dict[int, float] = {}
    rows = []
    for n in checkpoints:
        best = int(np.argmax(scores[:n]))
        if best not in known:
            known[best] = sample.held_out(dict(study.trials[best].params))
        found = {"tuned": scores[best], "held_out": known[best], "optimism": scores[best] - known[best]}
        about = {"set": pool.name, "features": pool.X.shape[1], "rows": n_rows, "tuned_parameters": tuned}
        rows.append(about | {"parameters": len(space), "search": search, "repeat": repeat, "trials": n, **found})
    return rows
