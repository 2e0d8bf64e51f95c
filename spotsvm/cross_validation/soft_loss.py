"""The log loss of a machine's margins: a smooth companion of its accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats
from spotsvm.estimators.dual.one_vs_one import one_vs_rest

#: of the slope, in units of 1 / the median margin: where to begin, the bounds, steps and the last relative change
_FIRST, _LEAST, _MOST, _STEPS, _CHANGE = 2.0, 2.0**-6, 2.0**6, 30, 1e-6
#: of the largest margin, what counts as no median: squares in units of it would overflow
_LEAST_UNIT = 1e-100


def margins(decisions: Floats, codes: NDArray[np.intp], n_classes: int) -> Floats:
    """Return by how much each row's own class is ahead of the best other one.

    Parameters
    ----------
    decisions : ndarray of shape (n, n_pairs)
        Decisions of the machines of all pairs of classes, as `FoldAnswer` has them.
    codes : ndarray of shape (n,)
        The numbers of the rows' classes.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n,)
        Signed decisions of two classes; of several, differences of votes with confidences (scikit-learn's "ovr" decisions).
    """
    if n_classes == 2:
        return np.asarray(np.where(codes == 1, decisions[:, 0], -decisions[:, 0]))
    votes = one_vs_rest(decisions, n_classes)
    rows = np.arange(len(codes))
    own = votes[rows, codes]
    votes[rows, codes] = -np.inf
    return np.asarray(own - votes.max(axis=1))


def log_loss_of_margins(margin: Floats) -> float:
    """Return the mean log loss of a logistic function of margins whose slope is fitted to them.

    The slope is the one with the least loss, from 1/64 to 64 over the median size of the margins; it has no intercept. A machine
    without any skill has log(2), as have margins that are not finite or nearly all zero. Outliers count less than with a hinge
    loss.

    Parameters
    ----------
    margin : ndarray of shape (n,)
        By how much the own class of each row is ahead.

    References
    ----------
    Platt 1999, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods".

    Examples
    --------
    >>> round(log_loss_of_margins(np.array([2.0, 1.0, -0.5])), 4), round(log_loss_of_margins(np.array([-2.0, -1.0])), 4)
    (0.4607, 0.701)
    """
    largest = float(np.abs(margin).max())
    if not 0.0 < largest < np.inf:
        return float(np.log(2.0))
    from spotsvm.cross_validation._soft_loss_kernels import least_log_loss

    z = margin / largest
    sizes, half = np.sort(np.abs(z)), len(z) // 2
    unit = 0.5 * float(sizes[half] + sizes[~half])
    if unit < _LEAST_UNIT:
        return float(np.log(2.0))
    return float(least_log_loss(z / unit, _FIRST, _LEAST, _MOST, _STEPS, _CHANGE))
