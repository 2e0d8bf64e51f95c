"""`judge_search`: evaluate the choice of a cross-validated search on splits, or rows, that it has not used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import indexable, resample
from sklearn.utils.validation import check_is_fitted

from spotsvm.comparison.judge_recommendation import Judgement, check_repeats, judged
from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import nadeau_bengio, t_interval
from spotsvm.luck.refits.repeats import fresh_scores, fresh_splits
from spotsvm.luck.refits.search_access import fitted_candidate, ratio_of, score_or_nan, scorer_of
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.recommendation import recommend

_STREAM = 1 << 44
_SAMPLES = 100


def judge_search(
    search: SpotSearchCV,
    X: Any,
    y: Any,
    X_new: Any = None,
    y_new: Any = None,
    *,
    n_repeats: int = 10,
    confidence: float = 0.95,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
) -> Judgement:
    """Score the best predicted candidate of a search and the best seen on fresh data, and compare them.

    The folds of a search are drawn once, so its scores do not vary, and it chooses the best seen unless `noise` says otherwise.
    But the folds themselves are random: here a Kriging model treats their scores as noisy, and its choice is compared. The
    study stores the judgement as its finding "judgement".

    Parameters
    ----------
    search : SpotSearchCV
        A fitted search of one objective.
    X, y : array-like
        The data that it was fitted on.
    X_new, y_new : array-like, optional
        Rows that it has not used. Both candidates are fitted on X and y and scored on these. Without them both are scored by
        cross-validation on X and y, with fresh splits.
    n_repeats : int, default=10
        Number of fresh cross-validations, at least 2.
    confidence : float, default=0.95
        Confidence level of the interval of the difference, between 0 and 1.
    groups : array-like of shape (n_samples,), optional
        For splitters that need them.
    fit_params : dict, optional
        Further arguments of the search's fit, such as weights of the rows.

    Returns
    -------
    Judgement
        With `difference`, `interval`, `verdict` and `sentence`.

    Raises
    ------
    NoCompletedTrialError
        If no candidate has succeeded.
    ArgumentError
        If an argument is invalid, or the search's splitter cannot draw fresh splits.

    See Also
    --------
    Judgement : What it returns.
    judge_recommendation : The same for any study.
    oversearching : An estimate without further data.

    Notes
    -----
    For fresh splits the interval is the corrected resampled t interval, since they share their rows; it does not see the
    optimism caused by the rows themselves. For new rows it is the t interval with the standard error of 100 paired bootstrap
    samples.

    References
    ----------
    Nadeau, Bengio 2003, "Inference for the Generalization Error".

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    >>> search = SpotSearchCV(SVC(), space, n_iter=15, cv=5, random_state=0).fit(X, y)
    >>> judge_search(search, X, y, n_repeats=2).verdict in ("same", "no clear difference")
    True
    """
    check_repeats(n_repeats, confidence)
    check_is_fitted(search)
    study = search.study_
    study.objectives.require_one("judge_search()")
    if (X_new is None) != (y_new is None):
        raise ArgumentError("only one of X_new and y_new is given; use both, or neither")
    sign = float(study.objectives.signs[0])
    chosen = recommend(study.trials, study.space.domain, sign=sign, noise=search.noise or True, seed=study.seed)
    same = study.trials[chosen.number].point == study.trials[chosen.best_seen_number].point
    pair = [chosen.params, chosen.best_seen_params]
    X, y, groups = indexable(X, y, groups)
    fit_params = dict(fit_params or {})
    if X_new is None:
        splits = fresh_splits(
            search, X, y, groups, n_repeats, study.seed, "pass X_new and y_new, rows that the search has not used"
        )
        scores = fresh_scores(search, X, y, splits, pair, fit_params, n_jobs=search.n_jobs)
        if np.isnan(scores).any():
            raise ArgumentError(
                "a candidate has no score on some of the fresh folds; pass X_new and y_new, or correct the estimator"
            )
        means, differences = scores.mean(axis=1), scores[0] - scores[1]
        interval = nadeau_bengio(differences, ratio_of(splits), confidence)
        n_fresh, fresh = scores.shape[1], f"{n_repeats} fresh cross-validations"
    else:
        X_new, y_new = indexable(X_new, y_new)
        means, error = _on_new_rows(search, (X, y, fit_params), X_new, y_new, pair, study.seed)
        n_fresh, fresh = len(y_new), f"{len(y_new)} new rows"
        interval = t_interval(means[0] - means[1], error**2, max(n_fresh - 1, 1), confidence)
    return judged(
        study, chosen, means, interval, same=same, confidence=float(confidence), n_fresh=n_fresh, n_failed=0, fresh=fresh,
        paired=True, choice="best predicted" if search.noise is False else "recommended",
    )  # fmt: skip


def _on_new_rows(
    search: SpotSearchCV,
    known: tuple[Any, Any, Mapping[str, Any]],
    X_new: Any,
    y_new: Any,
    pair: list[Mapping[str, Any]],
    seed: int,
) -> tuple[list[float], float]:
    """Return the scores of both candidates on new rows, and the standard error of their difference."""
    X, y, fit_params = known
    fitted = [fitted_candidate(search, params, X, y, fit_params) for params in pair]
    scorer = scorer_of(search)
    means = [score_or_nan(scorer, machine, X_new, y_new) for machine in fitted]
    if not np.isfinite(means).all():
        raise ArgumentError(
            f"a candidate has no score on the {len(y_new)} new rows; there may be too few rows, or a class may be missing"
        )
    differences = []
    for state in np.random.SeedSequence([seed, _STREAM]).generate_state(_SAMPLES):
        rows = resample(X_new, y_new, random_state=int(state))
        differences.append(score_or_nan(scorer, fitted[0], *rows) - score_or_nan(scorer, fitted[1], *rows))
    # a sample without one of the classes has no score by some metrics
    defined = np.array(differences)[np.isfinite(differences)]
    return means, float(np.std(defined, ddof=1)) if len(defined) > 1 else float("nan")
