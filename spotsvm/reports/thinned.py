"""Which of many trials a page shows: pictures and tables of thousands would be slow to draw, and nobody could read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: trials that a picture or a table shows at most
MOST = 500
SHOWN = "the best, the first and the last ones, and an even spread of the others"


def thinned(losses: Sequence[float] | NDArray[np.float64], most: int = MOST) -> NDArray[np.intp]:
    """Give the places of those to show, ascending: all, or a quarter the best, a quarter the ends, the rest evenly spread.

    Parameters
    ----------
    losses : sequence of float
        What is better being smaller; those without a value are infinite or nan.
    most : int, default=500
        How many to show.

    Examples
    --------
    >>> thinned([5.0, 4.0, 3.0], 8).tolist(), thinned(np.abs(np.arange(100.0) - 70), 8).tolist()
    ([0, 1, 2], [0, 1, 32, 64, 69, 70, 98, 99])
    """
    n = len(losses)
    if n <= most:
        return np.arange(n)
    kept = np.zeros(n, dtype=bool)
    kept[np.argsort(losses, kind="stable")[: most // 4]] = True
    kept[: most // 8] = kept[n - most // 8 :] = True
    others = np.flatnonzero(~kept)
    kept[others[np.linspace(0, len(others) - 1, most - int(kept.sum())).astype(int)]] = True
    return np.flatnonzero(kept)
