"""The score to expect on new rows, from out-of-fold decisions of candidates or from the unseen rows of one model.

Rows are drawn again with replacement. The choice among candidates (the single best, or an average with weights: `luck.weights`)
is made anew on each draw, and judged on the rows that were left out of it: so the best of many out-of-fold scores is not taken
for what it promises. No model is fitted again. Tsamardinos, Greasidou and Borboudakis 2018, "Bootstrapping the out-of-sample
predictions for efficient and accurate cross-validation" (BBC-CV). As a draw has 63 % of the rows, its choice is worse than that
on all rows, and the estimate too low; the choice on all rows judged on the same rows is too high. Efron's .632 rule (1983)
takes 0.632 times the first and 0.368 times the second. The spread of the draws, which leave out 37 % of the rows each, is that
of 1.3 standard errors of a mean over all rows; what is more than needed for the chance of rows makes up for the chance of folds
and fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, isfinite, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.model_selection import check_cv

from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.partitions import further_partitions
from spotsvm.errors import ArgumentError
from spotsvm.luck.draws import Draws, draw_rows
from spotsvm.luck.intervals import NO_INTERVAL, Interval, score_range
from spotsvm.luck.rows import Unseen
from spotsvm.luck.scores import Score, weighted_mean

Array = NDArray[Any]
_BLOCK = 4_000_000  # numbers of decisions that are held at once
N_DRAWS = 200
#: streams of random numbers: of the partition into folds, and of the rows drawn again
_PARTITION, _ROWS = 21, 22
#: the spread of scores of the rows left out of draws, in standard errors of the score of all rows
_WIDER = sqrt(0.632 / 0.368)


def left_out_scores(
    decisions: Array,
    y: Array,
    sample_weight: Array,
    score: Score,
    draws: Draws,
    shares: Array,
    calibrate: Callable[[Array, Array], Array] | None = None,
) -> Array:
    """Score averages of candidates, one for each draw, on the rows that the draw has left out.

    Parameters
    ----------
    decisions : ndarray of shape (n_candidates, n, k)
        Out-of-fold decisions.
    y, sample_weight : ndarray of shape (n,)
        Codes of classes or targets, and weights of rows.
    score : Score
        The score.
    draws : Draws
        The draws.
    shares : ndarray of shape (n_draws, n_candidates)
        The weights of the average that each draw has chosen.
    calibrate : callable, optional
        (averages (b, n, k), weights of rows in the draw (b, n)) -> decisions (b, n, k) as `score` takes them.

    Returns
    -------
    ndarray of shape (n_draws,)
        The scores; nan where no rows were left out, or too few classes.

    Notes
    -----
    Equation :eq:`left-out-score` of the chapter :doc:`/method/index`.
    """
    m, n, k = decisions.shape
    flat = decisions.reshape(m, n * k)
    counts = draws.counts
    scores = np.empty(len(counts))
    size = max(_BLOCK // (n * k), 1)
    for start in range(0, len(counts), size):
        block = slice(start, start + size)
        average = (shares[block].astype(flat.dtype) @ flat).reshape(-1, n, k)
        if calibrate is not None:
            average = calibrate(average, counts[block] * sample_weight)
        scores[block] = score.values(average, y, (counts[block] == 0) * sample_weight)
    return scores


def corrected(scores: Array, on_all_rows: float) -> Array:
    """Return the scores of draws, moved so that their mean is as the .632 rule has it.

    Parameters
    ----------
    scores : ndarray of shape (n_draws,)
        On the rows that each draw has left out.
    on_all_rows : float
        Score of the choice by all rows on all rows.

    Notes
    -----
    Equation :eq:`six-three-two` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> corrected(np.array([0.7, 0.8, 0.9]), 0.9).round(4)
    array([0.7368, 0.8368, 0.9368])
    """
    return np.asarray(scores + 0.368 * (on_all_rows - mean_score(scores)))


def mean_score(scores: Array) -> float:
    """Return the mean over draws in which the score is defined; nan without any."""
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else np.nan


def percentile_interval(scores: Array, level: float = 0.95) -> tuple[float, float]:
    """Return the central interval that holds this share of the scores of draws; nan without any.

    Notes
    -----
    Equation :eq:`percentile-interval` of the chapter :doc:`/method/index`.
    """
    known = scores[np.isfinite(scores)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


@dataclass(frozen=True)
class ExpectedScore:
    """The score to expect on many new rows of the same source.

    Attributes
    ----------
    score : float
        The score to expect; larger is better, as scorers return it.
    interval : tuple of float
        Its confidence interval; (nan, nan) if the rows allow none.
    confidence : float
        Its confidence level.
    metric : str
        Name of the score.
    error : float
        Standard error of `score`.
    n_rows : int
        Number of rows behind it. No row was predicted by a model that had seen it.
    row_error : float
        Standard error of the score of a single row, if scores are means over rows: n rows have this over the root of n.
    units, degrees : float
        Number of independent rows that would give this error, and the degrees of freedom of the interval.
    out_of_fold, out_of_fold_error, held_out, held_out_error : float
        The scores of the two kinds of rows whose weighted mean `score` is, with standard errors; nan for a kind that is not
        there.
    chosen_again : bool
        Whether each draw of rows chose its own best candidate or average, so that the interval covers the luck of the choice;
        False if the chosen candidate alone was judged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from spotsvm import expected_score
    >>> X, y = load_iris(return_X_y=True)
    >>> expected = expected_score(GridSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y), X, y)
    >>> low, high = expected.interval
    >>> least, most = expected.of_rows(50)  # 50 new rows are a small sample themselves
    >>> least <= low < expected.score < high <= most
    True
    """

    score: float
    interval: Interval
    confidence: float
    metric: str
    error: float
    n_rows: int
    row_error: float
    units: float
    degrees: float
    out_of_fold: float = nan
    out_of_fold_error: float = nan
    held_out: float = nan
    held_out_error: float = nan
    chosen_again: bool = False

    def of_rows(self, n: int) -> Interval:
        """Return the interval for the score of n new rows, which is wider: these rows are a sample themselves."""
        variance = self.error**2 + self.row_error**2 / n
        units = 1.0 / (1.0 / self.units + 1.0 / n) if self.units > 0 else 0.0
        return score_interval(self.score, variance, units, self.degrees, self.confidence, self.metric)


def score_interval(score: float, variance: float, units: float, degrees: float, confidence: float, metric: str) -> Interval:
    """Return the interval of a score with this variance, within the range of the metric.

    A score between 0 and 1 is treated as a share of as many rows as would give its variance, by Wilson's interval (1927); at 0
    and 1, of `units` rows. Errors and scores of at most 1 are taken on a logarithmic scale, as distances from the best value.

    Notes
    -----
    Equation :eq:`score-interval` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> low, high = score_interval(0.9, 0.9 * 0.1 / 50, 50, float("inf"), 0.95, "accuracy")
    >>> round(low, 3), round(high, 3)
    (0.786, 0.957)
    >>> low, high = score_interval(-2.0, 0.04, 50, float("inf"), 0.95, "neg_root_mean_squared_error")
    >>> round(low, 2), round(high, 2)
    (-2.43, -1.64)
    """
    if degrees < 1 or not (isfinite(score) and isfinite(variance)):
        return NO_INTERVAL
    z = float(student.ppf(0.5 + confidence / 2, degrees) if isfinite(degrees) else norm.ppf(0.5 + confidence / 2))
    least, most = score_range(metric)
    if least == 0.0 and most == 1.0 and 0.0 <= score <= 1.0:
        rows = score * (1.0 - score) / variance if variance > 0 and 0 < score < 1 else units
        return _wilson(score, rows, z)
    if not variance > 0:
        return NO_INTERVAL
    if most is not None and score < most:
        distance = most - score
        ratio = exp(min(z * sqrt(variance) / distance, 700.0))
        return most - distance * ratio, most - distance / ratio
    return score - z * sqrt(variance), score + z * sqrt(variance)


def _wilson(share: float, rows: float, z: float) -> Interval:
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def expected_of_draws(draws: Array, metric: str, n_rows: int, units: float, confidence: float = 0.95) -> ExpectedScore:
    """Return the score to expect from the corrected scores of draws of out-of-fold rows, with the interval of their variance."""
    score, error = mean_score(draws), _spread(draws)
    interval = score_interval(score, error**2, units, units - 1.0, confidence, metric)
    row_error = error * sqrt(units) / _WIDER
    return ExpectedScore(
        score, interval, confidence, metric, error, n_rows, row_error, units, units - 1.0, score, error, chosen_again=True
    )


def expected_of(
    scorer: Any,
    metric: str,
    out_of_fold: Unseen | None,
    held_out: Unseen | None,
    seed: int,
    confidence: float = 0.95,
    n_draws: int = N_DRAWS,
) -> ExpectedScore:
    """Return the score to expect of a model on new rows, from its training rows out of fold, rows held out, or both.

    The first are judged on the rows that draws leave out, as above with one candidate; the second on the rows drawn. Both are
    weighted by their numbers of rows, those out of fold less by their `overlap`: models of different folds share rows, and none
    is the final model.
    """
    rng = np.random.default_rng([seed, _ROWS])
    values, errors = [nan, nan], [nan, nan]
    sets: list[tuple[Unseen, float, float]] = []
    for k, unseen in enumerate((out_of_fold, held_out)):
        if unseen is None or not isfinite(value := unseen.score(scorer)):
            continue
        scores = _scores_in_draws(scorer, metric == "accuracy", unseen, unseen is out_of_fold, rng, n_draws)
        if np.isfinite(scores).mean() < 0.5:
            continue
        values[k], errors[k] = value, _spread(scores)
        sets.append((unseen, value, errors[k] ** 2))
    n_rows = sum(len(unseen) for unseen in (out_of_fold, held_out) if unseen is not None)
    parts = values[0], errors[0], values[1], errors[1]
    if not sets:
        return ExpectedScore(nan, NO_INTERVAL, confidence, metric, nan, n_rows, nan, 0.0, 0.0, *parts)
    sizes = np.array([len(unseen) / unseen.overlap for unseen, *_ in sets])
    share, variances = sizes / sizes.sum(), np.array([variance for *_, variance in sets])
    row_variances = [variance * len(unseen) / (_WIDER**2 if unseen is out_of_fold else 1.0) for unseen, _, variance in sets]
    score, error = float(share @ [value for _, value, _ in sets]), float(np.sqrt(share**2 @ variances))
    units, degrees = sum(u.units / u.overlap for u, *_ in sets), sum(u.units for u, *_ in sets) - 1
    interval = score_interval(score, error**2, units, degrees, confidence, metric)
    row_error = float(np.sqrt(share @ row_variances))
    return ExpectedScore(score, interval, confidence, metric, error, n_rows, row_error, units, degrees, *parts)


def _scores_in_draws(scorer: Any, is_accuracy: bool, unseen: Unseen, left_out: bool, rng: Any, n_draws: int) -> Array:
    """Return the scores of draws of rows, or of the rows that they leave out."""
    counts = draw_rows(len(unseen), n_draws, rng, unseen.unit).counts
    judged = (counts == 0).astype(np.float64) if left_out else counts
    if is_accuracy:
        return weighted_mean(np.asarray(unseen.predictions == np.asarray(unseen.y), dtype=np.float64), judged)
    return unseen.scores(scorer, [np.repeat(np.arange(len(unseen)), n.astype(int)) for n in judged])


def _spread(scores: Array) -> float:
    """Return the standard deviation of the scores of draws; nan if fewer than two are defined."""
    known = scores[np.isfinite(scores)]
    return float(known.std(ddof=1)) if len(known) > 1 else nan


def fresh_folds(cv: Any, X: Any, y: Any, groups: Any, classifier: bool, seed: int) -> list[Split]:
    """Return folds of the same kind from another seed, which had no part in any choice; the same ones if they are not random."""
    try:
        options: Any = {"classifier": classifier, "n_partitions": 1, "seed": [seed, _PARTITION], "instead": ""}
        return further_partitions(cv, X, y, groups, **options)[0]
    except ArgumentError:
        return list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
