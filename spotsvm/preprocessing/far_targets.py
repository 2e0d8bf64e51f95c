"""A few targets far from all others: scale, choices and limits of predictions follow the other rows, and a notice names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from spotsvm.common.notices import Notice
from spotsvm.preprocessing.missing_codes import missing_codes, target_codes

Floats = NDArray[np.float64]

#: a target is far from all others if its distance from the median exceeds this number of robust standard deviations, and this
#: number of times the largest distance of the others, which have at least this share of the weight
_DEVIATIONS, _TIMES, _OTHERS = 10.0, 5.0, 0.9
#: shares of the rows in the middle whose range gives the robust standard deviation: the first one with a spread
_MIDDLES = 0.5, 0.9
#: ranges of these middles of a normal distribution, in standard deviations
_OF_NORMAL = 1.348980, 3.289707
_NAMED = 3


def ordinary_range(y: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return the ends of the range of the targets that are not far from all others.

    Without far targets this is the range of all. Where the middle 90 % of the targets are equal, none is far.

    Parameters
    ----------
    y, weights : ndarray of shape (n,)
        The targets, and weights of rows.

    Examples
    --------
    >>> ordinary_range(np.array([*range(40), 1e6]))
    (0.0, 39.0)
    """
    order = np.argsort(y, kind="stable")
    mass = np.cumsum(np.ones(len(y)) if weights is None else weights[order])

    def quantile(share: float) -> float:
        return float(y[order[min(int(np.searchsorted(mass, share * mass[-1])), len(y) - 1)]])

    middle = quantile(0.5)
    ranges = (
        (quantile(0.5 + 0.5 * share) - quantile(0.5 - 0.5 * share)) / normal
        for share, normal in zip(_MIDDLES, _OF_NORMAL, strict=True)
    )
    deviation = next((spread for spread in ranges if spread > 0), np.inf)
    distance = np.abs(y - middle)
    by_distance = np.argsort(distance, kind="stable")
    ordered = distance[by_distance]
    share = np.cumsum(np.ones(len(y)) if weights is None else weights[by_distance]) / mass[-1]
    far = (ordered[1:] > _DEVIATIONS * deviation) & (ordered[1:] > _TIMES * ordered[:-1]) & (share[:-1] >= _OTHERS)
    near = distance <= (ordered[int(np.argmax(far))] if far.any() else ordered[-1])
    return float(y[near].min()), float(y[near].max())


def target_notices(y: Floats, name: Callable[[int], str], weights: Floats | None = None, then: str = "") -> list[Notice]:
    """Return notices about a target: values that may be codes for missing values, and targets far from all others.

    Parameters
    ----------
    y, weights : ndarray of shape (n,)
        The targets, and weights of rows.
    name : callable
        Maps the position of a row to its name.
    then : str
        What the model does about far targets, for the end of the sentence.
    """
    low, high = ordinary_range(y, weights)
    found = target_codes(y, name, lambda code: "" if low <= code.value <= high else then)
    rows = np.flatnonzero(((y < low) | (y > high)) & ~np.isin(y, [code.value for code in missing_codes(y)]))
    if not len(rows):
        return found
    shown = ", ".join(f"{y[k]:.6g} in {name(int(k))}" for k in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    what = "1 target is" if len(rows) == 1 else f"{len(rows)} targets are"
    sentence = (
        f"{what} far from all others ({shown}{more}; the others are from {low:.6g} to {high:.6g}): squared errors, as in R2, are "
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
