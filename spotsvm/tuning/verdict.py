"""The candidate of a search to compare with the default, and the recommendation of one of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.difference import Difference, TuningGain, difference_on_folds
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.verdict import HeldOut, Replaced, Verdict
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.edges import edges_of
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.trial import Trial

Floats = NDArray[np.float64]
#: a candidate counts as equally good on the folds unless it is worse by more than this many standard errors
NOISE = 1.0
#: rounding error between scores of the same model with and without shared work
_ROUNDING = 1e-9
#: relative difference that the solver's tolerance can cause between scores of the same model
_SOLVER = 1e-3


@dataclass(frozen=True)
class Choice:
    """The candidate to compare with the default."""

    number: int | None  # its trial; the default's trial if no candidate is better
    params: Mapping[str, Any]
    score: float
    default: int | None  # the default's trial; None if it is not in the space
    default_params: Mapping[str, Any]  # the default's values of the tuned parameters
    n_better: int  # number of candidates with a better score than the default on the folds
    n_candidates: int
    compares: bool  # whether a candidate is compared with the default; False if none is better on the folds
    replaced: Replaced | None  # the search's choice, if another candidate took its place


def choose(search: SpotSearchCV, default_params: Sequence[Mapping[str, Any]], default_folds: Floats) -> Choice:
    """Return the candidate to compare with the default: the search's choice, or else the best that beats the default, or none.

    One with a value at the end of a range is replaced by the best within all ranges, if that beats the default and is as good but
    for the noise of the folds.
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
        return Choice(default, shown, float(default_folds.mean()), compares=False, replaced=None, **counts)
    return Choice(best.number, dict(best.params), float(folds[best.number].mean()), compares=True, replaced=replaced, **counts)


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
    gain: TuningGain,
    default: ExpectedScore,
    tuned: ExpectedScore,
    *,
    on_folds: tuple[float, float] = (nan, nan),
    held_out_by: HeldOut = "random",
    by: Literal["search", "average"] = "search",
) -> Verdict:
    """Return the verdict, with the recommended model (:eq:`recommendation`).

    If tuning did not help it is the default; if no difference can be seen, the model better on all rows that the judged models
    had not seen. `on_folds`: scores of default and choice that a search has optimised.
    """
    keep = not choice.compares or gain.side < 0 or not gain.value > 0
    return Verdict(
        gain.metric, gain, "default" if keep else "tuned", choice.default if keep else choice.number,
        choice.default_params if keep else choice.params, default, tuned, choice.compares, *on_folds,
        choice.n_better, choice.n_candidates, held_out_by, choice.replaced, by=by,
    )  # fmt: skip
