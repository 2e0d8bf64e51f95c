"""`judge_recommendation`: evaluate the recommended trial of a noisy study, and its best seen, again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from numbers import Integral
from typing import Any

import numpy as np

from spotsvm.comparison_run import takes_seed
from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Outcome
from spotsvm.judgement import JUDGEMENT, Judgement
from spotsvm.optimism.intervals import check_confidence, nadeau_bengio, welch
from spotsvm.study import Study
from spotsvm.workers.open_workers import open_workers
from spotsvm.workers.protocol import in_order

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
        As in `Study.run`. An objective with a second parameter named `seed` gets fresh seeds, the same for both trials: the
        pairs then share their noise, and fewer of them are needed.
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
    >>> study = Study({"x": uniform(0, 1)}, seed=0, noise=True)
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
    seeded = takes_seed(objective)
    seeds = [int(s) for s in np.random.SeedSequence([study.seed, _STREAM]).generate_state(n_repeats)]
    pair = [chosen.params] if same else [chosen.params, chosen.best_seen_params]
    jobs: list[dict[str, Any]] = [{"params": dict(p), "seed": seed} for seed in seeds for p in pair]
    fresh = _Fresh(objective, seeded=seeded)
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
    judgement = Judgement(
        recommended_number=chosen.number,
        best_seen_number=chosen.best_seen_number,
        recommended_value=chosen.value,
        best_seen_value=chosen.best_seen_value,
        recommended_fresh=float(a.mean()),
        best_seen_fresh=float(b.mean()),
        difference=0.0 if same else sign * float(a.mean() - b.mean()),
        interval=interval,
        confidence=float(confidence),
        n_fresh=min(len(a), len(b)),
        n_failed=sum(outcome.value is None for outcome in outcomes),
        fresh=f"{min(len(a), len(b))} fresh evaluations",
        paired=seeded,
        same=same,
    )
    study.add_finding(JUDGEMENT, judgement.to_dict())
    return judgement


class _Fresh:
    """The objective with parameters and seed in one mapping, in which form every kind of worker can receive them."""

    def __init__(self, objective: Callable[..., Any], *, seeded: bool):
        self._objective, self._seeded = objective, seeded

    def __call__(self, job: Mapping[str, Any]) -> Any:
        further = {"seed": job["seed"]} if self._seeded else {}
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
