"""Decide whether tuning has helped, and recommend the tuned model or the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.difference import Difference, difference_on_folds
from spotsvm.luck.sentences import Decision
from spotsvm.luck.verdict import HeldOut, Reason, Replaced, Verdict
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.edges import edges_of
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.trial import Trial
from spotsvm.tuning.results import HeldOutResult

Floats = NDArray[np.float64]
#: a candidate counts as equally good on the folds unless it is worse by more than this many standard errors
NOISE = 1.0
#: rounding error between scores of the same model with and without shared work
_ROUNDING = 1e-9
#: a difference is small if it is below this share of half its interval
_SMALL = 0.5
#: relative difference that the solver's tolerance can cause between scores of the same model
_SOLVER = 1e-3


@dataclass(frozen=True)
class Choice:
    """The candidate to compare with the default."""

    number: int | None  # its trial; the default's trial if no candidate is better
    params: Mapping[str, Any]
    score: float
    gain: Difference  # candidate less default, on the folds
    default: int | None  # the default's trial; None if it is not in the space
    default_params: Mapping[str, Any]  # the default's values of the tuned parameters
    n_better: int  # number of candidates with a better score than the default on the folds
    n_candidates: int
    why_default: Reason | None  # why no candidate is compared with the default; None if a candidate is compared
    replaced: Replaced | None  # the search's choice, if another candidate took its place


def choose(search: SpotSearchCV, default_params: Sequence[Mapping[str, Any]], default_folds: Floats) -> Choice:
    """Return the candidate to compare with the default.

    This is the search's choice if its score on the folds is better than the default's, otherwise the best candidate that beats
    the default. A candidate with a value at the end of a range is replaced by the best candidate within all ranges that also
    beats the default and is as good but for the noise of the folds. If no candidate beats the default, none is compared.
    """
    study = search.study_
    finished = [t for t in study.trials if t.state != "running"]
    names = [f"split{k}_test_score" for k in range(search.n_splits_)]
    folds = {t.number: np.array([t.extra.get(name, np.nan) for name in names], dtype=float) for t in finished}
    ratio = 1.0 / max(search.n_splits_ - 1, 1)
    same = [t.number for t in finished for params in default_params if _is_close(t.params, params)]
    default = next((k for k in same if np.allclose(folds[k], default_folds, rtol=_SOLVER, atol=_ROUNDING)), None)

    gains = {t.number: float(folds[t.number].mean() - default_folds.mean()) for t in finished if may_be_best(t)}
    # scores of the default with and without shared work differ by rounding
    better = [t for t in finished if gains.get(t.number, np.nan) > _ROUNDING and t.number != default]
    chosen: Trial = finished[search.best_index_]
    best: Trial | None = chosen if chosen in better else max(better, key=lambda t: gains[t.number], default=None)
    replaced = None
    if best is not None and (edges := edges_of(best.params, study.space)):
        inner = [t for t in better if not edges_of(t.params, study.space)]
        alike = [t for t in inner if not _is_clear(difference_on_folds(folds[t.number], folds[best.number], ratio))]
        if alike:
            best = max(alike, key=lambda t: (gains[t.number], -t.number))
            replaced = Replaced(chosen.number, {edge.name: float(edge.value) for edge in edges})
    shown = next((dict(t.params) for t in finished if t.number == default), dict(*default_params[:1]))
    counts: dict[str, Any] = {
        "default": default,
        "default_params": shown,
        "n_better": len(better),
        "n_candidates": len(gains) - (default in gains),
    }
    if best is None:
        none, score = Difference(0.0), float(default_folds.mean())
        return Choice(default, shown, score, none, why_default="none better", replaced=None, **counts)
    gain = difference_on_folds(default_folds, folds[best.number], ratio)
    return Choice(
        best.number, dict(best.params), float(folds[best.number].mean()), gain, why_default=None, replaced=replaced, **counts
    )


def _is_clear(gain: Difference) -> bool:
    """Return whether a model is better by more than the noise of the folds."""
    return gain.value > max(NOISE * (gain.error if np.isfinite(gain.error) else 0.0), _ROUNDING)


def _is_close(params: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether two configurations are equal up to rounding."""

    def same(one: Any, other: Any) -> bool:
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return bool(np.isclose(one, other, rtol=1e-6, atol=0.0)) if numbers else bool(one == other)

    return params.keys() == others.keys() and all(same(params[name], others[name]) for name in params)


def decide(
    choice: Choice,
    metric: str,
    default: HeldOutResult,
    tuned: HeldOutResult,
    held_out: Difference,
    *,
    n_held_out: int,
    n_train: int,
    held_out_by: HeldOut = "random",
) -> Verdict:
    """Return the verdict.

    Tuning has helped if the whole interval of the difference on the held-out rows is above 0. It did not help if no candidate is
    better than the default on the folds, if the interval is below 0, or if the difference is below 0 and not small compared with
    the interval. Otherwise no difference can be seen. If tuning did not help, the default is recommended; if no difference can be
    seen, the model that is better over training and held-out rows together.

    Notes
    -----
    Equation :eq:`held-out-verdict` of the chapter :doc:`/method/index`.
    """
    decision, reason = _decision(choice, held_out)
    both = [choice.gain.value] if np.isnan(held_out.value) else [choice.gain.value, held_out.value]
    overall = float(np.average(both, weights=[n_train, n_held_out][: len(both)]))
    keep = decision == "did not help" or (decision == "no difference seen" and overall <= 0)
    return Verdict(
        metric, decision, reason, "default" if keep else "tuned", choice.default if keep else choice.number,
        choice.default_params if keep else choice.params,
        default.tuned_score, default.test_score, default.test_error, tuned.tuned_score, tuned.test_score, tuned.test_error,
        replace(choice.gain, metric=metric), replace(held_out, metric=metric), n_held_out, overall,
        choice.n_better, choice.n_candidates, held_out_by, replaced=choice.replaced,
    )  # fmt: skip


def _decision(choice: Choice, held_out: Difference) -> tuple[Decision, Reason]:
    if choice.why_default is not None:
        return "did not help", choice.why_default
    if not held_out.known:
        return "no difference seen", "no interval"
    low, high = held_out.interval
    if held_out.side > 0:
        return "helped", "held-out better"
    if held_out.side < 0 or held_out.value < -_SMALL * (high - low) / 2:
        return "did not help", "held-out worse"
    return "no difference seen", "undecided"
