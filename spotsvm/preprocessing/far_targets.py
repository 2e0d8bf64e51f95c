"""A few targets far from all others: scale, choices and limits of predictions follow the other rows, and a notice names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from spotsvm.common.notices import Notice
from spotsvm.common.text import different_texts
from spotsvm.preprocessing.missing_codes import missing_codes, target_codes

Floats = NDArray[np.float64]

#: a target is far from all others if its distance from the median exceeds this number of robust standard deviations, and this
#: number of times the largest distance of the others, which have at least this share of the weight
_DEVIATIONS, _TIMES, _OTHERS = 10.0, 5.0, 0.9
#: ends of the middles of the rows whose range gives the robust standard deviation: the first one with a spread
_BOUNDS = 0.25, 0.75, 0.05, 0.95
#: ranges of these middles of a normal distribution, in standard deviations
_OF_NORMAL = 1.348980, 3.289707
#: without a spread there, the largest distance from the median of this share of the targets that differ from it
_MOST = 0.75
_NAMED = 3


def ordinary_range(y: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return the ends of the range of the targets that are not far from all others; without far ones, of all.

    Where the middle 90 % are equal, as in counts of rare events, the distances of the others from them decide.
    """
    weights = np.ones(len(y)) if weights is None else weights
    middle, *quartiles = (_quantile(y, weights, share) for share in (0.5, *_BOUNDS))
    distance = np.abs(y - middle)
    ranges = [(last - first) / normal for first, last, normal in zip(quartiles[::2], quartiles[1::2], _OF_NORMAL, strict=True)]
    differ = distance > 0
    if differ.any():
        ranges.append(_quantile(distance[differ], weights[differ], _MOST))
    deviation = next((spread for spread in ranges if spread > 0), np.inf)
    by_distance = np.argsort(distance, kind="stable")
    ordered = distance[by_distance]
    share = np.cumsum(weights[by_distance]) / weights.sum()
    far = (ordered[1:] > _DEVIATIONS * deviation) & (ordered[1:] > _TIMES * ordered[:-1]) & (share[:-1] >= _OTHERS)
    near = distance <= (ordered[int(np.argmax(far))] if far.any() else ordered[-1])
    return float(y[near].min()), float(y[near].max())


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value below which this share of the weight is."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(mass, share * mass[-1])), len(order) - 1)]])


def target_notices(y: Floats, name: Callable[[int], str], weights: Floats | None = None, then: str = "") -> list[Notice]:
    """Return notices about a target: values that may be codes for missing values, and targets far from all others.

    `name` maps a row's position to its name; `then` says at the end what the model does about far targets.
    """
    low, high = ordinary_range(y, weights)
    found = target_codes(y, name, lambda code: "" if low <= code.value <= high else then)
    rows = np.flatnonzero(((y < low) | (y > high)) & ~np.isin(y, [code.value for code in missing_codes(y)]))
    if not len(rows):
        return found
    first, last = different_texts((low, high))
    shown = ", ".join(f"{y[k]:.6g} in {name(int(k))}" for k in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    what = "1 target is" if len(rows) == 1 else f"{len(rows)} targets are"
    sentence = (
        f"{what} far from all others ({shown}{more}; the others are from {first} to {last}): squared errors, as in R2, are "
        f"mostly errors of such rows; leave them out if they are mistakes{then}"
    )
    return [*found, Notice("far targets", sentence, share=len(rows) / len(y))]


class TargetScaler(StandardScaler):
    """Standardise a target; those far from all others count as the farthest of the others in mean and deviation."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TargetScaler:
        """Learn mean and deviation from a target of shape (n, 1); see `StandardScaler`."""
        target = np.asarray(X, dtype=np.float64)
        low, high = ordinary_range(target[:, 0], sample_weight)
        super().fit(np.clip(target, low, high), y, sample_weight)
        return self
