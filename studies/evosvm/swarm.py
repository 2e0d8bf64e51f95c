"""Which reading of the paper's swarm gives the errors that are printed for PsoSVM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from spotsvm.solvers.dual.evolution.swarm import SwarmSettings
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram import gram_matrix, kernel_matrix
from spotsvm.studies.common.data import DataSet
from spotsvm.studies.evosvm.folds import folds_of
from spotsvm.studies.evosvm.printed import ERRORS, FOLDS

UNIFORM, NORMAL, OPTIMUM = "uniform pulls", "normal pulls", "the optimum without bias"
_LONG = 1000
_DIFFERENT = ", so that no swarm which nears it can have what is printed: the data or the decision must differ."
#: settings of the swarm, and whether the features are standardised; None is the exact solution
READINGS: dict[str, tuple[SwarmSettings | None, bool]] = {
    UNIFORM: (SwarmSettings(pulls="uniform"), False),
    NORMAL: (SwarmSettings(pulls="gaussian"), False),
    "uniform pulls, 1000 generations": (SwarmSettings(pulls="uniform", patience=_LONG), False),
    "normal pulls, 1000 generations": (SwarmSettings(pulls="gaussian", patience=_LONG), False),
    "uniform pulls, 100 particles": (SwarmSettings(pulls="uniform", population_size=100), False),
    "normal pulls, standardised features": (SwarmSettings(pulls="gaussian"), True),
    OPTIMUM: (None, False),
}


def swarm_readings(sets: Sequence[tuple[DataSet, float]], cost: float, folds: int) -> pd.DataFrame:
    """Return a row for each data set and reading: error in percent, share of the optimum, and the printed error with its SE.

    Parameters
    ----------
    sets : sequence of (DataSet, float)
        The data sets and their gamma.
    cost : float
        The bound C.
    folds : int
        Folds of the cross-validation.
    """
    rows = []
    for data, gamma in sets:
        kernel = Kernel("rbf", gamma=gamma)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in READINGS}
        for fold, (train, test) in enumerate(folds_of(data, folds)):
            for scaled in (False, True):
                X, y = (data.standardised() if scaled else data).X, data.y[train]
                K, K_test = gram_matrix(kernel, X[train]), kernel_matrix(kernel, X[test], X[train])
                optimum = solve_dual(K, y, cost, "exact", definite=True)
                for name, (settings, standardised) in READINGS.items():
                    if standardised != scaled:
                        continue
                    result = optimum
                    if settings is not None:
                        result = solve_dual(K, y, cost, "swarm", random_state=fold, settings=settings, definite=True)
                    wrong = np.mean((K_test @ (result.alpha * y) > 0) != (data.y[test] > 0))
                    found[name].append((100.0 * float(wrong), result.objective / optimum.objective))
        printed, deviation = ERRORS.get((cost, data.name, "PsoSVM"), (np.nan, np.nan))
        for name, measured in found.items():
            error, _ = np.mean(measured, axis=0)
            share = float(np.median([share for _, share in measured]))
            rows.append((data.name, name, float(error), share, printed, deviation / np.sqrt(FOLDS)))
    columns = ["data set", "reading", "error", "share of optimum", "printed error", "se of the printed error"]
    return pd.DataFrame(rows, columns=columns)


def swarm_table(readings: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each reading: its error on each data set, and the mean distance to the printed ones, which come last.

    Parameters
    ----------
    readings : DataFrame
        As `swarm_readings` returns it.
    """
    table = readings.pivot(index="reading", columns="data set", values="error").loc[list(READINGS)]
    table = table[readings["data set"].unique()]
    printed = readings.groupby("data set")["printed error"].first()[table.columns]
    distance = (table - printed).abs().mean(axis=1)
    table.loc["printed for PsoSVM"] = printed
    return table.assign(**{"mean distance": distance}).dropna(how="all").reset_index()


def on_swarm(readings: pd.DataFrame) -> str:
    """Return in words which reading explains the printed errors, and on which sets none does; empty if nothing is printed."""
    if readings["printed error"].isna().all():
        return ""
    off = readings.assign(off=readings["error"] - readings["printed error"])
    by_reading = off.groupby("reading", sort=False)["off"]
    distance, mean = by_reading.apply(lambda d: float(d.abs().mean())), by_reading.mean()
    of_swarms = distance.drop(OPTIMUM)
    texts = [
        f"The swarm's errors at C = 1 are {distance[UNIFORM]:.1f} points from the printed ones on average ({mean[UNIFORM]:+.1f}) "
        f"if its pulls are uniform numbers from 0 to 1, and {distance[NORMAL]:.1f} ({mean[NORMAL]:+.1f}) if they are normal with "
        f"mean and standard deviation 1, the default here. Nearest of all readings is '{of_swarms.idxmin()}' "
        f"({of_swarms.min():.1f})."
    ]
    for name, rows in off.groupby("data set", sort=False):
        at = rows.set_index("reading")
        nearest = str(at["off"].abs().drop(OPTIMUM).idxmin())
        allowed = 2 * float(at["se of the printed error"].iloc[0])
        if at["off"][nearest] > allowed:
            beyond = at["off"][OPTIMUM] > allowed
            texts.append(
                f"On {name} no reading explains the printed {at['printed error'].iloc[0]:.2f} %: the nearest, '{nearest}', has "
                f"{at['error'][nearest]:.2f} %, and the optimum without bias {at['error'][OPTIMUM]:.2f} %"
                f"{_DIFFERENT if beyond else '.'}"
            )
    return " ".join(texts)
