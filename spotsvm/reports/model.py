"""The Kriging model of a study's trials, on which a report's pictures stand."""

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
    """Kriging of one objective; values are in the study's own direction.

    Attributes
    ----------
    domain : Domain
        The cube of the trials' points.
    models : Models
        The fitted ensemble, without a warp: the one by which a trial is recommended under noise.
    sign : float
        1 if a smaller value is better, -1 if a larger one is.
    noise : float
        Standard deviation of one response near the best one; 0 for an objective known to be deterministic.
    explained : float
        Share of the values' variance that it explains where it has not seen them.
    unit : float, default=1.0
        In which the models have the values.
    """

    domain: Domain
    models: Models
    sign: float
    noise: float
    explained: float
    unit: float = 1.0

    def mean(self, points: Floats) -> Floats:
        """Give the predicted value at points of the cube, shape (m, d); shape (m,)."""
        with one_blas_thread(), np.errstate(over="ignore"):
            return self.sign * self.unit * predict_mean(self.models, self.domain.model_inputs(self.domain.snap(points)))

    def average(self, groups: Floats) -> tuple[Floats, Floats]:
        """Give the average over each group of points, shape (g, m, d), and its standard error; shapes (g,)."""
        g, m, d = groups.shape
        inputs = self.domain.model_inputs(self.domain.snap(groups.reshape(g * m, d))).reshape(g, m, d)
        with one_blas_thread(), np.errstate(over="ignore"):
            mean, error = predict_averages(self.models, inputs)
            return self.sign * self.unit * mean, self.unit * error


def fit_study_model(
    trials: Sequence[Trial], domain: Domain, objectives: Objectives, objective: int, *, noise: Noise, seed: int
) -> StudyModel | str:
    """Fit the model of one objective, or say in a sentence why there is none; beyond a thousand points of a thousand of them.

    Parameters
    ----------
    trials : sequence of Trial
        All trials.
    domain : Domain
        The cube of their points.
    objectives : Objectives
        Those of the study.
    objective : int
        Which of them.
    noise : "auto" or bool
        Whether the objective is noisy.
    seed : int
        Seed of the model's samples.
    """
    done = [t for t in trials if t.values is not None]
    distinct = len({t.point for t in done})
    if distinct < FEWEST:
        been = "1 configuration has" if distinct == 1 else f"{distinct} different configurations have"
        return f"{been} been evaluated with success so far; a model is shown from {FEWEST} on."
    points = np.array([t.point for t in done])
    sign = float(objectives.signs[objective])
    values, unit = within_reach(sign * np.array([t.values[objective] for t in done if t.values is not None]))
    if not np.ptp(values) > 0:
        return "All values are the same, so no parameter has been seen to have an effect."
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
    """Give quantiles of the smallest of m values drawn at random, with replacement, for each number m.

    The smallest of m exceeds the p-quantile of one with probability (1 - p)^m, so its q-quantile is that of one at
    1 - (1 - q)^(1/m).

    Parameters
    ----------
    values : ndarray of shape (n,)
        What can be drawn.
    numbers : ndarray of shape (k,)
        Numbers of draws.
    quantiles : tuple of float, default=(0.1, 0.5, 0.9)
        Between 0 and 1.

    Returns
    -------
    ndarray of shape (len(quantiles), k)

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
    """Give values that random search would see if the model were right, smaller ones better.

    They are predictions at uniformly random points of the cube, under noise each with several draws of the noise added.

    Parameters
    ----------
    model : StudyModel
        The model.
    seed : int
        Seed of the points.
    """
    rng = np.random.default_rng([seed, 1 << 42])
    values = model.sign * model.mean(rng.random((_POOL, model.domain.dimension)))
    if model.noise <= 0:
        return values
    return (values[:, None] + model.noise * rng.normal(size=(_POOL, _NOISE_DRAWS))).ravel()
