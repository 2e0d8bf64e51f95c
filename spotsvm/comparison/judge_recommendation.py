"""`judge_recommendation`: evaluate the recommended trial of a noisy study, and its best seen, again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields
from math import isnan
from numbers import Integral
from typing import Any, Literal

import numpy as np

from spotsvm.comparison.runs import takes_seed
from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import check_confidence, nadeau_bengio, welch
from spotsvm.luck.paired import side_of_zero
from spotsvm.study.study import Study
from spotsvm.study.workers.open import open_workers
from spotsvm.study.workers.protocol import in_order
from spotsvm.trials.current_trial import CurrentTrial, takes_trial
from spotsvm.trials.recommendation import Recommendation
from spotsvm.trials.trial import Outcome

_STREAM = 1 << 43


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
        As in `Study.run`. An objective with a second parameter named `seed`, or one that takes the trial, which has a seed, gets
        fresh seeds, the same for both trials: the pairs then share their noise, and fewer of them are needed.
    n_repeats : int, default=20
        Fresh evaluations of each of the two, at least 2; if the recommended trial is the best seen, that many in total.
    confidence : float, default=0.95
        Confidence level of the t interval of the difference, between 0 and 1.
    executor : concurrent.futures.Executor or None, default=None
        Where to evaluate; None evaluates in this process.

    Returns
    -------
    Judgement
        With `difference`, `interval`, `verdict` and `sentence`.

    Raises
    ------
    NoCompletedTrialError
        If no trial has succeeded.
    ArgumentError
        If an argument is invalid, or all fresh evaluations of one of the two fail.

    See Also
    --------
    Judgement : What it returns.
    judge_search : The same for a search of an estimator's parameters.

    Notes
    -----
    The interval covers the noise of the objective. Where that is the luck of random splits, all splits share their rows: only
    other rows show the optimism that these cause.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> def noisy(params, seed=0):
    ...     return (params["x"] - 0.3) ** 2 + 0.1 * np.random.default_rng(seed).normal()
    >>> rng = np.random.default_rng(0)
    >>> study = Study({"x": uniform(0, 1)}, seed=3, noise=True)
    >>> _ = study.run(lambda params: noisy(params, rng.integers(2**32)), n_trials=30)
    >>> judgement = judge_recommendation(study, noisy)
    >>> judgement.verdict, judgement.paired
    ('recommended', True)
    """
    check_repeats(n_repeats, confidence)
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} is not callable; use a function of the parameters")
    chosen = study.recommend()
    same = study.trials[chosen.number].point == study.trials[chosen.best_seen_number].point
    fresh = _Fresh(objective)
    seeded = fresh.seeded
    seeds = [int(s) for s in np.random.SeedSequence([study.seed, _STREAM]).generate_state(n_repeats)]
    pair = [chosen.params] if same else [chosen.params, chosen.best_seen_params]
    numbers = (chosen.number, chosen.best_seen_number)
    jobs: list[dict[str, Any]] = [
        {"params": dict(p), "number": number, "seed": seed} for seed in seeds for p, number in zip(pair, numbers, strict=False)
    ]
    with open_workers(fresh, executor) as workers:
        outcomes = list(in_order(workers, jobs))
    found = [_values(outcomes[k :: len(pair)], p) for k, p in enumerate(pair)]
    first, second = found[0], found[-1]
    both = ~np.isnan(first) & ~np.isnan(second)
    if seeded and not same:
        first, second = np.where(both, first, np.nan), np.where(both, second, np.nan)
    a, b = first[~np.isnan(first)], second[~np.isnan(second)]
    if not len(a) or not len(b):
        raise ArgumentError("no fresh seed led to a value for both trials; increase n_repeats, or correct the objective")
    sign = -float(study.objectives.signs[0])
    interval = (0.0, 0.0)
    if not same:
        interval = nadeau_bengio(sign * (a - b), 0.0, confidence) if seeded else welch(sign * a, sign * b, confidence)
    n_fresh = min(len(a), len(b))
    return judged(
        study, chosen, (a.mean(), b.mean()), interval, sign=sign, same=same, confidence=float(confidence), n_fresh=n_fresh,
        n_failed=sum(outcome.value is None for outcome in outcomes), fresh=f"{n_fresh} fresh evaluations", paired=seeded,
    )  # fmt: skip


class _Fresh:
    """The objective with parameters and seed in one mapping, in which form every kind of worker can receive them."""

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


def check_repeats(n_repeats: Any, confidence: Any) -> None:
    """Raise ArgumentError unless these are a number of repeats and a confidence level."""
    if not isinstance(n_repeats, Integral) or isinstance(n_repeats, bool) or n_repeats < 2:
        raise ArgumentError(f"n_repeats={n_repeats!r} is not a valid number of fresh evaluations; use an integer of at least 2")
    check_confidence(confidence)


Choice = Literal["recommended", "best predicted"]
Better = Literal["recommended", "best predicted", "best seen", "no clear difference", "same"]


@dataclass(frozen=True)
class Judgement:
    """The recommended trial and the best seen, compared on data that the search has not used.

    `judge_recommendation` and `judge_search` return it.

    Attributes
    ----------
    recommended_number, best_seen_number : int
        The two trials.
    recommended_value, best_seen_value : float
        The value that the study expects of the recommended trial, and the observed value of the best seen.
    recommended_fresh, best_seen_fresh : float
        Their mean values on fresh data.
    difference : float
        By how much the recommended trial is better there; negative if it is worse, 0 if both have the same configuration.
    interval : tuple of float
        Confidence interval of the difference; (nan, nan) if there is none.
    confidence : float
        Its confidence level.
    n_fresh : int
        Number of fresh values of each.
    n_failed : int
        Number of fresh evaluations that failed, and were left out.
    fresh : str
        Description of the fresh data.
    paired : bool
        Whether both were evaluated with the same seeds, splits or rows.
    same : bool
        Whether both have the same configuration.
    choice : {"recommended", "best predicted"}
        What the first of the two is: without noise a study does not recommend the best predicted trial.

    See Also
    --------
    judge_recommendation : What makes it.
    Recommendation : What is judged.

    Examples
    --------
    >>> import numpy as np
    >>> from spotsvm import Study, judge_recommendation
    >>> rng = np.random.default_rng(0)
    >>> study = Study({"x": [1, 2, 3, 4]}, "random", 0)
    >>> objective = lambda p: p["x"] + rng.normal(0, 0.1)
    >>> judgement = judge_recommendation(study.run(objective, n_trials=4), objective, n_repeats=5)
    >>> judgement.verdict
    'same'
    """

    recommended_number: int
    best_seen_number: int
    recommended_value: float
    best_seen_value: float
    recommended_fresh: float
    best_seen_fresh: float
    difference: float
    interval: tuple[float, float]
    confidence: float
    n_fresh: int
    n_failed: int
    fresh: str
    paired: bool
    same: bool
    choice: Choice = "recommended"

    @property
    def verdict(self) -> Better:
        """Which of the two is better, judged by the interval.

        See Also
        --------
        sentence : The same in words.
        """
        if self.same:
            return "same"
        verdicts: dict[int, Better] = {1: self.choice, -1: "best seen", 0: "no clear difference"}
        return verdicts[side_of_zero(self.interval)]

    @property
    def sentence(self) -> str:
        """The judgement as text.

        See Also
        --------
        verdict : The same in one word.
        """
        if self.same:
            return (
                f"The {self.choice} trial {self.recommended_number} is also the best seen: its value was "
                f"{self.best_seen_value:.4g} in the search, and is {self.best_seen_fresh:.4g} on {self.fresh}."
            )
        low, high = self.interval if self.difference >= 0 else (0.0 - self.interval[1], 0.0 - self.interval[0])
        better = self.choice if self.difference >= 0 else "best seen"
        interval = "" if isnan(low) else f" ({100 * self.confidence:g} % interval {low:.3g} to {high:.3g})"
        unclear = "" if self.verdict != "no clear difference" else ", which is no clear difference"
        ending = f"The {better} trial is better by {abs(self.difference):.3g}{interval}{unclear}."
        return (
            f"On {self.fresh} the {self.choice} trial {self.recommended_number} has the value {self.recommended_fresh:.4g}, and "
            f"the best seen trial {self.best_seen_number} the value {self.best_seen_fresh:.4g} ({self.best_seen_value:.4g} in "
            f"the search). {ending if self.difference else 'There is no difference.'}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with verdict and sentence.

        See Also
        --------
        from_dict : Reads it.
        """
        return asdict(self) | {"interval": list(self.interval), "verdict": self.verdict, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Judgement:
        """Create a Judgement from what `to_dict` returned.

        See Also
        --------
        to_dict : Makes the dictionary.
        """
        values = {f.name: given[f.name] for f in fields(cls)}
        low, high = values["interval"]
        return cls(**values | {"interval": (float(low), float(high))})


def judged(
    study: Study,
    chosen: Recommendation,
    fresh_values: Sequence[float],
    interval: tuple[float, float],
    *,
    sign: float = 1.0,
    same: bool,
    **rest: Any,
) -> Judgement:
    """Return the judgement from the mean fresh values of the recommended trial and the best seen, and store it in the study."""
    first, second = map(float, fresh_values)
    judgement = Judgement(
        chosen.number,
        chosen.best_seen_number,
        chosen.value,
        chosen.best_seen_value,
        first,
        second,
        0.0 if same else sign * (first - second),
        (0.0, 0.0) if same else interval,
        same=same,
        **rest,
    )
    study.add_finding("judgement", judgement.to_dict())
    return judgement
