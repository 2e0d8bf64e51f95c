"""Ways to choose a setting from a table: from given scores, and with the scores that a policy has time for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Matern

from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.estimates.tables import LOG_C, LOG_GAMMA, Table, at

Settings = NDArray[np.intp]
DEFAULTS = np.zeros(1, dtype=np.intp)
GRID = at(np.arange(len(LOG_GAMMA)), np.arange(len(LOG_C)))
#: the grid of 6 C x 5 gamma, both ends among them
COARSE = at(np.linspace(0, len(LOG_GAMMA) - 1, 5).round().astype(int), np.arange(0, len(LOG_C), 2))
REFERENCE, OWN, RULES, POLICIES = "best of 25 random settings", "defaults", "rules", "policies"
#: weight of the loss beside the error
WEIGHT = 0.5
#: regrets, in points, count up to this; length of Matern's covariance
_MOST, _OCTAVES = 10.0, 4.0


def best(values: Floats, settings: Settings) -> Settings:
    """Return those of the settings whose mean over the partitions is the smallest; `values` has a column a partition.

    Examples
    --------
    >>> best(np.array([[2.0, 2.0], [1.0, 3.0], [0.0, 5.0]]), np.arange(3))
    array([0, 1])
    """
    means = values[settings].mean(axis=1)
    found: Settings = settings[means <= means.min() + 1e-9]
    return found


def confirmed(values: Floats, settings: Settings, n: int, partitions: int) -> Settings:
    """Return the best on several partitions of the n settings that are the best on the first."""
    first = np.argsort(values[settings, 0], kind="stable")[:n]
    return best(values[:, :partitions], settings[first])


def one_standard_error(table: Table, settings: Settings) -> Settings:
    """Return the setting with the smallest C, then gamma, whose error on the first partition is near the smallest."""
    values = table.errors[settings, 0]
    near = settings[values <= values.min() + table.deviations[settings[values.argmin()], 0]]
    found: Settings = near[np.lexsort((near, (near - 1) % len(LOG_C)))[:1]]
    return found


def choose_greedily(regrets: Floats, n: int, reached: Floats) -> list[int]:
    """Return n different columns of the regrets, a row a set: each lowers the mean regret of the best so far most.

    `reached` are the regrets to begin with. Regrets count up to 10 points.

    Examples
    --------
    >>> choose_greedily(np.array([[2.0, 0.0, 5.0], [2.0, 5.0, 1.0]]), 3, np.array([9.0, 9.0]))
    [0, 1, 2]
    """
    regrets, reached, chosen = np.minimum(regrets, _MOST), np.minimum(reached, _MOST), list[int]()
    for _ in range(n):
        left = np.minimum(reached[:, None], regrets).mean(axis=0)
        left[chosen] = np.inf
        chosen.append(int(left.argmin()))
        reached = np.minimum(reached, regrets[:, chosen[-1]])
    return chosen


class Experience(NamedTuple):
    """What other data sets say of the errors of the grid: which gammas to look at first, and a prior mean and covariance."""

    gammas: tuple[int, ...]
    mean: Floats
    covariance: Floats


def learn(surfaces: Sequence[Floats], n_gammas: int) -> Experience:
    """Learn from the errors of the grid on other data sets, each the mean over splits and partitions.

    Each gamma is the one that lowers the mean regret of the best so far most, with every other C. The prior is of the differences
    of errors from the mean of their set; its covariance is half theirs and half of Matern's kind, so that sets may be new.
    """
    errors = np.array(surfaces)
    paths = errors.reshape(len(errors), len(LOG_GAMMA), len(LOG_C))[:, :, ::2].min(axis=2)
    regrets = paths - errors.min(axis=1, keepdims=True)
    chosen = choose_greedily(regrets, n_gammas, np.full(len(errors), _MOST))
    differences = errors - errors.mean(axis=1, keepdims=True)
    pooled = np.cov(differences, rowvar=False)
    points = np.stack(np.meshgrid(LOG_GAMMA, LOG_C, indexing="ij"), axis=-1).reshape(-1, 2) / _OCTAVES
    smooth = np.diag(pooled).mean() * Matern(nu=2.5)(points)
    return Experience(tuple(chosen), differences.mean(axis=0), 0.5 * (pooled + smooth))


def smoothed(errors: Floats, prior: Experience) -> Floats:
    """Return the errors of the grid that a Gaussian process with the learned prior predicts, as a column.

    `errors` has a column for each of two or more partitions, which tell the noise of a mean. The noise that all partitions
    share, because they are of the same rows, they cannot tell.
    """
    differences = errors - errors.mean(axis=0)
    noise = float(np.var(differences, axis=1, ddof=1).mean()) / errors.shape[1]
    noisy = prior.covariance + max(noise, 1e-6) * np.eye(len(errors))
    gain = np.linalg.solve(noisy, differences.mean(axis=1) - prior.mean)
    return np.asarray(prior.mean + prior.covariance @ gain)[:, None]
