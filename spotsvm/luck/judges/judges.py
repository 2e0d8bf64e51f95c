"""Judges: evaluate the recommended trial and the best seen on fresh data, and compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import nan
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.notices import once, tell
from spotsvm.common.text import counted
from spotsvm.comparison.runs import takes_seed
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference, difference_of, difference_on_folds
from spotsvm.luck.drawn import unseen_score
from spotsvm.luck.estimate import score_text
from spotsvm.luck.intervals import NO_INTERVAL, check_confidence, welch
from spotsvm.luck.refits.repeats import fresh_scores, fresh_splits
from spotsvm.luck.refits.search_access import check_given, fitted_candidate, given_by, given_to_fit, ratio_of, scorer_of_rows
from spotsvm.luck.rows import Unseen
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.study.study import Study
from spotsvm.study.workers.open import open_workers
from spotsvm.study.workers.protocol import in_order
from spotsvm.trials.evaluation import CurrentTrial, takes_trial
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.recommendation import Recommendation, recommend

_STREAM = 1 << 43

Choice = Literal["recommended", "best predicted"]
Better = Literal["recommended", "best predicted", "best seen", "no clear difference", "same"]


@dataclass(frozen=True, kw_only=True)
class Judgement(Difference):
    """The recommended trial and the best seen, compared on data that the search has not used.

    `judge_recommendation` and `judge_search` return it.

    Attributes
    ----------
    value, interval, error, confidence, metric, how
        As in `Estimate`; `value` is by how much the recommended trial is better on the fresh data: negative if it is worse, 0 if
        both trials have the same configuration. `interval` is (nan, nan) if there is none.
    recommended_number, best_seen_number : int
        The two trials.
    recommended_value, best_seen_value : float
        The expected value of the recommended trial, and the observed value of the best seen.
    recommended_fresh, best_seen_fresh : float
        Their mean values on fresh data.
    n_fresh : int
        Number of fresh values of each trial.
    n_failed : int
        Number of failed fresh evaluations, which were left out.
    fresh : str
        Description of the fresh data.
    paired : bool
        Whether both were evaluated with the same seeds, splits or rows.
    same : bool
        Whether both have the same configuration.
    choice : {"recommended", "best predicted"}
        Kind of the first trial: a study without noise does not recommend the best predicted trial.

    Examples
    --------
    >>> import numpy as np
    >>> from spotsvm import Study, judge_recommendation
    >>> rng = np.random.default_rng(0)
    >>> study = Study({"x": [1, 2, 3, 4]}, "random", 0)
    >>> objective = lambda p: p["x"] + rng.normal(0, 0.1)
    >>> judgement = judge_recommendation(
    ...     study.run(objective, n_trials=4), objective, n_repeats=5
    ... )
    >>> judgement.verdict
    'same'
    """

    recommended_number: int
    best_seen_number: int
    recommended_value: float
    best_seen_value: float
    recommended_fresh: float
    best_seen_fresh: float
    n_fresh: int
    n_failed: int = 0
    fresh: str
    paired: bool
    same: bool
    choice: Choice = "recommended"

    @property
    def verdict(self) -> Better:
        """The better of the two trials, judged by the interval."""
        if self.same:
            return "same"
        verdicts: dict[int, Better] = {1: self.choice, -1: "best seen", 0: "no clear difference"}
        return verdicts[self.side]

    @property
    def sentence(self) -> str:
        """The judgement as text."""
        if self.same:
            return (
                f"The {self.choice} trial {self.recommended_number} is also the best seen: its value was "
                f"{score_text(self.best_seen_value)} in the search, and is {score_text(self.best_seen_fresh)} on {self.fresh}."
            )
        better, by = (self.choice, self) if self.value >= 0 else ("best seen", self.turned())
        unclear = "" if self.side else ", which is no clear difference"
        ending = f"The {better} trial is better by {by.text()}{unclear}."
        return (
            f"On {self.fresh} the {self.choice} trial {self.recommended_number} has the value "
            f"{score_text(self.recommended_fresh)}, and the best seen trial {self.best_seen_number} the value "
            f"{score_text(self.best_seen_fresh)} ({score_text(self.best_seen_value)} in the search). "
            f"{ending if self.value else 'There is no difference.'}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with verdict and sentence.

        Returns
        -------
        dict
            The attributes by name, with verdict and sentence.
        """
        return super().to_dict() | {"verdict": self.verdict, "sentence": self.sentence}


def judge_recommendation(
    study: Study,
    objective: Callable[..., float | Mapping[str, float]],
    n_repeats: int = 20,
    *,
    confidence: float = 0.95,
    executor: Executor | None = None,
) -> Judgement:
    """Evaluate the recommended trial and the best seen again, and compare them.

    The study stores the judgement as its finding "judgement"; the fresh evaluations do not become trials. `judge_search` does
    the same for `SpotSearchCV`.

    Parameters
    ----------
    study : Study
        A study of one objective.
    objective : callable
        As in `Study.run`. An objective with a second parameter named `seed`, or with the trial as parameter (whose `seed` it can
        use), gets fresh seeds, which are the same for both trials. The pairs then share their noise, and fewer are needed.
    n_repeats : int, default=20
        Number of fresh evaluations of each trial, at least 2; if the recommended trial is the best seen, number in total.
    confidence : float, default=0.95
        Confidence level of the t interval of the difference, between 0 and 1.
    executor : concurrent.futures.Executor or None, default=None
        Where to evaluate; None evaluates in this process.

    Returns
    -------
    Judgement
        With `value`, `interval`, `verdict` and `sentence`.

    Raises
    ------
    NoCompletedTrialError
        If no trial has succeeded.
    ArgumentError
        If an argument is invalid, or all fresh evaluations of one of the two fail.

    Notes
    -----
    The interval covers the noise of the objective. If this noise comes from random splits, all splits share the same rows; only
    new rows show the optimism that these rows cause.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> def noisy(params, seed=0):
    ...     x, noise = params["x"], np.random.default_rng(seed).normal()
    ...     return (x - 0.3) ** 2 + 0.1 * (1 + x) * noise
    >>> rng = np.random.default_rng(0)
    >>> study = Study({"x": uniform(0, 1)}, seed=3, noise=True)
    >>> _ = study.run(
    ...     lambda params: noisy(params, rng.integers(2**32)), n_trials=30
    ... )
    >>> judgement = judge_recommendation(study, noisy)
    >>> judgement.verdict, judgement.paired
    ('recommended', True)
    """
    _check_repeats(n_repeats, confidence)
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} is not callable; use a function of the parameters")
    chosen = study.recommend()
    same = _same(study, chosen)
    fresh = _Fresh(objective)
    seeds = [int(s) for s in np.random.SeedSequence([study.seed, _STREAM]).generate_state(n_repeats)]
    pair = [chosen.params] if same else [chosen.params, chosen.best_seen_params]
    numbers = (chosen.number, chosen.best_seen_number)
    jobs: list[dict[str, Any]] = [
        {"params": dict(p), "number": number, "seed": seed} for seed in seeds for p, number in zip(pair, numbers, strict=False)
    ]
    with open_workers(fresh, executor) as workers:
        outcomes = list(in_order(workers, jobs))
    values = [_values(outcomes[k :: len(pair)], p) for k, p in enumerate(pair)]
    first, second = values[0], values[-1]
    if fresh.seeded and not same:
        both = ~np.isnan(first) & ~np.isnan(second)
        first, second = np.where(both, first, np.nan), np.where(both, second, np.nan)
    a, b = first[~np.isnan(first)], second[~np.isnan(second)]
    if not len(a) or not len(b):
        raise ArgumentError("no fresh seed led to a value for both trials; increase n_repeats, or correct the objective")
    sign = -float(study.objectives.signs[0])
    confidence = float(confidence)
    if fresh.seeded:
        difference = difference_on_folds(sign * b, sign * a, 0.0, confidence=confidence, how="fresh")
    else:
        gain, interval = sign * float(a.mean() - b.mean()), welch(sign * a, sign * b, confidence)
        difference = Difference(gain, interval, confidence=confidence, how="fresh")
    n_fresh = min(len(a), len(b))
    failed, means = sum(outcome.value is None for outcome in outcomes), (a.mean(), b.mean())
    return _judged(
        study, chosen, means, difference, n_fresh=n_fresh, n_failed=failed, fresh=counted(n_fresh, "fresh evaluation"),
        paired=fresh.seeded,
    )  # fmt: skip


class _Fresh:
    """The objective as a function of one mapping with parameters and seed, which every kind of worker can receive."""

    def __init__(self, objective: Callable[..., Any]):
        self._objective, self._named = objective, takes_seed(objective)
        self._with_trial = not self._named and takes_trial(objective)

    @property
    def seeded(self) -> bool:
        """Whether the objective gets a seed, by its name or in the trial."""
        return self._named or self._with_trial

    def __call__(self, job: Mapping[str, Any]) -> Any:
        if self._with_trial:
            return self._objective(job["params"], CurrentTrial(job["number"], job["seed"]))
        further = {"seed": job["seed"]} if self._named else {}
        return self._objective(job["params"], **further)


def _values(outcomes: list[Outcome], params: Mapping[str, Any]) -> Any:
    values = np.array([np.nan if outcome.value is None else outcome.value for outcome in outcomes], dtype=float)
    if np.isnan(values).all():
        raise ArgumentError(f"all fresh evaluations of {dict(params)} failed: {outcomes[0].reason}") from outcomes[0].error
    return values


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

    The folds of a search are drawn once, so its scores do not vary, and by default it chooses the best seen. But the folds
    themselves are random. Here a Kriging model treats the scores as noisy, and its best predicted candidate is compared with the
    best seen. The study stores the judgement as its finding "judgement".

    Parameters
    ----------
    search : SpotSearchCV
        A fitted search of one objective.
    X, y : array-like
        The data of the search.
    X_new, y_new : array-like, optional
        Rows that the search has not used. Both candidates are fitted on X and y and scored on these rows. By default both are
        scored by cross-validation on X and y, with fresh splits.
    n_repeats : int, default=10
        Number of fresh cross-validations, at least 2.
    confidence : float, default=0.95
        Confidence level of the interval of the difference, between 0 and 1.
    groups : array-like of shape (n_samples,), optional
        For splitters that need them; None for those of the search's fit.
    fit_params : dict, optional
        Further arguments of the search's fit, such as weights of the rows; None for those of its fit.

    Returns
    -------
    Judgement
        With `value`, `interval`, `verdict` and `sentence`.

    Raises
    ------
    NoCompletedTrialError
        If no candidate has succeeded.
    ArgumentError
        If an argument is invalid, or the search's splitter cannot draw fresh splits.

    Notes
    -----
    For fresh splits the interval is the corrected resampled t interval, since the splits share their rows; it does not cover the
    optimism caused by the rows themselves. For new rows the interval is that of a paired difference, from 200 draws of the rows.

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
    >>> search = SpotSearchCV(SVC(), space, n_iter=15, cv=5, random_state=0).fit(
    ...     X, y
    ... )
    >>> judge_search(search, X, y, n_repeats=2).verdict in (
    ...     "same",
    ...     "no clear difference",
    ... )
    True
    """
    _check_repeats(n_repeats, confidence)
    check_is_fitted(search)
    study = search.study_
    study.objectives.require_one("judge_search()")
    if (X_new is None) != (y_new is None):
        raise ArgumentError("only X_new or only y_new was passed; use both, or neither")
    sign = float(study.objectives.signs[0])
    chosen = recommend(study.trials, study.space.domain, sign=sign, noise=search.noise or True, seed=study.seed)
    pair = [chosen.params, chosen.best_seen_params]
    X, y = indexable(X, y)
    passed = given_to_fit(search, X, groups, fit_params)
    check_given(search.estimator, X, y, passed)
    given = given_by(search, passed)
    if X_new is None:
        splits = fresh_splits(
            search, X, y, given.groups, n_repeats, study.seed, "pass X_new and y_new, rows that the search has not used"
        )
        scores = fresh_scores(search, X, y, splits, pair, given.folds, n_jobs=search.n_jobs)
        if np.isnan(scores).any():
            raise ArgumentError(
                "a candidate has no score on some of the fresh folds; pass X_new and y_new, or correct the estimator"
            )
        means = scores.mean(axis=1)
        difference = difference_on_folds(scores[1], scores[0], ratio_of(splits), confidence=float(confidence))
        n_fresh, fresh = scores.shape[1], f"{n_repeats} fresh cross-validations"
    else:
        X_new, y_new = indexable(X_new, y_new)
        if given.score:
            raise ArgumentError(
                f"the scorer takes {', '.join(given.score)}, which the new rows do not have; leave X_new and y_new out, and "
                "both candidates are scored on fresh splits"
            )
        scorer, metric = scorer_of_rows(search)
        unseen = [Unseen.held_out(fitted_candidate(search, params, X, y, given.fit), X_new, y_new) for params in pair]
        means = np.array([one.score(scorer) for one in unseen])
        if not np.isfinite(means).all():
            raise ArgumentError(
                f"a candidate has no score on the {len(y_new)} new rows; there may be too few rows, or a class may be missing"
            )
        drawn = [unseen_score(one, scorer, study.seed) for one in unseen]
        difference = difference_of(drawn[:1], drawn[1:], metric, "held out", float(confidence))
        tell(once(notice for one in unseen for notice in one.notices))
        n_fresh, fresh = len(y_new), counted(len(y_new), "new row")
    return _judged(
        study, chosen, means, difference, n_fresh=n_fresh, fresh=fresh, paired=True,
        choice="best predicted" if search.noise is False else "recommended",
    )  # fmt: skip


def _check_repeats(n_repeats: Any, confidence: Any) -> None:
    """Raise ArgumentError unless both arguments are valid."""
    if not isinstance(n_repeats, Integral) or isinstance(n_repeats, bool) or n_repeats < 2:
        raise ArgumentError(f"n_repeats={n_repeats!r} is not a valid number of fresh evaluations; use an integer of at least 2")
    check_confidence(confidence)


def _same(study: Study, chosen: Recommendation) -> bool:
    return study.trials[chosen.number].point == study.trials[chosen.best_seen_number].point


def _judged(
    study: Study, chosen: Recommendation, fresh_values: Sequence[float], difference: Difference, **further: Any
) -> Judgement:
    """Return the judgement from the fresh values of the recommended trial and the best seen, and store it in the study."""
    same = _same(study, chosen)
    if same:
        difference = replace(difference, value=0.0, interval=NO_INTERVAL, error=nan)
    judgement = Judgement(
        **vars(difference),
        recommended_number=chosen.number,
        best_seen_number=chosen.best_seen_number,
        recommended_value=chosen.value,
        best_seen_value=chosen.best_seen_value,
        recommended_fresh=float(fresh_values[0]),
        best_seen_fresh=float(fresh_values[1]),
        same=same,
        **further,
    )
    study.add_finding("judgement", judgement.to_dict())
    return judgement
