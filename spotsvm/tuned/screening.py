"""A grid for more than a few rows: all sweeps are scored on some of them, and the promising ones on all.

The time of a sweep grows with the cube of the rows, and most sweeps are far from the best on a few hundred rows already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.tuned.sweeps import Setting, Sweep, sweep_of

#: number of rows of the grid above which there is a screening, and the number of its rows
SCREENED_FROM, SCREENING_ROWS = 600, 400
#: values of C from the best one on that are scored on all rows: more rows allow a larger C
_FROM_BEST = 2


def promising(
    settings: Sequence[Setting],
    means: NDArray[Any],
    weights: NDArray[Any],
    costs: Callable[[Sweep], Sequence[float]],
) -> dict[Sweep, list[float]]:
    """Return the sweeps that have a setting of weight in an average, and the best sweep of each family, with the C to score.

    These are the best C of a sweep by the `means` of its settings, the next larger one in `costs`, and those of weight.
    """
    best: dict[Sweep, int] = {}
    of_family: dict[str, int] = {}
    for i, setting in enumerate(settings):
        sweep = sweep_of(setting)
        if means[i] > means[best.setdefault(sweep, i)]:
            best[sweep] = i
        if means[i] > means[of_family.setdefault(setting.family, i)]:
            of_family[setting.family] = i
    chosen = {sweep_of(settings[i]) for i in [*np.flatnonzero(weights), *of_family.values()]}
    found = {}
    for sweep, i in best.items():
        if sweep in chosen:
            values = list(costs(sweep))
            place = values.index(settings[i].C)
            near = values[place : place + _FROM_BEST]
            own = [one.C for one, weight in zip(settings, weights, strict=True) if weight > 0 and sweep_of(one) == sweep]
            found[sweep] = sorted({*near, *own})
    return found
