"""The one-standard-error rule: the simplest candidate that is about as good as the best.

gamma comes before C, since a narrow kernel with a small C is not a simple model: its decision is a sum of bumps about all rows,
each of which is a support vector. The widest kernel gives the smoothest boundary, close to linear as gamma tends to 0 (Keerthi
and Lin 2003), and of its solutions the smallest C has the widest margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError
from spotsvm.space.parameter import is_number

Floats = NDArray[np.float64]
#: the value of `refit` that asks for the rule
ONE_SE = "1se"
#: parameters whose small values make a candidate simple, by the last part of their names, in this order
SIMPLER = ("gamma", "C", "n_components", "n_features_to_select", "max_features", "n_features", "k")


def simplicity(names: Sequence[str]) -> list[str]:
    """Return the parameters by which candidates are compared, in order of priority; ArgumentError if there is none."""
    found = [name for kind in SIMPLER for name in names if name.rpartition("__")[2] == kind]
    if not found:
        raise ArgumentError(
            f"refit={ONE_SE!r} takes the candidate with the smallest {', '.join(SIMPLER[:-1])} or {SIMPLER[-1]}, and the space "
            f"has only {', '.join(names)}; use refit=True, or a callable that chooses by cv_results_"
        )
    return found


def simplest(results: Mapping[str, Any], metric: str, best: int) -> int:
    """Return the index of the simplest candidate whose mean score is at most one standard error below that of the best.

    Breiman et al. 1984, 3.4.3: the smallest first parameter of `simplicity`, then the second, then the best mean. A parameter
    that a candidate lacks is below all numbers, text above (gamma="scale").
    """
    means: Floats = np.asarray(results[f"mean_test_{metric}"], dtype=float)
    folds = np.array([column[best] for column in _fold_columns(results, metric)], dtype=float)
    spread = float(np.std(folds, ddof=1)) if len(folds) > 1 else 0.0
    margin = spread / np.sqrt(len(folds))
    lost = means[best] - means
    names = simplicity(list(dict.fromkeys(name for params in results["params"] for name in params)))

    def complexity(k: int) -> tuple[float, ...]:
        params = results["params"][k]
        absent = dict.fromkeys(names, -np.inf)
        sizes = {name: float(value) if is_number(value) else np.inf for name, value in params.items() if name in absent}
        return (*(absent | sizes).values(), lost[k])

    # equally good candidates are not lost by rounding
    held = results.get("bounds_held", np.ones(len(means), dtype=bool))
    near = [k for k in range(len(means)) if (held[k] and lost[k] <= margin * (1 + 1e-12)) or k == best]
    return min(near, key=lambda k: (*complexity(k), k))


def _fold_columns(results: Mapping[str, Any], metric: str) -> list[Any]:
    count = sum(f"split{k}_test_{metric}" in results for k in range(len(results)))
    return [results[f"split{k}_test_{metric}"] for k in range(count)]
