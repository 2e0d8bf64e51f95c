"""Ways to choose a setting from a table: from given scores, and with the scores that a policy has time for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Matern

from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.estimates.tables import LOG_C, LOG_GAMMA, Table, at, drawn, turned

Settings = NDArray[np.intp]
DEFAULTS = np.zeros(1, dtype=np.intp)
GRID = at(np.arange(len(LOG_GAMMA)), np.arange(len(LOG_C)))
#: the grid of 6 C x 5 gamma, both ends among them
COARSE = at(np.linspace(0, len(LOG_GAMMA) - 1, 5).round().astype(int), np.arange(0, len(LOG_C), 2))
REFERENCE, OWN, RULES, POLICIES = "best of 25 random settings", "defaults", "rules", "policies"
#: weight of the loss beside the error
WEIGHT = 0.5
#: what a few C of a gamma cost by themselves, beside the same C on a path (1.13 to 1.19 on four data sets)
_ALONE = 1.2
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


class Policy(NamedTuple):
    """How time is spent: on looks, each a gamma with every `step`-th C of the grid, and then on further partitions.

    Of the best `contenders` gammas the best C and its neighbours in the grid are scored on all partitions; of None, all paths.
    The criterion is the error plus `weight` times the loss.
    """

    looks: int
    step: int
    partitions: int
    contenders: int | None = 3
    weight: float = WEIGHT

    def __str__(self) -> str:
        text = f"{self.looks} gamma x {len(LOG_C[:: self.step])} C"
        if self.partitions > 1:
            scored = "each" if self.contenders is None else f"the best {self.contenders} gamma x 3 C"
            text += f", {scored} on {self.partitions} partitions"
        return text + ("" if self.weight else ", error alone")

    def spend(self, table: Table, gammas: Sequence[int]) -> tuple[Settings, float]:
        """Return what is chosen, the defaults competing, and the time in units; looks are at the first of the gammas."""
        values, units = table.errors + self.weight * table.losses, table.units
        paths = at(np.asarray(gammas[: self.looks]), np.arange(0, len(LOG_C), self.step))
        time = units[DEFAULTS, 0].sum() + units[paths, 0].sum()
        further, alone = paths, 1.0
        if self.contenders is not None and self.partitions > 1:
            further, alone = self._contenders(values[:, 0], paths), _ALONE
            time += alone * units[np.setdiff1d(further, paths), 0].sum()
        time += (self.partitions - 1) * (units[DEFAULTS, 1].sum() + alone * units[further, 1].sum())
        return best(values[:, : self.partitions], np.concatenate([DEFAULTS, further])), float(time)

    def _contenders(self, values: Floats, paths: Settings) -> Settings:
        rows = paths.reshape(self.looks, -1)
        tops = rows[np.arange(self.looks), values[rows].argmin(axis=1)]
        tops = tops[np.argsort(values[tops], kind="stable")[: self.contenders]]
        gammas, costs = np.divmod(tops - 1, len(LOG_C))
        near = [np.arange(max(c - 1, 0), min(c + 2, len(LOG_C))) for c in costs]
        return np.concatenate([at(g, some) for g, some in zip(gammas, near, strict=True)])


SPENT = (
    *(Policy(looks, 1, 1, weight=weight) for looks in (8, 19) for weight in (0.0, WEIGHT)),
    Policy(8, 2, 4, contenders=None),
    *(Policy(looks, 2, n) for looks, n in ((5, 3), (5, 5), (8, 4), (8, 6), (8, 8))),
    Policy(8, 2, 6, weight=0.0),
    *(Policy(8, 2, 6, contenders=n) for n in (1, 5)),
    *(Policy(looks, 1, n) for looks, n in ((8, 6), (13, 8), (19, 8))),
)


def all_choices(table: Table, search: int, experience: Experience) -> Iterator[dict[str, Any]]:
    """Yield a row for each rule and policy: the error on the new rows of what it chooses, and its time in units."""
    order = turned(search)
    table = table._replace(**{name: getattr(table, name)[:, order] for name in ("errors", "losses", "deviations")})
    errors, both = table.errors, table.errors + WEIGHT * table.losses
    random, coarse, whole = drawn(search, 25), "grid of 6 C x 5 gamma", f"whole grid, {len(LOG_C)} C x {len(LOG_GAMMA)} gamma"
    rules = {
        OWN: DEFAULTS,
        REFERENCE: best(errors[:, :1], random),
        "best of 50 random settings": best(errors[:, :1], drawn(search, 50)),
        "25 random settings, the best five on three further partitions": confirmed(errors, random, 5, 4),
        f"{coarse}, the best five on three further partitions": confirmed(errors, COARSE, 5, 4),
        f"{coarse}, every setting on four partitions": best(errors[:, :4], COARSE),
        f"{whole}, one standard error": one_standard_error(table, GRID),
    }
    for n, some in ((1, "one partition"), (2, "two partitions"), (4, "four partitions"), (8, "eight partitions")):
        rules[f"{whole}, {some}"] = best(errors[:, :n], GRID)
        rules[f"{whole}, {some}, error and loss"] = best(both[:, :n], GRID)
        if n > 1:
            guessed = smoothed(errors[GRID, :n], experience)
            rules[f"{whole}, {some}, smoothed by a learned prior"] = GRID[best(guessed, np.arange(len(GRID)))]
    rules["(the best for the new rows themselves)"] = best(table.new[:, None], GRID)
    chosen = [(RULES, name, settings, np.nan) for name, settings in rules.items()]
    chosen += [(POLICIES, str(policy), *policy.spend(table, experience.gammas)) for policy in SPENT]
    for kind, name, settings, units in chosen:
        yield {"kind": kind, "choice": name, "error": float(table.new[settings].mean()), "units": units}
