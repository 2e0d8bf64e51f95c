"""Other ways to use partitions: divided among the contenders by what is known of them, or a fresh one for each look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import t as student

from spotsvm.solvers.search.kriging.ocba import ocba_next
from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.estimates.choices import DEFAULTS, WEIGHT, Settings, best
from spotsvm.studies.equal_time.estimates.policies import Policy
from spotsvm.studies.equal_time.estimates.tables import LOG_C, LOG_GAMMA, Table, at
from spotsvm.surrogates.domain import Coordinate, Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

#: partitions that all contenders have before their number is decided one by one
_FIRST = 3
#: confidence with which a contender is behind the best, before it is left out of a race
_BEHIND = 0.9


@dataclass(frozen=True)
class Division:
    """As many evaluations as `policy` spends on the partitions of its contenders, divided otherwise.

    "ocba" gives each evaluation to the contender that is furthest behind its share by OCBA, from means and variances over
    partitions. "racing" leaves out contenders that are behind the best on the same partitions by a t test.
    """

    policy: Policy
    way: Literal["ocba", "racing"]

    def __str__(self) -> str:
        how = {"ocba": "divided by OCBA", "racing": "divided by racing"}
        return f"{self.policy}, {how[self.way]}"

    def spend(self, table: Table, gammas: Sequence[int]) -> tuple[Settings, float]:
        """Return what is chosen, the defaults competing, and the time in units."""
        values = table.errors + self.policy.weight * table.losses
        looked = self.policy.look(table, gammas)
        settings = np.concatenate([DEFAULTS, looked.contenders])
        divide = by_ocba if self.way == "ocba" else by_racing
        counts = divide(values[settings], len(settings) * self.policy.partitions)
        means = np.array([values[s, :n].mean() for s, n in zip(settings, counts, strict=True)])
        means[counts < counts.max() if self.way == "racing" else counts < 1] = np.inf
        costs = table.units[settings, 1] * np.where(settings == DEFAULTS[0], 1.0, looked.alone)
        return settings[means <= means.min() + 1e-9], looked.time + float(((counts - 1) * costs).sum())


def by_ocba(values: Floats, total: int) -> Settings:
    """Return how many partitions each contender is scored on, `total` in all; `values` has a row each, a column a partition.

    Variances are those of a contender's own partitions, pooled half and half with all contenders'.
    """
    counts = np.full(len(values), _FIRST)
    while counts.sum() < total and (counts < values.shape[1]).any():
        means = np.array([row[:n].mean() for row, n in zip(values, counts, strict=True)])
        variances = np.array([row[:n].var(ddof=1) for row, n in zip(values, counts, strict=True)])
        variances = 0.5 * (variances + variances.mean()) + 1e-9
        open_ = np.flatnonzero(counts < values.shape[1])
        after = ocba_next(means, variances, counts)
        counts[after if after in open_ else open_[means[open_].argmin()]] += 1
    return np.asarray(counts, dtype=np.intp)


def by_racing(values: Floats, total: int) -> Settings:
    """Return how many partitions each contender is scored on, at most `total` in all."""
    counts = np.full(len(values), _FIRST)
    racing = np.arange(len(values))
    n = _FIRST
    while True:
        means = values[racing, :n].mean(axis=1)
        behind = values[racing, :n] - values[racing[means.argmin()], :n]
        errors = behind.std(axis=1, ddof=1) / np.sqrt(n)
        racing = racing[behind.mean(axis=1) <= student.ppf(_BEHIND, n - 1) * errors + 1e-9]
        if n == values.shape[1] or len(racing) < 2 or counts.sum() + len(racing) > total:
            return np.asarray(counts, dtype=np.intp)
        n += 1
        counts[racing] = n


class FreshPartitions(NamedTuple):
    """Each look is at a partition of its own; a Kriging model with a nugget says which of the looks was the best."""

    looks: int
    times: int
    step: int = 2
    weight: float = WEIGHT

    def __str__(self) -> str:
        paths = f"{self.looks} gamma x {len(LOG_C[:: self.step])} C"
        return f"{paths}, {self.times} times, each on a fresh partition, predicted by Kriging with a nugget"

    def spend(self, table: Table, gammas: Sequence[int]) -> tuple[Settings, float]:
        """Return what is predicted to be best, unless the defaults are better on as many partitions; and the time in units."""
        values, units = table.errors + self.weight * table.losses, table.units
        paths = [at(gamma, np.arange(0, len(LOG_C), self.step)) for gamma in gammas[: self.looks]] * self.times
        columns = np.arange(len(paths)) % values.shape[1]
        settings = np.concatenate(paths)
        seen = np.concatenate([values[path, k] for path, k in zip(paths, columns, strict=True)])
        predicted = predicted_by_kriging(settings, seen)
        own = values[DEFAULTS, : self.times].mean(axis=1)
        chosen = best(np.append(own, predicted)[:, None], np.arange(1 + len(settings)))
        time = units[settings, 0].sum() + units[DEFAULTS, 0].sum() * self.times
        return np.unique(np.concatenate([DEFAULTS, settings])[chosen]), float(time)


def predicted_by_kriging(settings: Settings, values: Floats) -> Floats:
    """Return the mean response at settings of the grid that a Kriging model with a nugget has, as the recommendation has it."""
    gammas, costs = np.divmod(settings - 1, len(LOG_C))
    points = np.column_stack([gammas / (len(LOG_GAMMA) - 1), costs / (len(LOG_C) - 1)]).astype(float)
    models = KrigingEnsemble(Domain((Coordinate(), Coordinate())), warped=False).fit(points, values, np.random.default_rng(0))
    return models.mean_evaluated()


DIVISIONS: tuple[Division | FreshPartitions, ...] = (
    Division(Policy(8, 2, 6), "ocba"),
    Division(Policy(8, 2, 6), "racing"),
    FreshPartitions(8, 3),
)
