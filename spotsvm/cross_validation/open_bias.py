"""Where any bias of an interval is optimal, whether it is known which of them LIBSVM returns, or what it predicts with it."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats
from spotsvm.estimators.dual.one_vs_one import votes
from spotsvm.solvers.dual.exact.fold_solver import State, Target

#: LIBSVM's gradient is a sum of kernel values of single precision: what it may be off, as a share of the largest sum possible
_OFF = 2.0**-22
_MOST_TOL = 0.01
_MOST_OPEN = 6  # decisions of a row whose signs are all tried
_REST = 1e-9  # what rounding leaves of a step to a bound, as a share of it


def same_predictions(values: Floats, ends: Floats, tol: float) -> bool:
    """Return whether all biases between two ends give each decision, `values` and the bias, the same sign.

    Examples
    --------
    >>> same_predictions(np.array([-0.2, 0.3]), np.array([0.4, 0.9]), 1e-3)
    True
    >>> same_predictions(np.array([-0.6]), np.array([0.4, 0.9]), 1e-3)
    False
    """
    return not open_decisions(values, ends, tol).any()


def open_decisions(values: Floats, ends: Floats, tol: float) -> NDArray[np.bool_]:
    """Return of which rows the sign of the decision, `values` and the bias, depends on the bias between two ends."""
    sure: NDArray[np.bool_] = (values + ends.min() > tol) | (values + ends.max() < -tol)
    return ~sure


def deciding_pairs(decisions: Floats, open_: NDArray[np.bool_], n_classes: int) -> list[int]:
    """Return the pairs whose open decisions are in a row where the winner of the votes depends on the signs of open decisions.

    Examples
    --------
    >>> deciding_pairs(np.array([[1.0, 1.0, 0.0]]), np.array([[False, False, True]]), 3)
    []
    >>> deciding_pairs(np.array([[1.0, 0.0, -1.0]]), np.array([[False, True, False]]), 3)
    [1]
    """
    found: set[int] = set()
    for row in np.flatnonzero(open_.any(axis=1)).tolist():
        columns = np.flatnonzero(open_[row]).tolist()
        if found.issuperset(columns):
            continue
        signs = np.array([*product((-1.0, 1.0), repeat=min(len(columns), _MOST_OPEN))])
        either = np.tile(decisions[row], (len(signs), 1))
        either[:, columns[:_MOST_OPEN]] = signs
        if len(columns) > _MOST_OPEN or np.ptp(votes(either, n_classes).argmax(axis=1)) > 0:
            found.update(columns)
    return sorted(found)


def libsvm_takes_the_middle(
    K: NDArray[np.float32], offset: float, target: Target, state: State, rows: Floats, tol: float
) -> bool:
    """Return whether LIBSVM is certain to end at this solution exactly, and to predict as the middle of its biases does.

    That is so for two classes of m rows each, all at the same bound C, if each of LIBSVM's steps leads from one corner of
    the box to another. At corners, decisions before the bias are C times sums over at most m rows of each class. Let R bound
    the difference of those of two rows of different classes, r of the same class, and D the squared distance between rows
    in the space of the kernel. A step of one row of each class has a violation v of at least 2 - R and a length
    v / curvature >= (2 - R) / D. One of two rows of the same class has a violation of at most r, and is preferred only where
    v^2 / curvature >= (2 - R)^2 / D; so its length is at least (2 - R)^2 / (D r). Where both are C or more, nothing is rounded
    on the way to the corner where all are at C, and there LIBSVM returns the middle of the interval. What rounding leaves of
    its gradient remains: no decision may be as near to 0.

    Parameters
    ----------
    K, offset
        Kernel matrix less a constant, and the constant.
    target, state
        One machine, trained with one of the biases left open.
    rows : ndarray
        The decisions, with the middle bias, that are asked for.
    tol : float
        LIBSVM's tolerance.
    """
    widths = target.upper - target.lower
    trained = widths > 0.0
    C, m = float(widths.max()), int(trained.sum()) / 2
    at_bound = (widths[trained] == C) & (np.abs(state.beta[trained]) >= (1.0 - _REST) * C)
    if tol > _MOST_TOL or target.z.sum() != 0.0 or not at_bound.all():
        return False
    high, low = float(K.diagonal().max()), float(K.min())
    rounding = _OFF * max(abs(high + offset), abs(low + offset))
    if not float(np.abs(rows).min(initial=np.inf)) > 2.0 * m * C * rounding:
        return False
    D = 2.0 * (high - low) + rounding
    return _ends_at_corners(C, D, m * C * D, m * C * D) or _ends_at_corners(C, D, *_spreads(K, target.z, C, m * C * rounding))


def _ends_at_corners(C: float, D: float, R: float, r: float) -> bool:
    return R < 2.0 and 2.0 - R >= C * D and (2.0 - R) ** 2 >= C * D * r


def _spreads(K: NDArray[np.float32], z: Floats, C: float, rounding: float) -> tuple[float, float]:
    """Return R and r: each row's decision lies between sums of its largest, or smallest, kernel values with each class."""
    own, other = np.flatnonzero(z > 0), np.flatnonzero(z < 0)
    both = np.concatenate([own, other])
    a, b = (np.sort(K[np.ix_(both, part)].astype(np.float64), axis=1) for part in (own, other))
    highest = C * np.maximum(a[:, ::-1] - b, 0.0).sum(axis=1) + rounding
    lowest = -C * np.maximum(b[:, ::-1] - a, 0.0).sum(axis=1) - rounding
    m = len(own)
    top, least = (highest[:m].max(), highest[m:].max()), (lowest[:m].min(), lowest[m:].min())
    return float(top[0] - least[1]), float(max(top[0] - least[0], top[1] - least[1]))
