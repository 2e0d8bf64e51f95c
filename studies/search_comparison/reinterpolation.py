"""The effect of reinterpolation on the search of a noisy function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spotsvm.solvers.search import KrigingSearch
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment
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


class ReinterpolationStudy(Experiment):
    """Reinterpolation against plain expected improvement, on Branin's function with noise of standard deviation 30.

    All variants use the same Kriging model but for the nugget (Matern 5/2, maximum likelihood), the same designs and the
    same noise; no point is repeated. Plain EI is eq. 11 of Koch et al. 2011: an interpolating model, and the improvement over the
    best response seen, which is also recommended. With a nugget, the model smooths, and the improvement is still over the best
    response seen. Reinterpolation (Forrester, Sobester, Keane 2008) smooths, uses the improvement over the best prediction, and
    recommends this point. The result is the true value of the recommended point above the minimum. The table also has the result
    for the point that the same smoothing model recommends from each variant's evaluations.

    Parameters
    ----------
    quick : bool, default=False
        Three seeds and 15 evaluations.
    seeds : int, default=20
        Number of runs of each variant.
    n_trials : int, default=80
        Number of evaluations of a run.
    """

    name = "reinterpolation"
    reads_data = False
    drawn = ("median regret", "median, smoothing model")
    together = True

    def __init__(self, quick: bool = False, *, seeds: int = 20, n_trials: int = 80):
        super().__init__(quick)
        self.seeds, self.n_trials = (3, 15) if quick else (seeds, n_trials)

    def _measure(self) -> pd.DataFrame:
        rows = [self._row(variant, seed, self.n_trials) for variant in VARIANTS for seed in range(self.seeds)]
        return pd.DataFrame(rows, columns=["variant", "seed", "n_trials", "regret", "regret_smoothed"])

    def _row(self, variant: str, seed: int, n_trials: int) -> tuple[str, int, int, float, float]:
        domain = Domain.continuous(2)
        search = KrigingSearch(domain, seed, noise=True, inference="mle", warped=False, repeat_below=0.0, **VARIANTS[variant])
        noise = np.random.default_rng([seed, 99])
        for _ in range(n_trials):
            point = search.ask().point
            search.tell(point, branin(point) + NOISE * noise.normal())
        smooth = KrigingEnsemble(domain, inference="mle").fit(search.points, search.values, np.random.default_rng(seed))
        smoothed = search.points[np.argmin(smooth.predict_evaluated()[0])]
        own = smoothed if variant == "reinterpolation" else search.points[np.argmin(search.values)]
        return variant, seed, n_trials, branin(own) - BRANIN_MINIMUM, branin(smoothed) - BRANIN_MINIMUM

    def table(self) -> pd.DataFrame:
        """Return a row a variant: median and quartiles of the regret, the paired wins of reinterpolation."""
        runs = self.frame()
        ours = runs[runs.variant == "reinterpolation"].set_index("seed").regret
        rows = []
        for variant in VARIANTS:
            mine = runs[runs.variant == variant].set_index("seed")
            low, middle, high = mine.regret.quantile([0.25, 0.5, 0.75])
            wins = f"{int((ours < mine.regret).sum())} of {len(mine)}" if variant != "reinterpolation" else ""
            rows.append((variant, middle, low, high, mine.regret_smoothed.median(), wins))
        columns = [
            "variant",
            "median regret",
            "lower quartile",
            "upper quartile",
            "median, smoothing model",
            "reinterpolation wins",
        ]
        return pd.DataFrame(rows, columns=columns)

    def conclusion(self) -> str:
        """Return in words whether reinterpolation has the lower median, and what of it is the recommendation's doing."""
        rows = self.table().set_index("variant")
        own, smoothed = (
            ", ".join(f"{variant} {value:.3g}" for variant, value in rows[column].items())
            for column in ("median regret", "median, smoothing model")
        )
        return (
            f"Median regret of what each recommends: {own}. With one smoothing model recommending for all, which takes the "
            f"lucky responses out: {smoothed}."
        )
