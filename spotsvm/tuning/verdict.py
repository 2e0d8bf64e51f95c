"""Decide whether tuning has helped, and so which machine to use: the tuned one or the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.edges import edges_of
from spotsvm.trials.recommendation import CONFIRM, may_be_best
from spotsvm.trials.scores.intervals import Interval, corrected_factor, expected_interval
from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.scores.verdict import Decision, Verdict
from spotsvm.trials.trial import Trial
from spotsvm.tuning.paired import CONFIDENCE
from spotsvm.tuning.results import HeldOutResult

Floats = NDArray[np.float64]
#: how many standard errors a candidate has to be better than another one on the folds, not to count as being as good
NOISE = 1.0
#: how far two scores of one machine may be off by rounding, as work is shared or not
_ROUNDING = 1e-9
#: the same as a share of a score, by the tolerance of its solver
_SOLVER = 1e-3


@dataclass(frozen=True)
class Gain:
    """By how much a machine is better than another one on the same folds; the error is nan if there are too few."""

    value: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether it is better by more than the noise of the folds."""
        return self.value > max(NOISE * (self.error if np.isfinite(self.error) else 0.0), _ROUNDING)

    @classmethod
    def of(cls, second: Floats, first: Floats, ratio: float) -> Gain:
        """Return it from the scores in each fold; `ratio` is that of Nadeau and Bengio."""
        differences = second - first
        n = len(differences)
        error = np.sqrt(corrected_factor(n, ratio) * differences.var(ddof=1)) if n > 1 else np.nan
        return cls(float(differences.mean()), float(error))


@dataclass(frozen=True)
class Choice:
    """The candidate to compare with the default."""

    number: int
    params: Mapping[str, Any]
    score: float
    gain: Gain  # over the default, on the given folds
    further: tuple[float, ...]  # the same on each further partition, empty without any
    default: int | None  # the trial of the default, if there is one
    default_params: Mapping[str, Any]  # its parameters, as far as the space can hold them
    instead_of: str  # what it replaces, in words; empty if it is what the search has chosen


def choose(search: SpotSearchCV, default_params: Sequence[Mapping[str, Any]], default_folds: Floats) -> Choice:
    """Return the candidate to compare with the default.

    It is the one that the search has chosen. If that is at the end of a range, and another one with all values within their
    ranges is as good on the folds but for their noise, it is the best of these instead: the default if it is one of them, else a
    contender on further partitions before others.
    """
    study = search.study_
    finished = [t for t in study.trials if t.state != "running"]
    names = [f"split{k}_test_score" for k in range(search.n_splits_)]
    folds = {t.number: np.array([t.extra.get(name, np.nan) for name in names], dtype=float) for t in finished}
    ratio = 1.0 / max(search.n_splits_ - 1, 1)
    further = {row["trial"]: _partitions(row) for row in study.findings.get(CONFIRM, {}).get("contenders", [])}
    same = [t.number for t in finished for params in default_params if _is_close(t.params, params)]
    default = next((k for k in same if np.allclose(folds[k], default_folds, rtol=_SOLVER, atol=_ROUNDING)), None)
    chosen = best = finished[search.best_index_]
    instead_of = ""
    if chosen.number != default and (edges := edges_of(chosen.params, study.space)):

        def rank(t: Trial) -> tuple[bool, bool, float, int]:
            return t.number == default, t.number in further, float(folds[t.number].mean()), -t.number

        inner = [t for t in finished if may_be_best(t) and not edges_of(t.params, study.space)]
        alike = [t for t in inner if not Gain.of(folds[chosen.number], folds[t.number], ratio).is_clear]
        if alike:
            best = max(alike, key=rank)
            ends = " and ".join(f"{edge.name.rpartition('__')[2]} = {edge.value:.4g}" for edge in edges)
            how = "and is the default SVM" if best.number == default else "and was compared with the default in its place"
            instead_of = (
                f"The search chose trial {chosen.number}, with {ends} at the end of the range; trial {best.number}, within all "
                f"ranges, scores the same but for the noise of the folds, {how}."
            )
    both = default in further and best.number in further
    return Choice(
        best.number,
        dict(best.params),
        float(folds[best.number].mean()),
        Gain.of(folds[best.number], default_folds, ratio),
        tuple((further[best.number] - further[default]).tolist()) if both and default is not None else (),
        default,
        next((dict(t.params) for t in finished if t.number == default), dict(*default_params[:1])),
        instead_of,
    )


def _partitions(row: Mapping[str, Any]) -> Floats:
    """Return a contender's score on each further partition."""
    return np.array([value for name, value in row.items() if name.startswith("partition ")], dtype=float)


def _is_close(params: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether two configurations are the same but for rounding."""

    def same(one: Any, other: Any) -> bool:
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return bool(np.isclose(one, other, rtol=1e-6, atol=0.0)) if numbers else bool(one == other)

    return params.keys() == others.keys() and all(same(params[name], others[name]) for name in params)


def decide(
    choice: Choice,
    metric: str,
    default: HeldOutResult,
    tuned: HeldOutResult,
    held_out: tuple[float, float, Interval],
    n_held_out: int,
) -> Verdict:
    """Return the verdict.

    Tuning did not help if the candidate scores as the default on the given folds, or is worse on these and further
    partitions together, on the further ones or on the held-out rows: then the default is recommended. Otherwise the tuned machine
    is. Tuning has helped if the whole interval of the difference on the held-out rows is above 0, and may have helped if that
    holds 0.
    """
    difference, error, interval = held_out
    decision, reason = _decision(choice, difference, interval)
    keep = decision == "did not help"
    return Verdict(
        metric, decision, "default" if keep else "tuned", choice.default if keep else choice.number,
        choice.default_params if keep else choice.params,
        default.tuned_score, default.test_score, default.test_error, tuned.tuned_score, tuned.test_score, tuned.test_error,
        choice.gain.value, choice.gain.error, difference, error, interval, CONFIDENCE, n_held_out, reason,
        instead_of=choice.instead_of,
    )  # fmt: skip


def with_expected(verdict: Verdict, choice: Choice, default_folds: Floats, optimism: Optimism | None) -> Verdict:
    """Return the verdict with the score of the recommended machine to expect on new data.

    Of what the search has chosen it is the tuned score less its optimism, also where that is the default: its optimism is told as
    well, and the two have to agree. A default that another candidate was compared with was not chosen by a score, so it is its
    mean over the folds, with the interval of Nadeau and Bengio; so it is beside nested resampling, which is about the whole
    search.
    """
    found_best = choice.number == choice.default and not choice.instead_of
    if verdict.recommended == "default" and not (found_best and optimism is not None and optimism.method != "nested"):
        ratio = 1.0 / max(len(default_folds) - 1, 1)
        expected, interval = verdict.default_score, expected_interval(default_folds, ratio, CONFIDENCE, verdict.metric)
    elif optimism is not None and not choice.instead_of:
        expected, interval = optimism.outer_score, optimism.outer_interval
    else:
        return verdict
    return replace(verdict, expected=expected, expected_interval=interval)


def _decision(choice: Choice, difference: float, interval: Interval) -> tuple[Decision, str]:
    gain = choice.gain
    noise = f" (standard error {gain.error:.2g})" if np.isfinite(gain.error) else ""
    folds = f"{gain.value:+.3g}{noise} on the folds"
    if choice.number == choice.default or abs(gain.value) <= _ROUNDING:
        return "did not help", "no candidate scored better than it on the folds"
    further = float(np.mean(choice.further)) if choice.further else 0.0
    if np.mean([gain.value, *choice.further]) < 0:
        also = f" and {further:+.3g} on further partitions of the rows" if choice.further else ""
        return "did not help", f"the candidate that the search chose scores {folds}{also}, compared with it"
    if further < 0:
        return "did not help", f"the best candidate scores {folds}, but {further:+.3g} on further partitions of the rows"
    if gain.value < 0:
        folds += f" and {further:+.3g} on further partitions of the rows"
    if np.isfinite(difference) and difference < 0:
        return "did not help", f"the best candidate scores {folds}, but {difference:+.3g} on the held-out rows"
    if np.isfinite(interval[0]) and interval[0] > 0:
        return "helped", f"{folds}"
    return "may have helped", f"{folds}, and the held-out rows are too few to tell"
