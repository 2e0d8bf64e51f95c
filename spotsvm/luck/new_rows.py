"""The score to expect on new rows, with an interval that covers the luck of the rows as well as that of the splits."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, nan, sqrt
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.errors import ArgumentError
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.partitions import further_partitions
from spotsvm.luck.rows import RESAMPLES, Unseen, pooled
from spotsvm.trials.scores.intervals import NO_INTERVAL, Interval, check_confidence, score_range

#: streams of random numbers: of the partition into folds, and of the rows drawn again
_PARTITION, _ROWS = 21, 22


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

    def of_rows(self, n: int) -> Interval:
        """Return the interval for the score of n new rows, which is wider: these rows are a sample themselves."""
        variance = self.error**2 + self.row_error**2 / n
        units = 1.0 / (1.0 / self.units + 1.0 / n) if self.units > 0 else 0.0
        return score_interval(self.score, variance, units, self.degrees, self.confidence, self.metric)


def score_interval(score: float, variance: float, units: float, degrees: float, confidence: float, metric: str) -> Interval:
    """Return the interval of a score with this variance, within the range of the metric.

    A score between 0 and 1 is treated as a share of as many rows as would give its variance, by Wilson's interval (1927); at 0
    and 1, of `units` rows. Errors and scores of at most 1 are taken on a logarithmic scale, as distances from the best value.

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


def expected_of(
    scorer: Any,
    metric: str,
    out_of_fold: Unseen | None,
    held_out: Unseen | None,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> ExpectedScore:
    """Return the score to expect of a model on new rows, from its training rows out of fold, rows held out, or both.

    Both are weighted by their precision. The variance of the first is that of Nadeau and Bengio (2003), with the variance between
    rows in the place of that between folds: models of different folds share rows, and none is the final model. That of the second
    is that of the rows alone.
    """
    sets = [one for one in (out_of_fold, held_out) if one is not None]
    shares = metric == "accuracy"
    found = pooled(
        lambda k, rows: sets[k].score(scorer, rows), sets, [seed, _ROWS],
        of_rows=(lambda k: (sets[k].predictions == np.asarray(sets[k].y)).astype(float)) if shares else None,
        resamples=resamples,
    )  # fmt: skip
    interval = score_interval(found.value, found.error**2, found.units, found.degrees, confidence, metric)
    known = dict(zip([id(one) for one in sets], zip(found.values, found.errors, strict=True), strict=True))
    folds, rest = (known.get(id(one), (nan, nan)) for one in (out_of_fold, held_out))
    n_rows = sum(map(len, sets))
    return ExpectedScore(
        found.value, interval, confidence, metric, found.error, n_rows, found.row_error, found.units, found.degrees, *folds, *rest
    )


def fresh_folds(cv: Any, X: Any, y: Any, groups: Any, classifier: bool, seed: int) -> list[Split]:
    """Return folds of the same kind from another seed, which had no part in any choice; the same ones if they are not random."""
    try:
        options: Any = {"classifier": classifier, "n_partitions": 1, "seed": [seed, _PARTITION], "instead": ""}
        return further_partitions(cv, X, y, groups, **options)[0]
    except ArgumentError:
        return list(check_cv(cv, y, classifier=classifier).split(X, y, groups))


def expected_score(
    search: Any, X: Any, y: Any, *, groups: Any = None, confidence: float = 0.95, n_jobs: int | None = None
) -> ExpectedScore:
    """Return the score to expect of a search's best estimator on new rows, with an interval.

    The chosen candidate is fitted on the training rows of further folds and predicts their test rows, so this takes the time of
    one candidate. The interval covers the luck of the rows and of the folds: it is wider than the spread of the folds says.

    Parameters
    ----------
    search : SpotSearchCV, RandomizedSearchCV or GridSearchCV
        Fitted on X and y, with `refit`.
    X, y : array-like
        The data that it was fitted on.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that depend on each other, such as those of a person: they are drawn as wholes.
    confidence : float, default=0.95
        Confidence level of the interval.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.

    Returns
    -------
    ExpectedScore
        With `score`, `interval`, and `of_rows(n)`, the interval for the score of n rows.

    Raises
    ------
    ArgumentError
        If the confidence level is not between 0 and 1; a ValueError.

    Notes
    -----
    The choice of the best of many candidates raises its score on the rows at hand a little, also on further folds. Rows held out
    are free of that: `spotsvm tune` uses both.

    References
    ----------
    Nadeau, Bengio 2003, "Inference for the Generalization Error". Wilson 1927, "Probable Inference, the Law of Succession, and
    Statistical Inference".

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from spotsvm import SpotSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SpotSearchCV(SVC(), {"C": loguniform(0.1, 100)}, n_iter=5, random_state=0).fit(X, y)
    >>> found = expected_score(search, X, y)
    >>> found.interval[0] < found.score < found.interval[1] < 1
    True
    """
    check_confidence(confidence)
    check_is_fitted(search)
    X, y, groups = indexable(X, y, groups)
    best = search.best_estimator_
    seed = search.random_state if isinstance(getattr(search, "random_state", None), int | np.integer) else 0
    several = isinstance(search.scorer_, dict)
    scorer = search.scorer_[search.refit] if several else search.scorer_
    scoring = search.refit if several else search.scoring
    if scoring is None:  # what the estimator's own score is
        scoring = "accuracy" if is_classifier(best) else "r2"
        scorer = get_scorer(scoring)
    metric = scoring if isinstance(scoring, str) else "score"
    splits = fresh_folds(search.cv, X, y, groups, is_classifier(best), int(seed))
    unseen = Unseen.out_of_fold(best, X, y, splits, groups, n_jobs=n_jobs)
    return expected_of(scorer, metric, unseen, None, int(seed), confidence)
