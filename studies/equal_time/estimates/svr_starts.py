"""Where to begin the search of a support vector regression: gammas and epsilons that are good on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from scipy.stats import qmc
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from spotsvm.common.errors import ArgumentError, DataError
from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun
from spotsvm.studies.equal_time.estimates.choices import choose_greedily
from spotsvm.studies.equal_time.results import Estimate, over_data_sets
from spotsvm.studies.equal_time.sets import TARGETS, Rows, one_a_family, read_rows
from spotsvm.studies.equal_time.tasks import FOLDS
from spotsvm.study.callbacks import runs_bar

#: the grid: binary logarithms of epsilon, gamma and, along a path, C
LOG_EPSILON, LOG_GAMMA, LOG_C = np.arange(-7, 0, 2), np.arange(-15, 4), np.arange(-5, 11, 3)
#: the epsilon of the grid that is nearest to the estimator's own
OWN_EPSILON = 2
MOST_ROWS, PARTITIONS, SOBOL_SEEDS = 700, 3, 64
#: points after the estimator's own, and at how many the starts are compared
N_POINTS, COMPARED = 8, (0, 1, 2, 3, 4, 5, 6, 8)
LEARNED, SOBOL = "learned from the other sets", "Sobol points"
GAMMA, BOTH = "gamma", "gamma, epsilon"
_NOTES = f"""\
An SVR with an RBF kernel is scored by {PARTITIONS} partitions into {FOLDS} folds, on columns and targets of variance 1, of at
most {MOST_ROWS} rows: {len(LOG_GAMMA)} gamma (2^-15, 2^-14, ..., 2^3) x {len(LOG_EPSILON)} epsilon (2^-7, 2^-5, 2^-3, 2^-1) x
{len(LOG_C)} C (2^-5, 2^-2, ..., 2^10). C is profiled: a point is a gamma and an epsilon, with the best C for it. Where gamma
alone is searched, epsilon is 2^-3.

Regret is the share of the target's variance that is not told, in percentage points, less that of the best point: means over data
sets with 95 % t intervals. All starts begin at the estimator's own gamma and epsilon. The points of a set are learned from the
others: each is the one that lowers the mean regret of the best so far most, regrets counting up to 10 points. Of Sobol points
the mean of {SOBOL_SEEDS} scrambled sequences counts. One set is taken of each family."""


class Surface(NamedTuple):
    """Percentages of the target's variance that are not told, with the best C: at the estimator's own point, and on the grid."""

    own: float
    grid: Floats

    def regrets(self, searched: str) -> tuple[float, Floats]:
        """Return the regrets of the estimator's own point, and of all points that are searched."""
        points = (self.grid[OWN_EPSILON] if searched == GAMMA else self.grid).ravel()
        least = min(self.own, float(points.min()))
        return self.own - least, points - least


def measure(rows: Rows) -> Surface:
    """Score the paths of C of all points."""
    X, y = scale(rows.X), scale(rows.y)
    splits = [s for k in range(PARTITIONS) for s in KFold(FOLDS, shuffle=True, random_state=k).split(X)]
    own = [{"C": 2.0**c} for c in LOG_C]
    grid = [{"epsilon": 2.0**e, "gamma": 2.0**g, **of_path} for e in LOG_EPSILON for g in LOG_GAMMA for of_path in own]
    scores = cross_val_scores(SVR(gamma="auto"), X, y, own + grid, cv=splits).mean(axis=1)
    errors = 100.0 * (1.0 - scores.reshape(-1, len(LOG_C)).max(axis=1))
    return Surface(float(errors[0]), errors[1:].reshape(len(LOG_EPSILON), len(LOG_GAMMA)))


def learned(surfaces: Sequence[Surface], searched: str, n: int) -> list[int]:
    """Return points for sets like these, by their numbers among those that are searched."""
    own, points = zip(*(surface.regrets(searched) for surface in surfaces), strict=True)
    return choose_greedily(np.array(points), n, np.array(own))


def sobol_points(searched: str, n: int, seed: int) -> list[int]:
    """Return the points nearest to those of a scrambled Sobol sequence in the logarithms."""
    sizes = (len(LOG_GAMMA),) if searched == GAMMA else (len(LOG_EPSILON), len(LOG_GAMMA))
    sequence = qmc.Sobol(len(sizes), rng=np.random.default_rng(seed)).random(1 << (n - 1).bit_length())[:n]
    found: list[int] = np.ravel_multi_index(tuple((sequence * sizes).astype(int).T), sizes).tolist()
    return found


def left_by(surface: Surface, searched: str, points: Sequence[int]) -> Floats:
    """Return the regret of the best after the estimator's own point, and after each further one."""
    own, regrets = surface.regrets(searched)
    return np.minimum.accumulate([own, *regrets[list(points)]])


class SvrStartsStudy(Experiment):
    """Where to begin the search of a support vector regression: gammas and epsilons that are good on many data sets.

    Parameters
    ----------
    quick : bool, default=False
        Three sets of scikit-learn.
    sets : sequence of str, optional
        Three or more of `spotsvm.studies.equal_time.sets.TARGETS`; by default one of each family.
    n_points : int, default=5
        How many points the conclusion names.
    path : path-like, optional
        A folder in which surfaces are kept as they come, and from which the study goes on if it was ended.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "svr_starts"
    drawn = ("regret",)
    _table_caption = "Regret after the estimator's own point and some more, in points of variance"
    _figure_caption = "Regret after the estimator's own point and some more: mean over data sets."
    _notes = _NOTES
    _floatfmt = ".2f"

    def __init__(
        self, quick: bool = False, *, sets: Sequence[str] | None = None, n_points: int = 5, path: str | Path | None = None
    ):
        super().__init__(quick)
        default = ("diabetes", "iris, petal width", "friedman 2") if quick else one_a_family(TARGETS)
        self.sets = default if sets is None else tuple(sets)
        self.n_points = n_points
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_points")
        check_names("sets", self.sets, TARGETS)
        self.left_out: dict[str, str] = {}
        self.points: dict[str, list[int]] = {}

    def _measure(self) -> pd.DataFrame:
        kept = joblib.Memory(self.path, verbose=0).cache(measure)
        self.left_out, families, surfaces = {}, {}, {}
        with runs_bar(self.name, len(self.sets)) as ended:
            for name in self.sets:
                try:
                    rows = read_rows(name, most=MOST_ROWS, drawn=MOST_ROWS)
                except DataError as error:
                    self.left_out[name] = str(error)
                    continue
                families[name], surfaces[name] = rows.family, kept(rows)
                ended(EndedRun(name, 0))
        if len(set(families.values())) < 3:
            raise ArgumentError(f"sets: there are fewer than three families of sets to learn from: {list(families)}")
        found: list[dict[str, Any]] = []
        for searched in (GAMMA, BOTH):
            self.points[searched] = learned(list(surfaces.values()), searched, self.n_points)
            for name, surface in surfaces.items():
                others = [surfaces[other] for other in surfaces if families[other] != families[name]]
                left = {
                    LEARNED: left_by(surface, searched, learned(others, searched, N_POINTS)),
                    SOBOL: np.mean(
                        [left_by(surface, searched, sobol_points(searched, N_POINTS, k)) for k in range(SOBOL_SEEDS)], axis=0
                    ),
                }
                found += [
                    {"searched": searched, "set": name, "points": n, "start": start, "regret": float(regrets[n])}
                    for start, regrets in left.items()
                    for n in COMPARED
                ]
        return pd.DataFrame(found)

    def table(self) -> pd.DataFrame:
        """Return a row for each number of points: the mean regret of both starts, their difference and its interval."""
        runs = self.frame().pivot(index=["searched", "points", "set"], columns="start", values="regret")
        rows = []
        for (searched, points), group in runs.groupby(["searched", "points"], sort=False):
            difference = over_data_sets(group[LEARNED] - group[SOBOL])
            means = {start: float(group[start].mean()) for start in (LEARNED, SOBOL)}
            about = {"searched": searched, "points": points, "sets": len(group)}
            rows.append(about | means | {"difference": difference.mean, "low": difference.low, "high": difference.high})
        return pd.DataFrame(rows)

    def conclusion(self) -> str:
        """Return how the starts compare after as many points as are named, and the points learned from all sets."""
        table, parts = self.table(), []
        for searched in (GAMMA, BOTH):
            row = table[(table["searched"] == searched) & (table["points"] <= self.n_points)].iloc[-1]
            difference = Estimate(row["difference"], row["low"], row["high"])
            points = "; ".join(self._shown(searched, point) for point in self.points[searched])
            parts.append(
                f"{searched} searched, {row['sets']} sets: after the estimator's own and {row['points']} further points the"
                f" regret of those {LEARNED} is {row[LEARNED]:.2f}, that of {SOBOL} {row[SOBOL]:.2f}; difference {difference}."
                f" Learned from all sets: {points}."
            )
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)

    def _shown(self, searched: str, point: int) -> str:
        epsilon, gamma = divmod(point, len(LOG_GAMMA))
        return f"2^{LOG_GAMMA[gamma]}" + (f", 2^{LOG_EPSILON[epsilon]}" if searched == BOTH else "")
