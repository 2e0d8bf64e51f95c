"""The Kriging model of the trials of a study, from which a report draws effects, slices and the band of random search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.contract.base import Noise
from spotsvm.surrogates.acquisition.selection import select_evaluations
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble, Models
from spotsvm.surrogates.kriging.noise import judge_noise
from spotsvm.surrogates.kriging.sensitivity import left_out_share, predict_averages, predict_mean
from spotsvm.surrogates.magnitude import within_reach
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.trial import Trial

Floats = NDArray[np.float64]


#: distinct configurations that a model needs before it is shown
FEWEST = 8


@dataclass(frozen=True)
class StudyModel:
    """A Kriging model of one objective; predictions have the direction of the study."""

    domain: Domain
    models: Models  # not warped; under noise it also recommends a trial
    sign: float
    noise: float  # standard deviation of one response near the best one; 0 for an objective known to be deterministic
    explained: float  # share of the variance of left-out values
    unit: float = 1.0  # of the values in the models

    def mean(self, points: Floats) -> Floats:
        """Return the predictions, shape (m,), at points of shape (m, d)."""
        with one_blas_thread(), np.errstate(over="ignore"):
            return self.sign * self.unit * predict_mean(self.models, self.domain.model_inputs(self.domain.snap(points)))

    def average(self, groups: Floats) -> tuple[Floats, Floats]:
        """Return the mean prediction of each group of points, of shape (g, m, d), and its standard error, of shape (g,)."""
        g, m, d = groups.shape
        inputs = self.domain.model_inputs(self.domain.snap(groups.reshape(g * m, d))).reshape(g, m, d)
        with one_blas_thread(), np.errstate(over="ignore"):
            mean, error = predict_averages(self.models, inputs)
            return self.sign * self.unit * mean, self.unit * error


def fit_study_model(
    trials: Sequence[Trial], domain: Domain, objectives: Objectives, objective: int, *, noise: Noise, seed: int
) -> StudyModel | str:
    """Fit the model of one objective, to at most a thousand of the points; or return a sentence on why there is none."""
    done = [t for t in trials if t.values is not None]
    distinct = len({t.point for t in done})
    if distinct < FEWEST:
        been = "1 configuration has" if distinct == 1 else f"{distinct} different configurations have"
        return f"Only {been} been evaluated successfully; a model needs at least {FEWEST}."
    points = np.array([t.point for t in done])
    sign = float(objectives.signs[objective])
    values, unit = within_reach(sign * np.array([t.values[objective] for t in done if t.values is not None]))
    if not np.ptp(values) > 0:
        return "All values are the same, so no effects are visible."
    verdict = judge_noise(points, values) if noise == "auto" else ("noisy" if noise else "deterministic")
    try:
        with one_blas_thread():
            rows = select_evaluations(domain, points, values, noisy=verdict != "deterministic")
            rng = np.random.default_rng([seed, 1 << 41])
            models = KrigingEnsemble(domain, warped=False).fit(points[rows], values[rows], rng)
            explained = left_out_share(models)
    except NotPositiveDefiniteError as failure:
        return f"The model could not be fitted: {failure}."
    return StudyModel(domain, models, sign, 0.0 if verdict == "deterministic" else unit * models.noise, explained, unit)


#: the lower edge, the middle and the upper edge of the band
QUANTILES = (0.1, 0.5, 0.9)
_POOL = 4096
_NOISE_DRAWS = 8


def best_of(values: Floats, numbers: Floats, quantiles: tuple[float, ...] = QUANTILES) -> Floats:
    """Return quantiles of the smallest of m values drawn with replacement, a column for each m of `numbers`.

    The smallest of m exceeds the p-quantile of the values with probability (1 - p)^m, so its q-quantile is theirs at
    1 - (1 - q)^(1/m).

    References
    ----------
    David, Nagaraja 2003, "Order Statistics", section 2.1.

    Examples
    --------
    >>> best_of(np.arange(10.0), np.array([1, 2, 100])).tolist()
    [[0.0, 0.0, 0.0], [4.0, 2.0, 0.0], [8.0, 6.0, 0.0]]
    """
    shares = 1.0 - (1.0 - np.array(quantiles)[:, None]) ** (1.0 / np.asarray(numbers, dtype=float))
    # less one part in 10^12: 0.5 that has come out as 0.5 and a bit is still 0.5
    places = np.ceil(shares * len(values) - 1e-12).astype(int) - 1
    return np.asarray(np.sort(values)[np.clip(places, 0, len(values) - 1)])


def random_values(model: StudyModel, seed: int) -> Floats:
    """Return values that random search would see if the model were right, smaller ones better.

    They are predictions at uniformly random points; under noise, several draws of the noise are added to each.
    """
    rng = np.random.default_rng([seed, 1 << 42])
    values = model.sign * model.mean(rng.random((_POOL, model.domain.dimension)))
    if model.noise <= 0:
        return values
    return (values[:, None] + model.noise * rng.normal(size=(_POOL, _NOISE_DRAWS))).ravel()
