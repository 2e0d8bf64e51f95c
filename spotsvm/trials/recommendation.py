"""The recommendation: which trial of a study to use, the best predicted one under noise, else the best observed."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.facts import Facts, ShowsFacts
from spotsvm.common.text import counted
from spotsvm.errors import NoCompletedTrialError, NotPositiveDefiniteError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.surrogates.acquisition.selection import select_evaluations
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import are_penalties, judge_noise, within_reach
from spotsvm.trials.trial import FAILED, Trial, holds_bounds

#: a smaller nugget does not change the order of the trials
NEGLIGIBLE_NUGGET = 1e-4
_NUMBER = re.compile(r"[-+]?\d[\d_.]*(?:e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Recommendation(ShowsFacts):
    """The trial to use, and the best trial seen; printed as a table.

    Attributes
    ----------
    params : dict
        The configuration to use.
    number : int
        The number of its first trial.
    value : float
        Its expected value: the predicted response under noise, else the observed value.
    standard_error : float
        Standard error of `value`; 0 for a deterministic objective.
    basis : {"predicted", "observed", "verdict"}
        Why it was chosen: by the prediction of a model, by the observed value, or by a comparison with the default, which it
        beats or is.
    n_evaluations : int
        How often it was evaluated.
    best_seen_params, best_seen_number, best_seen_value : dict, int, float
        The trial with the best response seen (under noise partly the best by chance).
    best_seen_standard_error : float
        Standard error of a single response there, estimated by the model; 0 for a deterministic objective.

    See Also
    --------
    Study.recommend : Returns it.

    Examples
    --------
    >>> from spotsvm import Study
    >>> study = Study({"x": [1, 2, 3]}, "random", 0, noise=False).run(
    ...     lambda p: (p["x"] - 2) ** 2, n_trials=3
    ... )
    >>> study.recommend()
    Recommendation (observed, 1 evaluation)
           recommended
    trial  0
    value  0
    x      2
    >>> study.recommend().params
    {'x': 2}
    """

    params: Mapping[str, Any]
    number: int
    value: float
    standard_error: float
    basis: Literal["predicted", "observed", "verdict"]
    n_evaluations: int
    best_seen_params: Mapping[str, Any]
    best_seen_number: int
    best_seen_value: float
    best_seen_standard_error: float

    def _facts(self) -> Facts:
        """Return a table with a column for the recommended trial, and one for the best seen if it is another."""
        names = list(dict.fromkeys([*self.params, *self.best_seen_params]))
        rows: list[tuple[Any, ...]] = [("", "recommended", "best seen"), ("trial", self.number, self.best_seen_number)]
        rows.append(("value", self.value, self.best_seen_value))
        if self.standard_error or self.best_seen_standard_error:
            rows.append(("standard error", self.standard_error, self.best_seen_standard_error))
        rows += [(name, self.params.get(name, ""), self.best_seen_params.get(name, "")) for name in names]
        shown = 2 if self.number == self.best_seen_number and self.basis == "observed" else 3
        return f"Recommendation ({self.basis}, {counted(self.n_evaluations, 'evaluation')})", [row[:shown] for row in rows]


def recommend(trials: Sequence[Trial], domain: Domain, *, sign: float, noise: Noise, seed: int) -> Recommendation:
    """Return the recommendation of a study; the model uses at most a thousand configurations (`select_evaluations`).

    `sign` is 1 if smaller is better. Noise "auto" is decided by replicates, else by the model's nugget. NoCompletedTrialError if
    no trial has succeeded.
    """
    done = [t for t in trials if may_be_best(t)]
    if not done:
        raise NoCompletedTrialError(why_none(trials))
    counts = Counter(t.point for t in done)
    points = np.array([t.point for t in done])
    given = np.array([t.value for t in done], dtype=float)
    values, unit = within_reach(sign * given)
    kept = ~are_penalties(values)
    if not kept.all():  # penalty values would blunt the model
        done, points, given, values = [t for t, ok in zip(done, kept, strict=True) if ok], points[kept], given[kept], values[kept]
    at = int(np.argmin(values))
    seen, value = done[at], float(given[at])
    verdict = judge_noise(points, values, noise)
    observed = Recommendation(
        dict(seen.params), seen.number, value, 0.0, "observed", counts[seen.point], dict(seen.params), seen.number, value, 0.0
    )
    if verdict == "deterministic" or len(counts) < 2:
        return observed
    try:
        with one_blas_thread():
            rows = select_evaluations(domain, points, values, noisy=True)
            rng = np.random.default_rng([seed, 1 << 41])
            models = KrigingEnsemble(domain, warped=False).fit(points[rows], values[rows], rng)
    except NotPositiveDefiniteError as failure:
        warnings.warn(f"the best observed trial is recommended, because the model failed: {failure}", stacklevel=3)
        return observed
    if verdict == "unknown" and models.nugget < NEGLIGIBLE_NUGGET:
        return observed
    mean = models.mean_evaluated()
    at = int(np.argmin(mean))
    error = models.error_evaluated(at)
    best = next(t for t in done if t.point == done[rows[at]].point)
    return replace(
        observed, params=dict(best.params), number=best.number, value=sign * unit * float(mean[at]),
        standard_error=unit * float(error[0]), basis="predicted", n_evaluations=counts[best.point],
        best_seen_standard_error=unit * models.noise,
    )  # fmt: skip


def recommend_by_verdict(trials: Sequence[Trial], *, sign: float, number: int | None) -> Recommendation | None:
    """Return the trial with the number that a verdict names; None if it names none, or one that has not succeeded."""
    done = [t for t in trials if may_be_best(t)]
    named = next((t for t in done if t.number == number), None)
    if named is None:
        return None
    seen = min(done, key=lambda t: (sign * float(t.value or 0.0), t.number))
    best_seen = (dict(seen.params), seen.number, float(seen.value or 0.0), 0.0)
    return Recommendation(dict(named.params), named.number, float(named.value or 0.0), 0.0, "verdict", 1, *best_seen)


def may_be_best(trial: Trial) -> bool:
    """Return whether a trial has succeeded with one value, and satisfies the bounds of its study, if it has any."""
    return trial.state == "ok" and trial.value is not None and holds_bounds(trial)


def losses_of(trials: Sequence[Trial], sign: float) -> NDArray[np.float64]:
    """Return a loss for each trial, the smaller the better; infinite for a trial that cannot be the best."""
    return np.array([sign * t.value if t.value is not None and may_be_best(t) else np.inf for t in trials])


def why_none(trials: Sequence[Trial]) -> str:
    """Return why there is no best trial: no trial has succeeded, or none of them satisfies the bounds."""
    if any(t.values is not None for t in trials):
        return "no trial holds the bounds of the study's constraints yet; run more trials, or widen the bounds"
    return f"no trial has succeeded yet: {summarise_failures(trials)}"


def summarise_failures(trials: Sequence[Trial]) -> str:
    """Return in one line how many trials failed, with the three commonest reasons, whatever the numbers in them."""
    failed = [t.reason for t in trials if t.state in FAILED]
    stopped = sum(t.state == "stopped" for t in trials)
    if not failed:
        return f"{stopped} were stopped early" if stopped else "no trial has been told"
    return f"{len(failed)} failed; {commonest_reasons(failed)}"


def commonest_reasons(reasons: Sequence[str]) -> str:
    """Return the three commonest reasons of failures in one line, with counts; reasons that differ only in numbers are one."""
    first = {kind_of_reason(reason): reason for reason in reversed(reasons)}
    kinds = Counter(map(kind_of_reason, reasons)).most_common(3)
    return "; ".join(f"{count} x {first[kind]}" for kind, count in kinds)


def kind_of_reason(reason: str) -> str:
    """Return the reason of a failed trial without its numbers, to compare reasons that differ only in numbers."""
    return _NUMBER.sub("#", reason)
