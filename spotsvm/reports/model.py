"""The Kriging model of the trials of a study, for effects, slices and the comparison with random search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.surrogates.acquisition.selection import select_evaluations
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble, Models
from spotsvm.surrogates.kriging.level_share import draw_level_shares
from spotsvm.surrogates.kriging.sensitivity import left_out_predictions, left_out_share, predict_averages, predict_mean
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import judge_noise, within_reach
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.recommendation import losses_of
from spotsvm.trials.trial import FINISHED, Trial, is_given

Floats = NDArray[np.float64]


#: minimum number of distinct configurations for a model
FEWEST = 8


@dataclass(frozen=True)
class StudyModel:
    """A Kriging model of one objective; predictions have the direction of the study."""

    domain: Domain
    models: Models  # not warped; under noise they also recommend a trial
    sign: float
    noise: float  # standard deviation of a single response near the best; 0 if the objective is known to be deterministic
    explained: float  # share of the variance of left-out values
    left_out: tuple[Floats, Floats, Floats]  # values, their predictions from the others, and the standard errors of these
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

    def along(self, point: Floats, column: int, places: Floats) -> tuple[Floats, Floats]:
        """Return the predictions at a point with other values of a coordinate, and their standard errors, of shape (n,)."""
        points = np.tile(point, (len(places), 1))
        points[:, column] = places
        return self.average(points[:, None, :])


def fit_study_model(
    trials: Sequence[Trial], domain: Domain, objectives: Objectives, objective: int, *, noise: Noise, seed: int
) -> StudyModel | str:
    """Fit the model of one objective to at most a thousand points, or return a sentence that says why this is impossible."""
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
    verdict = judge_noise(points, values, noise)
    try:
        with one_blas_thread():
            rows = select_evaluations(domain, points, values, noisy=verdict != "deterministic")
            rng = np.random.default_rng([seed, 1 << 41])
            models = KrigingEnsemble(domain, warped=False).fit(points[rows], values[rows], rng)
            explained = left_out_share(models)
            seen, predicted, error = left_out_predictions(models)
    except NotPositiveDefiniteError as failure:
        return f"The model could not be fitted: {failure}."
    left_out = sign * unit * seen, sign * unit * predicted, unit * error
    return StudyModel(domain, models, sign, 0.0 if verdict == "deterministic" else unit * models.noise, explained, left_out, unit)


#: the lower edge, the middle and the upper edge of the band
QUANTILES = (0.1, 0.5, 0.9)
_POOL = 4096
_NOISE_DRAWS = 8


def best_of(values: Floats, numbers: Floats) -> Floats:
    """Return the `QUANTILES` of the smallest of m values drawn with replacement, a column for each m of `numbers`.

    Its q-quantile is the values' quantile at 1 - (1 - q)^(1/m) (David, Nagaraja 2003, "Order Statistics", section 2.1).
    """
    shares = 1.0 - (1.0 - np.array(QUANTILES)[:, None]) ** (1.0 / np.asarray(numbers, dtype=float))
    # less one part in 10^12, against rounding errors
    places = np.ceil(shares * len(values) - 1e-12).astype(int) - 1
    return np.asarray(np.sort(values)[np.clip(places, 0, len(values) - 1)])


def random_values(model: StudyModel, seed: int) -> Floats:
    """Return values that random search would see if the model were right; smaller is better.

    The values are predictions at uniformly random points; under noise, several draws of the noise are added to each.
    """
    rng = np.random.default_rng([seed, 1 << 42])
    values = model.sign * model.mean(rng.random((_POOL, model.domain.dimension)))
    if model.noise <= 0:
        return values
    return (values[:, None] + model.noise * rng.normal(size=(_POOL, _NOISE_DRAWS))).ravel()


_NOTHING = 0.01  # an interval is uninformative if it leaves out less than this at both ends
_ERROR = 0.025  # probability beyond each end of the interval
_MOST = 2000  # maximum number of trials for which a model of a thousand points can predict random search
_POINTS = (1024, 16384)
_TIED = 0.9


@dataclass(frozen=True)
class AgainstRandom:
    """The 95 % interval of the chance that a random search with as many trials does as well as a study."""

    low: float
    high: float
    source: str

    @property
    def verdict(self) -> Literal["better", "above", "not better", "unknown"]:
        """The chance in words: at most one in ten, at most a half, at least a half, or unknown."""
        if self.high <= 0.1:
            return "better"
        if self.high <= 0.5:
            return "above"
        return "not better" if self.low >= 0.5 else "unknown"

    def sentence(self) -> str:
        """Return the verdict, the interval, and what was compared."""
        told = {
            "better": "The search did better than random search does in nine of ten cases",
            "above": "The search did better than random search does in half of all cases, but perhaps not in nine of ten",
            "not better": "The search did no better than random search does in half of all cases",
            "unknown": "The trials do not show whether the search did better than random search",
        }[self.verdict]
        if self.high == self.low or (self.low < _NOTHING and self.high > 1.0 - _NOTHING):  # the interval is uninformative
            return f"{told}. {self.source}."
        return (
            f"{told}: with as many trials, random search does as well in {_percent(self.low)} to {_percent(self.high)} of cases "
            f"(95 % interval). {self.source}."
        )


def against_random(
    trials: Sequence[Trial], domain: Domain, *, sign: float, noise: Noise, seed: int, drawn: Sequence[Trial] = ()
) -> AgainstRandom:
    """Compare the best value of a study with the best of as many random configurations, its own and those `drawn`.

    If none of n is as good, up to 1 - 0.025^(1 / n) of the space can be (Clopper, Pearson 1934). With too few random trials the
    share is that of two Kriging models, of values and of logarithms. `sign` is 1 if smaller is better.
    """
    ended = [t for t in trials if t.state in FINISHED]
    random = [t for t in drawn if t.state in FINISHED and not is_given(t)]
    losses, others = losses_of(ended, sign), losses_of(random, sign)
    started = np.array([is_given(t) for t in ended])
    own, best = int(np.sum(~started)), float(losses.min())
    if np.any(losses[started] <= best):
        return AgainstRandom(1.0, 1.0, "No trial is better than the starting points, with which a random search would also begin")
    k, n = int(np.sum(others <= best)), len(others)
    if n:
        low = 0.0 if k == 0 else float(beta.ppf(_ERROR, k, n - k + 1))
        high = 1.0 if k == n else float(beta.ppf(1.0 - _ERROR, k + 1, n - k))
        counted = f"Of the {n} trials of the random search, {k} did as well"
        comparison = AgainstRandom(_chance(low, own), _chance(high, own), counted)
        if comparison.verdict != "unknown":
            return comparison
    pooled = f"{len(ended)} trials" + (f" and the {n} of the random search" if n else "")
    asked = f"The values of random configurations were predicted by two Kriging models of the {pooled}"
    if own > _MOST:
        return AgainstRandom(
            0.0, 1.0, f"With more than {_MOST} trials, a model is too coarse, and there are too few random trials to count"
        )
    try:
        return AgainstRandom(*_by_models([*ended, *random], domain, sign, noise, seed, own, best), asked)
    except NotPositiveDefiniteError:
        return AgainstRandom(0.0, 1.0, "There are too few trials, or too few different values, to fit a model")


def _chance(share: float, number: int) -> float:
    """Return the chance that at least one of `number` draws is in the best `share`."""
    return float(-np.expm1(number * np.log1p(-min(share, 1.0 - 1e-16))))


def _by_models(
    trials: Sequence[Trial], domain: Domain, sign: float, noise: Noise, seed: int, number: int, best: float
) -> tuple[float, float]:
    """Return the interval of the chance, from models of the values and of their logarithms."""
    points = np.array([t.point for t in trials])
    losses, unit = within_reach(losses_of(trials, sign))
    ok = np.isfinite(losses)
    known, values = points[ok], losses[ok]
    if len(np.unique(known, axis=0)) < FEWEST or not np.ptp(values) > 0:
        raise NotPositiveDefiniteError("no model")
    judged = judge_noise(known, values, noise)
    rows = select_evaluations(domain, known, values, noisy=judged != "deterministic")
    n_points = int(np.clip(2 ** np.ceil(np.log2(64 * number)), *_POINTS))
    lows, highs = [], []
    with one_blas_thread():
        for warped in (False, True):
            rng = np.random.default_rng([seed, 1 << 42, warped])
            models = KrigingEnsemble(domain, warped=warped).fit(known[rows], values[rows], rng)
            lower, upper = draw_level_shares(
                models,
                domain,
                best / unit,
                rng,
                noise=judged,
                n_points=n_points,
                tolerance=_half_step(known, values),
                failed=points[~ok],
            )
            lows.append(float(np.quantile(lower, _ERROR)))
            highs.append(float(np.quantile(upper, 1.0 - _ERROR)))
    return _chance(min(lows), number), _chance(max(highs), number)


def _half_step(points: Floats, values: Floats) -> float:
    """Return half the smallest step between rounded values, such as accuracies on few rows; 0 if they are not rounded."""
    different = np.unique(values)
    if len(different) > _TIED * len(np.unique(points, axis=0)):
        return 0.0
    steps = np.diff(different)
    return 0.5 * float(steps[steps > 1e-9 * np.ptp(different)].min())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"
