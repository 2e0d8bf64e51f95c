"""The bias with the smallest training error, for many decision functions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def best_hinge_threshold(decisions: Floats, y: Floats) -> Floats:
    """Return the b that minimises sum(max(0, 1 - y (f + b))) for each row f of `decisions`, (m, n).

    Its slope rises by 1 where b passes y_i - f_i, from minus the number of positive rows: the middle of the interval where it is
    0.
    """
    last = int(np.count_nonzero(y > 0)) - 1
    turns = np.partition(y - decisions, (last, last + 1), axis=1)
    middle: Floats = 0.5 * (turns[:, last] + turns[:, last + 1])
    return middle


def best_count_threshold(decisions: Floats, y: Floats) -> Floats:
    """Return a b that minimises the number of rows with y (f + b) < 1 for each row f of `decisions`: the best interval's middle.

    A positive row is satisfied from b = 1 - f on, a negative row up to b = -1 - f.
    """
    positive_first = np.argsort(-y, kind="stable")  # a positive row comes first among equal turns: it is satisfied there
    turns = (y - decisions)[:, positive_first]
    order = np.argsort(turns, axis=1, kind="stable")
    turns = np.take_along_axis(turns, order, axis=1)
    positive = (y[positive_first] > 0)[order]
    passed = np.cumsum(positive, axis=1)
    # at the k-th turn: minus the positive rows reached so far, plus the negative ones left behind
    violated = (np.arange(len(y)) + 1 - passed) - ~positive - passed
    best = np.argmin(violated, axis=1)
    rows = np.arange(len(decisions))
    upper = np.where(positive[rows, best], np.minimum(best + 1, len(y) - 1), best)
    middle: Floats = 0.5 * (turns[rows, best] + turns[rows, upper])
    return middle
