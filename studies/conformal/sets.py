"""SVC, the paper's two passes and the default of ConformalSVC on real data sets and on the toy experiment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.studies.common.data import DataSet, data_folder, read_set, stand_ins
from spotsvm.studies.conformal.toy import MAIN, SIGMA, C, draw_points
from spotsvm.trials.scores.intervals import nadeau_bengio

NAMES = ("crabs", "german_numeric", "glass2", "heart_statlog", "ionosphere", "lawsuit", "liver", "pima", "sonar", "wisconsin")
#: the machines beside SVC, all with its C and gamma
ENTRANTS = {
    "paper": ConformalSVC(kappa="auto", bias=True),
    "no threshold": ConformalSVC(kappa="auto", bias=False),
    "scaled threshold": ConformalSVC(kappa="auto"),
    "default": ConformalSVC(),
}
_COSTS = 2.0 ** np.arange(-3, 10, 3)
_GAMMAS = 2.0 ** np.arange(-6, 5, 2)  # times 1/d
_TEST_SHARE = 1 / 3
TOY = "toy"


def real_sets() -> list[DataSet]:
    """Return those of the sets that the folder SPOTSVM_DATA holds, or two that come with scikit-learn."""
    folder = data_folder()
    there = [name for name in NAMES if folder is not None and (folder / f"{name}.csv").is_file()]
    return [read_set(name) for name in there] or stand_ins()


def run_set(data: DataSet, seed: int, split: int) -> dict[str, Any]:
    """Run all entrants on one split of a set; C and gamma are those that suit SVC best in five folds of the training rows.

    Parameters
    ----------
    data : DataSet
        The set.
    seed, split : int
        Of the split into two thirds to train on and one to test on.

    Returns
    -------
    dict
        The split, and the error of SVC and of each entrant as a share of the test rows.
    """
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, test_size=_TEST_SHARE, stratify=data.y, random_state=np.random.RandomState([seed, split])
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    candidates = [{"C": float(cost), "gamma": float(g / X.shape[1])} for cost in _COSTS for g in _GAMMAS]
    best = candidates[int(cross_val_scores(SVC(), X, y, candidates, cv=5).mean(axis=1).argmax())]
    return {"draw": split} | _errors(best, X, y, X_test, y_test)


def run_toy_split(seed: int, draw: int) -> dict[str, Any]:
    """Run all entrants on one draw of the toy experiment with the paper's C and sigma."""
    X, X_test = draw_points(seed, draw)
    return {"draw": draw} | _errors({"C": C, "gamma": 1 / (2 * SIGMA**2)}, X, MAIN.labels(X), X_test, MAIN.labels(X_test))


def _errors(params: dict[str, float], X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    errors = {"svc": 1 - SVC(**params).fit(X, y).score(X_test, y_test)}
    for name, entrant in ENTRANTS.items():
        errors[name] = 1 - clone(entrant).set_params(**params).fit(X, y).score(X_test, y_test)
    return errors


def sets_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each set: mean errors in percent, and the default's less that of SVC with its 95 % interval.

    Parameters
    ----------
    runs : DataFrame
        A row for each set and split, as `run_set` returns them, with a column set.
    """
    rows = []
    for name, group in runs.groupby("set", sort=False):
        difference = 100 * (group["default"] - group["svc"]).to_numpy()
        # draws of the toy experiment are independent; splits of one set share rows
        low, high = nadeau_bengio(difference, 0.0 if name == TOY else _TEST_SHARE / (1 - _TEST_SHARE))
        row: dict[str, Any] = {"set": name, "splits": len(group)}
        row |= {entrant: 100 * group[entrant].mean() for entrant in ("svc", *ENTRANTS)}
        rows.append(row | {"default - svc": difference.mean(), "low": low, "high": high})
    return pd.DataFrame(rows)
