"""The effect of reinterpolation on the search of a noisy function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.solvers.search import KrigingSearch
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.tasks import tasks
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

NOISE = 30.0
BRANIN_MINIMUM = 0.397887

VARIANTS: dict[str, dict[str, Any]] = {
    "reinterpolation": {"criterion": "reinterpolation"},
    "plain EI": {"criterion": "plain", "nugget_bounds": (1e-8, 1e-8)},
    "plain EI with nugget": {"criterion": "plain"},
}


def branin(u: Floats) -> float:
    """Return Branin's function at a point of the unit square; its minimum is 0.397887."""
    return tasks.branin(np.array([15 * u[0] - 5, 15 * u[1]]))


def run_variant(variant: str, seed: int, n_trials: int) -> Row:
    """Minimise Branin's function with noise; return the regret, and that of a smoothing model's recommendation."""
    domain = Domain.continuous(2)
    search = KrigingSearch(domain, seed, noise=True, inference="mle", warped=False, repeat_below=0.0, **VARIANTS[variant])
    noise = np.random.default_rng([seed, 99])
    for _ in range(n_trials):
        point = search.ask().point
        search.tell(point, branin(point) + NOISE * noise.normal())
    smooth = KrigingEnsemble(domain, inference="mle").fit(search.points, search.values, np.random.default_rng(seed))
    smoothed = search.points[np.argmin(smooth.predict_evaluated()[0])]
    own = smoothed if variant == "reinterpolation" else search.points[np.argmin(search.values)]
    return {"regret": branin(own) - BRANIN_MINIMUM, "regret_smoothed": branin(smoothed) - BRANIN_MINIMUM}


@dataclass(kw_only=True)
class ReinterpolationStudy(Experiment):
    """Reinterpolation compared with plain expected improvement, on Branin's function with noise of standard deviation 30.

    The variants use the same Kriging model (Matern 5/2, maximum likelihood) except for the nugget, the same designs and the same
    noise; no point is repeated. Plain EI is eq. 11 of Koch et al. 2011: the model interpolates, and the improvement is over the
    best observed value, whose point is recommended. With a nugget the model smooths, but the improvement is still over the best
    observed value. Reinterpolation (Forrester, Sobester, Keane 2008) smooths, uses the improvement over the best prediction, and
    recommends the point of this prediction. The regret is the true value of the recommended point minus the minimum. The table
    also has the regret if the same smoothing model recommends from the evaluations of each variant.

    Parameters
    ----------
    quick : bool, default=False
        Three seeds of 15 trials.
    n_jobs, path
        See `Experiment`.
    seeds : int or sequence of int, optional
        Seeds of the runs of each variant, or their number; by default 20.
    n_trials : int, optional
        Trials of a run; by default 80.
    """

    name = "reinterpolation"
    reads_data = False
    shared = ("n_trials",)
    drawn = ("median regret", "median, smoothing model")
    together = True

    seeds: Seeds = either(20, 3)
    n_trials: int = either(80, 15, least=1)

    def _jobs(self) -> list[Job]:
        keys = [(variant, seed) for variant in VARIANTS for seed in self.seeds]
        return [Job({"variant": variant, "seed": seed}, run_variant, (variant, seed, self.n_trials)) for variant, seed in keys]

    def table(self) -> pd.DataFrame:
        """Return a row for each variant: median and quartiles of the regret, and the paired wins of reinterpolation."""
        runs = self.frame()
        ours = runs[runs.variant == "reinterpolation"].set_index("seed").regret
        rows = []
        for variant in VARIANTS:
            mine = runs[runs.variant == variant].set_index("seed")
            low, middle, high = mine.regret.quantile([0.25, 0.5, 0.75])
            wins = f"{int((ours < mine.regret).sum())} of {len(mine)}" if variant != "reinterpolation" else ""
            rows.append((variant, middle, low, high, mine.regret_smoothed.median(), wins))
        columns = ["variant", "median regret", "lower quartile", "upper quartile", *self.drawn[1:], "reinterpolation wins"]
        return pd.DataFrame(rows, columns=columns)

    def conclusion(self) -> str:
        """Return in words the median regrets, with the own recommendations and with those of one smoothing model."""
        rows = self.table().set_index("variant")
        own, smoothed = (
            ", ".join(f"{variant} {value:.3g}" for variant, value in rows[column].items())
            for column in ("median regret", "median, smoothing model")
        )
        return (
            f"Median regret of the own recommendations: {own}. If one smoothing model recommends for all variants, so that lucky "
            f"noise has no influence: {smoothed}."
        )
