"""The optimism of a tuned score, from partitions of the rows that had no part in the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spotsvm.trials.scores.intervals import check_confidence, expected_interval, nadeau_bengio
from spotsvm.trials.scores.optimism import Optimism


def optimism_of_partitions(
    found: Mapping[str, Any],
    tuned_score: float,
    n_trials: int,
    *,
    params: Mapping[str, Any] | None = None,
    metric: str = "score",
    confidence: float = 0.95,
) -> Optimism:
    """Return the optimism of the chosen trial's mean score on the given folds.

    `found` is the finding "confirm" of a study: the scores of the chosen trial in the folds of partitions that chose nothing, and
    the rows tested on per row trained on. `n_trials` is the number of trials of the search.

    References
    ----------
    Nadeau, Bengio 2003, "Inference for the Generalization Error"; Bouckaert, Frank 2004, for repeated folds.

    Examples
    --------
    >>> found = {"fresh folds": [[0.8, 0.9], [0.7, 0.8]], "ratio": 1.0}
    >>> result = optimism_of_partitions(found, 0.9, 20)
    >>> round(result.optimism, 3), round(result.outer_score, 3), len(result.rows)
    (0.1, 0.8, 2)
    """
    confidence = check_confidence(confidence)
    fresh, ratio = np.array(found["fresh folds"], dtype=np.float64), float(found["ratio"])
    own = dict(params or {})
    return Optimism(
        float(tuned_score - fresh.mean()),
        nadeau_bengio(tuned_score - fresh.ravel(), ratio, confidence),
        confidence,
        "partitions",
        "nadeau-bengio",
        float(tuned_score),
        float(fresh.mean()),
        expected_interval(fresh.ravel(), ratio, confidence, metric),
        n_trials,
        metric,
        tuple(
            {"partition": k, "tuned": tuned_score, "outer": mean, "optimism": tuned_score - mean, "params": own}
            for k, mean in enumerate(fresh.mean(axis=1).tolist())
        ),
    )
